/** The rules of the house as a pure function over its files: who may import whom, and what only some files may do. */
import type { Import, SourceFile } from './imports.ts';

export type House = ReadonlyMap<string, SourceFile>;

export const maxLines = 400;

/** Where a file stands. A capability and an engine kind are rooms of their own, such as `api/chat`. */
type Room =
  | 'lib'
  | 'storage'
  | 'engines/contract'
  | 'engines/packs'
  | 'engines'
  | `engines/${string}`
  | 'platform'
  | 'http'
  | 'api'
  | `api/${string}`
  | 'top';

const topFiles = /^src\/(?:(?:main|serve|compose|cli|config)\.ts$|(?:cli|config)\/)/;

function roomOf(path: string): Room | undefined {
  if (topFiles.test(path)) return 'top';
  const [, ring, second = '', third] = path.split('/');
  switch (ring) {
    case 'lib':
    case 'storage':
    case 'platform':
    case 'http':
      return second === '' ? undefined : ring;
    case 'engines':
    case 'api':
      if (third !== undefined) return `${ring}/${second}`;
      if (second === 'contract.ts') return 'engines/contract';
      return second === 'index.ts' ? ring : undefined;
    default:
      return undefined;
  }
}

/** Whether code in one room may use another; `types` when only its types may be named. */
function mayUse(from: Room, to: Room): boolean | 'types' {
  if (from === 'top' || from === to || to === 'lib') return true;
  switch (from) {
    case 'lib':
    case 'storage':
    case 'engines/contract':
    case 'engines/packs':
      return false;
    case 'platform':
      return to === 'engines/contract' || to === 'storage';
    case 'http':
      return to === 'platform' ? 'types' : false;
    // The two lists: one line per engine kind, one per capability.
    case 'engines':
      return to.startsWith('engines/');
    case 'api':
      return to.startsWith('api/') || to === 'http' || to === 'platform';
    default:
      if (from.startsWith('engines/')) return to === 'engines/contract' || to === 'engines/packs';
      return to === 'http' || to === 'platform' || to === 'engines/contract';
  }
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

/** One sentence per import that the house does not allow. Test files may import anything. */
export function importViolations(house: House): string[] {
  const violations: string[] = [];
  for (const [path, { imports }] of house) {
    if (isTest(path)) continue;
    const from = roomOf(path);
    if (from === undefined) violations.push(`${path} stands in no room of the house`);
    for (const { target, how } of imports) {
      if (!target.endsWith('.ts')) continue;
      const to = target.startsWith('src/') && !isTest(target) ? roomOf(target) : undefined;
      const allowed = from !== undefined && to !== undefined && mayUse(from, to);
      if (allowed === 'types' && how !== 'type')
        violations.push(`${path} may import only types of ${target}`);
      else if (allowed === false) violations.push(`${path} may not import ${target}`);
    }
  }
  return violations;
}

/** Files that import each other in a circle, told once per circle. Types are erased, so they make none. */
export function importCycles(house: House): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path].join(' → '));
    if (start >= 0 || done.has(path)) return;
    for (const target of runtimeTargets(house.get(path)?.imports ?? [])) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of house.keys()) visit(path, []);
  return cycles;
}

function runtimeTargets(imports: readonly Import[]): Set<string> {
  return new Set(imports.filter(({ how }) => how !== 'type').map(({ target }) => target));
}

export function defaultExports(house: House): string[] {
  return naming(house, ({ defaultExport }) => defaultExport, 'has a default export');
}

export function environmentReaders(house: House): string[] {
  return naming(
    house,
    ({ readsEnvironment }, path) => readsEnvironment && path !== 'src/config.ts',
    'reads process.env',
  );
}

export function fetchCallers(house: House): string[] {
  return naming(house, ({ callsGlobalFetch }) => callsGlobalFetch, 'calls the global fetch');
}

/** `allowance`: the files that may be longer, each with the number of lines it may have. */
export function longFiles(house: House, allowance: Readonly<Record<string, number>>): string[] {
  const long = naming(house, ({ lines }, path) => lines > (allowance[path] ?? maxLines), 'is too long');
  const unused = Object.keys(allowance).filter((path) => (house.get(path)?.lines ?? 0) <= maxLines);
  return [...long, ...unused.map((path) => `${path} needs no allowance`)];
}

/** Unit tests live beside what they test: a folder of tests alone belongs into `test/`. */
export function strayTests(house: House): string[] {
  const folder = (path: string) => path.slice(0, path.lastIndexOf('/'));
  const inhabited = new Set([...house.keys()].filter((path) => !isTest(path)).map(folder));
  return [...house.keys()]
    .filter((path) => isTest(path) && !inhabited.has(folder(path)))
    .map((path) => `${path} stands beside no source`);
}

function naming(house: House, isWrong: (file: SourceFile, path: string) => boolean, what: string): string[] {
  return [...house]
    .filter(([path, file]) => !isTest(path) && isWrong(file, path))
    .map(([path]) => `${path} ${what}`);
}
