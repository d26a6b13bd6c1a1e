/** The streamed answer: its chunks one by one, its failures, and that it adds up to the whole answer. */
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createChatShell, hello, pushText, toChunks } from '../../../test/support/chat-shell.ts';
import { shellKey } from '../../../test/support/shell.ts';
import type { ChatChoice, Finish, FinishReason, TokenLogprob } from '../../engines/contract/chat.ts';
import { type JsonBytes, toJsonBytes } from '../../engines/contract/json-bytes.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { BilledSink } from '../../platform/inference/types.ts';
import { toCompletion } from './render.ts';
import type { ChatCompletion, ChatCompletionChunk } from './schema.ts';
import { ChatRenderer } from './stream.ts';

const bytes = toJsonBytes;
const stop: Finish = { reason: 'stop', native: 'eos' };
const usage = { promptTokens: 20, completionTokens: 9, cachedTokens: 4, reasoningTokens: 3 };
const usageOnWire = {
  prompt_tokens: 20,
  completion_tokens: 9,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 3 },
  cost: 1e-7,
};

function end(sink: BilledSink, ...choices: number[]): void {
  for (const choice of choices) sink.finish(choice, stop);
  sink.cost(100_000n);
  sink.usage(usage);
  sink.end();
}

/** The choices of the chunks that a script makes. */
const streamed = (script: (sink: BilledSink) => void, fields: object = {}) =>
  createChatShell({ stream: script }).chunks(fields);
const deltas = (chunks: ChatCompletionChunk[]) =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));

/** Keeps what a renderer writes. */
class Kept {
  text = '';
  isStarted = false;
  ended = false;
  flow: object | undefined;
  write(piece: string): void {
    this.isStarted = true;
    this.text += piece;
  }
  end(piece: string): void {
    this.write(piece);
    this.ended = true;
  }
  onPressure(flow: object): void {
    this.flow = flow;
  }
  /** As the client reads it. */
  get body(): string {
    return Buffer.from(this.text, 'latin1').toString('utf8');
  }
}

const head = { id: 'chatcmpl-1', created: 1_760_000_000, model: 'plain' };

describe('a stream', () => {
  test('[STREAM-1] [STREAM-2] it is an event stream of data lines only', async () => {
    const answer = await createChatShell().post({ messages: hello, stream: true });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    for (const line of answer.body.split('\n')) expect(line).toMatch(/^(data: .+)?$/);
  });

  test('[STREAM-3] [CHAT-93] every chunk has the same id, object, created, model and fingerprint', async () => {
    const chunks = await createChatShell().chunks({ model: 'thinker' });
    expect(chunks.length).toBeGreaterThan(2);
    const [{ id, created }] = chunks;
    expect(id).toMatch(/^chatcmpl-[0-9a-f]{24}$/);
    expect(Number.isInteger(created)).toBe(true);
    for (const chunk of chunks)
      expect(chunk).toMatchObject({
        id,
        created,
        object: 'chat.completion.chunk',
        model: 'thinker',
        system_fingerprint: 'fp_roundhouse',
      });
  });

  test('[STREAM-4] [STREAM-5] [STREAM-10] [STREAM-11] the role, the text, the finish', async () => {
    const chunks = await streamed((sink) => {
      sink.text(0, bytes('Hel'));
      sink.flush();
      sink.text(0, bytes('lo "you" \n 你好 🎉'));
      end(sink, 0);
    });
    expect(chunks.map(({ choices }) => choices)).toEqual([
      [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
      [{ index: 0, delta: { content: 'Hel' }, logprobs: null, finish_reason: null }],
      [{ index: 0, delta: { content: 'lo "you" \n 你好 🎉' }, logprobs: null, finish_reason: null }],
      [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop', native_finish_reason: 'eos' }],
    ]);
  });

  test('[STREAM-6] [CHAT-79] reasoning comes as delta.reasoning', async () => {
    const chunks = await streamed((sink) => {
      sink.reasoning(0, bytes('Hm'));
      sink.reasoning(0, bytes('…'));
      sink.text(0, bytes('Yes'));
      end(sink, 0);
    });
    expect(deltas(chunks)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning: 'Hm' },
      { reasoning: '…' },
      { content: 'Yes' },
      {},
    ]);
  });

  test('[STREAM-7] [STREAM-8] a tool call’s names come once, then only index and arguments', async () => {
    const chunks = await streamed((sink) => {
      sink.tool(0, 0, 'call_1', 'f', bytes(''));
      sink.tool(0, 0, undefined, undefined, bytes('{"a":'));
      sink.tool(0, 1, 'call_2', 'g', bytes('{}'));
      sink.tool(0, 0, undefined, undefined, bytes('"ü"}'));
      sink.tool(0, 0, undefined, undefined, bytes(''));
      end(sink, 0);
    });
    expect(deltas(chunks).slice(1, -1)).toEqual([
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] },
      {
        tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'g', arguments: '{}' } }],
      },
      { tool_calls: [{ index: 0, function: { arguments: '"ü"}' } }] },
    ]);
  });

  test('[CHAT-83] a call that got no arguments has {} by the end', async () => {
    const chunks = await streamed((sink) => {
      sink.tool(0, 0, 'call_1', 'f', bytes(''));
      end(sink, 0);
    });
    expect(deltas(chunks)[2]).toEqual({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] });
  });

  test('[STREAM-9] tool indexes count from 0 to at most 127, and no choice beyond n is shown', async () => {
    const chunks = await streamed((sink) => {
      for (let index = 0; index < 130; index++)
        sink.tool(0, index * 3 + 5, `call_${index}`, 'f', bytes('{}'));
      sink.text(1, bytes('nobody asked'));
      sink.finish(1, stop);
      end(sink, 0);
    });
    const indexes = deltas(chunks).flatMap(({ tool_calls = [] }) => tool_calls.map(({ index }) => index));
    expect(indexes).toEqual(Array.from({ length: 128 }, (_, index) => index));
    expect(JSON.stringify(chunks)).not.toContain('nobody');
  });

  test('[STREAM-12] with n above 1 every choice has its role chunk and its finish chunk', async () => {
    for (const stream_options of [undefined, { include_usage: true }]) {
      const chunks = await streamed(
        (sink) => {
          sink.text(1, bytes('b'));
          sink.text(0, bytes('a'));
          sink.text(2, bytes('c'));
          sink.finish(1, stop);
          sink.text(0, bytes('a'));
          end(sink, 2, 0);
        },
        { n: 3, stream_options },
      );
      for (const index of [0, 1, 2]) {
        const own = chunks.flatMap(({ choices }) =>
          choices.filter((choice: { index: number }) => choice.index === index),
        );
        expect(own[0].delta).toEqual({ role: 'assistant', content: '' });
        expect(own.at(-1)).toMatchObject({ delta: {}, finish_reason: 'stop' });
        expect(
          own.slice(0, -1).every(({ finish_reason }: { finish_reason: unknown }) => finish_reason === null),
        ).toBe(true);
      }
      expect(chunks.filter((chunk) => 'usage' in chunk)).toHaveLength(1);
      expect(chunks.at(-1)).toHaveProperty('usage');
    }
  });

  const short = (sink: BilledSink) => {
    sink.text(0, bytes('Hi'));
    end(sink, 0);
  };

  test('[STREAM-13] with include_usage the last chunk has no choices and the usage', async () => {
    const chunks = await streamed(short, { stream_options: { include_usage: true } });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: usageOnWire });
    expect(chunks.at(-2).choices[0].finish_reason).toBe('stop');
    expect(chunks.slice(0, -1).some((chunk) => 'usage' in chunk)).toBe(false);
  });

  test('[STREAM-14] [STREAM-15] otherwise the finish chunk has it, and no chunk has empty choices', async () => {
    for (const stream_options of [undefined, null, {}, { include_usage: false }, { include_usage: null }]) {
      const chunks = await streamed(short, { stream_options });
      expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage: usageOnWire });
      for (const chunk of chunks) expect(chunk.choices).toHaveLength(1);
      expect(chunks.slice(0, -1).some((chunk) => 'usage' in chunk)).toBe(false);
    }
  });

  test('[CHAT-90] [CHAT-91] usage is whole also when an engine told none', async () => {
    const chunks = await streamed((sink) => {
      sink.text(0, bytes('Hi'));
      sink.finish(0, stop);
      sink.end();
    });
    expect(chunks.at(-1).usage).toMatchObject({
      total_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
      cost: 0,
    });
  });

  test('[STREAM-15] [STREAM-16] [STREAM-24] nothing is null that may not be, and nothing but a failure has error', async () => {
    const chunks = await streamed((sink) => {
      sink.reasoning(0, bytes('Hm'));
      sink.text(0, bytes('a'), [{ token: 'a', logprob: -1, bytes: null, topLogprobs: [] }]);
      sink.tool(0, 0, 'call_1', 'f', bytes(''));
      end(sink, 0);
    });
    const nulls = new Set<string>();
    for (const chunk of chunks) {
      expect(chunk).not.toHaveProperty('error');
      JSON.stringify(chunk, (key, value) => {
        if (value === null) nulls.add(key);
        return value;
      });
    }
    // `bytes` of a log probability is null where the shape of log probabilities says so.
    expect([...nulls].sort()).toEqual(['bytes', 'finish_reason', 'logprobs', 'refusal']);
  });

  test('[STREAM-17] [CHAT-41] [CHAT-42] log probabilities come with their chunk', async () => {
    const logprob = (token: string): TokenLogprob => ({
      token,
      logprob: -0.5,
      bytes: [...Buffer.from(token)],
      topLogprobs: [{ token: 'ö', logprob: -1, bytes: null }],
    });
    const chunks = await streamed(
      (sink) => {
        sink.text(0, bytes('H'), [logprob('H')]);
        sink.text(0, bytes('ü'), [logprob('ü')]);
        sink.text(0, bytes(''), [logprob('')]);
        end(sink, 0);
      },
      { logprobs: true, top_logprobs: 1 },
    );
    const told = chunks.map(({ choices }) => choices[0].logprobs);
    expect(told[0]).toBeNull();
    expect(told[2]).toEqual({
      content: [
        {
          token: 'ü',
          logprob: -0.5,
          bytes: [195, 188],
          top_logprobs: [{ token: 'ö', logprob: -1, bytes: null }],
        },
      ],
      refusal: null,
    });
    expect(told[3].content).toHaveLength(1);
    expect(told[4]).toBeNull();
  });

  test('[STREAM-18] [STREAM-19] it ends with [DONE], and nothing follows', async () => {
    const { body } = await createChatShell().post({ messages: hello, stream: true });
    expect(body.endsWith('}\n\ndata: [DONE]\n\n')).toBe(true);
    expect(body.split('[DONE]')).toHaveLength(2);
  });

  test('an answer without a single piece still has its role and its finish', async () => {
    const chunks = await streamed((sink) => end(sink, 0));
    expect(deltas(chunks)).toEqual([{ role: 'assistant', content: '' }, {}]);
  });
});

describe('a failure', () => {
  const failing = (kind: 'unreachable' | 'timeout', fields: object = {}) =>
    streamed((sink) => {
      sink.text(0, bytes('Hel'));
      sink.flush();
      sink.fail(new GatewayError(kind, 'The engine went “away”'));
    }, fields);

  test('[STREAM-22] [STREAM-23] [STREAM-18] [ERR-41] after the first token it is a last chunk, then [DONE]', async () => {
    for (const fields of [{}, { stream_options: { include_usage: true } }]) {
      const chunks = await failing('unreachable', fields);
      expect(chunks).toHaveLength(3);
      expect(chunks.at(-1)).toMatchObject({
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
        error: {
          code: 502,
          message: 'The engine went “away”',
          type: 'server_error',
          metadata: { error_type: 'provider_unavailable' },
        },
      });
      expect(chunks.slice(0, -1).some((chunk) => 'error' in chunk)).toBe(false);
    }
    expect((await failing('timeout')).at(-1).error).toMatchObject({ code: 504, type: 'timeout_error' });
  });

  test('a failure right behind the first part, in the same read, still shows that part', async () => {
    const chunks = await streamed((sink) => {
      sink.text(0, bytes('Hel'));
      sink.fail(new GatewayError('unreachable', 'gone'));
    });
    expect(deltas(chunks)).toEqual([{ role: 'assistant', content: '' }, { content: 'Hel' }, { content: '' }]);
  });

  test('a failure between the finish and the usage leaves one last chunk, with the error', async () => {
    const chunks = await streamed((sink) => {
      sink.text(0, bytes('Hel'));
      sink.finish(0, stop);
      sink.fail(new GatewayError('unreachable', 'gone'));
    });
    expect(chunks.map(({ choices }) => choices[0].finish_reason)).toEqual([null, null, 'error']);
  });

  test('[STREAM-20] before the first part nothing is written', () => {
    const out = new Kept();
    const renderer = new ChatRenderer(out, { ...head, n: 1, includeUsage: false });
    renderer.onStart({ pause: () => {}, resume: () => {} });
    renderer.flush();
    renderer.fail(new GatewayError('unreachable', 'gone'));
    expect(out).toMatchObject({ text: '', isStarted: false, ended: false });
  });

  test('[STREAM-21] an engine that is silent before the first token is a 504', async () => {
    const shell = createChatShell({
      stream: () => Promise.reject(new GatewayError('timeout', 'The model did not answer in time')),
    });
    const answer = await shell.post({ messages: hello, stream: true });
    expect(answer.status).toBe(504);
    expect(answer.json().error.type).toBe('timeout_error');
  });
});

describe('over a socket', () => {
  afterEach(() => vi.useRealTimers());

  const ask = (port: number) => {
    const socket = connect(port, '127.0.0.1');
    const body = JSON.stringify({ messages: hello, stream: true });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${shellKey}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('utf8');
    });
    return { socket, received: () => received };
  };

  test('[STREAM-20] headers are not sent before the first token, and leave with it', async () => {
    const called = Promise.withResolvers<BilledSink>();
    const ended = Promise.withResolvers<void>();
    const shell = createChatShell({
      stream: (sink) => {
        called.resolve(sink);
        return ended.promise;
      },
    });
    const { socket, received } = ask(Number(new URL(await shell.listen()).port));
    const sink = await called.promise;
    // A whole round over the same loopback: whatever was sent before would be here by now.
    const other = connect(socket.remotePort!, '127.0.0.1');
    other.write('GET /v1/nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    other.resume();
    await once(other, 'close');
    expect(received()).toBe('');
    sink.text(0, bytes('Hel你'));
    sink.flush();
    await once(socket, 'data');
    expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received()).toContain('"delta":{"content":"Hel你"}');
    end(sink, 0);
    ended.resolve();
    await once(socket, 'close');
    expect(received()).toContain('data: [DONE]\n\n');
    expect(shell.operations[0]?.signal.aborted).toBe(false);
    await shell.close();
  });

  test('[STREAM-25] a stream that is silent for 15 s sends a comment, only after the headers', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    const called = Promise.withResolvers<BilledSink>();
    const ended = Promise.withResolvers<void>();
    const shell = createChatShell({
      stream: (sink) => {
        called.resolve(sink);
        return ended.promise;
      },
    });
    const answered = shell.post({ messages: hello, stream: true });
    const sink = await called.promise;
    vi.advanceTimersByTime(60_000);
    sink.text(0, bytes('Hi'));
    sink.flush();
    vi.advanceTimersByTime(14_999);
    sink.text(0, bytes('!'));
    sink.flush();
    vi.advanceTimersByTime(30_001);
    end(sink, 0);
    ended.resolve();
    const { body } = await answered;
    expect(body.startsWith('data: ')).toBe(true);
    expect(body.match(/: keep-alive\n\n/g)?.length).toBeGreaterThanOrEqual(1);
    expect(body.indexOf('"!"')).toBeLessThan(body.indexOf(': keep-alive'));
    expect(toChunks(body)).toHaveLength(4);
  });

  test('the brakes are handed to the stream before the first part', () => {
    const out = new Kept();
    const flow = { pause: () => {}, resume: () => {} };
    new ChatRenderer(out, { ...head, n: 1, includeUsage: false }).onStart(flow);
    expect(out.flow).toBe(flow);
  });
});

type Step =
  | { kind: 'text'; choice: number; text: string }
  | { kind: 'reasoning'; choice: number; text: string }
  | { kind: 'logprobs'; choice: number; text: string; logprob: number }
  | { kind: 'tool'; choice: number; index: number; text: string }
  | { kind: 'flush' };

const choice = fc.nat({ max: 2 });
const text = fc.string({ unit: 'binary', maxLength: 12 }).map((value) => value.toWellFormed());
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), choice, text }),
  fc.record({ kind: fc.constant('reasoning' as const), choice, text }),
  fc.record({
    kind: fc.constant('logprobs' as const),
    choice,
    text,
    logprob: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  }),
  fc.record({ kind: fc.constant('tool' as const), choice, index: fc.nat({ max: 3 }), text }),
  fc.record({ kind: fc.constant('flush' as const) }),
);

interface Gathered {
  text: string;
  reasoning: string;
  logprobs: TokenLogprob[] | undefined;
  calls: Map<number, { id: string; name: string; arguments: string }>;
}

/** Plays the steps into a renderer, and gathers what a whole answer of the same parts would be. */
function play(
  steps: readonly Step[],
  finishes: readonly FinishReason[],
  renderer: ChatRenderer,
): ChatChoice[] {
  const gathered = finishes.map(
    (): Gathered => ({ text: '', reasoning: '', logprobs: undefined, calls: new Map() }),
  );
  let calls = 0;
  for (const part of steps) {
    if (part.kind === 'flush') {
      renderer.flush();
      continue;
    }
    const own = gathered[part.choice]!;
    const piece: JsonBytes = bytes(part.text);
    if (part.kind === 'text') {
      own.text += part.text;
      renderer.text(part.choice, piece);
    } else if (part.kind === 'reasoning') {
      own.reasoning += part.text;
      renderer.reasoning(part.choice, piece);
    } else if (part.kind === 'logprobs') {
      const told = { token: part.text, logprob: part.logprob, bytes: null, topLogprobs: [] };
      own.text += part.text;
      own.logprobs = [...(own.logprobs ?? []), told];
      renderer.text(part.choice, piece, [told]);
    } else {
      const known = own.calls.get(part.index);
      if (known === undefined) {
        const call = { id: `call_${calls++}`, name: `f${part.index}`, arguments: part.text };
        own.calls.set(part.index, call);
        renderer.tool(part.choice, part.index, call.id, call.name, piece);
      } else {
        known.arguments += part.text;
        renderer.tool(part.choice, part.index, undefined, undefined, piece);
      }
    }
  }
  for (const [index, reason] of finishes.entries()) renderer.finish(index, { reason, native: `n-${reason}` });
  return gathered.map(({ calls: called, ...own }, index) => ({
    ...own,
    toolCalls: [...called.values()],
    finish: { reason: finishes[index]!, native: `n-${finishes[index]}` },
  }));
}

/** A completion put together from chunks, as an SDK does it. */
function accumulate(chunks: readonly ChatCompletionChunk[]): Pick<ChatCompletion, 'choices' | 'usage'> {
  const choices: ChatCompletion['choices'] = [];
  let total: ChatCompletion['usage'] | undefined;
  for (const chunk of chunks) {
    total = chunk.usage ?? total;
    for (const { index, delta, logprobs, finish_reason, native_finish_reason } of chunk.choices) {
      if (delta.role !== undefined) {
        expect(choices[index]).toBeUndefined();
        choices[index] = {
          index,
          message: { role: delta.role, content: '', refusal: null, reasoning: null },
          logprobs: null,
          finish_reason: 'error',
          native_finish_reason: '',
        };
      }
      const own = choices[index]!;
      if (delta.content !== undefined) own.message.content += delta.content;
      if (delta.reasoning !== undefined)
        own.message.reasoning = (own.message.reasoning ?? '') + delta.reasoning;
      for (const { index: at, id, type, function: called } of delta.tool_calls ?? []) {
        own.message.tool_calls ??= [];
        if (id !== undefined) {
          expect(type).toBe('function');
          expect(own.message.tool_calls).toHaveLength(at);
          own.message.tool_calls.push({
            id,
            type: 'function',
            function: { name: called.name!, arguments: '' },
          });
        }
        own.message.tool_calls[at]!.function.arguments += called.arguments;
      }
      if (logprobs !== null)
        own.logprobs = { content: [...(own.logprobs?.content ?? []), ...logprobs.content], refusal: null };
      if (finish_reason !== null) own.finish_reason = finish_reason;
      if (native_finish_reason !== undefined) own.native_finish_reason = native_finish_reason;
    }
  }
  for (const { message } of choices)
    if (message.content === '' && message.tool_calls !== undefined) message.content = null;
  return { choices, usage: total! };
}

describe('for any sequence of parts', () => {
  test('[STREAM-5] [STREAM-8] [CHAT-95] the chunks add up to the same completion as the whole rendering', () => {
    const reasons = fc.constantFrom<FinishReason>('stop', 'length', 'tool_calls', 'content_filter');
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30 }),
        fc.array(reasons, { minLength: 3, maxLength: 3 }),
        fc.boolean(),
        fc.bigInt({ min: 0n, max: 10n ** 15n }),
        (steps, finishes, includeUsage, cost) => {
          const out = new Kept();
          const renderer = new ChatRenderer(out, { ...head, n: 3, includeUsage });
          const choices = play(steps, finishes, renderer);
          renderer.cost(cost);
          renderer.usage(usage);
          renderer.end();
          const whole = JSON.parse(JSON.stringify(toCompletion(head, { choices, usage }, cost)));
          expect(accumulate(toChunks(out.body))).toEqual({ choices: whole.choices, usage: whole.usage });
        },
      ),
      { numRuns: 300 },
    );
  });

  test('[STREAM-10] [STREAM-12] each choice begins with its role and ends with its only finish', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.boolean(), (steps, includeUsage) => {
        const out = new Kept();
        const renderer = new ChatRenderer(out, { ...head, n: 3, includeUsage });
        play(steps, ['stop', 'stop', 'stop'], renderer);
        renderer.end();
        const chunks: ChatCompletionChunk[] = toChunks(out.body);
        for (const index of [0, 1, 2]) {
          const own = chunks.flatMap(({ choices }) => choices).filter((part) => part.index === index);
          expect(own[0]?.delta.role).toBe('assistant');
          expect(own.filter(({ delta }) => delta.role !== undefined)).toHaveLength(1);
          expect(own.filter(({ finish_reason }) => finish_reason !== null)).toEqual([own.at(-1)]);
        }
      }),
      { numRuns: 100 },
    );
  });
});

test('a model’s name is spliced as JSON, whatever it holds', () => {
  const out = new Kept();
  const renderer = new ChatRenderer(out, { ...head, model: 'Münch "x"', n: 1, includeUsage: false });
  pushText(renderer);
  expect(toChunks(out.body)[0].model).toBe('Münch "x"');
});

test('a failure in the middle of a stream stands in the log, though its status is 200', async () => {
  const shell = createChatShell({
    stream(sink) {
      sink.text(0, bytes('Hel'));
      sink.flush();
      sink.fail(new GatewayError('unreachable', 'The engine broke off'));
    },
  });
  await shell.post({ messages: hello, stream: true });
  expect(shell.logged.at(-1)).toMatchObject({ msg: 'request', status: 200, error: 'The engine broke off' });
});
