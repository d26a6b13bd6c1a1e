import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../lib/errors.ts';
import { createLog, type Log } from '../../../lib/log.ts';
import { createModelHost, type ModelHostParts, type RunningHost } from './host.ts';
import type { ModelFiles, Task } from './types.ts';

const program = new URL('../../../../test/support/fake-runtime.ts', import.meta.url);
const model: ModelFiles = { name: 'fake', files: {}, options: {} };
const { signal } = new AbortController();
const isLinux = process.platform === 'linux';

const hosts: RunningHost[] = [];
const lines: string[] = [];
const log: Log = createLog('warn', { write: (line) => lines.push(line) });

function open(fields: Partial<ModelHostParts> = {}): RunningHost {
  const usual = { program, name: 'fake', log, memoryMb: 1_000, idleMs: 60_000, queueLength: 4, pulseMs: 20 };
  const host = createModelHost({ ...usual, ...fields });
  hosts.push(host);
  return host;
}

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(hosts.splice(0).map((host) => host.close()));
  lines.length = 0;
});

const task = (kind: string, input?: unknown, asked: ModelFiles = model): Task => ({
  model: asked,
  kind,
  input,
});

interface Who {
  pid: number;
  loads: number;
  environment: string[];
}
const who = (host: RunningHost) => host.run<Who>(task('who'), signal);

/** A task that is heard: its parts, and how it ended. */
function begin(host: RunningHost, asked: Task) {
  const parts: unknown[] = [];
  const first = Promise.withResolvers<void>();
  let next = Promise.withResolvers<void>();
  const over = Promise.withResolvers<unknown>();
  const run = host.start(asked, {
    part(part) {
      parts.push(part);
      first.resolve();
      next.resolve();
      next = Promise.withResolvers();
    },
    done: (result) => over.resolve(result),
    fail: (error) => over.resolve(error),
  });
  return {
    parts,
    first: first.promise,
    next: () => next.promise,
    over: over.promise,
    abort: () => run.abort(),
  };
}

async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const thrown = await work.then(
    (value) => value,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(GatewayError);
  return thrown as GatewayError;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isLinux || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a task', () => {
  it('is answered by a process of its own, with its parts in order and then its result', async () => {
    const host = open();
    expect(host.pid).toBeUndefined();
    const heard = begin(host, task('parts', 100));
    expect(heard.parts).toEqual([]);
    expect(await heard.over).toBe('all');
    expect(heard.parts).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    expect((await who(host)).pid).toBe(host.pid);
    expect(host.pid).not.toBe(process.pid);
    expect(host.active).toBe(0);
  });

  it('carries bytes and typed arrays both ways', async () => {
    const vectors = [new Float32Array([1, 2.5]), new Float32Array([3])];
    expect(await open().run(task('echo', vectors), signal)).toEqual(vectors);
  });

  it('fails with what the runtime says on purpose, and else without its internals', async () => {
    const host = open();
    const refused = await failureOf(host.run(task('refuse'), signal));
    expect(refused).toMatchObject({ kind: 'invalid_request', message: 'too long', param: 'messages' });
    const broken = await failureOf(host.run(task('throw'), signal));
    expect(broken).toMatchObject({ kind: 'internal', message: 'The model fake failed to answer' });
    expect(lines.join('')).toContain('secret of /srv/models');
  });

  it('that is silent for too long is a timeout', async () => {
    const host = open({ timeoutMs: 1_500 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const heard = begin(host, task('wait'));
    await heard.first;
    vi.advanceTimersByTime(1_499);
    expect(host.active).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await heard.over).toMatchObject({ kind: 'timeout' });
    await host.drained();
    expect((await who(host)).loads).toBe(1);
  });
});

describe('a task with a deadline', () => {
  it('ends at it, whatever signs of life it gives', async () => {
    const host = open();
    await who(host);
    const heard = begin(host, { ...task('tick'), deadlineMs: 100 });
    expect(await heard.over).toMatchObject({ kind: 'overloaded' });
    await host.drained();
    expect((await who(host)).loads).toBe(1);
  });

  it('that waits in line does not spend it there', async () => {
    const host = open();
    const running = begin(host, task('tick'));
    await running.first;
    const waiting = begin(host, { ...task('echo', 'in time'), deadlineMs: 2_000 });
    running.abort();
    expect(await waiting.over).toBe('in time');
  });
});

describe('the process', () => {
  it('knows nothing of the environment of the gateway', async () => {
    const { environment } = await who(open());
    expect(environment.filter((name) => !name.startsWith('NODE_'))).toEqual([]);
  });

  it.runIf(isLinux)('works at a lower priority than the gateway', async () => {
    const { pid } = await who(open());
    const niceOf = (id: number) =>
      Number(readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]);
    expect(niceOf(pid)).toBeGreaterThan(niceOf(process.pid));
  });

  it('that crashes fails its work, shows nothing of why, and the next request works', async () => {
    const host = open();
    const waiting = begin(host, task('wait', undefined, { ...model, name: 'other' }));
    await waiting.first;
    const crashing = begin(host, task('crash'));
    for (const failure of [await crashing.over, await waiting.over]) {
      expect(failure).toMatchObject({ kind: 'overloaded', retryAfterSeconds: 1 });
      expect((failure as Error).message).toMatch(
        /^The model (fake|other) was interrupted before its answer was complete/,
      );
    }
    expect(crashing.parts).toEqual(['last words']);
    expect((await who(host)).loads).toBe(1);
    expect(host.active).toBe(0);
  });

  it('that crashes again and again is started less and less often', async () => {
    let time = 0;
    const host = open({ now: () => time });
    const crash = () => failureOf(host.run(task('crash'), signal));
    await crash();
    await crash();
    const refused = await crash();
    expect(refused).toMatchObject({ kind: 'overloaded', retryAfterSeconds: 1 });
    expect(refused.message).toContain('not available');
    expect(host.pid).toBeUndefined();
    time += 1_000;
    expect((await crash()).message).toContain('interrupted');
    expect((await crash()).retryAfterSeconds).toBe(2);
    time += 2_000;
    expect((await who(host)).loads).toBe(1);
    await crash();
    expect((await who(host)).loads).toBe(1);
  });

  it('whose program does not even start fails its work too', async () => {
    const host = open({ program: new URL('./nothing-here.ts', import.meta.url) });
    expect((await failureOf(who(host))).kind).toBe('overloaded');
    expect(lines.join('')).toContain('nothing-here');
  });

  it('that hangs is ended', async () => {
    // However long it takes to start, it is not said to hang before the test says so.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const host = open({ hangMs: 1_500 });
    const heard = begin(host, task('block'));
    await heard.first;
    const waiting = who(host);
    vi.advanceTimersByTime(1_500);
    expect(host.active).toBe(2);
    vi.advanceTimersByTime(400);
    expect(await heard.over).toMatchObject({ kind: 'overloaded' });
    expect((await waiting).loads).toBe(1);
  });

  it('that has outgrown its memory is replaced between two tasks, and no task notices', async () => {
    const host = open({ memoryMb: 300, queueLength: 100 });
    const other = begin(host, task('wait', undefined, { ...model, name: 'other' }));
    await other.first;
    const before = await host.run<number>(task('grow', 300), signal);
    await until(() => lines.some((line) => line.includes('is replaced')));
    const after = who(host);
    expect(host.pid).toBe(before);
    other.abort();
    expect((await after).pid).not.toBe(before);
    await until(() => !isAlive(before));
  });

  it('is not replaced again and again for what its models need from the start', async () => {
    const host = open({ memoryMb: 300 });
    const first = await host.run<number>(task('grow', 300), signal);
    await until(() => host.pid === undefined);
    const second = await host.run<number>(task('grow', 300), signal);
    expect(second).not.toBe(first);
    await until(() => lines.some((line) => line.includes('need more than memoryMb')));
    expect((await who(host)).pid).toBe(second);
  });

  it('that is far too large is ended at once', async () => {
    const host = open({ memoryMb: 200 });
    const other = begin(host, task('wait', undefined, { ...model, name: 'other' }));
    await other.first;
    await host.run(task('grow', 400), signal);
    const failure = await failureOf(other.over);
    expect(failure).toMatchObject({ kind: 'overloaded' });
    expect(failure.message).not.toContain('memory');
    expect((await who(host)).loads).toBe(1);
  });

  it('ends with its gateway, however that ends', async () => {
    const gateway = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '-e', orphaner],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const pid = Number(String(await firstChunk(gateway)));
    expect(isAlive(pid)).toBe(true);
    gateway.kill('SIGKILL');
    await until(() => !isAlive(pid));
  });

  it('does not keep the gateway alive while it is idle', async () => {
    const idler = orphaner.replace("'wait'", "'who'");
    const gateway = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '-e', idler],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const pid = Number(String(await firstChunk(gateway)));
    const [code] = await once(gateway, 'exit');
    expect(code).toBe(0);
    await until(() => !isAlive(pid));
  });
});

const orphaner = `
  import { createModelHost } from '${new URL('./host.ts', import.meta.url)}';
  const log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
  const host = createModelHost({ program: new URL('${program}'), name: 'fake', log, memoryMb: 1000, idleMs: 60000, queueLength: 4 });
  const told = () => process.stdout.write(String(host.pid));
  host.start({ model: { name: 'fake', files: {}, options: {} }, kind: 'wait' }, { part: told, done: told, fail: console.error });
`;

async function firstChunk(child: ChildProcess): Promise<Buffer> {
  if (child.stdout === null) throw new Error('its output is not read');
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return chunk;
}

describe('an aborted task', () => {
  it('stops, is heard no more, and gives its place free', async () => {
    const host = open({ queueLength: 0 });
    const heard = begin(host, task('wait'));
    await heard.first;
    heard.abort();
    heard.abort();
    await host.drained();
    expect((await who(host)).loads).toBe(1);
    expect(heard.parts).toEqual(['waiting']);
    heard.abort();
  });

  it('that still waits in line never runs', async () => {
    const host = open();
    const running = begin(host, task('wait'));
    await running.first;
    const waiting = begin(host, task('crash'));
    waiting.abort();
    running.abort();
    expect((await who(host)).loads).toBe(1);
    expect(waiting.parts).toEqual([]);
  });

  it('that waits for its model to load is gone at once', async () => {
    const host = open();
    const heard = begin(host, task('who', undefined, { ...model, options: { loadMs: 50 } }));
    heard.abort();
    await host.drained();
    expect(heard.parts).toEqual([]);
  });

  it('that does not stop takes the process with it', async () => {
    const host = open({ abortGraceMs: 50 });
    const { pid } = await who(host);
    const heard = begin(host, task('deaf'));
    await heard.first;
    heard.abort();
    await until(() => !isAlive(pid));
    expect((await who(host)).pid).not.toBe(pid);
  });

  it('rejects with the reason of its signal', async () => {
    const host = open();
    const aborter = new AbortController();
    const work = host.run(task('wait'), aborter.signal);
    aborter.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
    await expect(host.run(task('who'), aborter.signal)).rejects.toThrow('enough');
    await host.drained();
  });
});

describe('the line of a model', () => {
  it('is bounded: beyond it a request is overloaded and told when to come again', async () => {
    const host = open({ queueLength: 2 });
    const running = [begin(host, task('wait')), begin(host, task('wait')), begin(host, task('wait'))];
    const failure = await failureOf(who(host));
    expect(failure).toMatchObject({ kind: 'overloaded' });
    expect(failure.retryAfterSeconds).toBeGreaterThan(0);
    expect(failure.message).toContain('fake');
    const other = { ...model, name: 'other' };
    expect(await host.run(task('echo', 1, other), signal)).toBe(1);
    for (const { abort } of running) abort();
    await host.drained();
    expect((await who(host)).loads).toBe(2);
  });

  it('does not refuse what goes on with something that has begun', async () => {
    const host = open({ queueLength: 0 });
    const running = begin(host, task('wait'));
    await running.first;
    expect((await failureOf(who(host))).kind).toBe('overloaded');
    const rest = begin(host, { ...task('echo', 'rest'), isContinued: true });
    running.abort();
    expect(await rest.over).toBe('rest');
  });

  it('is left at once by who cancels, also while the model loads', async () => {
    const host = open({ queueLength: 2 });
    const slow = { ...model, options: { loadMs: 200 } };
    for (let i = 0; i < 50; i += 1) {
      const heard = begin(host, task('wait', undefined, slow));
      expect(host.active).toBeLessThanOrEqual(2);
      heard.abort();
    }
    expect(host.active).toBe(1);
    expect((await host.run<Who>(task('who', undefined, slow), signal)).loads).toBe(1);
  });

  it('outlives a crash of the process', async () => {
    const host = open();
    const crashing = begin(host, task('crash'));
    const waiting = begin(host, task('echo', 'still here'));
    expect(await crashing.over).toMatchObject({ kind: 'overloaded' });
    expect(await waiting.over).toBe('still here');
  });

  it('that takes too long is told as overloaded, and not as the failure of the engine', async () => {
    const host = open({ timeoutMs: 1_500 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const running = begin(host, task('tick'));
    await running.first;
    const waiting = failureOf(who(host));
    // What runs gives signs of life: it is not its time that is over.
    vi.advanceTimersByTime(1_000);
    await running.next();
    vi.advanceTimersByTime(500);
    expect((await waiting).kind).toBe('overloaded');
    expect(host.active).toBe(1);
    running.abort();
  });

  it('is passed by work that takes no time', async () => {
    const host = open();
    const running = begin(host, task('wait'));
    await running.first;
    expect(await host.run(task('count', { messages: ['one two'] }), signal)).toBe(2);
    running.abort();
  });

  it('moves as many at once as the model takes', async () => {
    const host = open();
    const wide = { ...model, options: { concurrency: 2 } };
    const running = [begin(host, task('wait', undefined, wide)), begin(host, task('wait', undefined, wide))];
    await Promise.all(running.map(({ first }) => first));
    const third = begin(host, task('wait', undefined, wide));
    running[0]?.abort();
    await third.first;
    running[1]?.abort();
    third.abort();
    await host.drained();
  });
});

describe('a model', () => {
  it('is loaded once for many tasks, and let go when it is idle, the process with the last one', async () => {
    const host = open({ idleMs: 50 });
    const slow = { ...model, options: { loadMs: 30 } };
    const [first, second] = await Promise.all([
      host.run<Who>(task('who', undefined, slow), signal),
      host.run<Who>(task('who', undefined, slow), signal),
    ]);
    expect([first.loads, second.loads]).toEqual([1, 1]);
    await until(() => host.pid === undefined);
    await until(() => !isAlive(first.pid));
    expect((await who(host)).loads).toBe(1);
    expect(lines).toEqual([]);
  });

  it('that cannot be loaded is named with the way out, and the others go on', async () => {
    const host = open();
    const damaged = { ...model, name: 'damaged', remedy: 'Fetch it again.' };
    const failures = await Promise.all([
      failureOf(host.run(task('who', undefined, damaged), signal)),
      failureOf(host.run(task('who', undefined, damaged), signal)),
    ]);
    for (const failure of failures) {
      expect(failure).toMatchObject({ kind: 'internal', permanent: true });
      expect(failure.message).toContain('The model damaged cannot be loaded');
      expect(failure.message).toContain('Fetch it again.');
      expect(failure.message).not.toContain('/srv');
    }
    expect(lines.join('')).toContain('bad magic');
    expect((await who(host)).pid).toBe(host.pid);
  });

  it('larger than its memory is refused by name with what to change, and not loaded again', async () => {
    const host = open({ memoryMb: 300 });
    const large = { ...model, name: 'large', options: { loadMb: 400 } };
    const tried = begin(host, task('who', undefined, large));
    const waiting = begin(host, task('who', undefined, large));
    const expected = { kind: 'internal', permanent: true };
    const failure = (await tried.over) as GatewayError;
    expect(failure).toMatchObject(expected);
    expect(failure.message).toMatch(/^The model large needs \d+ MB of memory, and its engine may use 300/);
    expect(failure.message).toContain('memoryMb');
    expect(await waiting.over).toMatchObject(expected);
    expect(host.pid).toBeUndefined();
    expect(await failureOf(host.run(task('who', undefined, large), signal))).toMatchObject(expected);
    expect(host.pid).toBeUndefined();
    expect((await who(host)).loads).toBe(1);
    expect(lines).toHaveLength(1);
  });

  it('whose file is larger than its memory is refused before it is loaded', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roundhouse-host-'));
    try {
      const path = join(folder, 'model.gguf');
      await writeFile(path, '');
      await truncate(path, 400 * 1024 * 1024);
      const host = open({ memoryMb: 300 });
      const never = { ...model, name: 'never', files: { model: path } };
      const failure = await failureOf(host.run(task('who', undefined, never), signal));
      expect(failure).toMatchObject({ kind: 'internal', permanent: true });
      expect(failure.message).toContain('The model never needs 400 MB');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('that never finishes loading takes its process with it', async () => {
    const host = open({ timeoutMs: 1_500 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { pid } = await who(host);
    const failure = failureOf(host.run(task('who', undefined, { ...model, name: 'never' }), signal));
    vi.advanceTimersByTime(1_500);
    expect((await failure).kind).toBe('overloaded');
    vi.useRealTimers();
    await until(() => !isAlive(pid));
    expect((await who(host)).pid).not.toBe(pid);
  });
});

describe('closing', () => {
  it('ends the process, fails what is under way, and takes nothing more', async () => {
    const host = open();
    const heard = begin(host, task('wait'));
    await heard.first;
    const { pid } = host;
    await host.close();
    expect(isAlive(pid ?? 0)).toBe(false);
    expect(await heard.over).toMatchObject({ kind: 'unreachable' });
    expect((await failureOf(who(host))).kind).toBe('unreachable');
    await host.close();
    expect(lines).toEqual([]);
  });
});
