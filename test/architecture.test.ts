/** Holds the house to its ground plan (`ARCHITECTURE.md`), and shows that each rule can fail. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  defaultExports,
  environmentReaders,
  fetchCallers,
  type House,
  importCycles,
  importViolations,
  longFiles,
  strayTests,
} from './support/house-rules.ts';
import { parseSource } from './support/imports.ts';

/** Files that may pass the 400 lines, with how many lines they may have and why. */
const allowance: Record<string, number> = {};

function houseOf(sources: Record<string, string>): House {
  return new Map(Object.entries(sources).map(([path, source]) => [path, parseSource(path, source)]));
}

const root = new URL('..', import.meta.url).pathname;
const house = houseOf(
  Object.fromEntries(
    globSync('src/**/*.ts', { cwd: root }).map((path) => [path, readFileSync(root + path, 'utf8')]),
  ),
);

describe('the house', () => {
  it('is read: there are files, and they import each other', () => {
    expect(house.size).toBeGreaterThan(10);
    expect(house.get('src/http/errors.ts')?.imports).toContainEqual({
      target: 'src/lib/errors.ts',
      how: 'static',
    });
    expect(house.get('src/http/route.ts')?.imports).toContainEqual({
      target: 'src/platform/index.ts',
      how: 'type',
    });
  });

  it('imports only inwards: lib ← storage, contract ← engines, platform ← http (types) ← api ← compose', () => {
    expect(importViolations(house)).toEqual([]);
  });

  it('has no circle of imports', () => {
    expect(importCycles(house)).toEqual([]);
  });

  it('has no default exports', () => {
    expect(defaultExports(house)).toEqual([]);
  });

  it('reads the environment in config.ts alone', () => {
    expect(environmentReaders(house)).toEqual([]);
  });

  it('never calls the global fetch', () => {
    expect(fetchCallers(house)).toEqual([]);
  });

  it('has no source file over 400 lines', () => {
    expect(longFiles(house, allowance)).toEqual([]);
  });

  it('keeps unit tests beside what they test', () => {
    expect(strayTests(house)).toEqual([]);
  });
});

describe('the reader of imports', () => {
  it('finds every way to name a file, and nothing in comments and strings', () => {
    const source = [
      "import { a } from './a.ts';",
      "import type { B } from '../lib/b.ts';",
      "import { type C, c } from './c.ts';",
      'import type {',
      '  D,',
      "} from './d.ts';",
      "export { e } from './e.ts';",
      "export * from './f.ts';",
      "export type * from './g.ts';",
      "const h = await import('./h.ts');",
      "let i: import('./i.ts').I;",
      "new URL('./j.ts', import.meta.url);",
      "import 'node:fs';",
      "// import { no } from './comment.ts';",
      "/* import type { No } from './block.ts'; */",
      "const text = `\nimport type { No } from './string.ts';\nimport('./string.ts')`;",
      "new URL('./page.ts', 'http://elsewhere');",
    ].join('\n');
    const byName = (a: string, b: string) => (a < b ? -1 : 1);
    const found = parseSource('src/http/x.ts', source).imports.map(({ target, how }) => `${target} ${how}`);
    expect(found.sort(byName)).toEqual([
      'node:fs static',
      'src/http/a.ts static',
      'src/http/c.ts static',
      'src/http/d.ts type',
      'src/http/e.ts static',
      'src/http/f.ts static',
      'src/http/g.ts type',
      'src/http/h.ts dynamic',
      'src/http/i.ts type',
      'src/http/j.ts url',
      'src/lib/b.ts type',
    ]);
  });
});

describe('a violation is named', () => {
  const importing = (target: string) => `import { x } from '${target}';`;

  it.each([
    ['src/lib/a.ts', '../storage/database.ts'],
    ['src/lib/a.ts', '../config.ts'],
    ['src/storage/a.ts', '../platform/index.ts'],
    ['src/engines/contract/chat.ts', '../../platform/index.ts'],
    ['src/engines/sandbox/a.ts', '../embedded/b.ts'],
    ['src/engines/sandbox/a.ts', '../../storage/database.ts'],
    ['src/engines/sandbox/a.ts', '../index.ts'],
    ['src/engines/packs/a.ts', '../sandbox/b.ts'],
    ['src/engines/packs/a.ts', '../contract/engine.ts'],
    ['src/platform/catalog/a.ts', '../../http/route.ts'],
    ['src/platform/catalog/a.ts', '../../engines/sandbox/index.ts'],
    ['src/platform/catalog/a.ts', '../../engines/index.ts'],
    ['src/platform/catalog/a.ts', '../../config.ts'],
    ['src/http/a.ts', '../storage/database.ts'],
    ['src/http/a.ts', '../api/models/routes.ts'],
    ['src/http/a.ts', '../engines/contract/chat.ts'],
    ['src/api/chat/a.ts', '../messages/schema.ts'],
    ['src/api/chat/a.ts', '../../storage/database.ts'],
    ['src/api/chat/a.ts', '../../engines/sandbox/index.ts'],
    ['src/api/chat/a.ts', '../index.ts'],
    ['src/api/index.ts', '../compose.ts'],
    ['src/http/a.ts', './a.test.ts'],
    ['src/compose.ts', '../test/support/x.ts'],
  ])('%s may not import %s', (path, target) => {
    const [violation] = importViolations(houseOf({ [path]: importing(target) }));
    expect(violation).toContain(`${path} may not import`);
    expect(importViolations(houseOf({ [path]: `import type { X } from '${target}';` }))).toHaveLength(1);
  });

  it('http may name platform types, and nothing else of platform', () => {
    expect(importViolations(houseOf({ 'src/http/a.ts': importing('../platform/index.ts') }))).toEqual([
      'src/http/a.ts may import only types of src/platform/index.ts',
    ]);
    expect(
      importViolations(houseOf({ 'src/http/a.ts': "import type { P } from '../platform/index.ts';" })),
    ).toEqual([]);
  });

  it('a dynamic import and a worker address are imports too', () => {
    const sources = {
      'src/lib/a.ts': "import('../storage/b.ts'); new URL('../http/c.ts', import.meta.url);",
    };
    expect(importViolations(houseOf(sources))).toEqual([
      'src/lib/a.ts may not import src/storage/b.ts',
      'src/lib/a.ts may not import src/http/c.ts',
    ]);
  });

  it.each([
    ['src/storage/a.ts', '../lib/b.ts'],
    ['src/engines/contract.ts', './../lib/b.ts'],
    ['src/engines/sandbox/a.ts', '../contract/chat.ts'],
    ['src/engines/sandbox/a.ts', '../packs/index.ts'],
    ['src/engines/index.ts', './sandbox/index.ts'],
    ['src/platform/jobs/a.ts', '../billing/b.ts'],
    ['src/platform/jobs/a.ts', '../../storage/database.ts'],
    ['src/api/chat/a.ts', '../../http/route.ts'],
    ['src/api/chat/a.ts', './schema.ts'],
    ['src/api/index.ts', './chat/routes.ts'],
    ['src/cli/keys.ts', '../storage/database.ts'],
    ['src/http/a.test.ts', '../api/chat/routes.ts'],
    ['src/storage/migrate.ts', '../../migrations/0001-accounts.sql'],
  ])('but %s may import %s', (path, target) => {
    expect(importViolations(houseOf({ [path]: importing(target) }))).toEqual([]);
  });

  it.each(['src/utils.ts', 'src/shared/a.ts', 'src/api/cors.ts', 'src/engines/pool.ts'])(
    '%s stands in no room',
    (path) => {
      expect(importViolations(houseOf({ [path]: 'export const a = 1;' }))).toEqual([
        `${path} stands in no room of the house`,
      ]);
    },
  );

  it('a circle, unless only types close it', () => {
    const a = importing('./b.ts');
    expect(
      importCycles(
        houseOf({
          'src/lib/a.ts': a,
          'src/lib/b.ts': importing('./c.ts'),
          'src/lib/c.ts': importing('./a.ts'),
        }),
      ),
    ).toEqual(['src/lib/a.ts → src/lib/b.ts → src/lib/c.ts → src/lib/a.ts']);
    expect(
      importCycles(houseOf({ 'src/lib/a.ts': a, 'src/lib/b.ts': "import type { A } from './a.ts';" })),
    ).toEqual([]);
  });

  it('a default export, in both its forms', () => {
    expect(
      defaultExports(
        houseOf({
          'src/lib/a.ts': 'export default 1;',
          'src/lib/b.ts': 'const b = 1; export { b as default };',
        }),
      ),
    ).toEqual(['src/lib/a.ts has a default export', 'src/lib/b.ts has a default export']);
  });

  it('the environment read outside config.ts, however it is written', () => {
    const sources = {
      'src/config.ts': 'export const port = process.env.PORT;',
      'src/lib/a.ts': "process['env'].PORT;",
      'src/lib/b.ts': "import { env } from 'node:process'; env.PORT;",
      'src/lib/c.ts': 'const { env } = process;',
      'src/lib/d.ts': '// process.env\nprocess.stderr;',
    };
    expect(environmentReaders(houseOf(sources))).toEqual([
      'src/lib/a.ts reads process.env',
      'src/lib/b.ts reads process.env',
      'src/lib/c.ts reads process.env',
    ]);
  });

  it('a call of the global fetch', () => {
    const sources = {
      'src/lib/a.ts': "await fetch('x');",
      'src/lib/b.ts': 'globalThis.fetch;',
      'src/lib/c.ts': 'api.fetch(1);',
    };
    expect(fetchCallers(houseOf(sources))).toEqual([
      'src/lib/a.ts calls the global fetch',
      'src/lib/b.ts calls the global fetch',
    ]);
  });

  it('a file of 401 lines, and an allowance that is no longer needed', () => {
    const lines = (count: number) => 'export {};\n'.repeat(count);
    expect(longFiles(houseOf({ 'src/lib/a.ts': lines(401), 'src/lib/b.ts': lines(400) }), {})).toEqual([
      'src/lib/a.ts is too long',
    ]);
    expect(longFiles(houseOf({ 'src/lib/a.ts': lines(401) }), { 'src/lib/a.ts': 450 })).toEqual([]);
    expect(longFiles(houseOf({ 'src/lib/a.ts': lines(9) }), { 'src/lib/a.ts': 450 })).toEqual([
      'src/lib/a.ts needs no allowance',
    ]);
  });

  it('a test in a folder without sources', () => {
    expect(
      strayTests(houseOf({ 'src/lib/a.ts': '', 'src/lib/a.test.ts': '', 'src/lib/tests/b.test.ts': '' })),
    ).toEqual(['src/lib/tests/b.test.ts stands beside no source']);
  });
});
