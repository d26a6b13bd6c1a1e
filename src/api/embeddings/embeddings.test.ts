import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { request as send } from 'undici';
import { describe, expect, test } from 'vitest';
import { createRunShell } from '../../../test/support/run-shell.ts';
import { shellKey } from '../../../test/support/shell.ts';
import type { EmbeddingRequest, EmbeddingResult } from '../../engines/contract/embedding.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Declaration } from '../../platform/catalog/index.ts';
import { embeddingRoutes } from './index.ts';

const engine = { type: 'embedding', engine: 'sandbox', contextLength: 512 } as const;
const models: readonly Declaration[] = [
  { ...engine, id: 'plain', dimensions: 3, engineModel: 'Org/Plain' },
  { ...engine, id: 'flexible', dimensions: 1024, flexibleDimensions: true },
  {
    ...engine,
    id: 'aware',
    dimensions: 3,
    queryInstruction: { text: 'Instruct: find passages\nQuery: ', marker: 'Instruct:' },
  },
  { id: 'talker', type: 'chat', engine: 'sandbox', contextLength: 100 },
];

/** A vector for each input that tells its place, with values that no short decimal has. */
const vectorAt = (index: number) => Float32Array.of(index + 0.1, -1 / 3, 1e-9);

function createEmbeddingsShell(answer?: (request: EmbeddingRequest) => EmbeddingResult | Error) {
  const requests: EmbeddingRequest[] = [];
  const shell = createRunShell({
    routes: embeddingRoutes,
    models,
    engine: {
      embedding: {
        async embed(request) {
          requests.push(request);
          const result = answer?.(request) ?? {
            vectors: request.inputs.map((_, index) => vectorAt(index)),
            promptTokens: 7 * request.inputs.length,
          };
          if (result instanceof Error) throw result;
          return result;
        },
      },
    },
  });
  const post = (body: object) => shell.post('/embeddings', { model: 'plain', input: 'a', ...body });
  return {
    ...shell,
    requests,
    post,
    /** What reached the engine. */
    async request(body: object): Promise<EmbeddingRequest> {
      const answered = await post(body);
      if (answered.status !== 200) throw new Error(answered.body);
      return requests.at(-1)!;
    },
  };
}

const { post, request, requests, operations, settlements } = createEmbeddingsShell();

/** The field that a 400 names, in its message and as `param`. */
async function named(body: object): Promise<string> {
  const answer = await post(body);
  expect(answer.status).toBe(400);
  const { message, param } = answer.json().error;
  expect(message).toContain(param);
  return param;
}

const floats = (base64: string) => new Float32Array(new Uint8Array(Buffer.from(base64, 'base64')).buffer);

describe('an answer', () => {
  test('[EMB-1] is a 200 with an id, the list, the model and the usage', async () => {
    const answer = await post({ input: 'one' });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^emb-[0-9a-f]{24}$/),
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [...vectorAt(0)] }],
      model: 'plain',
      usage: { prompt_tokens: 7, total_tokens: 7, cost: 0.000012345678 },
    });
  });

  test('[EMB-20] [EMB-21] counts the tokens as integers and says what they cost as a number', async () => {
    const { usage } = (await post({ input: ['a', 'b', 'c'] })).json();
    expect(usage).toEqual({ prompt_tokens: 21, total_tokens: 21, cost: 0.000012345678 });
  });

  test('[EMB-7] has one item for each input, in their order', async () => {
    const { data } = (await post({ input: ['a', 'b', 'c'] })).json();
    expect(data).toEqual(
      [0, 1, 2].map((index) => ({ object: 'embedding', index, embedding: [...vectorAt(index)] })),
    );
  });

  test('[EMB-9] has arrays of numbers, asked for or not', async () => {
    for (const body of [{}, { encoding_format: 'float' }, { encoding_format: null }])
      expect((await post(body)).json().data[0].embedding).toEqual([...vectorAt(0)]);
  });

  test('[EMB-10] has little-endian float32 in base64 that equals the numbers exactly', async () => {
    const inputs = Array.from({ length: 2048 }, (_, index) => `text ${index}`);
    const embeddings = async (encoding_format: string) =>
      (await post({ input: inputs, encoding_format }))
        .json()
        .data.map(({ embedding }: { embedding: unknown }) => embedding);
    const base64: string[] = await embeddings('base64');
    expect(base64[1]).toBe(Buffer.from(vectorAt(1).buffer).toString('base64'));
    expect(Buffer.from(base64[1] ?? '', 'base64').readFloatLE(4)).toBe(Math.fround(-1 / 3));
    expect(base64.map((text) => [...floats(text)])).toEqual(await embeddings('float'));
  });

  test('carries the generation’s id and the rate limits, and is the operation embeddings', async () => {
    const answer = await post({});
    expect(answer.headers).toMatchObject({
      'x-generation-id': operations.at(-1)?.id,
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1s',
    });
    expect(operations.at(-1)).toMatchObject({ name: 'embeddings', caller: { subscriptionId: 'sub_1' } });
    expect(settlements.at(-1)).toEqual({ quantities: { promptTokens: 7 }, outcome: 'stop' });
  });

  test('leaves the event loop free while a long one is written', async () => {
    const wide = createEmbeddingsShell(({ inputs }) => ({
      vectors: inputs.map((_, index) => new Float32Array(1024).fill(1 / (index + 3))),
      promptTokens: 1,
    }));
    let turns = 0;
    let isOver = false;
    const counting = (async () => {
      for (; !isOver; turns++) await setImmediate();
    })();
    const { data } = (await wide.post({ input: Array.from({ length: 256 }, () => 'a') })).json();
    isOver = true;
    await counting;
    expect(data).toHaveLength(256);
    expect(data[255].embedding).toHaveLength(1024);
    // 262,144 values in pieces of 8,192.
    expect(turns).toBeGreaterThanOrEqual(32);
  });
});

describe('a client that leaves in the middle of a long answer', () => {
  test('ends the writing, and is no failure of the gateway', async () => {
    const wide = createEmbeddingsShell(({ inputs }) => ({
      vectors: inputs.map(() => new Float32Array(1024).fill(1 / 3)),
      promptTokens: 1,
    }));
    const address = await wide.listen();
    const { statusCode, body } = await send(`${address}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shellKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'plain', input: Array.from({ length: 2048 }, () => 'a') }),
    });
    expect(statusCode).toBe(200);
    await once(body, 'readable');
    body.on('error', () => {});
    body.destroy();
    while (wide.logged.length === 0) await setImmediate();
    expect(wide.logged).toEqual([expect.objectContaining({ route: '/embeddings', status: 200 })]);
    expect(wide.logged[0]).not.toHaveProperty('err');
    await wide.close();
  });
});

describe('what is embedded', () => {
  test('[EMB-2] model and input are required', async () => {
    expect(await named({ model: undefined })).toBe('model');
    expect(await named({ input: undefined })).toBe('input');
    expect(await named({ model: null })).toBe('model');
    expect(await named({ input: null })).toBe('input');
  });

  test('[EMB-3] may be a string or an array of strings', async () => {
    expect((await request({ input: 'one' })).inputs).toEqual(['one']);
    expect((await request({ input: ['one', 'two'] })).inputs).toEqual(['one', 'two']);
  });

  test('[EMB-4] may be an array of integers, which is one input, or an array of such arrays', async () => {
    expect((await request({ input: [1, 2, 3] })).inputs).toEqual([[1, 2, 3]]);
    expect((await request({ input: [[1, 2], [3]] })).inputs).toEqual([[1, 2], [3]]);
    const many = Array.from({ length: 5000 }, (_, index) => index);
    expect((await request({ input: many })).inputs).toEqual([many]);
  });

  test('[EMB-5] is up to 2048 inputs, and 2049 are a 400 naming input', async () => {
    const texts = Array.from({ length: 2049 }, () => 'a');
    expect((await request({ input: texts.slice(1) })).inputs).toHaveLength(2048);
    expect(await named({ input: texts })).toBe('input');
    const tokens = Array.from({ length: 2049 }, () => [1]);
    expect((await request({ input: tokens.slice(1) })).inputs).toHaveLength(2048);
    expect(await named({ input: tokens })).toBe('input');
  });

  test.each([
    { content: [{ type: 'text', text: 'a' }] },
    [{ content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] }],
    [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }],
    ['a', { type: 'text', text: 'b' }],
    [['a', 'b']],
    ['a', 1],
    [1, 'a'],
    [1, [2]],
    [1.5],
    [-1],
    [2 ** 40],
    [[1], []],
    [],
    '',
    ['a', ''],
    7,
    true,
  ])('[EMB-6] and nothing else: %j is a 400 naming input', async (input) => {
    const seen = requests.length;
    expect(await named({ input })).toMatch(/^input/);
    expect(requests).toHaveLength(seen);
  });

  test('[EMB-18] provider, session_id, trace and user are accepted and ignored, whatever they are', async () => {
    const extra = { provider: { order: ['x'] }, session_id: 's', trace: { a: 1 }, user: 7, unknown: [] };
    const { inputs, ...rest } = await request(extra);
    expect(rest).toEqual({ model: 'Org/Plain', maxTokens: 512, fullDimensions: 3 });
    expect(inputs).toEqual(['a']);
  });

  test('[EMB-19] is handed on whole, with what the model reads at most: the engine cuts it', async () => {
    const long = 'word '.repeat(2_000);
    expect(await request({ input: long })).toMatchObject({ inputs: [long], maxTokens: 512 });
  });
});

describe('parameters', () => {
  test.each(['Float', 'int8', '', 7, {}])('[EMB-11] encoding_format %j is a 400 naming it', async (value) => {
    expect(await named({ encoding_format: value })).toBe('encoding_format');
  });

  test.each([0, -1, 1.5, '8'])('[EMB-12] dimensions %j is a 400 naming it', async (dimensions) => {
    expect(await named({ model: 'flexible', dimensions })).toBe('dimensions');
  });

  test('[EMB-12] [EMB-13] dimensions reaches a model that is trained for it, up to its own length', async () => {
    expect(await request({ model: 'flexible', dimensions: 1 })).toMatchObject({ dimensions: 1 });
    expect(await request({ model: 'flexible', dimensions: 1024 })).toMatchObject({ dimensions: 1024 });
    expect(await request({ model: 'flexible' })).not.toHaveProperty('dimensions');
    expect(await named({ model: 'flexible', dimensions: 1025 })).toBe('dimensions');
  });

  test('[EMB-14] dimensions on a model that is not trained for it is a 400 naming it', async () => {
    expect(await named({ model: 'plain', dimensions: 2 })).toBe('dimensions');
    expect(await named({ model: 'plain', dimensions: 3 })).toBe('dimensions');
    expect(await request({ model: 'plain', dimensions: null })).not.toHaveProperty('dimensions');
  });

  test.each(['search_query', 'query'])(
    '[EMB-15] input_type %s puts the instruction before the text of an instruction-aware model',
    async (input_type) => {
      expect((await request({ model: 'aware', input: ['one', 'two'], input_type })).inputs).toEqual([
        'Instruct: find passages\nQuery: one',
        'Instruct: find passages\nQuery: two',
      ]);
      expect((await request({ model: 'plain', input_type })).inputs).toEqual(['a']);
      expect((await request({ model: 'aware', input: [1, 2], input_type })).inputs).toEqual([[1, 2]]);
    },
  );

  test('[EMB-16] a text that starts with the marker gets no second instruction', async () => {
    const input = ['Instruct: mine\nQuery: one', 'two Instruct:'];
    expect((await request({ model: 'aware', input, input_type: 'query' })).inputs).toEqual([
      'Instruct: mine\nQuery: one',
      'Instruct: find passages\nQuery: two Instruct:',
    ]);
  });

  test.each(['search_document', 'document', 'Query', '', undefined, null])(
    '[EMB-17] input_type %j sends inputs unchanged',
    async (input_type) => {
      expect((await request({ model: 'aware', input: ['one'], input_type })).inputs).toEqual(['one']);
    },
  );
});

describe('failures', () => {
  test('an unknown model and one of another type are a 404', async () => {
    for (const model of ['nobody', 'talker']) {
      const answer = await post({ model });
      expect(answer.status).toBe(404);
      expect(answer.json().error).toMatchObject({ param: 'model' });
    }
  });

  test('no key is a 401, before the body is looked at', async () => {
    const shell = createEmbeddingsShell();
    const answer = await shell.send({ method: 'POST', url: '/v1/embeddings', payload: {}, key: null });
    expect(answer.status).toBe(401);
  });

  test('a body of more than 8 MiB is a 413, and one of more than 310,000 values a 400', async () => {
    const large = await post({ input: 'x'.repeat(8 * 1024 * 1024) });
    expect(large.status).toBe(413);
    const tokens = Array.from({ length: 300 }, () => Array.from({ length: 1000 }, () => 7));
    expect((await request({ input: tokens })).inputs).toHaveLength(300);
    const many = await post({ input: [...tokens, ...tokens] });
    expect(many.status).toBe(400);
    expect(many.json().error.message).toContain('310000 values');
  });

  test.each([
    ['unreachable', 502],
    ['overloaded', 503],
    ['timeout', 504],
    ['rate_limited', 429],
  ] as const)('an engine that is %s is a %s', async (kind, status) => {
    const broken = createEmbeddingsShell(() => new GatewayError(kind, 'no', { retryAfterSeconds: 3 }));
    const answer = await broken.post({});
    expect(answer.status).toBe(status);
    expect(answer.json()).not.toHaveProperty('data');
  });
});
