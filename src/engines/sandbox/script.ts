/**
 * How a sandbox model behaves and misbehaves, as its `script` in the configuration says: delays, pace,
 * failures before and after the first token, silence, overload. Ports call `begin` once per request and
 * `token` before each token they deliver. The same request meets the same fate every time, but for
 * `overload.every`, which counts requests.
 */
import Type, { type Static } from 'typebox';
import { GatewayError } from '../../lib/errors.ts';
import { toPublicMessage } from '../../lib/public-message.ts';
import { createRandom } from './seed.ts';

const failures = ['refuse', 'error', 'overload', 'timeout'] as const;
type Failure = (typeof failures)[number];

export const ScriptOptions = Type.Object(
  {
    delayMs: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 3_600_000, description: 'Wait this long before the first token.' }),
    ),
    tokensPerSecond: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: 'The pace of a stream; as fast as it goes when absent.',
      }),
    ),
    failBefore: Type.Optional(
      Type.Union(
        [
          Type.Enum([...failures]),
          Type.Object(
            { kind: Type.Enum([...failures]), message: Type.Optional(Type.String({ minLength: 1 })) },
            { additionalProperties: false },
          ),
        ],
        {
          description:
            'Fail before the first token: refuse (no connection), error (the engine says why), overload, timeout.',
        },
      ),
    ),
    failAfterTokens: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Deliver this many tokens, then fail.' }),
    ),
    filterAfterTokens: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Chat: end the answer as filtered after this many tokens.' }),
    ),
    withoutImages: Type.Optional(Type.Boolean({ description: 'Images: answer without an image.' })),
    stall: Type.Optional(Type.Boolean({ description: 'Never begin: silent until the caller gives up.' })),
    stallAfterTokens: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Deliver this many tokens, then fall silent.' }),
    ),
    overload: Type.Optional(
      Type.Object(
        {
          rate: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 1,
              description: 'The share of requests, chosen by their seed.',
            }),
          ),
          every: Type.Optional(Type.Integer({ minimum: 1, description: 'Every Nth request.' })),
          retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 59 })),
        },
        { additionalProperties: false, description: 'Refuse some requests as overloaded.' },
      ),
    ),
  },
  { additionalProperties: false },
);

export type ScriptOptions = Static<typeof ScriptOptions>;

export interface Timers {
  now(): number;
  /** Calls back once, later; the answer cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** One request's way through a script. */
export interface ScriptRun {
  /**
   * Waits until token `index` (from 0) may be delivered; rejects when the script fails there or the caller
   * aborts. Answers undefined, not a promise, when there is nothing to wait for: it is called per token.
   */
  token(index: number): Promise<void> | undefined;
}

export interface Script {
  /** Waits until the first token may come; rejects with the scripted failure or the signal's reason. */
  begin(seed: bigint, signal: AbortSignal): Promise<ScriptRun>;
}

export function createScript(options: ScriptOptions, timers: Timers = systemTimers): Script {
  const {
    delayMs = 0,
    tokensPerSecond,
    failBefore,
    failAfterTokens,
    stall,
    stallAfterTokens,
    overload,
  } = options;
  let begun = 0;

  function isOverloaded(seed: bigint): boolean {
    begun += 1;
    if (overload?.every !== undefined && begun % overload.every === 0) return true;
    return overload?.rate !== undefined && createRandom(seed).next() < overload.rate;
  }

  return {
    async begin(seed, signal) {
      signal.throwIfAborted();
      // A full engine says so at once, before it would have started to work.
      if (isOverloaded(seed)) throw toFailure('overload', undefined, overload?.retryAfterSeconds);
      if (stall === true) await silence(signal);
      if (delayMs > 0) await wait(delayMs, signal, timers);
      if (typeof failBefore === 'string') throw toFailure(failBefore);
      if (failBefore !== undefined) throw toFailure(failBefore.kind, failBefore.message);

      const startedAt = timers.now();
      return {
        token(index) {
          if (signal.aborted) return Promise.reject(signal.reason);
          if (failAfterTokens !== undefined && index >= failAfterTokens) {
            return Promise.reject(toFailure('error', `the sandbox stopped after ${failAfterTokens} tokens`));
          }
          if (stallAfterTokens !== undefined && index >= stallAfterTokens) return silence(signal);
          if (tokensPerSecond === undefined) return undefined;
          // Measured from the start, so that a late timer does not slow the rest down.
          const dueMs = startedAt + (index * 1000) / tokensPerSecond - timers.now();
          return dueMs > 0 ? wait(dueMs, signal, timers) : undefined;
        },
      };
    },
  };
}

function toFailure(failure: Failure, message?: string, retryAfterSeconds = 1): GatewayError {
  const said = message === undefined ? undefined : toPublicMessage(message);
  switch (failure) {
    case 'refuse':
      return new GatewayError('unreachable', said ?? 'The engine cannot be reached');
    case 'error':
      return new GatewayError('unreachable', `The engine failed: ${said ?? 'scripted failure'}`);
    case 'overload':
      return new GatewayError('overloaded', said ?? 'The engine is overloaded', { retryAfterSeconds });
    case 'timeout':
      return new GatewayError('timeout', said ?? 'The engine did not answer in time');
  }
}

/** Ends only by the signal. */
function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Rejects with the signal's reason. */
export function wait(delayMs: number, signal: AbortSignal, timers: Timers): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = timers.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
