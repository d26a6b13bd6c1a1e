/** The events of a streamed response. The shell holds every stream against the order that SDKs need. */
import { describe, expect, test, vi } from 'vitest';
import { settled } from '../../../test/support/chat-sink.ts';
import {
  createResponsesShell,
  type Loose,
  orderOf,
  toResponseEvents,
  toWhole,
} from '../../../test/support/responses-shell.ts';
import { type FinishReason, noUsage, type TokenLogprob } from '../../engines/contract/chat.ts';
import { toJsonBytes } from '../../engines/contract/json-bytes.ts';
import { type ErrorKind, GatewayError } from '../../lib/errors.ts';
import type { BilledSink } from '../../platform/inference/types.ts';
import { ResponseRenderer } from './stream.ts';

type Push = (sink: BilledSink) => void;

const text =
  (piece: string, logprobs?: readonly TokenLogprob[]): Push =>
  (sink) =>
    sink.text(0, toJsonBytes(piece), logprobs);
const thought =
  (piece: string): Push =>
  (sink) =>
    sink.reasoning(0, toJsonBytes(piece));
const call =
  (index: number, piece: string, id?: string, name?: string): Push =>
  (sink) =>
    sink.tool(0, index, id, name, toJsonBytes(piece));
const finish =
  (reason: FinishReason): Push =>
  (sink) =>
    sink.finish(0, { reason, native: reason });
const settle: Push = (sink) => {
  sink.cost(10_000_000n);
  sink.usage({ ...noUsage, promptTokens: 3, completionTokens: 2 });
  sink.end();
};

const shellOf = (...parts: Push[]) =>
  createResponsesShell({
    stream(sink) {
      for (const push of parts) {
        push(sink);
        sink.flush();
      }
    },
  });
/** A whole answer of these parts. */
const events = (parts: readonly Push[], fields: object = {}, reason: FinishReason = 'stop') =>
  shellOf(...parts, finish(reason), settle).events(fields);
const ofType = (found: readonly Loose[], type: string) =>
  found.filter((event) => event.type === `response.${type}`);

describe('a streamed response', () => {
  test('[RESP-29] [RESP-30] [RESP-31] begins with created and in_progress, the events named and numbered', async () => {
    const shell = shellOf(text('Hel'), text('lo'), finish('stop'), settle);
    const sent = await shell.post({ input: 'Hi', stream: true });
    expect(sent.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const found = toResponseEvents(sent.body);
    const names = [...sent.body.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names).toEqual(found.map(({ type }) => type));
    expect(found.map(({ sequence_number: number }) => number)).toEqual(found.map((_, index) => index));
    const [created, inProgress] = found;
    expect(created.type).toBe('response.created');
    expect(inProgress.type).toBe('response.in_progress');
    for (const { response } of [created, inProgress]) {
      expect(response).toMatchObject({ status: 'in_progress', output: [], usage: null, completed_at: null });
      expect(response).toMatchObject({ model: 'plain', error: null, id: expect.stringMatching(/^resp_/) });
      expect(Number.isInteger(response.created_at)).toBe(true);
    }
    expect(sent.headers['x-generation-id']).toBe(created.response.id.replace('resp_', 'gen_'));
  });

  test('[RESP-31] the id is the same on every event that has it', async () => {
    const found = await events([thought('Hm'), text('Hi')]);
    expect(new Set(found.flatMap(({ response }) => response?.id ?? [])).size).toBe(1);
  });

  test('[RESP-32] [RESP-36] [RESP-37] a message: added, part, deltas, done in this order', async () => {
    const found = await events([text('Hel'), text('lo “ü” 🙂\n')]);
    expect(orderOf(found)).toBe(
      'created in_progress output_item.added content_part.added output_text.delta output_text.done ' +
        'content_part.done output_item.done completed',
    );
    const whole = 'Hello “ü” 🙂\n';
    const [added] = ofType(found, 'output_item.added');
    const { id } = added.item;
    expect(added).toMatchObject({ output_index: 0, item: { status: 'in_progress', content: [] } });
    const place = { item_id: id, output_index: 0, content_index: 0 };
    const empty = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    expect(ofType(found, 'content_part.added')).toMatchObject([{ ...place, part: empty }]);
    expect(ofType(found, 'output_text.delta')).toMatchObject([
      { ...place, delta: 'Hel', logprobs: [] },
      { ...place, delta: 'lo “ü” 🙂\n', logprobs: [] },
    ]);
    expect(ofType(found, 'output_text.done')).toMatchObject([{ ...place, text: whole, logprobs: [] }]);
    expect(ofType(found, 'content_part.done')).toMatchObject([{ ...place, part: { ...empty, text: whole } }]);
    const item = {
      id,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ ...empty, text: whole }],
    };
    expect(ofType(found, 'output_item.done')).toMatchObject([{ output_index: 0, item }]);
  });

  test('[RESP-38] thoughts as text', async () => {
    const found = await events([thought('H'), thought('m'), text('Hi')]);
    expect(orderOf(found)).toBe(
      'created in_progress output_item.added content_part.added reasoning_text.delta reasoning_text.done ' +
        'content_part.done output_item.done output_item.added content_part.added output_text.delta ' +
        'output_text.done content_part.done output_item.done completed',
    );
    const part = { type: 'reasoning_text', text: 'Hm' };
    expect(ofType(found, 'content_part.added')[0].part).toEqual({ ...part, text: '' });
    expect(ofType(found, 'reasoning_text.done')).toMatchObject([
      { text: 'Hm', content_index: 0, output_index: 0 },
    ]);
    expect(ofType(found, 'content_part.done')[0].part).toEqual(part);
    expect(ofType(found, 'output_item.done')[0].item).toMatchObject({ summary: [], content: [part] });
  });

  test('[RESP-39] thoughts as a summary, where one is asked for', async () => {
    const found = await events([thought('H'), thought('m')], { reasoning: { summary: 'auto' } });
    expect(orderOf(found)).toBe(
      'created in_progress output_item.added reasoning_summary_part.added reasoning_summary_text.delta ' +
        'reasoning_summary_text.done reasoning_summary_part.done output_item.done completed',
    );
    const part = { type: 'summary_text', text: 'Hm' };
    expect(ofType(found, 'reasoning_summary_part.added')[0]).toMatchObject({
      part: { ...part, text: '' },
      summary_index: 0,
    });
    expect(ofType(found, 'reasoning_summary_part.done')[0]).toMatchObject({ part, summary_index: 0 });
    expect(ofType(found, 'output_item.done')[0].item).toMatchObject({ summary: [part], content: [] });
    const older = await events([thought('Hm')], { reasoning: { generate_summary: 'auto' } });
    expect(ofType(older, 'reasoning_summary_text.done')).toHaveLength(1);
  });

  test('[RESP-33] [RESP-40] a call has its call_id from the beginning, and its name at the end', async () => {
    const found = await events(
      [call(0, '', 'call_a', 'get_weather'), call(0, '{"city":'), call(0, '"Köln"}')],
      {},
      'tool_calls',
    );
    expect(orderOf(found)).toBe(
      'created in_progress output_item.added function_call_arguments.delta function_call_arguments.done ' +
        'output_item.done completed',
    );
    const item = { type: 'function_call', call_id: 'call_a', name: 'get_weather' };
    expect(ofType(found, 'output_item.added')[0].item).toMatchObject({
      ...item,
      status: 'in_progress',
      arguments: '',
    });
    const whole = '{"city":"Köln"}';
    expect(ofType(found, 'function_call_arguments.done')).toMatchObject([
      { name: 'get_weather', arguments: whole },
    ]);
    expect(ofType(found, 'output_item.done')[0].item).toMatchObject({
      ...item,
      status: 'completed',
      arguments: whole,
    });
  });

  test('[RESP-40] a call without arguments has {}', async () => {
    const found = await events([call(0, '', 'call_a', 'get_time')], {}, 'tool_calls');
    expect(ofType(found, 'function_call_arguments.delta')).toMatchObject([{ delta: '{}' }]);
    expect(ofType(found, 'function_call_arguments.done')).toMatchObject([{ arguments: '{}' }]);
  });

  test('[RESP-34] calls that an engine writes at once lose nothing, and each has its own place', async () => {
    const found = await events(
      [
        text('I look. '),
        call(0, '{"a"', 'call_a', 'f'),
        call(1, '{"b"', 'call_b', 'g'),
        call(0, ':1}'),
        call(1, ':2}'),
        text('Done.'),
      ],
      {},
      'tool_calls',
    );
    const { output } = found.at(-1).response;
    expect(output).toMatchObject([
      { type: 'message', content: [{ text: 'I look. ' }] },
      { call_id: 'call_a', name: 'f', arguments: '{"a":1}', status: 'completed' },
      { call_id: 'call_b', name: 'g', arguments: '{"b":2}', status: 'completed' },
      { type: 'message', content: [{ text: 'Done.' }] },
    ]);
    expect(ofType(found, 'output_item.added').map((event) => event.output_index)).toEqual([0, 1, 2, 3]);
  });

  test('[RESP-32] thoughts between texts part them', async () => {
    const found = await events([thought('a'), text('b'), thought('c'), text('d')]);
    expect(found.at(-1).response.output.map(({ type }: Loose) => type)).toEqual([
      'reasoning',
      'message',
      'reasoning',
      'message',
    ]);
  });

  test('[RESP-37] log probabilities come with their text, and all of them at its end', async () => {
    const token = (name: string): TokenLogprob => ({
      token: name,
      logprob: -1,
      bytes: [97],
      topLogprobs: [],
    });
    const found = await events([text('a', [token('a')]), text('b', [token('b'), token('c')]), text('', [])], {
      top_logprobs: 1,
    });
    const told = ['a', 'b', 'c'].map((name) => ({ token: name, logprob: -1, bytes: [97], top_logprobs: [] }));
    expect(ofType(found, 'output_text.delta').map((event) => event.logprobs)).toEqual([
      [told[0]],
      [told[1], told[2]],
      [],
    ]);
    expect(ofType(found, 'output_text.done')[0].logprobs).toEqual(told);
    expect(ofType(found, 'content_part.done')[0].part.logprobs).toEqual(told);
    expect(found.at(-1).response.output[0].content[0].logprobs).toEqual(told);
  });

  test('[RESP-41] it ends with the whole response, and with no [DONE]', async () => {
    const shell = shellOf(text('Hi'), finish('stop'), settle);
    const sent = await shell.post({ input: 'Hi', stream: true });
    expect(sent.body).not.toContain('[DONE]');
    const last = toResponseEvents(sent.body).at(-1);
    expect(last.type).toBe('response.completed');
    expect(last.response).toMatchObject({
      status: 'completed',
      store: true,
      usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5, cost: 0.00001 },
      output: [{ content: [{ text: 'Hi' }] }],
    });
    expect(Number.isInteger(last.response.completed_at)).toBe(true);
  });

  test('[RESP-41] [RESP-27] one that was cut ends with response.incomplete', async () => {
    for (const [reason, told] of [
      ['length', 'max_output_tokens'],
      ['content_filter', 'content_filter'],
    ] as const) {
      const found = await events([thought('Hm'), text('Hi')], {}, reason);
      const { type, response } = found.at(-1);
      expect(type).toBe('response.incomplete');
      expect(response).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: told },
        completed_at: null,
      });
      expect(response.output.map(({ status }: Loose) => status)).toEqual(['completed', 'incomplete']);
    }
    const calls = [call(0, '{}', 'call_a', 'f'), call(1, '{"a', 'call_b', 'f')];
    const { output } = (await events(calls, {}, 'length')).at(-1).response;
    expect(output.map(({ status }: Loose) => status)).toEqual(['completed', 'incomplete']);
  });

  test('an answer of nothing has no items', async () => {
    expect(orderOf(await events([]))).toBe('created in_progress completed');
    expect(orderOf(await events([text(''), thought('')]))).toBe('created in_progress completed');
  });

  test('the same answer, whole and streamed, has the same items', async () => {
    const { output } = (await events([thought('Hm'), text('Hi'), call(0, '{"a":1}', 'call_a', 'f')])).at(
      -1,
    ).response;
    const toolCalls = [{ id: 'call_a', name: 'f', arguments: '{"a":1}' }];
    const choice = {
      text: 'Hi',
      reasoning: 'Hm',
      toolCalls,
      logprobs: undefined,
      finish: { reason: 'stop' as const, native: 'stop' },
    };
    const whole = await createResponsesShell({ answer: { choices: [choice], usage: noUsage } }).response();
    const bare = (items: Loose[]) => items.map(({ id, ...item }) => [id.split('_')[0], item]);
    expect(bare(whole.output)).toEqual(bare(output));
  });

  test('[RESP-32] probabilities beside no text neither open an item nor part one', async () => {
    const told = (token: string): TokenLogprob => ({ token, logprob: -1, bytes: [], topLogprobs: [] });
    const beside = (token: string) => text('', [told(token)]);
    const found = await events(
      [
        beside('<think>'),
        thought('a'),
        beside('a'),
        thought('b'),
        beside('b'),
        text('Hi', [told('Hi')]),
        beside('half'),
        text('!', [told('!')]),
        call(0, '', 'call_a', 'f'),
        beside('f'),
        call(0, '{}'),
        beside('{}'),
      ],
      { include: ['message.output_text.logprobs'] },
      'tool_calls',
    );
    const { output } = found.at(-1).response;
    expect(output).toMatchObject([
      { type: 'reasoning', content: [{ text: 'ab' }] },
      { type: 'message', content: [{ text: 'Hi!' }] },
      { type: 'function_call', arguments: '{}' },
    ]);
    expect(output[1].content[0].logprobs.map(({ token }: Loose) => token)).toEqual(['Hi', 'half', '!']);
  });

  test('[RESP-27] probabilities beside no text do not change what was cut', async () => {
    const found = await events(
      [
        call(0, '{"a"', 'call_a', 'f'),
        text('Hm'),
        call(0, ':1'),
        text('', [{ token: ':1', logprob: -1, bytes: [], topLogprobs: [] }]),
      ],
      { include: ['message.output_text.logprobs'] },
      'length',
    );
    expect(found.at(-1).response.output).toMatchObject([
      { type: 'function_call', status: 'incomplete' },
      { type: 'message', status: 'completed', content: [{ logprobs: [] }] },
    ]);
  });

  test('another choice than the first is not shown', async () => {
    const found = await events([text('Hi'), (sink) => sink.text(1, toJsonBytes('No'))]);
    expect(found.at(-1).response.output).toHaveLength(1);
    expect(JSON.stringify(found)).not.toContain('No');
  });
});

describe('failures of a stream', () => {
  test.each([
    ['unreachable', 502],
    ['overloaded', 503],
    ['timeout', 504],
  ] as const)('[RESP-28] %s before the first part has its status', async (kind: ErrorKind, status) => {
    const failing = createResponsesShell({
      stream: () => {
        throw new GatewayError(kind, 'It failed');
      },
    });
    const sent = await failing.post({ input: 'Hi', stream: true });
    expect([sent.status, sent.json().error.code]).toEqual([status, status]);
  });

  const broken = (kind: ErrorKind, ...parts: Push[]) => {
    const shell = shellOf(...parts, (sink) => sink.fail(new GatewayError(kind, 'The engine “fell” over')));
    return { shell, events: () => shell.events() };
  };

  test('[RESP-42] [RESP-43] [RESP-45] after the start it is an error event, then response.failed', async () => {
    const { shell, events: streamed } = broken('unreachable', thought('Hm'), text('Hel'));
    const found = await streamed();
    const [error, failed] = found.slice(-2);
    expect(error).toEqual({
      type: 'error',
      sequence_number: found.length - 2,
      code: 'server_error',
      message: 'The engine “fell” over',
      param: null,
    });
    expect(failed.type).toBe('response.failed');
    expect(failed.response).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'The engine “fell” over' },
      completed_at: null,
      usage: null,
      store: false,
    });
    // What came before stands there, and nothing that was cut off is called done.
    expect(failed.response.output).toMatchObject([
      { type: 'reasoning', status: 'completed' },
      { type: 'message', status: 'incomplete', content: [{ text: 'Hel' }] },
    ]);
    expect(ofType(found, 'output_item.done')).toHaveLength(1);
    expect(found.filter((event) => 'error' in event)).toEqual([]);
    expect(shell.responses.kept.size).toBe(0);
  });

  test.each([
    ['unreachable', 'server_error'],
    ['overloaded', 'server_error'],
    ['timeout', 'server_error'],
    ['internal', 'server_error'],
    ['rate_limited', 'rate_limit_exceeded'],
    ['invalid_request', 'invalid_prompt'],
  ] as const)('[RESP-43] [RESP-44] %s is told as %s', async (kind, code) => {
    const [error, failed] = (await broken(kind, text('Hi')).events()).slice(-2);
    expect([error.code, failed.response.error.code]).toEqual([code, code]);
  });

  test('[RESP-42] a failure after an empty part has its beginning too', async () => {
    expect(orderOf(await broken('timeout', text('')).events())).toBe('created in_progress error failed');
  });
});

describe('keeping a stream', () => {
  test('[RESP-46] it is kept, as it was sent, before its last event is sent', async () => {
    const { kept, save } = createResponsesShell().responses;
    const asked = Promise.withResolvers<void>();
    const allowed = Promise.withResolvers<void>();
    const responses = {
      ...createResponsesShell().responses,
      async save(response: Parameters<typeof save>[0]) {
        asked.resolve();
        await allowed.promise;
        await save(response);
      },
    };
    const shell = createResponsesShell({ platform: { responses } });
    let isOver = false;
    const answer = shell.post({ input: 'Hi', stream: true }).finally(() => {
      isOver = true;
    });
    await asked.promise;
    await settled();
    expect(isOver).toBe(false);
    allowed.resolve();
    const { response } = toResponseEvents((await answer).body).at(-1);
    expect(JSON.parse(toWhole(kept.get(response.id)!))).toEqual(response);
  });

  /** An answer that came at once and is being kept, and what was sent of it by then. */
  const createKept = () => {
    const sent: string[] = [];
    const kept = Promise.withResolvers<string>();
    const out = {
      write: (bytes: string) => void sent.push(bytes),
      end: (bytes: string) => void sent.push(bytes),
      isStarted: false,
      onPressure: () => {},
    };
    const frame = { id: 'resp_1', start: '{', end: '}' };
    const renderer = new ResponseRenderer(out, {
      frame,
      isStored: true,
      isSummary: false,
      createId: (prefix) => `${prefix}_1`,
      finish: () => kept.promise,
    });
    for (const push of [text('Hi'), finish('stop'), settle]) push(renderer);
    return { sent, kept, renderer };
  };

  test('what came with the end leaves together with the last event, once it is kept', async () => {
    const { sent, kept, renderer } = createKept();
    await settled();
    expect(sent).toEqual([]);
    kept.resolve('{}');
    await renderer.over;
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatch(/"delta":"Hi".*response\.completed/s);
  });

  test('words do not wait for a database that is slow', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { sent, kept, renderer } = createKept();
      vi.advanceTimersByTime(19);
      expect(sent).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(sent).toEqual([expect.stringContaining('"delta":"Hi"')]);
      kept.resolve('{}');
      await renderer.over;
      expect(sent).toHaveLength(2);
      expect(sent[1]).toMatch(/^event: response\.completed/);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('a client that leaves in the middle leaves nothing behind', async () => {
    const shell = createResponsesShell({
      stream(sink) {
        text('Hi')(sink);
        sink.flush();
        throw new GatewayError('request_timeout', 'The client left');
      },
    });
    await shell.post({ input: 'Hi', stream: true }).catch(() => {});
    expect(shell.requests).toHaveLength(1);
    expect(shell.responses.kept.size).toBe(0);
  });

  test('[RESP-48] store false keeps nothing', async () => {
    const shell = shellOf(text('Hi'), finish('stop'), settle);
    const found = await shell.events({ store: false });
    expect([found[0].response.store, found.at(-1).response.store]).toEqual([false, false]);
    expect(shell.responses.kept.size).toBe(0);
  });
});
