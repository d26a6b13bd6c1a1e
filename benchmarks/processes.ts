/** The processes of a benchmark: started on cores of their own where the system allows it, watched, and ended. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadOrder, LoadResult } from './load.ts';

export interface Server {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
}

export interface Bench {
  readonly engine: Server;
  readonly floor: Server;
  readonly gateway: Server;
  readonly key: string;
  /** What runs where, in words. */
  readonly placement: string;
  load(order: LoadOrder): Promise<LoadResult>;
}

/** Which cores: what is measured has one for itself; the rest share the others. */
interface Cores {
  measured: number | undefined;
  load: number | undefined;
  engine: number | undefined;
}

const noWarnings = '--disable-warning=ExperimentalWarning';

function here(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

const noCores: Cores = { measured: undefined, load: undefined, engine: undefined };

export function findCores(): Cores {
  const allowed = allowedCores();
  const [measured, load, engine = load] = allowed;
  if (allowed.length < 2 || !hasTaskset()) return noCores;
  return { measured, load, engine };
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-c', '0', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** `0-2,5` in /proc as 0, 1, 2, 5. */
function allowedCores(): number[] {
  try {
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
    return list.split(',').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
  } catch {
    return Array.from({ length: availableParallelism() }, (_, i) => i);
  }
}

export interface BenchOptions {
  profileFolder?: string | undefined;
  /** Where weights were fetched to: model processes need them, and cores that are not the gateway's alone. */
  modelsFolder?: string | undefined;
}

/** Everything that is started here ends with `stop`, also when something on the way fails. */
export async function withBench(options: BenchOptions, work: (bench: Bench) => Promise<void>): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const isPinned = options.modelsFolder === undefined;
  const cores = isPinned ? findCores() : noCores;
  const profile =
    options.profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profileFolder}`];

  const startOwn = async (name: string, core: number | undefined, args: string[], flags: string[] = []) => {
    const child = start(core, [...flags, here(`${name}.ts`), ...args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    opened.defer(() => end(child));
    const [{ port }] = (await firstOf(child, once(child, 'message'))) as [{ port: number }];
    return { child, server: { name, port, pid: child.pid! } };
  };
  const { server: engine } = await startOwn('mock-engine', cores.engine, []);
  const { server: floor } = await startOwn(
    'floor',
    cores.measured,
    [`http://127.0.0.1:${engine.port}`],
    profile,
  );
  const { child: loader } = await startOwn('load', cores.load, []);
  const { gateway, key } = await openGateway(opened, cores, engine, profile, options.modelsFolder);
  await work({
    engine,
    floor,
    gateway,
    key,
    placement: describe(cores),
    async load(order) {
      loader.send(order);
      const [result] = (await firstOf(loader, once(loader, 'message'))) as [LoadResult];
      if (result.failure !== undefined)
        throw new Error(`the load on port ${order.port} failed: ${result.failure}`);
      return result;
    },
  });
}

function describe({ measured, load, engine }: Cores): string {
  if (measured === undefined) return 'not pinned';
  const rest =
    load === engine ? `load and engine on core ${load}` : `load on core ${load}, engine on core ${engine}`;
  return `gateway and floor on core ${measured}, ${rest}`;
}

/** The gateway as `npm start` runs it, in a folder of its own: accounting, limits and logs are on. */
async function openGateway(
  opened: AsyncDisposableStack,
  cores: Cores,
  engine: Server,
  flags: string[],
  modelsFolder: string | undefined,
): Promise<{ gateway: Server; key: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'roundhouse-bench-'));
  if (modelsFolder !== undefined) {
    mkdirSync(join(folder, 'data'));
    symlinkSync(modelsFolder, join(folder, 'data', 'models'));
  }
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const key = `rh-bench-${randomBytes(16).toString('hex')}`;
  const { child, port } = await startGateway(folder, cores.measured, engine.port, { key, flags });
  opened.defer(() => end(child));
  // Ctrl-C leaves no time for an end in order, but nothing may stay behind. The other processes notice by themselves.
  process.once('exit', () => {
    if (child.exitCode === null) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  return { gateway: { name: 'gateway', port, pid: child.pid! }, key };
}

/** What `npm start` gives to Node. */
export function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(here('../package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const flags = / node (.*) src\/main\.ts$/.exec(scripts.start)?.[1];
  if (flags === undefined) throw new Error(`the start script is not understood: ${scripts.start}`);
  return flags.split(' ');
}

interface GatewayOptions {
  key: string;
  flags?: string[];
  env?: Record<string, string>;
}

async function startGateway(
  folder: string,
  core: number | undefined,
  enginePort: number,
  { key, flags = [], env = {} }: GatewayOptions,
): Promise<{ child: ChildProcess; port: number }> {
  const config = join(folder, 'roundhouse.yaml');
  writeFileSync(config, toConfig(enginePort));
  const log = openSync(join(folder, 'gateway.log'), 'a');
  const { PATH, HOME } = process.env;
  const child = start(core, [...startFlags(), ...flags, here('../src/main.ts')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', log],
    env: {
      PATH,
      HOME,
      PORT: '0',
      LOG_LEVEL: 'info',
      ROUNDHOUSE_DATA: join(folder, 'data'),
      ROUNDHOUSE_CONFIG: config,
      ROUNDHOUSE_API_KEY: key,
      NODE_COMPILE_CACHE: here('../node_modules/.cache/roundhouse'),
      ...env,
    },
  });
  let printed = '';
  const listening = new Promise<number>((resolve) => {
    child.stdout?.on('data', (bytes: Buffer) => {
      printed += bytes;
      const port = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
  try {
    return { child, port: await firstOf(child, listening) };
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${readFileSync(join(folder, 'gateway.log'), 'utf8')}`);
  }
}

/** Limits so high that they never bind; they are counted all the same. */
function toConfig(enginePort: number): string {
  const models = ['json', 'burst', 'paced'].map(
    (id) =>
      `  - { id: ${id}, type: chat, engine: mock, contextLength: 131072, ` +
      'pricing: { prompt: "0.00000015", completion: "0.0000006" } }\n',
  );
  return (
    'limits: { requestsPerMinute: 100000000, concurrent: 100000 }\n' +
    `engines:\n  mock: { kind: openai-compatible, url: "http://127.0.0.1:${enginePort}/v1", flavor: vllm }\n` +
    `models:\n${models.join('')}`
  );
}

/** From the start of the process to its first answer, on a folder that has been used before. */
export async function measureStartMs({ withCache }: { withCache: boolean }): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'roundhouse-bench-'));
  const key = `rh-bench-${randomBytes(16).toString('hex')}`;
  const env: Record<string, string> = withCache ? {} : { NODE_DISABLE_COMPILE_CACHE: '1' };
  try {
    let startMs = 0;
    for (const _ of ['makes the database', 'is measured']) {
      const startedAt = performance.now();
      const { child, port } = await startGateway(folder, undefined, 1, { key, env });
      try {
        const answer = await fetch(`http://127.0.0.1:${port}/v1/models`, {
          headers: { authorization: `Bearer ${key}` },
        });
        await answer.text();
        startMs = performance.now() - startedAt;
        if (!answer.ok) throw new Error(`the first answer was ${answer.status}`);
      } finally {
        await end(child);
      }
    }
    return startMs;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function start(core: number | undefined, args: string[], options: Parameters<typeof spawn>[2]): ChildProcess {
  const node = [process.execPath, noWarnings, ...args];
  const [command, ...rest] = core === undefined ? node : ['taskset', '-c', String(core), ...node];
  return spawn(command!, rest, options);
}

/** What is waited for, unless the process ends before. */
async function firstOf<T>(child: ChildProcess, awaited: Promise<T>): Promise<T> {
  const watch = new AbortController();
  const { signal } = watch;
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`${child.spawnargs.at(-1)} ended with ${code}`);
  });
  try {
    return await Promise.race([awaited, ended]);
  } finally {
    ended.catch(() => {});
    watch.abort();
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await exited;
  clearTimeout(force);
}
