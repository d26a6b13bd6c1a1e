/**
 * How a media process is started: with nothing of the gateway's environment, with the kernel's limits, and under
 * Node's permission model, so that its own code reads no file but its program and FFmpeg.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

export interface Walls {
  readonly program: URL;
  readonly memoryMb: number;
  /** Of processor time that a process may use in its whole life. */
  readonly lifetimeCpuMs: number;
  /** Folders that it may read besides. */
  readonly readable?: readonly string[];
  /** Packages that it may load besides, with those that they need. */
  readonly packages?: readonly string[];
  /** Of what JavaScript holds, buffers aside. */
  readonly heapMb?: number;
}

const shell = '/bin/sh';
/** Node itself needs about 25; the program fills up the rest. */
const descriptors = 64;
/** Stacks and reserves of Node's threads count as well, though nothing is in them. */
const reserveMb = 768;
const usualHeapMb = 128;

/**
 * Sets what can be set and goes on without the rest: macOS, for one, has no limit on memory. Where the kernel can be
 * asked to end a process with its parent, it is: one that hangs in a codec does not hear that the gateway was killed.
 */
const limitScript = `for limit in "-c 0" "-f 0" "-n $1" "-d $2" "-t $3"; do ulimit $limit 2>/dev/null; done; shift 3
[ -x /usr/bin/setpriv ] && exec /usr/bin/setpriv --pdeathsig KILL "$@"
exec "$@"`;

export function toCommand(walls: Walls): Command {
  const { program, memoryMb, lifetimeCpuMs, readable = [], packages = [], heapMb = usualHeapMb } = walls;
  const programFolder = fileURLToPath(new URL('./program/', import.meta.url));
  const folders = new Set([
    programFolder,
    dirname(fileURLToPath(program)),
    ...ffmpegFolders(),
    ...packages.flatMap((name) => [...packageFolders(name)]),
    ...readable,
  ]);
  // What the program's own code needs outside of its folder.
  const files = ['../../../package.json', './container.ts'].map((path) => new URL(path, import.meta.url));
  // An addon is not held by it: it stops what runs in JavaScript. The other walls are for FFmpeg itself.
  const node = [
    process.execPath,
    '--permission',
    '--allow-addons',
    ...[...folders].map((folder) => `--allow-fs-read=${folder.endsWith(sep) ? folder : folder + sep}`),
    '--allow-fs-read=/dev/null',
    '--allow-fs-read=/proc/self/status',
    ...files.map((file) => `--allow-fs-read=${fileURLToPath(file)}`),
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
    `--max-old-space-size=${heapMb}`,
    fileURLToPath(program),
  ];
  if (!existsSync(shell)) return { file: process.execPath, args: node.slice(1) };
  const limits = [descriptors, (memoryMb + reserveMb) * 1024, Math.ceil(lifetimeCpuMs / 1000)].map(String);
  return { file: shell, args: ['-c', limitScript, 'sh', ...limits, ...node] };
}

/** Where FFmpeg's addon lies, as far as it is installed: the program tells what is missing when it loads it. */
function ffmpegFolders(): string[] {
  const folders: string[] = [];
  try {
    const library = import.meta.resolve('node-av/lib');
    folders.push(fileURLToPath(new URL('../../', library)));
    const addon = `@seydx/node-av-${process.platform}-${process.arch}/package.json`;
    folders.push(dirname(createRequire(library).resolve(addon)));
  } catch {
    // One of the two is not there.
  }
  return folders;
}

/** Of a package and of all that it depends on, as far as they are installed. */
function packageFolders(name: string, from = import.meta.url, seen = new Set<string>()): Set<string> {
  const manifest = findManifest(name, from);
  if (manifest === undefined || seen.has(dirname(manifest))) return seen;
  seen.add(dirname(manifest));
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies }))
    packageFolders(needed, pathToFileURL(manifest).href, seen);
  return seen;
}

function findManifest(name: string, from: string): string | undefined {
  try {
    return findPackageJSON(name, from);
  } catch {
    return undefined;
  }
}
