import { afterEach, describe, expect, it } from 'vitest';
import type { ChatPort, ChatRequest, ChatResult, ChatSink, Usage } from '../../engines/contract/chat.ts';
import type { Engine } from '../../engines/contract/engine.ts';
import { toJsonBytes } from '../../engines/contract/json-bytes.ts';
import { type ErrorKind, GatewayError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import type { LedgerRow } from '../billing/types.ts';
import type { ChatModel } from '../catalog/index.ts';
import type { Engines } from '../engines/index.ts';
import { createInference, type Inference } from './index.ts';
import type { BilledSink, Operation } from './types.ts';

const usage: Usage = { promptTokens: 10, completionTokens: 2, cachedTokens: 0, reasoningTokens: 0 };
const model = {
  id: 'm',
  type: 'chat',
  engines: ['a', 'b'],
  pricing: { prompt: '0.000001', completion: '0.000002' },
} as unknown as ChatModel;
const request = {
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  affinity: '',
} as unknown as ChatRequest;

const rate = { limit: 60, remaining: 59, resetMs: 1000 };

/** An engine whose sink the test holds. */
function createEngine() {
  const calls: { sink: ChatSink; isAborted: boolean; isPaused: boolean }[] = [];
  const completions: ((error: GatewayError | undefined) => void)[] = [];
  const finish: ((result: ChatResult) => void)[] = [];
  const chat: ChatPort = {
    stream(_request, sink) {
      const call = { sink, isAborted: false, isPaused: false };
      calls.push(call);
      return {
        abort: () => {
          call.isAborted = true;
        },
        pause: () => {
          call.isPaused = true;
        },
        resume: () => {
          call.isPaused = false;
        },
      };
    },
    complete(_request, done) {
      const call = { sink: undefined as unknown as ChatSink, isAborted: false, isPaused: false };
      calls.push(call);
      finish.push((result) => done(undefined, result));
      completions.push((error) =>
        error === undefined ? done(undefined, { choices: [], usage }) : done(error),
      );
      return {
        abort: () => {
          call.isAborted = true;
        },
        pause() {},
        resume() {},
      };
    },
    countTokens: async () => 7,
  };
  return { calls, completions, finish, chat };
}

let inference: Inference;
afterEach(() => inference.close());

function setUp() {
  const a = createEngine();
  const b = createEngine();
  const rows: LedgerRow[] = [];
  const released: string[] = [];
  const entered: string[] = [];
  let permits = 0;
  const byName = { a, b };
  inference = createInference({
    admission: {
      enter: (_subscription, modelId, { requestsPerMinute }) => {
        entered.push(`${modelId}: ${requestsPerMinute}`);
        permits++;
        return { rate, release: () => void permits-- };
      },
      rate: () => rate,
      close: async () => {},
    },
    billing: { record: (row) => void rows.push(row), settle: async () => {}, close: async () => {} },
    engines: {
      use(names, _affinity, tried) {
        const name = names.find((candidate) => !tried.includes(candidate)) as 'a' | 'b' | undefined;
        if (name === undefined) return undefined;
        const { chat } = byName[name];
        return {
          name,
          engine: { kind: 'fake', chat, health: async () => ({ ok: true }), close: async () => {} },
          enter: () => undefined,
          release: (outcome) =>
            void released.push(`${name} ${typeof outcome === 'string' ? outcome : outcome.kind}`),
        };
      },
      forQuestion: () => ({ kind: 'fake', chat: a.chat }) as Engine,
    } satisfies Pick<Engines, 'use' | 'forQuestion'> as unknown as Engines,
    limitsOf: () => ({ requestsPerMinute: 60, concurrent: 8, maxQueueWaitMs: 1 }),
    now: () => 1_000,
    log: createLog('silent'),
  });
  const controller = new AbortController();
  const operation: Operation = {
    id: 'gen_1',
    caller: { subscriptionId: 'sub_1', keyId: 'key_1', keyName: 'k' },
    name: 'chat',
    signal: controller.signal,
  };
  const heard: string[] = [];
  const sink: BilledSink = {
    onStart: () => void heard.push('start'),
    text: (_choice, piece) => void heard.push(`text ${piece}`),
    reasoning: (_choice, piece) => void heard.push(`reasoning ${piece}`),
    tool: () => void heard.push('tool'),
    finish: (_choice, { reason }) => void heard.push(`finish ${reason}`),
    usage: ({ completionTokens }) => void heard.push(`usage ${completionTokens}`),
    cost: (picoUsd) => void heard.push(`cost ${picoUsd}`),
    flush: () => void heard.push('flush'),
    end: () => void heard.push('end'),
    fail: ({ kind }) => void heard.push(`fail ${kind}`),
  };
  return { a, b, rows, entered, released, permits: () => permits, controller, operation, sink, heard };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const failure = (kind: ErrorKind) => new GatewayError(kind, 'x');

describe('a count', () => {
  it('[BILL-27] that a client asks for has limits of its own, and no bill', async () => {
    const { rows, entered, permits, operation } = setUp();
    expect(await inference.countPrompt(operation, model, async () => request)).toBe(7);
    expect([entered, permits(), rows]).toEqual([['m questions: 600'], 0, []]);
    await expect(
      inference.countPrompt(operation, model, () => Promise.reject(failure('invalid_request'))),
    ).rejects.toMatchObject({ kind: 'invalid_request' });
    expect(permits()).toBe(0);
  });
});

describe('a stream', () => {
  it('passes the parts on, bills before the end, and gives everything back', async () => {
    const { a, rows, released, permits, operation, sink, heard } = setUp();
    const done = inference.stream(operation, model, request, sink);
    await turn();
    expect(permits()).toBe(1);
    const engine = a.calls[0]!.sink;
    engine.text(0, toJsonBytes('he'));
    engine.text(0, toJsonBytes('y'));
    engine.finish(0, { reason: 'stop', native: 'stop' });
    engine.usage(usage);
    engine.flush();
    engine.end();
    expect(heard.at(-1)).toBe('flush');
    await done;
    expect(heard).toEqual([
      'start',
      'text he',
      'text y',
      'finish stop',
      'flush',
      'cost 14000000',
      'usage 2',
      'end',
    ]);
    expect(rows).toMatchObject([
      {
        id: 'gen_1',
        modelId: 'm',
        outcome: 'stop',
        streamed: true,
        quantities: usage,
        costPicoUsd: 14_000_000n,
      },
    ]);
    expect([released, permits()]).toEqual([['a answered'], 0]);
  });

  it('goes to another engine when one fails before the first part', async () => {
    const { a, b, rows, released, operation, sink, heard } = setUp();
    const done = inference.stream(operation, model, request, sink);
    await turn();
    a.calls[0]!.sink.fail(failure('unreachable'));
    const engine = b.calls[0]!.sink;
    engine.text(0, toJsonBytes('hi'));
    engine.finish(0, { reason: 'length', native: 'length' });
    engine.usage(usage);
    engine.end();
    await done;
    expect(heard.slice(0, 3)).toEqual(['start', 'text hi', 'finish length']);
    expect(released).toEqual(['a unreachable', 'b answered']);
    expect(rows).toMatchObject([{ outcome: 'length' }]);
  });

  it('rejects with the last failure when every engine failed, and bills nothing', async () => {
    const { a, b, rows, permits, operation, sink, heard } = setUp();
    const done = inference.stream(operation, model, request, sink);
    await turn();
    a.calls[0]!.sink.fail(failure('unreachable'));
    b.calls[0]!.sink.fail(failure('overloaded'));
    await expect(done).rejects.toMatchObject({ kind: 'overloaded' });
    expect([heard, rows, permits()]).toEqual([[], [], 0]);
  });

  it('does not ask another engine about a request that is wrong', async () => {
    const { a, b, operation, sink } = setUp();
    const done = inference.stream(operation, model, request, sink);
    await turn();
    a.calls[0]!.sink.fail(failure('invalid_request'));
    await expect(done).rejects.toMatchObject({ kind: 'invalid_request' });
    expect(b.calls).toEqual([]);
  });

  it('[BILL-4] tells a failure after the first part inside the stream, and bills what was delivered', async () => {
    const { a, b, rows, released, operation, sink, heard } = setUp();
    const done = inference.stream(operation, model, request, sink);
    await turn();
    a.calls[0]!.sink.reasoning(0, toJsonBytes('hm'));
    a.calls[0]!.sink.text(0, toJsonBytes('hi'));
    a.calls[0]!.sink.fail(failure('unreachable'));
    await done;
    expect(heard).toEqual(['start', 'reasoning hm', 'text hi', 'fail unreachable']);
    expect(b.calls).toEqual([]);
    expect(released).toEqual(['a unreachable']);
    expect(rows).toMatchObject([
      { outcome: 'error', quantities: { promptTokens: 7, completionTokens: 2, reasoningTokens: 1 } },
    ]);
  });

  it('[BILL-4] stops the engine when the client leaves, and bills what was delivered', async () => {
    const { a, rows, permits, controller, operation, sink, heard } = setUp();
    const done = inference.stream(operation, model, request, sink);
    await turn();
    a.calls[0]!.sink.text(0, toJsonBytes('hi'));
    controller.abort(failure('invalid_request'));
    await expect(done).rejects.toMatchObject({ kind: 'invalid_request' });
    expect([a.calls[0]!.isAborted, permits()]).toEqual([true, 0]);
    await inference.close();
    expect(rows).toMatchObject([
      { outcome: 'cancelled', quantities: { promptTokens: 7, completionTokens: 1 } },
    ]);
    expect(heard).toEqual(['start', 'text hi']);
  });

  it('[BILL-4] bills by the bytes what an engine delivers in pieces of many tokens', async () => {
    const { a, rows, controller, operation, sink } = setUp();
    const done = inference.stream(operation, model, request, sink);
    await turn();
    for (let i = 0; i < 10; i++) a.calls[0]!.sink.text(0, toJsonBytes('x'.repeat(1_000)));
    controller.abort(failure('invalid_request'));
    await expect(done).rejects.toMatchObject({ kind: 'invalid_request' });
    await inference.close();
    expect(rows).toMatchObject([{ quantities: { completionTokens: 2_500, reasoningTokens: 0 } }]);
  });

  it('stops the engine when the client leaves before the first part, and bills nothing', async () => {
    const { a, rows, permits, controller, operation, sink } = setUp();
    const done = inference.stream(operation, model, request, sink);
    await turn();
    controller.abort(failure('invalid_request'));
    await expect(done).rejects.toMatchObject({ kind: 'invalid_request' });
    await inference.close();
    expect([a.calls[0]!.isAborted, permits(), rows]).toEqual([true, 0, []]);
  });

  it('can be slowed down by the reader', async () => {
    const { a, operation, sink } = setUp();
    let flow = { pause() {}, resume() {} };
    const done = inference.stream(operation, model, request, {
      ...sink,
      onStart: (given) => {
        flow = given;
      },
    });
    await turn();
    const call = a.calls[0]!;
    call.sink.text(0, toJsonBytes('hi'));
    flow.pause();
    expect(call.isPaused).toBe(true);
    flow.resume();
    expect(call.isPaused).toBe(false);
    call.sink.end();
    await done;
  });
});

describe('a whole answer', () => {
  it('[BILL-1] is billed once it is there', async () => {
    const { a, rows, released, permits, operation } = setUp();
    const done = inference.complete(operation, model, request);
    await turn();
    a.completions[0]!(undefined);
    expect(await done).toMatchObject({ costPicoUsd: 14_000_000n, result: { usage } });
    expect(rows).toMatchObject([{ streamed: false, costPicoUsd: 14_000_000n }]);
    expect([released, permits()]).toEqual([['a answered'], 0]);
  });

  it('goes to another engine when one fails, and fails with the last one', async () => {
    const { a, b, rows, permits, operation } = setUp();
    const done = inference.complete(operation, model, request);
    await turn();
    a.completions[0]!(failure('timeout'));
    await turn();
    b.completions[0]!(failure('unreachable'));
    await expect(done).rejects.toMatchObject({ kind: 'unreachable' });
    expect([rows, permits()]).toEqual([[], 0]);
  });

  it('is counted where the engine does not say what it used', async () => {
    const { a, rows, operation } = setUp();
    const done = inference.complete(operation, model, request);
    await turn();
    a.finish[0]!({
      choices: [],
      usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
    });
    await done;
    expect(rows).toMatchObject([{ quantities: { promptTokens: 7, completionTokens: 7 } }]);
  });

  it('is given up when the client leaves', async () => {
    const { a, b, rows, permits, controller, operation } = setUp();
    const done = inference.complete(operation, model, request);
    await turn();
    controller.abort(failure('invalid_request'));
    await expect(done).rejects.toMatchObject({ kind: 'invalid_request' });
    expect([a.calls[0]!.isAborted, b.calls.length, rows, permits()]).toEqual([true, 0, [], 0]);
  });
});
