import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { Bytes, Content } from '../../lib/content.ts';
import { createLog } from '../../lib/log.ts';
import { JobFailure } from './failure.ts';
import { createPool, type MediaLimits, type MediaPool } from './pool.ts';

const stub = new URL('../../../test/support/media-stub.ts', import.meta.url);
const missing = new URL('../../../test/support/media-missing.ts', import.meta.url);
const usual: MediaLimits = {
  processes: 2,
  queueMs: 30_000,
  timeoutMs: 30_000,
  cpuMs: 60_000,
  memoryMb: 400,
  idleMs: 60_000,
};

const opened: MediaPool[] = [];
let lines: string[] = [];

function open(limits: Partial<MediaLimits> = {}, program = stub): MediaPool {
  lines = [];
  const log = createLog('debug', { write: (line) => lines.push(line) });
  const pool = createPool({ log, limits: { ...usual, ...limits }, program });
  opened.push(pool);
  return pool;
}

afterEach(async () => {
  const pids = opened.flatMap((pool) => pool.pids);
  await Promise.all(opened.splice(0).map((pool) => pool.close()));
  // Nothing is left behind.
  for (const pid of pids) expect(isAlive(pid)).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const never = new AbortController().signal;

async function ask(pool: MediaPool, input: string | Buffer, signal = never): Promise<string> {
  const job = {
    kind: 'probe',
    options: { container: 'wav' },
    input: Buffer.from(input),
    maxBytes: 0,
  } as const;
  const step = await pool.run(job, signal).next();
  if (!step.done) throw new Error('a probe emits nothing');
  return step.value.container;
}

function pieces(pool: MediaPool, signal = never, maxBytes = 1e9): AsyncGenerator<Uint8Array> {
  const options = { container: 'wav', sampleRate: 16_000, maxSeconds: 10 } as const;
  return pool.run({ kind: 'decode', options, input: Buffer.alloc(0), maxBytes }, signal);
}

/** Each piece in the same memory, as a file is read. */
function slowly(texts: readonly string[]): Content {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return {
    length,
    async *pieces() {
      const memory = Buffer.alloc(length);
      for (const text of texts) {
        yield memory.subarray(0, memory.write(text));
        memory.fill('?');
      }
    },
    toBuffer: async () => Buffer.from(texts.join('')),
  };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('a media process', () => {
  it('starts with the first job, takes its input whole, and does the next one too', async () => {
    const pool = open();
    expect(pool.pids).toEqual([]);
    expect(await ask(pool, Buffer.alloc(5_000_000, 'a'))).toBe('5000000');
    const first = pool.pids;
    expect(first).toHaveLength(1);
    expect(await ask(pool, Buffer.alloc(3, 'a'))).toBe('3');
    expect(pool.pids).toEqual(first);
  });

  it('sees nothing of the environment of the gateway', async () => {
    process.env['MEDIA_TEST_SECRET'] = 'secret';
    try {
      const seen = Object.keys(JSON.parse(await ask(open(), 'environment')));
      // What its allocator goes by is its own, and the same for every process.
      expect(
        seen
          .filter(
            (name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name) && !name.startsWith('NODE_CHANNEL'),
          )
          .toSorted(),
      ).toEqual(['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_']);
    } finally {
      delete process.env['MEDIA_TEST_SECRET'];
    }
  });

  it('that is killed from outside while it starts is replaced, and nobody is refused for it', async () => {
    const pool = open({ processes: 1 });
    const asked = ask(pool, 'ab');
    await until(() => pool.pids.length === 1);
    process.kill(pool.pids[0] as number, 'SIGKILL');
    expect(await asked).toBe('2');
  });

  it('that is killed at every start refuses for a moment only: the next attempt may succeed', async () => {
    const pool = open({ processes: 1 });
    let isOver = false;
    const asked = ask(pool, 'ab').finally(() => {
      isOver = true;
    });
    const killing = (async () => {
      while (!isOver) {
        for (const pid of pool.pids) process.kill(pid, 'SIGKILL');
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    const failure = { kind: 'overloaded', permanent: false };
    await expect(asked).rejects.toMatchObject(failure);
    await killing;
    await expect(ask(pool, 'ab')).rejects.toMatchObject(failure);
  });

  it.each([
    ['abort', 'crash'],
    ['exit', 'crash'],
    ['hang', 'time'],
    ['spin', 'time'],
    ['grow', 'memory'],
    ['outside', 'outside'],
  ])('that does %s fails its own job (%s) and is replaced', async (what, reason) => {
    // Short only where it is what ends it.
    const pool = open({
      timeoutMs: what === 'hang' ? 1_500 : 30_000,
      cpuMs: what === 'spin' ? 1_000 : 60_000,
    });
    await ask(pool, 'a');
    const [before] = pool.pids;
    const failure = await ask(pool, what).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(JobFailure);
    // Whatever notices it first: the kernel's limit shows as a crash.
    expect([reason, what === 'grow' ? 'crash' : reason]).toContain((failure as JobFailure).reason);
    expect(lines.join('')).toContain('a media process was lost with its job');
    expect(await ask(pool, 'ab')).toBe('2');
    expect(pool.pids).not.toContain(before);
  });

  it('goes on after a file that is at fault, and after a mistake of its own', async () => {
    const pool = open();
    await expect(ask(pool, 'problem')).rejects.toMatchObject({
      reason: 'input',
      problem: 'is not to my liking',
    });
    const before = pool.pids;
    await expect(ask(pool, 'mistake')).rejects.toMatchObject({ reason: 'job' });
    expect(await ask(pool, 'a')).toBe('1');
    expect(pool.pids).toEqual(before);
  });

  it('makes nothing that is not read, but for two pieces ahead', async () => {
    const run = pieces(open());
    const read = async () => {
      const piece = Buffer.from((await run.next()).value as Uint8Array);
      return { number: piece.readUInt32LE(), madeAt: piece.readDoubleLE(8) };
    };
    for (let number = 0; number < 20; number++) expect((await read()).number).toBe(number);
    // In this time it would make thousands.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const resumedAt = Date.now();
    const ahead = [await read(), await read(), await read(), await read()];
    expect(ahead.filter(({ madeAt }) => madeAt < resumedAt).length).toBeLessThanOrEqual(2);
    await run.return(undefined);
  });

  it('is free again when its reader leaves, and stays', async () => {
    const pool = open({ processes: 1 });
    const run = pieces(pool);
    await run.next();
    const before = pool.pids;
    await run.return(undefined);
    expect(await ask(pool, 'a')).toBe('1');
    expect(pool.pids).toEqual(before);
  });

  it('is free again when the signal comes while nobody reads', async () => {
    const pool = open({ processes: 1 });
    const leaving = new AbortController();
    const run = pieces(pool, leaving.signal);
    await run.next();
    leaving.abort(new Error('left'));
    expect(await ask(pool, 'a')).toBe('1');
    await expect(run.next()).rejects.toThrow('left');
    expect(await ask(pool, 'ab')).toBe('2');
  });

  it('stops a job at once when the signal comes in the middle of it', async () => {
    const pool = open({ processes: 1 });
    const leaving = new AbortController();
    const job = ask(pool, 'wait', leaving.signal);
    await until(() => pool.pids.length === 1 && lines.length > 0);
    leaving.abort(new Error('left'));
    await expect(job).rejects.toThrow('left');
    const before = pool.pids;
    expect(await ask(pool, 'a')).toBe('1');
    expect(pool.pids).toEqual(before);
  });

  it('that does not stop is ended, and another one takes its place', async () => {
    const pool = open({ processes: 1 });
    await ask(pool, 'a');
    const before = pool.pids;
    const leaving = new AbortController();
    const job = ask(pool, 'deaf', leaving.signal);
    leaving.abort(new Error('left'));
    await expect(job).rejects.toThrow('left');
    expect(await ask(pool, 'ab')).toBe('2');
    expect(pool.pids).not.toEqual(before);
  });

  it('takes an input piece by piece, several of them one behind the other', async () => {
    const pool = open();
    const run = async (input: readonly Bytes[]) => {
      const job = { kind: 'probe', options: { container: 'wav' }, input, maxBytes: 0 } as const;
      return ((await pool.run(job, never).next()).value as { container: string }).container;
    };
    const large = slowly(Array.from({ length: 40 }, () => 'a'.repeat(100_000)));
    expect(await run([large, Buffer.from('b'), slowly([])])).toBe('4000001');
    // Nothing is left of it in the pipe.
    await expect(run([slowly(['prob', 'lem'])])).rejects.toThrow(JobFailure);
  });

  it('that is stopped while its input is on the way is free again, and stays', async () => {
    const pool = open({ processes: 1 });
    await ask(pool, 'x');
    const before = pool.pids;
    const leaving = new AbortController();
    let handed = 0;
    const input: Content = {
      ...slowly([]),
      length: 3_000_000,
      async *pieces() {
        for (;;) {
          if (++handed === 3) leaving.abort(new Error('the client left'));
          // Its file is gone with the client.
          if (handed === 4) throw new Error('the file is closed');
          yield Buffer.alloc(1000);
        }
      },
    };
    const job = { kind: 'probe', options: { container: 'wav' }, input, maxBytes: 0 } as const;
    await expect(pool.run(job, leaving.signal).next()).rejects.toThrow('the client left');
    expect(await ask(pool, 'four')).toBe('4');
    expect(pool.pids).toEqual(before);
  });

  it('whose input cannot be read fails with its job, and another one takes its place', async () => {
    const pool = open({ processes: 1 });
    const input: Content = {
      ...slowly([]),
      length: 10,
      // biome-ignore lint/correctness/useYield: it fails before there is anything
      async *pieces() {
        throw new Error('the disk is broken');
      },
    };
    const job = { kind: 'probe', options: { container: 'wav' }, input, maxBytes: 0 } as const;
    await expect(pool.run(job, never).next()).rejects.toThrow('the disk is broken');
    expect(await ask(pool, 'four')).toBe('4');
  });

  it('that makes more than it may fails', async () => {
    const run = pieces(open(), never, 2_500);
    await run.next();
    await run.next();
    await expect(run.next()).rejects.toMatchObject({ reason: 'output' });
  });

  it('ends when it has had nothing to do for a while', async () => {
    const pool = open({ idleMs: 50 });
    await ask(pool, 'a');
    const [pid] = pool.pids;
    await until(() => pool.pids.length === 0);
    expect(isAlive(pid as number)).toBe(false);
  });
});

describe('the pool', () => {
  it('has jobs wait in line, no more at once than it has processes', async () => {
    const pool = open();
    const answers = await Promise.all(['a', 'ab', 'abc', 'abcd', 'abcde'].map((input) => ask(pool, input)));
    expect(answers).toEqual(['1', '2', '3', '4', '5']);
    expect(pool.pids.length).toBeLessThanOrEqual(2);
  });

  it('says that it is overloaded when no process becomes free in time', async () => {
    const pool = open({ processes: 1, queueMs: 1_500 });
    await ask(pool, 'a');
    const leaving = new AbortController();
    const busy = ask(pool, 'wait', leaving.signal);
    await expect(ask(pool, 'a')).rejects.toMatchObject({ kind: 'overloaded', retryAfterSeconds: 5 });
    leaving.abort(new Error('left'));
    await expect(busy).rejects.toThrow('left');
  });

  it('lets who leaves out of the line', async () => {
    const pool = open({ processes: 1 });
    await ask(pool, 'a');
    const [first, second] = [new AbortController(), new AbortController()];
    const busy = ask(pool, 'wait', first.signal);
    const waiting = ask(pool, 'never run', second.signal);
    second.abort(new Error('second left'));
    await expect(waiting).rejects.toThrow('second left');
    first.abort(new Error('first left'));
    await expect(busy).rejects.toThrow('first left');
  });

  it('says that audio is not there where FFmpeg cannot be loaded, and tells the operator why', async () => {
    const pool = open({}, missing);
    await expect(ask(pool, 'a')).rejects.toMatchObject({
      kind: 'unreachable',
      permanent: true,
      message: 'Audio cannot be processed on this installation',
    });
    expect(lines.join('')).toContain("Cannot find package 'node-av'");
    expect(lines.join('')).toContain('is the optional package node-av installed?');
    // At once, without another try.
    const told = lines.length;
    await expect(ask(pool, 'a')).rejects.toMatchObject({ kind: 'unreachable' });
    expect(lines).toHaveLength(told);
  });

  it('ends what is under way when it closes, and takes nothing more', async () => {
    const pool = open();
    await ask(pool, 'a');
    const busy = ask(pool, 'wait');
    const failed = expect(busy).rejects.toMatchObject({
      kind: 'unreachable',
      message: 'The gateway is being stopped',
    });
    await pool.close();
    await failed;
    expect(pool.pids).toEqual([]);
    await expect(ask(pool, 'a')).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('leaves no process behind when the gateway is killed', async () => {
    const { spawn } = await import('node:child_process');
    const script = `
      const { createPool } = await import(${JSON.stringify(new URL('./pool.ts', import.meta.url).href)});
      const log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
      const pool = createPool({ log, limits: ${JSON.stringify(usual)}, program: new URL(${JSON.stringify(stub.href)}) });
      const job = { kind: 'probe', options: {}, input: Buffer.from('a'), maxBytes: 0 };
      await pool.run(job, new AbortController().signal).next();
      process.stdout.write(String(pool.pids[0]));
      setInterval(() => {}, 1000);`;
    const gateway = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [told] = await once(gateway.stdout.setEncoding('utf8'), 'data');
    const pid = Number(told);
    expect(isAlive(pid)).toBe(true);
    gateway.kill('SIGKILL');
    await until(() => !isAlive(pid));
  });
});
