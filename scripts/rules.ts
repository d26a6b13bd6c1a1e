/**
 * `npm run rules`: which rules of `docs/reference/rules.md` have a test.
 *   --missing AREA   the texts of the rules of an area that have none
 *   --check          fails on an unknown id, on a rule that lost its test, and on one that waited long enough
 *   --write          writes the list of covered rules, which `--check` then defends
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { checkCoverage, countAreas, type TestFile, toCoverage, type Waiting } from './rules/coverage.ts';
import { toMissing, toTable } from './rules/print.ts';
import { parseRules } from './rules/rule-list.ts';
import { parseTitles } from './rules/titles.ts';

const coveredFile = 'docs/reference/rules-covered.txt';
const waitingFile = 'docs/reference/rules-waiting.yaml';

function read() {
  const rules = parseRules(readFileSync('docs/reference/rules.md', 'utf8'));
  // The same files that the test runner takes (`vitest.config.ts`).
  const files: TestFile[] = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'])
    .sort()
    .map((path) => ({ path, titles: parseTitles(readFileSync(path, 'utf8')) }));
  const waiting = new Map(
    Object.entries(parse(readFileSync(waitingFile, 'utf8')) as Record<string, Waiting>),
  );
  const listed = existsSync(coveredFile) ? readFileSync(coveredFile, 'utf8').split('\n').filter(Boolean) : [];
  return { rules, listed, coverage: toCoverage(rules, files, waiting) };
}

process.chdir(new URL('..', import.meta.url).pathname);
const { values } = parseArgs({
  options: { check: { type: 'boolean' }, write: { type: 'boolean' }, missing: { type: 'string' } },
});
const { rules, listed, coverage } = read();
const areas = countAreas(rules, coverage);

if (values.missing !== undefined) {
  const area = areas.find((count) => count.area === values.missing?.toUpperCase());
  if (area === undefined)
    throw new Error(`no area ${values.missing}; there are ${areas.map((count) => count.area).join(', ')}`);
  console.log(toMissing(area, coverage.waiting));
} else if (values.write) {
  const lost = listed.filter((id) => !coverage.covered.has(id));
  writeFileSync(coveredFile, [...coverage.covered, ''].join('\n'));
  console.log(
    `${coveredFile}: ${coverage.covered.size} rules${lost.length > 0 ? `, without ${lost.join(', ')}` : ''}`,
  );
} else if (values.check) {
  const problems = checkCoverage(rules, coverage, listed, existsSync);
  for (const problem of problems) console.error(problem);
  console.log(`rules: ${coverage.covered.size} of ${rules.length} covered, ${coverage.waiting.size} waiting`);
  if (problems.length > 0) process.exitCode = 1;
} else {
  console.log(toTable(areas));
}
