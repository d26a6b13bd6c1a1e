/** Streamed chat as a plain HTTP client sees it: over a socket, byte by byte, with the sandbox engine. */
import http, { type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ChatCompletionChunk } from '../../src/api/chat/schema.ts';
import { createValidator } from '../../src/lib/schema.ts';
import type { LedgerRow } from '../../src/platform/billing/types.ts';
import { createChatGateway, weatherSchema } from '../support/chat-gateway.ts';
import { toChunks } from '../support/chat-shell.ts';
import type { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let base: string;
beforeAll(async () => {
  gateway = await createChatGateway();
  base = await gateway.listen();
});
afterAll(() => gateway.close());

const say = (content: string) => [{ role: 'user', content }];
const counted = '1, 2, 3, 4, 5, 6, 7, 8, 9.';

interface Sent {
  /** Resolves with the head of the answer; rejects when the connection breaks before it. */
  head: Promise<IncomingMessage>;
  leave(): void;
}

function send(fields: object): Sent {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  const request = http.request(`${base}/chat/completions`, { method: 'POST', headers, agent: false });
  request.end(JSON.stringify({ messages: say('Count to 9'), stream: true, ...fields }));
  const head = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
  });
  head.catch(() => {});
  return { head, leave: () => request.destroy() };
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let body = '';
  for await (const piece of response) body += piece;
  return body;
}

const isChunk = createValidator(ChatCompletionChunk);

/** The chunks of a stream that ends well, each held against the declared shape. */
async function read(fields: object = {}): Promise<ChatCompletionChunk[]> {
  const response = await send(fields).head;
  const body = await bodyOf(response);
  expect(response.statusCode, body).toBe(200);
  const chunks = toChunks(body);
  for (const chunk of chunks)
    if (!isChunk.check(chunk)) throw new Error(JSON.stringify(isChunk.problem(chunk)));
  return chunks;
}

const textOf = (chunks: readonly ChatCompletionChunk[], choice = 0) =>
  chunks
    .flatMap(({ choices }) => choices)
    .filter(({ index }) => index === choice)
    .map(({ delta }) => delta.content ?? '')
    .join('');

const whole = async (fields: object = {}) => {
  const payload = { messages: say('Count to 9'), ...fields };
  return (await gateway.inject({ method: 'POST', url: '/v1/chat/completions', payload })).json();
};

describe('the form of a stream', () => {
  it('[STREAM-1] stream true is an event stream; false, null and absent are JSON', async () => {
    const typeOf = async (fields: object) => {
      const response = await send(fields).head;
      response.resume();
      return response.headers['content-type'];
    };
    expect(await typeOf({})).toMatch(/^text\/event-stream/);
    for (const stream of [false, null, undefined]) {
      expect(await typeOf({ stream })).toMatch(/^application\/json/);
    }
  });

  it('[STREAM-2] [STREAM-18] has data lines only, ends with [DONE], and may not be held back', async () => {
    const response = await send({}).head;
    const { headers } = response;
    expect([headers['cache-control'], headers['x-accel-buffering']]).toEqual(['no-cache', 'no']);
    expect(headers['x-generation-id']).toMatch(/^gen_/);
    const body = await bodyOf(response);
    const lines = body.split('\n').filter((line) => line !== '');
    expect(lines.every((line) => line.startsWith('data: '))).toBe(true);
    expect(body.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
    expect(body.match(/\[DONE\]/g)).toHaveLength(1);
  });

  it('[STREAM-3] every chunk carries the same id, time, model and fingerprint', async () => {
    const chunks = await read();
    const { id, created, model, system_fingerprint: fingerprint } = chunks[0]!;
    expect(id).toMatch(/^chatcmpl-/);
    expect(fingerprint).not.toBe('');
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ id, created, model, system_fingerprint: fingerprint });
      expect(chunk.object).toBe('chat.completion.chunk');
    }
  });

  it('[STREAM-4] [STREAM-5] begins with the role, and its pieces add up to the text', async () => {
    const chunks = await read();
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    expect(chunks.slice(1).every(({ choices }) => choices[0]?.delta.role === undefined)).toBe(true);
    expect(textOf(chunks)).toBe(counted);
    // Text of every kind arrives as it was said.
    const odd = 'Grüße, "世界" \\ 🌍\u2028\u0007 </script>';
    expect(textOf(await read({ messages: say(`Repeat: ${odd}`) }))).toBe(odd);
  });

  it('[STREAM-6] reasoning comes first, in pieces of its own', async () => {
    const chunks = await read({ model: 'sandbox-reasoner', reasoning_effort: 'minimal' });
    const kinds = chunks.flatMap(({ choices }) => Object.keys(choices[0]?.delta ?? {}));
    expect(kinds).not.toContain('reasoning_content');
    expect(kinds.lastIndexOf('reasoning')).toBeLessThan(kinds.indexOf('content', 2));
    const thoughts = chunks.map(({ choices }) => choices[0]?.delta.reasoning ?? '').join('');
    const { choices } = await whole({ model: 'sandbox-reasoner', reasoning_effort: 'minimal' });
    expect(thoughts).toBe(choices[0].message.reasoning);
    expect(textOf(chunks)).toBe(counted);
  });

  it('[STREAM-10] [STREAM-11] [CHAT-89] only the last chunk of a choice has a finish reason, and an empty delta', async () => {
    const chunks = await read();
    const last = chunks.pop();
    for (const { choices } of chunks) expect(choices[0]).toHaveProperty('finish_reason', null);
    expect(last?.choices[0]).toMatchObject({
      delta: {},
      finish_reason: 'stop',
      native_finish_reason: 'end_of_text',
    });
    expect(chunks.some(({ choices }) => choices[0]?.native_finish_reason !== undefined)).toBe(false);
  });

  it('[STREAM-9] [STREAM-12] every choice has its role, its text and its finish', async () => {
    const fields = { n: 3, messages: say('Tell me about tea') };
    const chunks = await read(fields);
    const { choices } = await whole(fields);
    for (const index of [0, 1, 2]) {
      const own = chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.index === index);
      expect(own[0]?.delta).toEqual({ role: 'assistant', content: '' });
      expect(own.filter((choice) => choice.finish_reason !== null)).toHaveLength(1);
      expect(textOf(chunks, index)).toBe(choices[index].message.content);
    }
    expect(chunks.flatMap((chunk) => chunk.choices).every(({ index }) => index < 3)).toBe(true);
  });

  it('[STREAM-13] with include_usage the usage is a last chunk without choices', async () => {
    const chunks = await read({ stream_options: { include_usage: true } });
    const { usage } = await whole();
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
    expect(chunks.slice(0, -1).some((chunk) => 'usage' in chunk || chunk.choices.length === 0)).toBe(false);
  });

  it('[STREAM-14] [STREAM-15] [STREAM-16] otherwise it is on the finish chunk, and no usage is null', async () => {
    for (const options of [undefined, null, { include_usage: false }]) {
      const chunks = await read({ stream_options: options });
      const { usage } = await whole();
      expect(chunks.at(-1)).toMatchObject({ usage, choices: [{ finish_reason: 'stop' }] });
      expect(chunks.slice(0, -1).some((chunk) => 'usage' in chunk)).toBe(false);
      expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true);
      const nulls = JSON.stringify(chunks).match(/"\w+":null/g) ?? [];
      expect([...new Set(nulls)].sort()).toEqual(['"finish_reason":null', '"logprobs":null']);
    }
  });

  it('[STREAM-17] log probabilities come with their tokens', async () => {
    const chunks = await read({ logprobs: true, top_logprobs: 1 });
    const { choices } = await whole({ logprobs: true, top_logprobs: 1 });
    const tokens = chunks.flatMap((chunk) => chunk.choices[0]?.logprobs?.content ?? []);
    expect(tokens).toEqual(choices[0].logprobs.content);
    for (const { choices: told } of chunks) {
      const { delta, logprobs } = told[0]!;
      const covered = logprobs?.content.map(({ token }) => token).join('') ?? '';
      expect(covered).toBe(delta.content ?? '');
    }
  });
});

describe('tool calls in a stream', () => {
  const weather = { name: 'get_weather', description: 'The weather in a city.', parameters: weatherSchema };
  const fields = {
    messages: say('What is the weather in Paris and London?'),
    tools: [{ type: 'function', function: weather }],
  };

  it('[STREAM-7] [STREAM-8] [STREAM-9] id, type and name come once, then only arguments that add up', async () => {
    const chunks = await read(fields);
    const { choices } = await whole(fields);
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    for (const [index, call] of choices[0].message.tool_calls.entries()) {
      const [first, ...later] = deltas.filter((delta) => delta.index === index);
      expect(first).toMatchObject({ id: call.id, type: 'function', function: { name: 'get_weather' } });
      expect(later.length).toBeGreaterThan(2);
      for (const delta of later) {
        expect(Object.keys(delta).sort()).toEqual(['function', 'index']);
        expect(Object.keys(delta.function)).toEqual(['arguments']);
      }
      const said = [first, ...later].map((delta) => delta?.function.arguments).join('');
      expect(said).toBe(call.function.arguments);
      expect(createValidator(weatherSchema).check(JSON.parse(said))).toBe(true);
    }
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });
});

describe('a stream that fails', () => {
  it('[ERR-40] [STREAM-20] before its first token has its real status and a JSON body', async () => {
    for (const [model, status] of [
      ['refusing', 502],
      ['busy', 503],
      ['late', 504],
    ] as const) {
      const response = await send({ model }).head;
      expect([response.statusCode, response.headers['content-type']]).toEqual([
        status,
        'application/json; charset=utf-8',
      ]);
      expect(JSON.parse(await bodyOf(response)).error.code).toBe(status);
    }
  });

  it('[STREAM-20] has no head before the first token', async () => {
    const silent = send({ model: 'silent' });
    let hasHead = false;
    silent.head.then(
      () => {
        hasHead = true;
      },
      () => {},
    );
    // Another stream begins and ends meanwhile.
    expect(textOf(await read())).toBe(counted);
    expect(hasHead).toBe(false);
    silent.leave();
    // The place is free again: one request at a time runs on this model.
    const next = send({ model: 'silent' });
    await read();
    next.leave();
  });

  it('[STREAM-22] [STREAM-23] [STREAM-18] [ERR-41] after it ends with an error chunk and [DONE]', async () => {
    const chunks = await read({ model: 'breaking' });
    const last = chunks.pop();
    expect(textOf(chunks)).toBe('1, 2, 3');
    expect(last?.choices).toMatchObject([{ index: 0, finish_reason: 'error' }]);
    expect(last?.error).toEqual({
      code: 502,
      message: 'The engine failed: the sandbox stopped after 5 tokens',
      type: 'server_error',
      metadata: { error_type: 'provider_unavailable' },
    });
    expect(chunks.some((chunk) => 'error' in chunk)).toBe(false);
    expect((await whole({ model: 'breaking' })).error.code).toBe(502);
  });

  it('[STREAM-24] no chunk of a stream that ends well has an error', async () => {
    expect((await read()).some((chunk) => 'error' in chunk)).toBe(false);
  });

  it('[ERR-38] [ERR-39] tells the first line of what the engine said, without addresses', async () => {
    const response = await send({ model: 'telling' }).head;
    const { error } = JSON.parse(await bodyOf(response));
    expect(error.message).toBe('The engine failed: out of memory at [address]');
  });
});

describe('what a stream is billed', () => {
  /** The ledger is written in batches, soon after the answer. */
  async function rowOf(response: IncomingMessage): Promise<LedgerRow> {
    const { accounts, usage } = gateway.house.platform;
    const { subscription } = await accounts.ensureDefault();
    const id = String(response.headers['x-generation-id']);
    return vi.waitFor(
      async () => {
        const row = await usage.generation(subscription.id, id);
        if (row === undefined) throw new Error(`${id} is not in the ledger`);
        return row;
      },
      { timeout: 60_000 },
    );
  }

  /** Reads until the text has come, then closes the connection at once. */
  async function readUntil(fields: object, text: string): Promise<IncomingMessage> {
    const sent = send(fields);
    const response = await sent.head;
    response.setEncoding('utf8');
    let body = '';
    for await (const piece of response) {
      body += piece;
      if (body.includes(text)) break;
    }
    sent.leave();
    return response;
  }

  it('[STREAM-19] a client that closes on [DONE] is billed in full, not as one that left', async () => {
    const { usage } = await whole();
    for (let round = 0; round < 5; round++) {
      const row = await rowOf(await readUntil({}, 'data: [DONE]'));
      expect([row.outcome, row.streamed]).toEqual(['stop', true]);
      expect(row.quantities).toMatchObject({
        promptTokens: usage.prompt_tokens,
        completionTokens: usage.completion_tokens,
      });
      expect(Number(row.costPicoUsd) / 1e12).toBeCloseTo(usage.cost, 12);
    }
  });

  it('[BILL-4] a client that leaves is billed for what it got, and so is a stream that fails', async () => {
    const left = await rowOf(await readUntil({ model: 'stalling' }, '"content":" 3"'));
    expect(left.outcome).toBe('cancelled');
    expect(left.quantities).toMatchObject({ promptTokens: 10, completionTokens: 5 });
    const broken = await rowOf(await readUntil({ model: 'breaking' }, 'data: [DONE]'));
    expect(broken.outcome).toBe('error');
    expect(broken.quantities).toMatchObject({ promptTokens: 10, completionTokens: 5 });
  });
});
