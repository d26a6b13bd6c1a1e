import { afterEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../engines/contract/engine.ts';
import { type ErrorKind, GatewayError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import type { LedgerRow } from '../billing/types.ts';
import type { TranscriptionModel } from '../catalog/index.ts';
import type { Engines } from '../engines/index.ts';
import { createInference, type Inference, type Operation, type Session } from './index.ts';

const model = {
  id: 'm',
  type: 'transcription',
  engines: ['a', 'b'],
  pricing: { prompt: '0.001' },
} as unknown as TranscriptionModel;
const rate = { limit: 60, remaining: 59, resetMs: 1000 };

let inference: Inference;
afterEach(() => inference.close());

function setUp() {
  const rows: LedgerRow[] = [];
  const released: string[] = [];
  const waits: (number | undefined)[] = [];
  const affinities = new Set<string>();
  let permits = 0;
  let admissions = 0;
  inference = createInference({
    admission: {
      enter: () => {
        admissions++;
        permits++;
        return { rate, release: () => void permits-- };
      },
      rate: () => rate,
      close: async () => {},
    },
    billing: { record: (row) => void rows.push(row), settle: async () => {}, close: async () => {} },
    engines: {
      use(names, affinity, tried) {
        affinities.add(affinity);
        const name = names.find((candidate) => !tried.includes(candidate));
        if (name === undefined) return undefined;
        return {
          name,
          engine: { kind: name, health: async () => ({ ok: true }), close: async () => {} },
          enter(_subscriptionId, _signal, maxWaitMs) {
            waits.push(maxWaitMs);
            return undefined;
          },
          release: (outcome) =>
            void released.push(`${name} ${typeof outcome === 'string' ? outcome : outcome.kind}`),
        };
      },
    } as Engines,
    limitsOf: () => ({ requestsPerMinute: 60, concurrent: 8, maxQueueWaitMs: 7 }),
    now: () => 1_000,
    log: createLog('silent'),
  });
  const controller = new AbortController();
  const operation: Operation = {
    id: 'gen_1',
    caller: { subscriptionId: 'sub_1', keyId: 'key_1', keyName: 'k' },
    name: 'transcription',
    signal: controller.signal,
  };
  const run = <T>(work: (session: Session) => Promise<T>) =>
    inference.session(operation, model, work, { streamed: true });
  return {
    rows,
    released,
    waits,
    affinities,
    permits: () => permits,
    admissions: () => admissions,
    controller,
    run,
  };
}

const failure = (kind: ErrorKind) => new GatewayError(kind, 'x');
const nameOf = async ({ kind }: Engine) => kind;

describe('a session', () => {
  it('[BILL-28] is counted once and billed once, however many calls it makes', async () => {
    const { rows, released, affinities, permits, admissions, run } = setUp();
    const cost = await run(async (session) => {
      expect(await session.call(nameOf)).toBe('a');
      session.delivered({ seconds: 1 });
      await session.call(nameOf);
      session.delivered({ seconds: 2 });
      return session.bill({ quantities: { seconds: 3 }, outcome: 'stop' });
    });
    expect(cost).toBe(3_000_000_000n);
    expect(rows).toMatchObject([
      {
        id: 'gen_1',
        operation: 'transcription',
        outcome: 'stop',
        streamed: true,
        quantities: { seconds: 3 },
      },
    ]);
    expect([released, permits(), admissions()]).toEqual([['a answered', 'a answered'], 0, 1]);
    expect([...affinities]).toEqual(['gen_1']);
  });

  it('can be refused for want of a slot by its first call only', async () => {
    const { waits, run } = setUp();
    await run(async (session) => {
      await session.call(nameOf);
      await session.call(nameOf);
    });
    expect(waits).toEqual([7, undefined]);
  });

  it('goes to another engine with a call that failed, also after others have delivered', async () => {
    const { released, run } = setUp();
    const answer = await run(async (session) => {
      await session.call(nameOf);
      session.delivered({ seconds: 1 });
      return session.call(async ({ kind }) => {
        if (kind === 'a') throw failure('unreachable');
        return kind;
      });
    });
    expect(answer).toBe('b');
    expect(released).toEqual(['a answered', 'a unreachable', 'b answered']);
  });

  it('[BILL-4] bills what was delivered when a call fails in the middle of it, and tries no other engine', async () => {
    const { rows, released, permits, run } = setUp();
    const done = run((session) =>
      session.call(async () => {
        session.delivered({ seconds: 2 });
        throw failure('unreachable');
      }),
    );
    await expect(done).rejects.toMatchObject({ kind: 'unreachable' });
    expect(rows).toMatchObject([{ outcome: 'error', quantities: { seconds: 2 } }]);
    expect([released, permits()]).toEqual([['a unreachable'], 0]);
  });

  it('[BILL-4] bills what was delivered to a client who leaves', async () => {
    const { rows, permits, controller, run } = setUp();
    const done = run(async (session) => {
      session.delivered({ seconds: 2 });
      controller.abort(failure('request_timeout'));
      await session.call(nameOf);
    });
    await expect(done).rejects.toMatchObject({ kind: 'request_timeout' });
    await inference.close();
    expect(rows).toMatchObject([{ outcome: 'cancelled', quantities: { seconds: 2 } }]);
    expect(permits()).toBe(0);
  });

  it('costs nothing when it fails before anything was delivered', async () => {
    const { rows, run } = setUp();
    await expect(run((session) => session.call(() => Promise.reject(failure('internal'))))).rejects.toThrow();
    expect(rows).toEqual([]);
  });

  it('is not billed again when it fails after the bill', async () => {
    const { rows, run } = setUp();
    const done = run(async (session) => {
      session.delivered({ seconds: 1 });
      await session.bill({ quantities: { seconds: 1 }, outcome: 'stop' });
      throw failure('internal');
    });
    await expect(done).rejects.toThrow();
    expect(rows).toHaveLength(1);
  });
});
