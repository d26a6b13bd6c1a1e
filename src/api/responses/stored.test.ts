/** What is kept of a response: read, replayed, gone on from, listed, deleted. */
import { describe, expect, test } from 'vitest';
import { answerOf, choiceOf } from '../../../test/support/chat-shell.ts';
import {
  createResponsesShell,
  type Loose,
  orderOf,
  type ResponsesShell,
  toResponseEvents,
} from '../../../test/support/responses-shell.ts';
import type { ChatRequest } from '../../engines/contract/chat.ts';

const call = { id: 'call_a', name: 'get_weather', arguments: '{"city":"Paris"}' };
const toolCalls = [call];
/** Thinks, says something and calls a tool; after a result it only says something. */
const answer = ({ messages }: ChatRequest) =>
  messages.at(-1)?.role === 'tool'
    ? answerOf('Sunny.')
    : answerOf('', { choices: [choiceOf({ text: 'I look.', reasoning: 'Hm', toolCalls })] });
const create = () => createResponsesShell({ answer });
const result = { type: 'function_call_output', call_id: 'call_a', output: 'sunny' };
const reference = (id: string) => ({ type: 'item_reference', id });
const idOf = (response: Loose, type: string): string =>
  response.output.find((item: Loose) => item.type === type).id;

describe('reading', () => {
  test('[RESP-46] a response is stored by default and given back as it was', async () => {
    const shell = create();
    for (const fields of [{}, { store: true }, { store: null }]) {
      const sent = await shell.post({ input: 'Hi', ...fields });
      const { id } = sent.json();
      const read = await shell.get(id);
      expect([read.status, read.body]).toEqual([200, sent.body]);
      expect(read.headers['content-type']).toBe('application/json; charset=utf-8');
    }
    const streamed = (await shell.events()).at(-1).response;
    expect((await shell.get(streamed.id)).json()).toEqual(streamed);
  });

  test('[RESP-48] store false keeps nothing: the later read is a 404', async () => {
    const shell = create();
    const { id, store } = await shell.response({ store: false });
    expect(store).toBe(false);
    const read = await shell.get(id);
    expect([read.status, read.json().error.message]).toEqual([404, `There is no response ${id}`]);
  });

  test('[RESP-49] a response of another subscription is not there', async () => {
    const shell = create();
    const { id } = await shell.response();
    const kept = shell.responses.kept.get(id)!;
    shell.responses.kept.set(id, { ...kept, subscriptionId: 'sub_2' });
    expect((await shell.get(id)).status).toBe(404);
    expect((await shell.get(`${id}/input_items`)).status).toBe(404);
    expect((await shell.send({ method: 'DELETE', url: `/v1/responses/${id}` })).status).toBe(404);
    expect((await shell.refusal({ previous_response_id: id })).param).toBe('previous_response_id');
    expect((await shell.refusal({ input: [reference(kept.output[1]!.id)] })).param).toBe('input[0].id');
  });
});

describe('size', () => {
  const maxChars = 16 * 1024 * 1024;
  /** What is kept of a request, in characters. */
  const sizeOf = (shell: ResponsesShell, id: string) => {
    const { before, after, input, output } = shell.responses.kept.get(id)!;
    return [...input, ...output].reduce((sum, item) => sum + item.json.length, before.length + after.length);
  };

  test.each(['input', 'instructions'])(
    'what is too large to be kept is answered with store false: %s',
    async (field) => {
      const shell = create();
      const probe = await shell.response({ [field]: 'x' });
      const room = maxChars - sizeOf(shell, probe.id) + 1;
      const largest = await shell.response({ [field]: 'x'.repeat(room) });
      expect([largest.store, sizeOf(shell, largest.id)]).toEqual([true, maxChars]);
      expect((await shell.get(largest.id)).status).toBe(200);
      // What is streamed here is a shorter answer.
      for (const stream of [false, true]) {
        const fields = { [field]: 'x'.repeat(room + (stream ? 1_000 : 1)) };
        const answered = stream ? (await shell.events(fields)).at(-1).response : await shell.response(fields);
        expect([answered.status, answered.store]).toEqual(['completed', false]);
        expect((await shell.get(answered.id)).status).toBe(404);
        expect((await shell.refusal({ previous_response_id: answered.id })).param).toBe(
          'previous_response_id',
        );
      }
    },
  );
});

describe('replay', () => {
  const streamed = async (fields: object = {}) => {
    const shell = createResponsesShell({
      stream(sink) {
        sink.reasoning(0, 'H' as never);
        sink.reasoning(0, 'm' as never);
        sink.text(0, 'I ' as never, [{ token: 'I', logprob: -1, bytes: [73], topLogprobs: [] }]);
        sink.text(0, 'look.' as never);
        sink.tool(0, 0, 'call_a', 'get_weather', '{' as never);
        sink.tool(0, 0, undefined, undefined, '}' as never);
        sink.finish(0, { reason: 'length', native: 'length' });
        sink.usage({ promptTokens: 3, completionTokens: 2, cachedTokens: 0, reasoningTokens: 0 });
        sink.end();
      },
    });
    return { shell, events: await shell.events(fields) };
  };
  /** Without numbers; the deltas of one item joined. */
  const joined = (events: readonly Loose[]) => {
    const found: Loose[] = [];
    for (const { sequence_number: _, ...event } of events) {
      const last = found.at(-1);
      if (event.delta !== undefined && last?.type === event.type) {
        last.delta += event.delta;
        if (event.logprobs !== undefined) last.logprobs = [...last.logprobs, ...event.logprobs];
      } else found.push(event);
    }
    return found;
  };

  test.each([{}, { reasoning: { summary: 'auto' } }])(
    '[RESP-47] the events come once more, the texts in one delta each: %j',
    async (fields) => {
      const { shell, events } = await streamed(fields);
      const again = await shell.get(`${events[0].response.id}?stream=true`);
      expect(again.headers['content-type']).toBe('text/event-stream; charset=utf-8');
      const replayed = toResponseEvents(again.body);
      expect(replayed).not.toHaveLength(events.length);
      expect(joined(replayed)).toEqual(joined(events));
      expect(orderOf(replayed)).toBe(orderOf(events));
    },
  );

  test('[RESP-47] starting_after leaves out what was seen', async () => {
    const { shell, events } = await streamed();
    const { id } = events[0].response;
    const all = toResponseEvents((await shell.get(`${id}?stream=true`)).body);
    const rest = toResponseEvents((await shell.get(`${id}?stream=true&starting_after=3`)).body, 4);
    expect(rest).toEqual(all.slice(4));
    expect(toResponseEvents((await shell.get(`${id}?stream=true&starting_after=0`)).body, 1)).toEqual(
      all.slice(1),
    );
    expect((await shell.get(`${id}?stream=true&starting_after=-1`)).status).toBe(400);
  });

  test('[RESP-47] without stream it is the response; what is not there is a 404', async () => {
    const { shell, events } = await streamed();
    expect((await shell.get(`${events[0].response.id}?stream=false`)).json().object).toBe('response');
    expect((await shell.get('resp_unknown?stream=true')).status).toBe(404);
    expect((await shell.get(`${events[0].response.id}?stream=maybe`)).json().error.param).toBe('stream');
  });
});

describe('going on', () => {
  const wanted = [
    { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
    { role: 'assistant', content: 'I look.', reasoning: 'Hm', toolCalls },
    { role: 'tool', content: 'sunny', toolCallId: 'call_a' },
  ];

  test('[RESP-50] the earlier input and output come first, the earlier instructions not at all', async () => {
    const shell = create();
    const first = await shell.response({ input: 'Weather?', instructions: 'Be long.' });
    const second = await shell.response({
      input: [result],
      instructions: 'Be short.',
      previous_response_id: first.id,
    });
    expect(second.previous_response_id).toBe(first.id);
    expect(shell.requests.at(-1)?.messages).toEqual([{ role: 'system', content: 'Be short.' }, ...wanted]);

    // A third turn has all of both, and what was thought before the question is over.
    await shell.response({ input: 'Thanks', previous_response_id: second.id });
    const { reasoning: _, ...said } = wanted[1] as Loose;
    expect(shell.requests.at(-1)?.messages).toEqual([
      wanted[0],
      said,
      wanted[2],
      { role: 'assistant', content: 'Sunny.' },
      { role: 'user', content: 'Thanks' },
    ]);
  });

  test('[RESP-50] a summary of thoughts goes on as well, and works streamed', async () => {
    const shell = create();
    const { id } = await shell.response({ input: 'Weather?', reasoning: { summary: 'auto' } });
    await shell.events({ input: [result], previous_response_id: id });
    expect(shell.requests.at(-1)?.messages).toEqual(wanted);
  });

  test('[RESP-50] the input may be left out, or be empty, where something was said before', async () => {
    const shell = create();
    const { id } = await shell.response();
    for (const input of [undefined, null, []])
      expect((await shell.post({ input, previous_response_id: id })).status).toBe(200);
  });

  test('[RESP-8] an item reference stands for the stored item', async () => {
    const shell = create();
    const first = await shell.response({ input: 'Weather?' });
    const input = [
      { role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
      reference(idOf(first, 'reasoning')),
      reference(idOf(first, 'message')),
      { id: idOf(first, 'function_call') },
      result,
    ];
    await shell.response({ input });
    expect(shell.requests.at(-1)?.messages).toEqual(wanted);
  });

  test('[RESP-8] a reference may be to what a turn brought, and stays when the turn is copied', async () => {
    const shell = create();
    const first = await shell.response({ input: 'Weather?' });
    const [item] = shell.responses.kept.get(first.id)!.input;
    const second = await shell.response({ input: [reference(item!.id)] });
    expect(shell.requests.at(-1)?.messages).toEqual([wanted[0]]);
    // Deleted with the response that brought it; the other one has its own.
    await shell.send({ method: 'DELETE', url: `/v1/responses/${first.id}` });
    expect((await shell.refusal({ input: [reference(item!.id)] })).param).toBe('input[0].id');
    await shell.response({ input: [result], previous_response_id: second.id });
    expect(shell.requests.at(-1)?.messages[0]).toEqual(wanted[0]);
  });

  test.each([false, true])('[RESP-51] what is unknown is a 400 that names it, stream: %s', async (stream) => {
    const shell = create();
    expect(await shell.refusal({ stream, previous_response_id: 'resp_unknown' })).toEqual({
      message: 'previous_response_id: there is no response resp_unknown',
      param: 'previous_response_id',
    });
    for (const id of ['msg_unknown', 'fc_unknown', 'fco_unknown', 'x']) {
      const input = [{ role: 'user', content: 'Hi' }, reference(id)];
      expect(await shell.refusal({ stream, input })).toEqual({
        message: `input[1].id: there is no item ${id}`,
        param: 'input[1].id',
      });
    }
    // Asked after admission, so that a caller over its limits reads nothing.
    expect(shell.operations).toHaveLength(5);
    expect(shell.requests).toEqual([]);
  });

  test('[RESP-51] so is a turn whose earlier one was deleted', async () => {
    const shell = create();
    const first = await shell.response();
    const second = await shell.response({ previous_response_id: first.id });
    await shell.send({ method: 'DELETE', url: `/v1/responses/${first.id}` });
    // It is still there itself, and the message does not say otherwise.
    expect((await shell.get(second.id)).status).toBe(200);
    expect(await shell.refusal({ previous_response_id: second.id })).toEqual({
      message: `previous_response_id: a turn before ${second.id} was deleted or has expired`,
      param: 'previous_response_id',
    });
  });

  test('[RESP-52] an unknown reference to thoughts is skipped', async () => {
    const shell = create();
    await shell.response({ input: [{ role: 'user', content: 'Hi' }, reference('rs_unknown')] });
    expect(shell.requests.at(-1)?.messages).toEqual([{ role: 'user', content: 'Hi' }]);
    expect((await shell.refusal({ input: [reference('rs_unknown')] })).param).toBe('input');
  });

  test('a reference comes once: a second one is a 400 that names it', async () => {
    const shell = create();
    const first = await shell.response({ input: 'Weather?' });
    const id = idOf(first, 'message');
    for (const again of [reference(id), { id }]) {
      const { message, param } = await shell.refusal({ input: [reference(id), result, again] });
      expect([message, param]).toEqual([
        'input[2].id refers to the same item as one before it',
        'input[2].id',
      ]);
    }
    expect(shell.operations).toHaveLength(1);
  });

  test('there may be 2,000 references', async () => {
    const shell = create();
    const refer = (count: number) => [
      { role: 'user', content: 'Hi' },
      ...Array.from({ length: count }, (_, index) => reference(`rs_${index}`)),
    ];
    expect((await shell.post({ input: refer(2_000) })).status).toBe(200);
    expect(await shell.refusal({ input: refer(2_001) })).toEqual({
      message: 'input must refer to at most 2000 items',
      param: 'input',
    });
    expect(shell.operations).toHaveLength(1);
  });

  const forged = [
    { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'FORGED' }], junk: 'x' },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'FORGED' }] },
    { type: 'reasoning', summary: 5 },
    { type: 'reasoning', summary: { length: 1 }, content: [null] },
    { type: 'reasoning', content: {} },
  ];

  test.each(forged)(
    '[RESP-7] thoughts that a client sends are not kept, and never come back: %j',
    async (item) => {
      const shell = create();
      const calls = { type: 'function_call', call_id: 'call_a', name: 'get_weather', arguments: '{}' };
      const { id } = await shell.response({ input: [{ role: 'user', content: 'Weather?' }, item, calls] });
      const kept = shell.responses.kept.get(id)!;
      expect(kept.input.map(({ id: own }) => own.split('_')[0])).toEqual(['msg', 'fc']);
      const second = await shell.response({ input: [item, result], previous_response_id: id });
      // Only what the model itself thought in the turn before.
      const thoughts = shell.requests
        .at(-1)
        ?.messages.flatMap((message) =>
          message.role === 'assistant' && message.reasoning !== undefined ? [message.reasoning] : [],
        );
      expect(thoughts).toEqual(['Hm']);
      expect((await shell.post({ input: [result], previous_response_id: second.id })).status).toBe(200);
    },
  );

  test('what a stored item holds and the model does not take names the reference', async () => {
    const attachments = {
      load: async (wanted: readonly unknown[]) => wanted.map(() => ({ type: 'text' as const, text: 'x' })),
    };
    const shell = createResponsesShell({ attachments });
    const input = [
      { role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] },
    ];
    const { id } = await shell.response({ model: 'seer', input });
    expect((await shell.refusal({ previous_response_id: id })).param).toBe('previous_response_id');
    const [item] = shell.responses.kept.get(id)!.input;
    expect((await shell.refusal({ input: [reference(item!.id)] })).param).toBe('input[0].id');
  });
});

describe('deleting', () => {
  test('[RESP-53] it says so, and the next read is a 404', async () => {
    const shell = create();
    const { id } = await shell.response();
    const remove = () => shell.send({ method: 'DELETE', url: `/v1/responses/${id}` });
    const sent = await remove();
    expect([sent.status, sent.json()]).toEqual([200, { id, object: 'response', deleted: true }]);
    expect((await shell.get(id)).status).toBe(404);
    expect((await shell.get(`${id}/input_items`)).status).toBe(404);
    expect((await remove()).status).toBe(404);
  });
});

describe('input items', () => {
  const list = async (shell: ResponsesShell, id: string, search = '') =>
    (await shell.get(`${id}/input_items${search}`)).json();
  const textOf = (item: Loose) => item.content[0].text;

  test('[RESP-54] they are listed with their ids, the newest first', async () => {
    const shell = create();
    const input = [
      { role: 'developer', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
      { type: 'reasoning', id: 'rs_mine', summary: [] },
      { type: 'message', id: 'msg_mine', role: 'assistant', content: 'I look.', status: 'completed' },
      { type: 'function_call', call_id: 'call_a', name: 'get_weather', arguments: '{}' },
      result,
    ];
    const { id } = await shell.response({ input });
    const page = await list(shell, id);
    const own = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-f]{28}$`));
    const message = { type: 'message', status: 'completed' };
    expect(page).toEqual({
      object: 'list',
      data: [
        { ...result, id: own('fco') },
        { ...input[4], id: own('fc') },
        {
          ...message,
          id: own('msg'),
          role: 'assistant',
          content: [{ type: 'output_text', text: 'I look.', annotations: [], logprobs: [] }],
        },
        { ...message, id: own('msg'), role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
        {
          ...message,
          id: own('msg'),
          role: 'developer',
          content: [{ type: 'input_text', text: 'Be kind.' }],
        },
      ],
      first_id: page.data[0].id,
      last_id: page.data[4].id,
      has_more: false,
    });
    const ascending = await list(shell, id, '?order=asc');
    expect(ascending.data).toEqual(page.data.toReversed());
  });

  test('[RESP-54] only what is known of an item is kept', async () => {
    const attachments = {
      load: async (wanted: readonly unknown[]) => wanted.map(() => ({ type: 'text' as const, text: 'x' })),
    };
    const shell = createResponsesShell({ attachments });
    const junk = { junk: 'JUNK', cache_control: { junk: 'JUNK' } };
    const parts = [
      { type: 'input_text', text: 'Hi' },
      { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
      { type: 'input_image', image_url: 'https://example.com/a.png' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'AAAA' },
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { type: 'input_video', video_url: 'https://example.com/a.mp4' },
    ];
    const spoken = [
      { type: 'output_text', text: 'one', annotations: [], logprobs: [] },
      { type: 'refusal', refusal: 'two' },
    ];
    const items = [
      { type: 'message', role: 'user', content: parts },
      { type: 'message', role: 'assistant', content: spoken },
      { type: 'function_call', call_id: 'call_a', name: 'get_weather', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_a', output: parts },
      { type: 'function_call_output', call_id: 'call_a', output: 'sunny' },
    ];
    const withJunk = (value: Loose): Loose => {
      if (Array.isArray(value)) return value.map(withJunk);
      if (typeof value !== 'object' || value === null) return value;
      const fields = Object.entries(value).map(([name, field]) => [
        name,
        name === 'annotations' || name === 'logprobs' ? [junk] : withJunk(field),
      ]);
      return { ...Object.fromEntries(fields), ...junk, file_id: null };
    };
    const input = items.map((item) => ({ ...withJunk(item), id: 'x', status: 'weird' }));
    const { id } = await shell.response({ model: 'seer', input });
    const { data } = await list(shell, id, '?order=asc');
    expect(data).toEqual(
      items.map((item) => ({
        ...item,
        id: expect.any(String),
        ...(item.type === 'message' ? { status: 'completed' } : {}),
      })),
    );
    // They are the same for whoever goes on from them.
    const [before] = shell.requests;
    await shell.response({ model: 'seer', input: data.map((item: Loose) => reference(item.id)) });
    expect(shell.requests.at(-1)?.messages).toEqual(before?.messages);
  });

  test('[RESP-54] a string is listed as what the user said', async () => {
    const shell = create();
    const { id } = await shell.response({ input: 'Grüße “🙂”' });
    const { data } = await list(shell, id);
    expect(data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Grüße “🙂”' }] },
    ]);
  });

  test('[RESP-54] limit, order and after make pages', async () => {
    const shell = create();
    const input = Array.from({ length: 25 }, (_, index) => ({ role: 'user', content: `${index}` }));
    const { id } = await shell.response({ input });
    const first = await list(shell, id);
    expect([first.data.length, first.has_more, textOf(first.data[0])]).toEqual([20, true, '24']);
    const rest = await list(shell, id, `?after=${first.last_id}`);
    expect([rest.data.length, rest.has_more, textOf(rest.data.at(-1))]).toEqual([5, false, '0']);
    const two = await list(shell, id, '?limit=2&order=asc');
    expect([two.data.map(textOf), two.has_more]).toEqual([['0', '1'], true]);
    const next = await list(shell, id, `?limit=23&order=asc&after=${two.last_id}`);
    expect([next.data.length, next.has_more, next.first_id]).toEqual([23, false, next.data[0].id]);
    const none = await list(shell, id, `?after=${rest.last_id}`);
    expect(none).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false });
  });

  test('[RESP-54] what is out of its bounds is named', async () => {
    const shell = create();
    const { id } = await shell.response();
    for (const limit of [1, 100]) expect((await list(shell, id, `?limit=${limit}`)).data).toHaveLength(1);
    for (const limit of [0, 101, 'many'])
      expect((await list(shell, id, `?limit=${limit}`)).error.param).toBe('limit');
    expect((await list(shell, id, '?order=random')).error.param).toBe('order');
    expect((await list(shell, id, '?after=msg_unknown')).error.param).toBe('after');
    expect((await shell.get('resp_unknown/input_items')).status).toBe(404);
  });

  test('[RESP-54] the turns before are among what a response was made from, as long as they are kept', async () => {
    const shell = create();
    const first = await shell.response({ input: 'Weather?' });
    const second = await shell.response({ input: [result], previous_response_id: first.id });
    const { data } = await list(shell, second.id, '?order=asc');
    expect(data.map(({ type }: Loose) => type)).toEqual([
      'message',
      'reasoning',
      'message',
      'function_call',
      'function_call_output',
    ]);
    await shell.send({ method: 'DELETE', url: `/v1/responses/${first.id}` });
    expect((await list(shell, second.id)).data).toHaveLength(1);
  });
});

test('every route needs a key', async () => {
  const shell = create();
  for (const [method, url] of [
    ['POST', '/v1/responses'],
    ['GET', '/v1/responses/resp_1'],
    ['DELETE', '/v1/responses/resp_1'],
    ['GET', '/v1/responses/resp_1/input_items'],
  ] as const)
    expect((await shell.send({ method, url, key: null })).status).toBe(401);
});
