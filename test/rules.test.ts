/** The rule coverage script: which titles count, how coverage is added up, and that each check can fail. */
import { describe, expect, it } from 'vitest';
import { checkCoverage, countAreas, toCoverage, type Waiting } from '../scripts/rules/coverage.ts';
import { bar, toMissing, toRanges, toTable } from '../scripts/rules/print.ts';
import { parseRules } from '../scripts/rules/rule-list.ts';
import { idsInTitle, parseTitles } from '../scripts/rules/titles.ts';

const rules = parseRules(
  '# Rules\n- ERR-1 · one\n- ERR-2 · two\nERR-9 · not a rule line\n- AUTH-1 · three (wire 0)\n- AUTH-2 · four\n',
);
const nothingWaits = new Map<string, Waiting>();
const nothingExists = () => false;

function coverageOf(titles: string[], waiting: ReadonlyMap<string, Waiting> = nothingWaits) {
  return toCoverage(rules, [{ path: 'src/a.test.ts', titles }], waiting);
}

describe('the list of rules', () => {
  it('reads ids, areas and texts in the order of the page', () => {
    expect(rules).toEqual([
      { id: 'ERR-1', area: 'ERR', text: 'one' },
      { id: 'ERR-2', area: 'ERR', text: 'two' },
      { id: 'AUTH-1', area: 'AUTH', text: 'three (wire 0)' },
      { id: 'AUTH-2', area: 'AUTH', text: 'four' },
    ]);
  });

  it('refuses an id that stands twice', () => {
    expect(() => parseRules('- ERR-1 · one\n- ERR-1 · again\n')).toThrow('ERR-1 stands twice');
  });
});

describe('titles', () => {
  it('are found in it, test and describe, with modifiers, tables and types around them', () => {
    const source = `
      type T = { a: string };
      describe('[A-1] group', () => {
        it("[A-2] double quotes", async () => { const x = 1 as unknown as T; });
        test.concurrent('[A-3] modified', () => {});
        it.each([1, 2])('[A-4] %s', () => {});
        it.for([[1]])(\`[A-5] \${1} text\`, () => {});
        for (const x of [1]) it('[A-6] in a loop ' + x, () => {});
        it.runIf(process.env['X'])('[A-7] on a condition', () => {});
        it('[A-8] with options', { timeout: 1, retry: 2 }, () => {});
      });`;
    const ids = parseTitles(source).flatMap(idsInTitle);
    expect(ids).toEqual(['A-1', 'A-2', 'A-3', 'A-4', 'A-5', 'A-6', 'A-7', 'A-8']);
  });

  it('do not count when the test is skipped, planned, expected to fail or commented out', () => {
    const source = `
      it.skip('[A-1] x', () => {});
      it.todo('[A-2] x');
      it.fails('[A-3] x', () => {});
      // it('[A-4] x', () => {});
      /* it('[A-5] x', () => {}); */
      describe.skip('[A-6] group', () => { it('[A-7] x', () => {}); });
      describe('[A-8] group of nothing that runs', () => { it.todo('x'); });
      it('[A-9] x', { skip: true }, () => {});
      it.skip.each([1])('[A-10] %s', () => {});
      expect('[A-11] not a title').toBe("it('[A-12] inside a string')");`;
    expect(parseTitles(source)).toEqual([]);
  });

  it('carry one id, several in one bracket, or several brackets', () => {
    expect(idsInTitle('[A-1] x')).toEqual(['A-1']);
    expect(idsInTitle('[A-1, A-2,B-3] x [C-4]')).toEqual(['A-1', 'A-2', 'B-3', 'C-4']);
    expect(idsInTitle('messages[0] and [a-1] and A-1 and [A-] are no ids')).toEqual([]);
  });
});

describe('coverage', () => {
  it('counts a rule once however many tests prove it, and a waiting rule not at all', () => {
    const waiting = new Map([['AUTH-2', { until: 'src/x', why: 'no x' }]]);
    const coverage = coverageOf(['[ERR-1] a', '[ERR-1] b', '[AUTH-2] begun'], waiting);
    expect([...coverage.covered]).toEqual(['ERR-1']);
    expect(countAreas(rules, coverage)).toMatchObject([
      { area: 'ERR', total: 2, covered: 1, waiting: 0, missing: [{ id: 'ERR-2' }] },
      { area: 'AUTH', total: 2, covered: 0, waiting: 1, missing: [{ id: 'AUTH-1' }] },
    ]);
  });

  it('lists what is covered in the order of the rules', () => {
    expect([...coverageOf(['[AUTH-1] a', '[ERR-2] b', '[ERR-1] c']).covered]).toEqual([
      'ERR-1',
      'ERR-2',
      'AUTH-1',
    ]);
  });

  it('prints a line per area with its bar, what waits and what is missing, and a sum', () => {
    const waiting = new Map([['AUTH-2', { until: 'src/x', why: 'no x' }]]);
    const areas = countAreas(rules, coverageOf(['[ERR-1, ERR-2] a'], waiting));
    const lines = toTable(areas).split('\n');
    expect(lines[0]).toBe(`ERR  ${'█'.repeat(20)} 2 of 2`);
    expect(lines[1]).toMatch(/^AUTH ░{20} 0 of 2, 1 waiting +missing 1$/);
    expect(lines[2]).toMatch(/^all {2}█{10}░{10} 2 of 4, 1 waiting$/);
    expect(toMissing(areas[1]!, waiting)).toBe('AUTH-1 · three (wire 0)\nAUTH-2 waits for src/x: no x');
    expect(toMissing(areas[0]!, waiting)).toBe('');
  });

  it('shows a full bar only for everything and an empty one only for nothing', () => {
    expect(bar(0, 900)).toBe('░'.repeat(20));
    expect(bar(1, 900)).toBe(`█${'░'.repeat(19)}`);
    expect(bar(899, 900)).toBe(`${'█'.repeat(19)}░`);
    expect(bar(900, 900)).toBe('█'.repeat(20));
    expect(toRanges([1, 2, 3, 7, 9, 10])).toBe('1-3 7 9-10');
  });
});

describe('the check', () => {
  it('passes when titles, list and waiting rules agree', () => {
    const waiting = new Map([['AUTH-2', { until: ['src/x', 'src/y'], why: 'no y' }]]);
    const coverage = coverageOf(['[ERR-1] a', '[AUTH-2] begun'], waiting);
    expect(checkCoverage(rules, coverage, ['ERR-1'], (path) => path === 'src/x')).toEqual([]);
  });

  it('fails on an id that is no rule', () => {
    expect(checkCoverage(rules, coverageOf(['[ERR-7] a']), [], nothingExists)).toEqual([
      'src/a.test.ts: "[ERR-7] a" names ERR-7, which is no rule',
    ]);
  });

  it('fails on ids that are filled in while the test runs', () => {
    const titles = parseTitles(
      `it(\`[\${'ERR-1'}] a\`, () => {}); it.each([['ERR-1']])('[%s] b', () => {});`,
    );
    expect(checkCoverage(rules, coverageOf(titles), [], nothingExists)).toEqual([
      expect.stringContaining('must write its rule ids out'),
      expect.stringContaining('must write its rule ids out'),
    ]);
  });

  it('fails on a rule that lost its test', () => {
    expect(checkCoverage(rules, coverageOf(['[ERR-1] a']), ['ERR-1', 'ERR-2'], nothingExists)).toEqual([
      'ERR-2 lost its test',
    ]);
  });

  it('fails on a newly covered rule that is not listed', () => {
    expect(checkCoverage(rules, coverageOf(['[ERR-1, ERR-2] a']), ['ERR-1'], nothingExists)).toEqual([
      'ERR-2 newly covered: run npm run rules -- --write',
    ]);
  });

  it('fails on a listed id that is no rule', () => {
    expect(checkCoverage(rules, coverageOf([]), ['ERR-7'], nothingExists)).toEqual([
      'rules-covered.txt: ERR-7 is no rule',
    ]);
  });

  it('fails when what a rule waits for exists', () => {
    const coverage = coverageOf([], new Map([['AUTH-2', { until: 'src/x', why: 'no x' }]]));
    expect(checkCoverage(rules, coverage, [], (path) => path === 'src/x')).toEqual([
      expect.stringContaining('AUTH-2 waited for src/x'),
    ]);
  });

  it('fails when a covered rule is declared waiting, and when an unknown one is', () => {
    const waiting = new Map([
      ['ERR-1', { until: 'src/x', why: 'no x' }],
      ['ERR-7', { until: 'src/x', why: 'no x' }],
    ]);
    expect(checkCoverage(rules, coverageOf(['[ERR-1] a'], waiting), ['ERR-1'], nothingExists)).toEqual([
      'rules-waiting.yaml: ERR-7 is no rule',
      'ERR-1 was covered and cannot wait again: take it out of rules-waiting.yaml',
    ]);
  });
});
