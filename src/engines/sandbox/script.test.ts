import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../lib/errors.ts';
import { createValidator } from '../../lib/schema.ts';
import { createScript, ScriptOptions, systemTimers, type Timers } from './script.ts';
import { toSeed } from './seed.ts';

/** Time that moves only when it is told to. */
function createManualTimers() {
  let now = 1000;
  const pending = new Set<{ dueAt: number; callback: () => void }>();
  const timers: Timers = {
    now: () => now,
    after(delayMs, callback) {
      const timer = { dueAt: now + delayMs, callback };
      pending.add(timer);
      return () => pending.delete(timer);
    },
  };
  const advance = async (ms: number) => {
    now += ms;
    for (const timer of [...pending]) {
      if (timer.dueAt > now) continue;
      pending.delete(timer);
      timer.callback();
    }
    await settle();
  };
  return { timers, advance, pending };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** How far a promise has come, without waiting for it. */
function watch(promise: Promise<unknown> | undefined) {
  const seen: { state: 'waiting' | 'done' | 'failed'; error?: unknown } = { state: 'waiting' };
  if (promise === undefined) seen.state = 'done';
  promise?.then(
    () => {
      seen.state = 'done';
    },
    (error: unknown) => {
      seen.state = 'failed';
      seen.error = error;
    },
  );
  return seen;
}

const never = new AbortController().signal;
const begin = (options: ScriptOptions, seed = 1n) => createScript(options).begin(seed, never);

async function failureOf(work: Promise<unknown> | undefined): Promise<GatewayError> {
  const error = await Promise.resolve(work).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GatewayError);
  return error as GatewayError;
}

describe('without a script', () => {
  it('nothing is waited for', async () => {
    const run = await begin({});
    expect(run.token(0)).toBeUndefined();
    expect(run.token(10_000)).toBeUndefined();
  });
});

describe('delays and pace', () => {
  it('delayMs passes before the first token', async () => {
    const { timers, advance, pending } = createManualTimers();
    const seen = watch(createScript({ delayMs: 300 }, timers).begin(1n, never));
    await advance(299);
    expect(seen.state).toBe('waiting');
    await advance(1);
    expect(seen.state).toBe('done');
    expect(pending.size).toBe(0);
  });

  it('tokensPerSecond spaces tokens from the start, so that a late one is caught up', async () => {
    const { timers, advance, pending } = createManualTimers();
    const run = await createScript({ tokensPerSecond: 10 }, timers).begin(1n, never);
    expect(run.token(0)).toBeUndefined();
    const second = watch(run.token(1));
    await advance(99);
    expect(second.state).toBe('waiting');
    await advance(151);
    expect(second.state).toBe('done');
    expect(run.token(2)).toBeUndefined();
    const fourth = watch(run.token(3));
    await advance(50);
    expect(fourth.state).toBe('done');
    expect(pending.size).toBe(0);
  });

  it('an abort ends a wait at once, with its reason and without a timer left', async () => {
    const { timers, pending } = createManualTimers();
    const leaving = new AbortController();
    const reason = new Error('the client left');
    const delayed = watch(createScript({ delayMs: 60_000 }, timers).begin(1n, leaving.signal));
    const run = await createScript({ tokensPerSecond: 1 }, timers).begin(1n, leaving.signal);
    const paced = watch(run.token(5));
    await settle();
    expect(pending.size).toBe(2);
    leaving.abort(reason);
    await settle();
    expect(delayed).toEqual({ state: 'failed', error: reason });
    expect(paced).toEqual({ state: 'failed', error: reason });
    expect(pending.size).toBe(0);
  });

  it('who has left already does not begin', async () => {
    const reason = new Error('gone');
    await expect(createScript({}).begin(1n, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('the real timers call back, and not after they were cancelled', async () => {
    const calls: string[] = [];
    const cancel = systemTimers.after(0, () => calls.push('cancelled'));
    cancel();
    await new Promise<void>((resolve) => systemTimers.after(1, resolve));
    expect(calls).toEqual([]);
  });
});

describe('failures before the first token', () => {
  it.each([
    ['refuse', 'unreachable'],
    ['error', 'unreachable'],
    ['overload', 'overloaded'],
    ['timeout', 'timeout'],
  ] as const)('failBefore %s is an error of the kind %s', async (failure, kind) => {
    expect((await failureOf(begin({ failBefore: failure }))).kind).toBe(kind);
    const worded = await failureOf(
      begin({ failBefore: { kind: failure, message: 'no room for /var/lib/x' } }),
    );
    expect(worded.kind).toBe(kind);
    expect(worded.message).toContain('no room for [path]');
  });

  it('an overload says when to try again', async () => {
    expect((await failureOf(begin({ failBefore: 'overload' }))).retryAfterSeconds).toBe(1);
    const options: ScriptOptions = { overload: { every: 1, retryAfterSeconds: 7 } };
    expect((await failureOf(begin(options))).retryAfterSeconds).toBe(7);
  });

  it('an engine text is cut to its first line without internals', async () => {
    const message = 'CUDA out of memory on http://10.0.0.5:8000/v1\n  at run (/srv/engine.py:12)';
    const failure = await failureOf(begin({ failBefore: { kind: 'error', message } }));
    expect(failure.message).toBe('The engine failed: CUDA out of memory on [address]');
  });

  it('the failure comes after the delay', async () => {
    const { timers, advance } = createManualTimers();
    const seen = watch(createScript({ delayMs: 50, failBefore: 'refuse' }, timers).begin(1n, never));
    await settle();
    expect(seen.state).toBe('waiting');
    await advance(50);
    expect(seen.state).toBe('failed');
  });
});

describe('failures after some tokens', () => {
  it('failAfterTokens delivers that many tokens and fails on the next', async () => {
    const run = await begin({ failAfterTokens: 3 });
    for (const index of [0, 1, 2]) expect(run.token(index)).toBeUndefined();
    expect((await failureOf(run.token(3))).kind).toBe('unreachable');
  });

  it('stallAfterTokens falls silent until the caller gives up', async () => {
    const { timers, advance, pending } = createManualTimers();
    const leaving = new AbortController();
    const run = await createScript({ stallAfterTokens: 2 }, timers).begin(1n, leaving.signal);
    expect(run.token(1)).toBeUndefined();
    const seen = watch(run.token(2));
    await advance(3_600_000);
    expect(seen.state).toBe('waiting');
    expect(pending.size).toBe(0);
    leaving.abort(new Error('idle'));
    await settle();
    expect(seen.state).toBe('failed');
  });

  it('stall never begins', async () => {
    const { timers, advance } = createManualTimers();
    const leaving = new AbortController();
    const seen = watch(createScript({ stall: true }, timers).begin(1n, leaving.signal));
    await advance(3_600_000);
    expect(seen.state).toBe('waiting');
    leaving.abort();
    await settle();
    expect(seen.state).toBe('failed');
  });
});

describe('overload', () => {
  const isOverloaded = (work: Promise<unknown>) =>
    work.then(
      () => false,
      (error: unknown) => error instanceof GatewayError && error.kind === 'overloaded',
    );

  it('every: 3 refuses each third request', async () => {
    const script = createScript({ overload: { every: 3 } });
    const fates: boolean[] = [];
    for (let request = 0; request < 7; request++) fates.push(await isOverloaded(script.begin(1n, never)));
    expect(fates).toEqual([false, false, true, false, false, true, false]);
  });

  it('rate refuses about that share of requests, and the same ones every time', async () => {
    const fates = async () => {
      const script = createScript({ overload: { rate: 0.25 } });
      const all: boolean[] = [];
      for (let index = 0; index < 400; index++)
        all.push(await isOverloaded(script.begin(toSeed({ index }), never)));
      return all;
    };
    const first = await fates();
    expect(await fates()).toEqual(first);
    const refused = first.filter(Boolean).length;
    expect(refused).toBeGreaterThan(70);
    expect(refused).toBeLessThan(130);
  });

  it('rate 0 refuses none and rate 1 all', async () => {
    expect(await isOverloaded(begin({ overload: { rate: 0 } }, 99n))).toBe(false);
    expect(await isOverloaded(begin({ overload: { rate: 1 } }, 99n))).toBe(true);
  });
});

describe('the shape of a script', () => {
  const validator = createValidator(ScriptOptions);

  it.each([
    [{ delayMs: -1 }, 'delayMs', 'must be at least 0'],
    [{ tokensPerSecond: 0 }, 'tokensPerSecond', 'must be greater than 0'],
    [{ failAfterTokens: 0 }, 'failAfterTokens', 'must be at least 1'],
    [{ overload: { rate: 2 } }, 'overload.rate', 'must be at most 1'],
    [{ overload: { often: true } }, 'overload.often', 'is not a known field'],
    [{ dealyMs: 5 }, 'dealyMs', 'is not a known field'],
  ])('%j is refused by path', (script, path, message) => {
    expect(validator.check(script)).toBe(false);
    expect(validator.problem(script)).toEqual({ path, message });
  });

  it('a failure is one of four, with or without words', () => {
    expect(validator.check({ failBefore: 'refuse' })).toBe(true);
    expect(validator.check({ failBefore: { kind: 'error', message: 'broken' } })).toBe(true);
    expect(validator.check({ failBefore: 'explode' })).toBe(false);
    expect(validator.problem({ failBefore: 'explode' }).path).toBe('failBefore');
  });
});
