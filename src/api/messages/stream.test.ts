/** The streamed answer: its events one by one, the count that it waits for, and that it adds up to the whole answer. */
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { answerOf, choiceOf, hello } from '../../../test/support/chat-shell.ts';
import {
  type AnyEvent,
  createMessagesShell,
  holdOrder,
  signatureOf,
  toEvents,
} from '../../../test/support/messages-shell.ts';
import type { Finish } from '../../engines/contract/chat.ts';
import { toJsonBytes } from '../../engines/contract/json-bytes.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { BilledSink } from '../../platform/inference/types.ts';
import { patienceMs } from './prompt-count.ts';
import { toMessage } from './render.ts';
import { MessageRenderer } from './stream.ts';

const bytes = toJsonBytes;
const stop: Finish = { reason: 'stop', native: 'eos' };
const usage = { promptTokens: 20, completionTokens: 9, cachedTokens: 4, reasoningTokens: 3 };

function end(sink: BilledSink, finish: Finish = stop): void {
  sink.finish(0, finish);
  sink.cost(100_000n);
  sink.usage(usage);
  sink.end();
}

const streamed = (script: (sink: BilledSink) => void, fields: object = {}) =>
  createMessagesShell({ stream: script, promptTokens: 20 }).events(fields);
const types = (events: AnyEvent[]) => events.map(({ type }) => type).join(' ');
const blocks = (events: AnyEvent[]) =>
  events.flatMap((event) => (event.type === 'content_block_start' ? [event.content_block] : []));
const deltas = (events: AnyEvent[]) =>
  events.flatMap((event) => (event.type === 'content_block_delta' ? [event.delta] : []));

/** Keeps what a renderer writes. */
class Kept {
  text = '';
  writes = 0;
  isStarted = false;
  ended = false;
  flow: object | undefined;
  write(piece: string): void {
    this.isStarted = true;
    this.writes += 1;
    this.text += piece;
  }
  end(piece: string): void {
    this.write(piece);
    this.ended = true;
  }
  onPressure(flow: object): void {
    this.flow = flow;
  }
  get events(): AnyEvent[] {
    return toEvents(Buffer.from(this.text, 'latin1').toString('utf8'));
  }
}

const shape = {
  id: `msg_${'0'.repeat(24)}`,
  model: 'plain',
  hidesThinking: false,
  stopSequences: [],
  facts: {},
  sign: signatureOf,
  requestId: 'req_1',
};

describe('a stream', () => {
  test('[MSG-64] it is an event stream whose events have their type as name', async () => {
    const answer = await createMessagesShell().post({ messages: hello, stream: true });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    for (const event of answer.body.trimEnd().split('\n\n'))
      expect(event).toMatch(/^event: (\w+)\ndata: \{"type":"\1"[^\n]*\}$/);
  });

  test('[MSG-65] [MSG-71] the events of a text', async () => {
    const events = await streamed((sink) => {
      sink.text(0, bytes('Hel'));
      sink.flush();
      sink.text(0, bytes(''));
      sink.text(0, bytes('lo "you" \n 你好 🎉'));
      end(sink);
    });
    expect(events.slice(1, -2)).toEqual([
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo "you" \n 你好 🎉' } },
      { type: 'content_block_stop', index: 0 },
    ]);
    expect(types(events)).toMatch(/^message_start .* message_delta message_stop$/);
  });

  test('[MSG-66] [MSG-67] the first event has an empty message, no output and the true input', async () => {
    const [{ message }] = await streamed(
      (sink) => {
        sink.text(0, bytes('Hi'));
        end(sink);
      },
      { model: 'thinker' },
    );
    expect(message).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-f]{24}$/),
      type: 'message',
      role: 'assistant',
      model: 'thinker',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: expect.objectContaining({ output_tokens: 0, service_tier: 'standard' }),
    });
    expect(message.usage.input_tokens + message.usage.cache_read_input_tokens).toBe(20);
    expect(message.usage).not.toHaveProperty('cost');
  });

  test('[MSG-68] [MSG-69] [MSG-72] thought, text and calls are blocks one after the other', async () => {
    const events = await streamed((sink) => {
      sink.reasoning(0, bytes('Hm'));
      sink.reasoning(0, bytes(' … "é"'));
      sink.text(0, bytes('Let me see'));
      sink.tool(0, 0, 'call_1', 'f', bytes(''));
      sink.tool(0, 0, undefined, undefined, bytes('{"a":'));
      sink.tool(0, 0, undefined, undefined, bytes('"ü"}'));
      sink.tool(0, 1, 'call_2', 'gü', bytes('{}'));
      end(sink, { reason: 'tool_calls', native: 'tool_calls' });
    });
    const caller = { type: 'direct' };
    expect(blocks(events)).toEqual([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'text', text: '' },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, caller },
      { type: 'tool_use', id: 'toolu_2', name: 'gü', input: {}, caller },
    ]);
    expect(deltas(events)).toEqual([
      { type: 'thinking_delta', thinking: 'Hm' },
      { type: 'thinking_delta', thinking: ' … "é"' },
      { type: 'signature_delta', signature: signatureOf('Hm … "é"') },
      { type: 'text_delta', text: 'Let me see' },
      { type: 'input_json_delta', partial_json: '' },
      { type: 'input_json_delta', partial_json: '{"a":' },
      { type: 'input_json_delta', partial_json: '"ü"}' },
      { type: 'input_json_delta', partial_json: '' },
      { type: 'input_json_delta', partial_json: '{}' },
    ]);
  });

  test('[MSG-68] calls that an engine makes side by side are told one after the other', async () => {
    const events = await streamed((sink) => {
      sink.tool(0, 0, 'call_1', 'f', bytes(''));
      sink.tool(0, 1, 'call_2', 'g', bytes('{"b'));
      sink.tool(0, 2, 'call_3', 'h', bytes(''));
      sink.tool(0, 0, undefined, undefined, bytes('{"a":1}'));
      sink.text(0, bytes('between'));
      sink.tool(0, 2, undefined, undefined, bytes('{"c":3}'));
      sink.tool(0, 1, undefined, undefined, bytes('":2}'));
      end(sink);
    });
    const inputs: Record<number, string> = {};
    for (const { type, index, delta } of events)
      if (type === 'content_block_delta')
        inputs[index] = (inputs[index] ?? '') + (delta.partial_json ?? delta.text);
    expect(blocks(events).map((block) => block.id ?? block.type)).toEqual([
      'toolu_1',
      'toolu_2',
      'toolu_3',
      'text',
    ]);
    expect(Object.values(inputs)).toEqual(['{"a":1}', '{"b":2}', '{"c":3}', 'between']);
  });

  test('[MSG-72] a call without arguments has {} by the end, and one that was complete gets no more', async () => {
    const events = await streamed((sink) => {
      sink.tool(0, 0, 'call_1', 'f', bytes('{}'));
      sink.text(0, bytes('Then'));
      sink.tool(0, 0, undefined, undefined, bytes(' '));
      sink.tool(0, 1, 'call_2', 'g', bytes(''));
      end(sink);
    });
    expect(deltas(events).map((delta) => delta.partial_json ?? delta.text)).toEqual([
      '',
      '{}',
      'Then',
      '',
      '{}',
    ]);
  });

  test('[MSG-69] thoughts that come in two places have a signature each', async () => {
    const events = await streamed((sink) => {
      sink.reasoning(0, bytes('One'));
      sink.text(0, bytes('Well'));
      sink.reasoning(0, bytes('Two'));
      end(sink);
    });
    expect(deltas(events).flatMap(({ signature }) => signature ?? [])).toEqual([
      signatureOf('One'),
      signatureOf('Two'),
    ]);
  });

  test('[MSG-70] with display omitted a thought is its signature alone', async () => {
    const events = await streamed(
      (sink) => {
        sink.reasoning(0, bytes('Hm'));
        sink.reasoning(0, bytes('mm'));
        sink.text(0, bytes('Yes'));
        end(sink);
      },
      { thinking: { type: 'adaptive', display: 'omitted' } },
    );
    expect(deltas(events)).toEqual([
      { type: 'signature_delta', signature: signatureOf('Hmmm') },
      { type: 'text_delta', text: 'Yes' },
    ]);
    expect(blocks(events)[0]).toEqual({ type: 'thinking', thinking: '', signature: '' });
  });

  test('[MSG-73] [MSG-74] message_delta tells why it ended, the whole usage and the cost', async () => {
    const events = await streamed((sink) => {
      sink.text(0, bytes('Hi'));
      end(sink);
    });
    expect(events.at(-2)).toEqual({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
      usage: {
        input_tokens: 16,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 4,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 3 },
        server_tool_use: null,
        service_tier: 'standard',
        cost: 1e-7,
      },
    });
    expect(events.at(-1)).toEqual({ type: 'message_stop' });
  });

  test('[MSG-55] [MSG-56] [MSG-57] [MSG-58] [MSG-59] [MSG-60] every stop reason is streamed', async () => {
    const reasonOf = async (finish: Finish, fields: object = {}) => {
      const script = (sink: BilledSink) => {
        sink.text(0, bytes('Hi'));
        end(sink, finish);
      };
      const events = await createMessagesShell({ stream: script, promptTokens: 500 }).events(fields);
      const { stop_reason, stop_sequence, stop_details } = events.at(-2).delta;
      return [stop_reason, stop_sequence, stop_details?.type ?? null];
    };
    const length: Finish = { reason: 'length', native: 'length' };
    const matched: Finish = { ...stop, stopSequence: 'END' };
    expect(await reasonOf(stop)).toEqual(['end_turn', null, null]);
    expect(await reasonOf(matched, { stop_sequences: ['END'] })).toEqual(['stop_sequence', 'END', null]);
    expect(await reasonOf(length)).toEqual(['max_tokens', null, null]);
    expect(await reasonOf(length, { model: 'small', max_tokens: 900 })).toEqual([
      'model_context_window_exceeded',
      null,
      null,
    ]);
    expect(await reasonOf({ reason: 'tool_calls', native: 'x' })).toEqual(['tool_use', null, null]);
    expect(await reasonOf({ reason: 'content_filter', native: 'x' })).toEqual(['refusal', null, 'refusal']);
  });

  test('an answer without a single piece has its beginning and its end', async () => {
    expect(types(await streamed((sink) => end(sink)))).toBe('message_start message_delta message_stop');
  });

  test('answers that nobody asked for are not shown', async () => {
    const events = await streamed((sink) => {
      sink.text(1, bytes('nobody'));
      sink.reasoning(1, bytes('nobody'));
      sink.tool(1, 0, 'call_1', 'nobody', bytes('{}'));
      sink.finish(1, stop);
      sink.text(0, bytes('Hi'));
      end(sink);
    });
    expect(JSON.stringify(events)).not.toContain('nobody');
  });
});

describe('the count that the first event tells', () => {
  afterEach(() => vi.useRealTimers());
  const inputOf = ([{ message }]: AnyEvent[]) => message.usage.input_tokens;

  test('[MSG-67] events wait for it, and only the first ones', () => {
    const out = new Kept();
    const renderer = new MessageRenderer(out, shape);
    const flow = { pause: () => {}, resume: () => {} };
    renderer.onStart(flow);
    expect(out.flow).toBe(flow);
    renderer.text(0, bytes('Hel'));
    renderer.flush();
    expect(out.isStarted).toBe(false);
    renderer.tellPromptTokens(33);
    expect(out.writes).toBe(1);
    expect(types(out.events)).toBe('message_start content_block_start content_block_delta');
    renderer.text(0, bytes('lo'));
    renderer.flush();
    expect(out.writes).toBe(2);
    end(renderer);
    expect(out.ended).toBe(true);
    expect(inputOf(out.events)).toBe(33);
    expect(holdOrder(out.events)).toContain('message_stop');
  });

  test('[MSG-67] when it is there first, nothing is written before the first part', () => {
    const out = new Kept();
    const renderer = new MessageRenderer(out, shape);
    renderer.tellPromptTokens(33);
    renderer.tellPromptTokens(44);
    renderer.flush();
    expect(out.isStarted).toBe(false);
    renderer.text(0, bytes('Hi'));
    renderer.flush();
    expect(inputOf(out.events)).toBe(33);
  });

  test('[MSG-67] an answer that ends earlier has it from its own usage, and a late count changes nothing', () => {
    const out = new Kept();
    const renderer = new MessageRenderer(out, shape);
    renderer.text(0, bytes('Hi'));
    renderer.flush();
    end(renderer);
    renderer.tellPromptTokens(33);
    expect(out.events[0].message.usage).toMatchObject({
      input_tokens: 16,
      cache_read_input_tokens: 4,
      output_tokens: 0,
      output_tokens_details: { thinking_tokens: 0 },
    });
    expect(out.writes).toBe(1);
  });

  test('[MSG-67] what the preparation has counted is not counted again', async () => {
    const script = (sink: BilledSink) => {
      sink.text(0, bytes('Hi'));
      sink.flush();
      end(sink);
    };
    const shell = createMessagesShell({ stream: script, promptTokens: 500 });
    expect(inputOf(await shell.events({ model: 'small', max_tokens: 900 }))).toBe(500);
    expect(shell.counted).toHaveLength(1);
    const usual = createMessagesShell({ stream: script, promptTokens: 7 });
    await usual.events();
    expect(usual.counted).toEqual(usual.requests);
  });

  /** The parts come at once; the end waits until it is told. */
  const pausing = (promptTokens: () => Promise<number>) => {
    const ended = Promise.withResolvers<void>();
    const parts = Promise.withResolvers<void>();
    const shell = createMessagesShell({
      promptTokens,
      async stream(sink) {
        sink.text(0, bytes('Hi'));
        sink.flush();
        parts.resolve();
        await ended.promise;
        end(sink);
      },
    });
    return { shell, parts: parts.promise, end: () => ended.resolve() };
  };

  test('[MSG-67] a count that fails is no failure of the answer', async () => {
    const {
      shell,
      parts,
      end: finish,
    } = pausing(() => Promise.reject(new GatewayError('unreachable', 'no')));
    const events = shell.events();
    await parts;
    await new Promise(setImmediate);
    finish();
    expect(inputOf(await events)).toBe(0);
    expect((await events).at(-2).usage.input_tokens).toBe(16);
  });

  test('[MSG-67] a count that does not come holds an answer up only so long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { shell, parts, end: finish } = pausing(() => new Promise(() => {}));
    const events = shell.events();
    await parts;
    vi.advanceTimersByTime(patienceMs);
    finish();
    expect(inputOf(await events)).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('[MSG-67] nobody waits for a count when the answer is over, and it is let go on', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const count = Promise.withResolvers<number>();
    let signal: AbortSignal | undefined;
    const shell = createMessagesShell({
      promptTokens: (_, given) => {
        signal = given;
        return count.promise;
      },
    });
    const events = await shell.events();
    expect(signal?.aborted).toBe(false);
    count.reject(new GatewayError('unreachable', 'no'));
    await new Promise(setImmediate);
    expect(inputOf(events)).toBe(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  /** A count that never comes, and whether it was broken off. */
  const hanging = (options: Parameters<typeof createMessagesShell>[0] = {}) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let signal: AbortSignal | undefined;
    const shell = createMessagesShell({
      ...options,
      promptTokens: (_, given) => {
        signal = given;
        return new Promise(() => {});
      },
    });
    return { shell, isAborted: () => signal?.aborted };
  };

  test('[MSG-67] a count that nobody waits for does not take longer than one that is waited for', async () => {
    const { shell, isAborted } = hanging();
    await shell.events();
    vi.advanceTimersByTime(patienceMs - 1);
    expect(isAborted()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(isAborted()).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('[MSG-67] a count is broken off when there will be no answer', async () => {
    const { shell, isAborted } = hanging({
      stream() {
        throw new GatewayError('unreachable', 'The engine could not be reached');
      },
    });
    await shell.post({ messages: [{ role: 'user', content: 'Hi' }], stream: true });
    expect(isAborted()).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a failure', () => {
  const gone = new GatewayError('unreachable', 'The engine went “away”');

  test('[MSG-76] [MSG-77] after the start it is an error event, then message_stop', async () => {
    for (const kind of ['unreachable', 'overloaded', 'timeout', 'invalid_request'] as const) {
      const shell = createMessagesShell({
        stream(sink) {
          sink.text(0, bytes('Hel'));
          sink.flush();
          sink.fail(new GatewayError(kind, gone.message));
        },
      });
      const answer = await shell.post({ messages: hello, stream: true });
      const events = toEvents(answer.body);
      expect(types(events)).toBe('message_start content_block_start content_block_delta error message_stop');
      expect(events.at(-2)).toEqual({
        type: 'error',
        error: { type: 'api_error', message: gone.message },
        request_id: answer.headers['request-id'],
      });
    }
  });

  test('[MSG-76] a call that was cut off is not closed, and nothing is made up for it', async () => {
    for (const args of ['', '{"a":']) {
      const events = await streamed((sink) => {
        sink.tool(0, 0, 'call_1', 'delete_all', bytes(args));
        sink.text(0, bytes('after it'));
        sink.flush();
        sink.fail(new GatewayError('unreachable', 'The engine broke off'));
      });
      expect(types(events)).toMatch(
        /^message_start content_block_start (content_block_delta )+error message_stop$/,
      );
      expect(
        deltas(events)
          .map(({ partial_json }) => partial_json)
          .join(''),
      ).toBe(args);
    }
  });

  test('the engine waits when much gathers before the prompt is counted', () => {
    const out = new Kept();
    const renderer = new MessageRenderer(out, shape);
    const told: string[] = [];
    renderer.onStart({ pause: () => told.push('pause'), resume: () => told.push('resume') });
    renderer.text(0, bytes('x'.repeat(70_000)));
    renderer.flush();
    renderer.flush();
    expect(told).toEqual(['pause']);
    renderer.tellPromptTokens(3);
    expect(told).toEqual(['pause', 'resume']);
    expect(out.text).toContain('"input_tokens":3');
  });

  test('[MSG-76] while the count is awaited it is told in the same way', () => {
    const out = new Kept();
    const renderer = new MessageRenderer(out, shape);
    renderer.text(0, bytes('Hel'));
    renderer.fail(gone);
    expect(holdOrder(out.events)).toBe(
      'message_start content_block_start content_block_delta error message_stop',
    );
    expect(out.ended).toBe(true);
  });

  test('before the first part it has its status', async () => {
    const shell = createMessagesShell({ stream: () => Promise.reject(gone) });
    const answer = await shell.post({ messages: hello, stream: true });
    expect([answer.status, answer.json().error.type]).toEqual([502, 'api_error']);
  });
});

describe('silence', () => {
  afterEach(() => vi.useRealTimers());

  test('[MSG-75] a silent stream sends ping, and no stream ends with [DONE]', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    const called = Promise.withResolvers<BilledSink>();
    const ended = Promise.withResolvers<void>();
    const shell = createMessagesShell({
      stream(sink) {
        called.resolve(sink);
        return ended.promise;
      },
    });
    const answered = shell.post({ messages: hello, stream: true });
    const sink = await called.promise;
    vi.advanceTimersByTime(60_000);
    sink.text(0, bytes('Hi'));
    sink.flush();
    await new Promise(setImmediate);
    vi.advanceTimersByTime(30_001);
    end(sink);
    ended.resolve();
    const { body } = await answered;
    const events = toEvents(body);
    expect(events[0].type).toBe('message_start');
    expect(events.filter(({ type }) => type === 'ping').length).toBeGreaterThanOrEqual(1);
    expect(holdOrder(events)).toMatch(/message_stop$/);
    expect(body).not.toContain('[DONE]');
  });
});

describe('a stream and a whole answer', () => {
  const calls = fc.array(
    fc.record({
      id: fc.stringMatching(/^call_[0-9a-f]{8}$/),
      name: fc.string({ minLength: 1 }),
      arguments: fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
    }),
    { maxLength: 3 },
  );
  const cut = (text: string, at: number) => {
    const where = Math.min(at, text.length);
    return [text.slice(0, where), text.slice(where)];
  };

  test('[MSG-65] [MSG-72] say the same, however it was cut to pieces', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        calls,
        fc.nat(20),
        fc.boolean(),
        (reasoning, text, toolCalls, at, sideBySide) => {
          const out = new Kept();
          const renderer = new MessageRenderer(out, shape);
          for (const piece of cut(reasoning, at)) renderer.reasoning(0, bytes(piece));
          renderer.tellPromptTokens(20);
          for (const piece of cut(text, at)) renderer.text(0, bytes(piece));
          const pieces = toolCalls.map(({ arguments: args }) => cut(args, at));
          const first = (index: number) => {
            const { id, name } = toolCalls[index]!;
            renderer.tool(0, index, id, name, bytes(pieces[index]![0]!));
          };
          const second = (index: number) =>
            renderer.tool(0, index, undefined, undefined, bytes(pieces[index]![1]!));
          for (const index of toolCalls.keys()) {
            first(index);
            if (!sideBySide) second(index);
          }
          if (sideBySide) for (const index of [...toolCalls.keys()].reverse()) second(index);
          end(renderer);
          expect(accumulate(out.events)).toEqual(
            toMessage(
              shape,
              answerOf('', { choices: [choiceOf({ reasoning, text, toolCalls })], usage }),
              100_000n,
            ),
          );
        },
      ),
    );
  });
});

/** As the format's own SDK puts a message together. */
function accumulate(events: AnyEvent[]): AnyEvent {
  holdOrder(events);
  const message = structuredClone(events[0].message);
  const inputs: string[] = [];
  for (const event of events) {
    if (event.type === 'content_block_start') message.content.push(event.content_block);
    const block = message.content[event.index];
    if (event.type === 'content_block_delta') {
      const { type, text = '', thinking = '', signature, partial_json = '' } = event.delta;
      if (type === 'text_delta') block.text += text;
      if (type === 'thinking_delta') block.thinking += thinking;
      if (type === 'signature_delta') block.signature = signature;
      if (type === 'input_json_delta') inputs[event.index] = (inputs[event.index] ?? '') + partial_json;
    }
    if (event.type === 'content_block_stop' && block.type === 'tool_use')
      block.input = JSON.parse(inputs[event.index] ?? '');
    if (event.type === 'message_delta') Object.assign(message, event.delta, { usage: event.usage });
  }
  return message;
}
