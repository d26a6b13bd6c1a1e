/** The embedding port against a server that answers as it is told. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  answers,
  createMockEngine,
  type MockEngine,
  type MockExchange,
  type MockRequest,
} from '../../../test/support/mock-engine.ts';
import { Wheel } from '../../lib/wheel.ts';
import type { EmbeddingRequest } from '../contract/embedding.ts';
import type { Engine } from '../contract/engine.ts';
import { toAddress } from './address.ts';
import type { FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import { createOpenaiCompatible } from './index.ts';

let mock: MockEngine;
let wheel: Wheel;
let now: number;
const engines: Engine[] = [];

beforeEach(async () => {
  now = 1_000_000;
  wheel = new Wheel({ now: () => now, tickMs: 10_000 });
  mock = await createMockEngine();
});

/** Whatever happened: no deadline waits. */
afterEach(async () => {
  expect(wheel.size).toBe(0);
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await mock.close();
});

function port(flavor: FlavorName = 'vllm', maxBatch?: number) {
  const engine = createOpenaiCompatible({
    address: toAddress(mock.url),
    flavor: flavors[flavor],
    apiKey: 'engine-key',
    headers: {},
    timeoutMs: 100_000,
    idleTimeoutMs: 20_000,
    maxBatch,
    wheel,
  });
  engines.push(engine);
  return engine.embedding!;
}

const request = (changes: Partial<EmbeddingRequest> = {}): EmbeddingRequest => ({
  model: 'Org/Model',
  inputs: ['a', 'b'],
  maxTokens: 512,
  ...changes,
});
const { signal: never } = new AbortController();
const sent = () => mock.others.map(({ body }) => body);
const inputsOf = ({ body }: MockRequest) => body?.['input'] as (string | number[])[];

/** A vector that tells which input it is for: the length of the input, in the direction of the first axis. */
function answerEach({ request: asked, json }: MockExchange): void {
  const data = inputsOf(asked).map((input, index) => ({
    object: 'embedding',
    index,
    embedding: [input.length, 1],
  }));
  json(200, {
    object: 'list',
    data,
    usage: { prompt_tokens: data.length * 3, total_tokens: data.length * 3 },
  });
}
const firstAxis = (vectors: readonly Float32Array[]) => vectors.map(([x = 0, y = 1]) => Math.round(x / y));

describe('a request', () => {
  it('asks for base64 under the engine’s name of the model, with nothing else in it', async () => {
    mock.route('/v1/embeddings', answerEach);
    await port('generic').embed(request(), never);
    expect(sent()).toEqual([{ model: 'Org/Model', input: ['a', 'b'], encoding_format: 'base64' }]);
    expect(mock.others[0]?.headers.authorization).toBe('Bearer engine-key');
  });

  it('[EMB-19] makes vLLM cut at the model’s own maximum', async () => {
    mock.route('/v1/embeddings', answerEach);
    await port('vllm').embed(request(), never);
    expect(sent()).toMatchObject([{ truncate_prompt_tokens: -1 }]);
  });

  it('[EMB-13] never asks for fewer dimensions: the vector is cut here, and brought to length 1', async () => {
    mock.route('/v1/embeddings', ({ json }) => json(200, { data: [{ index: 0, embedding: [3, 4, 12] }] }));
    const { vectors } = await port().embed(
      request({ inputs: ['a'], dimensions: 2, fullDimensions: 3 }),
      never,
    );
    expect(vectors).toEqual([Float32Array.of(0.6, 0.8)]);
    expect(sent()[0]).not.toHaveProperty('dimensions');
  });

  it('hands tokens on, cut to what the model reads, where the engine takes them', async () => {
    mock.route('/v1/embeddings', answerEach);
    await port('llama.cpp').embed(request({ inputs: [[1, 2, 3, 4], [5]], maxTokens: 3 }), never);
    expect(sent()).toMatchObject([{ input: [[1, 2, 3], [5]] }]);
  });

  it('[EMB-4] refuses tokens where the engine does not, naming input', async () => {
    await expect(port('ollama').embed(request({ inputs: [[1, 2]] }), never)).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'input',
    });
    expect(sent()).toEqual([]);
  });
});

describe('a long list', () => {
  const inputs = Array.from({ length: 2048 }, (_, index) => 'x'.repeat((index % 97) + 1));

  it.each(['vllm', 'sglang', 'llama.cpp', 'ollama', 'tei', 'generic'] as const)(
    '[EMB-8] is split as %s needs it and comes back in its order, with all its tokens',
    async (flavor) => {
      mock.route('/v1/embeddings', answerEach);
      const { vectors, promptTokens } = await port(flavor).embed(request({ inputs }), never);
      expect(firstAxis(vectors)).toEqual(inputs.map(({ length }) => length));
      expect(promptTokens).toBe(2048 * 3);
      const { batch } = flavors[flavor].embedding!;
      expect(mock.others.map((asked) => inputsOf(asked).length)).toEqual(
        Array.from({ length: Math.ceil(2048 / batch) }, (_, index) => Math.min(batch, 2048 - index * batch)),
      );
    },
  );

  it('[EMB-8] keeps its order when later parts are answered first, and when an engine mixes its answer', async () => {
    const held: (() => void)[] = [];
    mock.route('/v1/embeddings', ({ request: asked, json }) => {
      const data = inputsOf(asked).map((input, index) => ({ index, embedding: [input.length, 1] }));
      held.push(() => json(200, { data: data.reverse() }));
      if (held.length === 2) for (const answer of held.splice(0).reverse()) answer();
    });
    const { vectors } = await port('vllm', 3).embed(request({ inputs: inputs.slice(0, 12) }), never);
    expect(firstAxis(vectors)).toEqual(inputs.slice(0, 12).map(({ length }) => length));
  });

  it('has no more inputs in a request than the option maxBatch says, and no more than a megabyte', async () => {
    mock.route('/v1/embeddings', answerEach);
    await port('vllm', 2).embed(request({ inputs: ['a', 'b', 'c'] }), never);
    expect(mock.others.map(inputsOf)).toEqual([['a', 'b'], ['c']]);
    mock.others.splice(0);
    const long = Array.from({ length: 5 }, () => 'é'.repeat(200_000));
    await port('generic').embed(request({ inputs: long, maxTokens: 100_000 }), never);
    expect(mock.others.map((asked) => inputsOf(asked).length)).toEqual([2, 2, 1]);
  });

  it('fails with the first part that fails, and stops the others', async () => {
    mock.route('/v1/embeddings', ({ request: asked, json }) =>
      inputsOf(asked)[0] === 'b' ? json(500, { error: 'broken' }) : asked.aborted,
    );
    await expect(port('tei', 1).embed(request({ inputs: ['a', 'b'] }), never)).rejects.toMatchObject({
      kind: 'unreachable',
    });
    await mock.others.find((asked) => inputsOf(asked)[0] === 'a')?.aborted;
  });
});

describe('[EMB-19] a text that the engine calls too long', () => {
  /** One token for so many bytes. */
  const tokenizer = (bytesPerToken: number, limit: number) => (exchange: MockExchange) => {
    const longest = Math.max(...inputsOf(exchange.request).map((text) => Buffer.byteLength(String(text))));
    if (longest / bytesPerToken <= limit) return answerEach(exchange);
    const message = `The input (9999 tokens) is longer than the model's context length (${limit} tokens).`;
    return exchange.json(400, { object: 'error', message, type: 'BadRequestError', code: 400 });
  };

  it.each([
    [4.5, 2],
    [3.5, 3],
    [2.5, 4],
    [1, 5],
  ])('is cut until it fits (%s bytes a token: %s requests)', async (bytesPerToken, requests) => {
    mock.route('/v1/embeddings', tokenizer(bytesPerToken, 512));
    await port('sglang').embed(request({ inputs: ['short', 'ab '.repeat(5_000)] }), never);
    expect(mock.others).toHaveLength(requests);
    const [short, long] = inputsOf(mock.others.at(-1)!) as [string, string];
    expect(short).toBe('short');
    expect('ab '.repeat(5_000).startsWith(long)).toBe(true);
    // More than half of what would fit is kept.
    expect(long.length).toBeGreaterThan(0.5 * 512 * bytesPerToken);
  });

  it('is cut between two characters', async () => {
    mock.route('/v1/embeddings', tokenizer(1, 512));
    await port('sglang').embed(request({ inputs: [`a${'🍮'.repeat(400)}`] }), never);
    expect(inputsOf(mock.others.at(-1)!)).toEqual([`a${'🍮'.repeat(125)}`]);
  });

  it('is never sent beyond what no tokenizer needs', async () => {
    mock.route('/v1/embeddings', answerEach);
    await port('tei').embed(request({ inputs: ['x'.repeat(1_000_000)] }), never);
    expect(inputsOf(mock.others[0]!)[0]).toHaveLength(64 * 512);
  });

  it('fails as the engine says when nothing is left to cut, and any other refusal at once', async () => {
    mock.route('/v1/embeddings', tokenizer(0.001, 512));
    await expect(port('sglang').embed(request(), never)).rejects.toMatchObject({
      kind: 'invalid_request',
      message: expect.stringContaining('longer than'),
    });
    expect(mock.others).toHaveLength(1);
    mock.route('/v1/embeddings', answers.invalid('The model `x` does not exist.'));
    await expect(port().embed(request({ inputs: ['y'.repeat(9_000)] }), never)).rejects.toMatchObject({
      kind: 'invalid_request',
    });
    expect(mock.others).toHaveLength(2);
  });
});

describe('an answer', () => {
  const answering = (data: unknown, usage?: unknown) =>
    mock.route('/v1/embeddings', ({ json }) => json(200, { data, usage }));

  it.each([
    ['too few vectors', [{ index: 0, embedding: [1] }]],
    ['too many vectors', [0, 1, 2].map((index) => ({ index, embedding: [1] }))],
    [
      'an index that is not there',
      [
        { index: 0, embedding: [1] },
        { index: 7, embedding: [1] },
      ],
    ],
    ['an empty vector', [0, 1].map((index) => ({ index, embedding: [] }))],
    ['no numbers', [0, 1].map((index) => ({ index, embedding: [null, 1] }))],
    ['something else', [{ index: 0, embedding: {} }, null]],
    ['nothing', undefined],
  ])('with %s is a failure of the engine', async (_, data) => {
    answering(data);
    await expect(port().embed(request(), never)).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('of another length than the catalogue says is a failure of the engine', async () => {
    answering([0, 1].map((index) => ({ index, embedding: [1, 0, 0] })));
    await expect(port().embed(request({ fullDimensions: 4 }), never)).rejects.toMatchObject({
      kind: 'unreachable',
      cause: expect.objectContaining({ message: 'a vector of 3 values, not 4' }),
    });
  });

  it('is brought to length 1, and left bit by bit where it has it', async () => {
    const unit = Float32Array.of(0.6, 0.8);
    const base64 = Buffer.from(unit.buffer).toString('base64');
    answering([{ embedding: base64 }, { embedding: [30, 40] }]);
    const { vectors } = await port().embed(request(), never);
    expect(vectors).toEqual([unit, unit]);
  });

  it.each([undefined, null, { prompt_tokens: 0 }, { prompt_tokens: -5 }, { prompt_tokens: 1e15 }])(
    'without a usage that can be true (%j) is counted by its bytes',
    async (usage) => {
      answering([{ embedding: [1] }, { embedding: [1] }], usage);
      const { promptTokens } = await port().embed(request({ inputs: ['123456', 'é'] }), never);
      expect(promptTokens).toBe(3);
    },
  );
});

describe('failures', () => {
  it.each([
    ['busy', answers.busy(429, '7'), { kind: 'overloaded', retryAfterSeconds: 7 }],
    ['broken', answers.html500, { kind: 'unreachable' }],
    ['garbage', answers.garbage, { kind: 'unreachable' }],
    ['reset', answers.resetBeforeHeaders, { kind: 'unreachable' }],
    ['wrong model', answers.invalid('no such model'), { kind: 'invalid_request', message: 'no such model' }],
  ])('%s', async (_, script, expected) => {
    mock.route('/v1/embeddings', script);
    await expect(port().embed(request(), never)).rejects.toMatchObject(expected);
  });

  it('an engine that stays silent is late', async () => {
    mock.route('/v1/embeddings', answers.stallAtOnce);
    const embedded = port().embed(request(), never);
    now += 120_000;
    wheel.turn();
    await expect(embedded).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('a caller who leaves ends the request, before and while it is made', async () => {
    const arrived = Promise.withResolvers<MockRequest>();
    mock.route('/v1/embeddings', ({ request: asked }) => {
      arrived.resolve(asked);
      return asked.aborted;
    });
    const leaving = new AbortController();
    const embedded = port().embed(request(), leaving.signal);
    const outcome = expect(embedded).rejects.toThrow('gone');
    const asked = await arrived.promise;
    leaving.abort(new Error('gone'));
    await outcome;
    await asked.aborted;
    await expect(port().embed(request(), leaving.signal)).rejects.toThrow('gone');
    expect(mock.others).toHaveLength(1);
  });
});
