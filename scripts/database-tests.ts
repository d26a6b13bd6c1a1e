/**
 * Prints the tests that open a database, one path a line: those whose imports lead to `test/support/database.ts`, and
 * those that ask for `DATABASE_URL` themselves. `.ci/run` repeats them on PostgreSQL; the others cannot differ there.
 */
import { globSync, readFileSync } from 'node:fs';
import { parseSource } from '../test/support/imports.ts';

const root = `${import.meta.dirname}/..`;
const door = 'test/support/database.ts';
const paths = globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: root });
const imports = new Map(
  paths.map((path) => {
    const source = readFileSync(`${root}/${path}`, 'utf8');
    const targets = parseSource(path, source).imports.filter(({ how }) => how !== 'type');
    const asks = path.endsWith('.test.ts') && /process\.env\b.*\bDATABASE_URL\b/.test(source) ? [door] : [];
    return [path, [...asks, ...targets.map(({ target }) => target)]] as const;
  }),
);

function leadsToDatabase(path: string, seen = new Set<string>()): boolean {
  if (path === door) return true;
  if (seen.has(path)) return false;
  seen.add(path);
  return (imports.get(path) ?? []).some((target) => leadsToDatabase(target, seen));
}

const tests = paths.filter((path) => path.endsWith('.test.ts') && leadsToDatabase(path)).toSorted();
process.stdout.write(`${tests.join('\n')}\n`);
