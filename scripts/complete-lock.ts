/**
 * Completes package-lock.json: some registries leave out the platform packages (`@rollup/rollup-darwin-arm64`)
 * of systems that they do not serve, npm then leaves them out of the lock file, and `npm ci` refuses the file
 * everywhere. Run it after a change of dependencies: `npm run lock`.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface Package {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64'];

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Package> };
const added: Record<string, Package> = {};

for (const { optionalDependencies = {}, dev } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const path = `node_modules/${name}`;
    const words = name.split('/').at(-1)?.split('-') ?? [];
    const os = words.find((word) => systems.includes(word));
    const cpu = words.find((word) => processors.includes(word));
    if (lock.packages[path] !== undefined || os === undefined || cpu === undefined) continue;
    const libc = words.some((word) => word.startsWith('musl'))
      ? 'musl'
      : words.some((word) => word.startsWith('gnu'))
        ? 'glibc'
        : undefined;
    added[path] = {
      version,
      cpu: [cpu],
      ...(dev === true ? { dev } : {}),
      ...(libc === undefined ? {} : { libc: [libc] }),
      optional: true,
      os: [os],
    };
  }
}

const [root, ...rest] = Object.entries({ ...lock.packages, ...added });
const sorted = rest.toSorted(([a], [b]) => a.localeCompare(b, 'en'));
lock.packages = Object.fromEntries([...(root === undefined ? [] : [root]), ...sorted]);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${Object.keys(added).length} platform packages added to package-lock.json`);
