import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRecordingSink, type RecordingSink } from '../../../test/support/recording-sink.ts';
import { fromJsonBytes, type JsonBytes } from '../contract/json-bytes.ts';
import { ChatEventReader } from './sse.ts';
import type { Asked, WireAnswer, WireToolCall } from './wire.ts';

const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'm' };

type Delta = Record<string, unknown>;

function toChunk(delta: Delta, extra: Record<string, unknown> = {}, index = 0): object {
  return { ...base, choices: [{ index, delta, logprobs: null, finish_reason: null, ...extra }] };
}

const finish = (reason = 'stop', index = 0) => toChunk({}, { finish_reason: reason }, index);
const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };
const usageChunk = { ...base, choices: [], usage };

interface Form {
  lead?: string;
  lineEnd?: string;
  indent?: boolean;
}

/** Events as an engine writes them. */
function toStream(
  events: readonly (object | string)[],
  { lead = 'data: ', lineEnd = '\n', indent }: Form = {},
) {
  return events
    .map((event) => {
      const json = typeof event === 'string' ? event : JSON.stringify(event);
      // Python's own json writes a space after every colon and comma outside of texts.
      const text = indent ? json.replaceAll('":', '": ').replaceAll(',"', ', "') : json;
      return lead + text + lineEnd + lineEnd;
    })
    .join('');
}

const ended = (...events: (object | string)[]) => [...events, finish(), usageChunk, '[DONE]'];

/** The plain way to read such a stream: a well-known SSE parser, JSON.parse, and concatenation. */
function reference(stream: string, asked: Asked) {
  const choices: { text: string; reasoning: string; args: string[]; finish: string | undefined }[] = [];
  let usages: unknown[] = [];
  let isDone = false;
  const parser = createParser({
    onEvent({ data }) {
      if (data === '[DONE]') isDone = true;
      if (isDone) return;
      const answer = JSON.parse(data) as WireAnswer;
      for (const { index = 0, delta, finish_reason } of answer.choices ?? []) {
        choices[index] ??= { text: '', reasoning: '', args: [], finish: undefined };
        const choice = choices[index];
        choice.text += delta?.content ?? '';
        choice.reasoning += delta?.reasoning ?? delta?.reasoning_content ?? '';
        for (const call of delta?.tool_calls ?? []) {
          choice.args[call.index ?? 0] = (choice.args[call.index ?? 0] ?? '') + call.function?.arguments;
        }
        choice.finish ??= finish_reason ?? undefined;
      }
      if (answer.usage) usages = [answer.usage.prompt_tokens];
    },
  });
  // Decoding takes the byte order mark away, as in any client.
  parser.feed(new TextDecoder().decode(Buffer.from(stream)));
  parser.feed('\n\n');
  const isWhole = choices.filter(({ finish }) => finish !== undefined).length === asked.n;
  return { choices, usages: isWhole ? usages : [], outcome: isWhole ? 'end' : 'fail' };
}

function summary(sink: RecordingSink) {
  return {
    choices: sink.choices.map(({ text, reasoning, calls, finish }) => ({
      text,
      reasoning,
      args: calls.map((call) => call.arguments),
      finish: finish?.native,
    })),
    usages: sink.usages.map(({ promptTokens }) => promptTokens),
    outcome: sink.heard.at(-1),
  };
}

function read(pieces: Iterable<Buffer>, asked: Asked = { n: 1 }) {
  const sink = createRecordingSink();
  const reader = new ChatEventReader(sink, asked);
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return { sink, reader };
}

const readText = (stream: string, asked?: Asked) => read([Buffer.from(stream)], asked);

function* cutAt(bytes: Buffer, places: readonly number[]): Generator<Buffer> {
  let from = 0;
  for (const to of places) {
    yield bytes.subarray(from, to);
    from = to;
  }
  yield bytes.subarray(from);
}

const texts = [
  'Hello',
  ' wor"ld"',
  '\\ back\\slash',
  'line\nbreak\t',
  '日本語',
  '😀🏳️‍🌈',
  'é',
  '\u0001',
  ' end',
];
const words = texts.map((content) => toChunk({ content }));
const tool = (piece: WireToolCall) => toChunk({ tool_calls: [piece] });

const streams: Record<string, [string, Asked?]> = {
  'plain text': [toStream(ended(toChunk({ role: 'assistant', content: '' }), ...words))],
  'CRLF line ends': [toStream(ended(...words), { lineEnd: '\r\n' })],
  'CR alone': [toStream(ended(...words), { lineEnd: '\r' })],
  'no space after the colon': [toStream(ended(...words), { lead: 'data:' })],
  'spaces in the JSON': [toStream(ended(...words), { indent: true })],
  'a byte order mark': [`\ufeff${toStream(ended(...words))}`],
  'comments, ids, event names and unknown fields': [
    `: hi\n\nretry: 10\nevent: message\nid: 7\n${toStream(ended(...words))
      .replaceAll('data: ', ': ping\nevent: delta\ndata: ')
      .replaceAll('\n\n', '\nfoo\nbar: x\n\n')}`,
  ],
  'an event in several data lines': [
    `data: {"choices":[{"index":0,\ndata: "delta":{"content":"ab"}}]}\n\n${toStream(ended(...words))}`,
  ],
  'reasoning, then text': [toStream(ended(...texts.map((reasoning) => toChunk({ reasoning })), ...words))],
  'the older reasoning name, alternating': [
    toStream(
      ended(...texts.flatMap((text) => [toChunk({ reasoning_content: text }), toChunk({ content: text })])),
    ),
  ],
  'three answers at once': [
    toStream([
      ...texts.flatMap((content) =>
        [0, 2, 1].map((index) => toChunk({ content: content + index }, {}, index)),
      ),
      finish('stop', 1),
      toChunk({ content: 'more' }, {}, 0),
      finish('length', 0),
      finish('stop', 2),
      usageChunk,
      '[DONE]',
    ]),
    { n: 3 },
  ],
  'tool calls': [
    toStream([
      tool({ index: 0, id: 'call_abcdefgh', function: { name: 'f', arguments: '' } }),
      ...['{"a', '":"', 'x\\"', '日本', '"}'].map((args) =>
        tool({ index: 0, function: { arguments: args } }),
      ),
      tool({ index: 1, id: 'call_ijklmnop', function: { name: 'g', arguments: '' } }),
      ...['{"b', '":1', '}'].map((args) => tool({ index: 1, function: { arguments: args } })),
      finish('tool_calls'),
      '[DONE]',
    ]),
  ],
  'a text that imitates the line around it': [
    toStream(
      ended(
        toChunk({ content: 'x' }),
        toChunk({ content: '"},"logprobs":null,"finish_reason":null}]}\n\ndata: {"choices":[' }),
        toChunk({ content: JSON.stringify(toChunk({ content: 'y' })) }),
        toChunk({ content: '[DONE]' }),
        toChunk({ content: '\\' }),
        toChunk({ content: '\\"' }),
      ),
    ),
  ],
  'escaped characters, surrogates split over two chunks': [
    toStream(
      ended(
        toChunk({ content: 'a' }),
        JSON.stringify(toChunk({ content: '@' })).replace('@', '\\ud83d'),
        JSON.stringify(toChunk({ content: '@' })).replace('@', '\\ude00\\u00e9\\/'),
      ),
    ),
  ],
  'a time that changes': [
    toStream(ended(...texts.map((content, i) => ({ ...toChunk({ content }), created: 1 + (i >> 1) })))),
  ],
  'a usage in every chunk': [toStream([...words.map((word) => ({ ...word, usage })), finish(), '[DONE]'])],
  'text in the last chunk': [
    toStream([...words, toChunk({ content: 'bye' }, { finish_reason: 'length' }), '[DONE]']),
  ],
  'nothing after [DONE]': [toStream([...ended(...words), toChunk({ content: 'late' }), '{broken'])],
  'no [DONE]': [toStream([...words, finish()])],
  'no blank line at the end': [toStream([...words, finish()]).trimEnd()],
  'no finish reason': [toStream([...words, '[DONE]'])],
  'no finish reason and no [DONE]': [toStream(words)],
  'one answer of two': [toStream(ended(...words)), { n: 2 }],
  'nothing at all': [''],
};

describe('the event reader against a reference parser', () => {
  it.each(Object.entries(streams))('agrees on %s, cut at every byte', (_, [stream, asked = { n: 1 }]) => {
    const bytes = Buffer.from(stream);
    const expected = reference(stream, asked);
    const check = (places: number[]) => {
      const { sink } = read(cutAt(bytes, places), asked);
      // Equality of values first: a matcher per cut would take most of the time.
      if (JSON.stringify(summary(sink)) !== JSON.stringify(expected)) {
        expect({ places, ...summary(sink) }).toEqual({ places, ...expected });
      }
    };
    check([]);
    check(Array.from(bytes, (_byte, i) => i));
    for (let place = 0; place <= bytes.length; place++) check([place]);
    // Every answer has its parts: the reference itself is not empty.
    expect(expected.choices.length).toBeGreaterThanOrEqual(stream === '' ? 0 : 1);
  });

  it('agrees on any stream, cut anywhere', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 });
    const event = fc.oneof(
      { weight: 5, arbitrary: text.map((content) => (index: number) => toChunk({ content }, {}, index)) },
      { weight: 2, arbitrary: text.map((reasoning) => (index: number) => toChunk({ reasoning }, {}, index)) },
      text.map((content) => (index: number) => toChunk({ content, reasoning: content }, {}, index)),
      text.map((content) => (index: number) => ({ ...toChunk({ content }, {}, index), usage })),
      text.map((args) => (index: number) => {
        const piece = { index: 0, id: 'call_12345678', function: { name: 'f', arguments: `x${args}` } };
        return toChunk({ tool_calls: [piece] }, {}, index);
      }),
    );
    const form = fc.record({
      lead: fc.constantFrom('data: ', 'data:'),
      lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
      indent: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(event, fc.nat({ max: 2 })), { maxLength: 30 }),
        form,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
        (events, written, cuts) => {
          const all = [
            ...events.map(([make, index]) => make(index)),
            ...[0, 1, 2].map((index) => finish('stop', index)),
            usageChunk,
            '[DONE]',
          ];
          const stream = toStream(all, written);
          const bytes = Buffer.from(stream);
          const places = cuts.map((cut) => Math.floor(cut * bytes.length)).sort((a, b) => a - b);
          const { sink } = read(cutAt(bytes, places), { n: 3 });
          expect(summary(sink)).toEqual(reference(stream, { n: 3 }));
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe('ordinary chunks', () => {
  const many = (make: (text: string) => object) => Array.from({ length: 100 }, (_, i) => make(`word ${i} é`));

  it.each([
    ['text', many((content) => toChunk({ content })), 1],
    ['text of an engine that writes spaces', many((content) => toChunk({ content })), 1, { indent: true }],
    ['text with CRLF', many((content) => toChunk({ content })), 1, { lineEnd: '\r\n' }],
    ['reasoning', many((reasoning_content) => toChunk({ reasoning_content })), 1],
    [
      'reasoning beside an empty text',
      [toChunk({ content: 'x' }), ...many((reasoning) => toChunk({ content: '', reasoning }))],
      2,
    ],
    ['arguments of a call', many((args) => tool({ index: 0, function: { arguments: args } })), 1],
    [
      'text whose time changes every 20 chunks',
      many((content) => ({
        ...toChunk({ content }),
        created: Math.floor(Number(content.split(' ')[1]) / 20),
      })),
      5,
    ],
  ] as [string, object[], number, Form?][])(
    '%s: are not parsed once their shape is known',
    (name, events, parses, form) => {
      const first = name.startsWith('arguments')
        ? tool({ index: 0, id: 'call_12345678', function: { name: 'f', arguments: '' } })
        : toChunk({ role: 'assistant', content: '' });
      const { reader, sink } = readText(toStream(ended(first, ...events), form));
      expect(sink.heard.at(-1)).toBe('end');
      // Besides them: the first chunk, the finish and the usage.
      expect(reader.parses).toBe(3 + parses);
      expect(reader.events).toBe(events.length + 4);
    },
  );

  it('of three answers are told apart without parsing', () => {
    const events = many((content) => toChunk({ content }, {}, Number(content.split(' ')[1]) % 3));
    const { reader, sink } = readText(
      toStream([...events, ...[0, 1, 2].map((index) => finish('stop', index)), '[DONE]']),
      { n: 3 },
    );
    expect(reader.parses).toBe(6);
    expect(sink.choices.map(({ text }) => text.split(' é').length - 1)).toEqual([34, 33, 33]);
  });

  it('hand the text on as it was written, escapes and bytes', () => {
    const pieces: string[] = [];
    const sink = { ...createRecordingSink(), text: (_: number, piece: string) => void pieces.push(piece) };
    const reader = new ChatEventReader(sink, { n: 1 });
    reader.push(Buffer.from(toStream([toChunk({ content: 'x' }), toChunk({ content: '日"\n' })])));
    expect(pieces).toEqual(['x', '\u00e6\u0097\u00a5\\"\\n']);
    expect(fromJsonBytes(pieces[1] as never)).toBe('日"\n');
  });

  it.each([
    ['a bad escape', '\\x'],
    ['a bad unicode escape', '\\u12g4'],
    ['a raw control character', '\u0001'],
  ])('with %s are no JSON, and fail', (_, bad) => {
    const line = JSON.stringify(toChunk({ content: '@' })).replace('@', () => bad);
    const { sink } = readText(toStream(ended(toChunk({ content: 'x' }), line)));
    expect(sink.error).toMatchObject({ kind: 'unreachable' });
    expect(sink.choices[0]?.text).toBe('x');
  });

  it.each([
    ['a lone lead byte', [0xe6]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a code point too high', [0xf4, 0x90, 0x80, 0x80]],
  ])('with %s never hand bytes on that are no UTF-8', (_, bad) => {
    const [before, after] = toStream([toChunk({ content: '@' })]).split('@');
    const sink = createRecordingSink();
    const pieces: string[] = [];
    const reader = new ChatEventReader(
      { ...sink, text: (_choice, piece) => void pieces.push(piece) },
      { n: 1 },
    );
    reader.push(Buffer.from(toStream([toChunk({ content: 'x' })])));
    reader.push(Buffer.concat([Buffer.from(before!), Buffer.from(bad), Buffer.from(after!)]));
    const bytes = Buffer.from(pieces[1]!, 'latin1');
    expect(bytes.toString('utf8')).toContain('\ufffd');
    expect(Buffer.from(bytes.toString('utf8'))).toEqual(bytes);
  });
});

describe('a line that does not end', () => {
  it('of 10 MB is read, however small the pieces', () => {
    const content = 'x'.repeat(10 * 1024 * 1024);
    const bytes = Buffer.from(toStream(ended(toChunk({ content }))));
    const places = Array.from({ length: Math.floor(bytes.length / 4096) }, (_, i) => (i + 1) * 4096);
    const { sink } = read(cutAt(bytes, places));
    expect(sink.heard).toEqual(['text', 'finish', 'usage', 'end']);
    expect(sink.choices[0]?.text.length).toBe(content.length);
  });

  it.each([
    ['a line', Buffer.alloc(1024 * 1024, 'x'), 'data: '],
    ['data lines', Buffer.from(`data: ${'x'.repeat(1024 * 1024)}\n`), ''],
  ])('over 16 MB is given up: %s', (_, piece, start) => {
    const sink = createRecordingSink();
    const reader = new ChatEventReader(sink, { n: 1 });
    reader.push(Buffer.from(start));
    for (let i = 0; i < 15; i++) reader.push(piece);
    expect(sink.error).toBeUndefined();
    for (let i = 0; i < 5; i++) reader.push(piece);
    expect(sink.error).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('too long') });
  });
});

describe('a tool call', () => {
  const calls = (...events: object[]) => {
    const { sink } = readText(toStream([...events, finish('tool_calls'), '[DONE]']));
    return sink;
  };

  it('[CHAT-81] keeps an id that starts with call_, and gets one otherwise', () => {
    const sink = calls(
      tool({ index: 0, id: 'call_abc', function: { name: 'a', arguments: '{}' } }),
      tool({ index: 1, id: 'chatcmpl-tool-0123456789abcdef', function: { name: 'b', arguments: '{}' } }),
      tool({ index: 2, id: 'functions.c:0', function: { name: 'c', arguments: '{}' } }),
      tool({ index: 3, function: { name: 'd', arguments: '{}' } }),
    );
    const ids = sink.choices[0]?.calls.map(({ id }) => id);
    expect(ids?.slice(0, 2)).toEqual(['call_abc', 'call_0123456789abcdef']);
    expect(ids?.[2]).toMatch(/^call_[0-9a-f]{24}$/);
    expect(ids?.[3]).toMatch(/^call_[0-9a-f]{24}$/);
  });

  it('[CHAT-83] without arguments ends as {}', () => {
    const sink = calls(
      tool({ index: 0, id: 'call_a', function: { name: 'a', arguments: '' } }),
      tool({ index: 1, id: 'call_b', function: { name: 'b', arguments: null } }),
      tool({ index: 2, id: 'call_c', function: { name: 'c', arguments: { x: 1 } } }),
    );
    expect(sink.choices[0]?.calls.map((call) => call.arguments)).toEqual(['{}', '{}', '{"x":1}']);
  });

  it('has its id and name once, also when the engine repeats them', () => {
    const again = (args: string) =>
      tool({ index: 0, id: 'call_a', function: { name: 'a', arguments: args } });
    expect(calls(again('{"x'), again('":1'), again('}')).choices[0]?.calls).toEqual([
      { id: 'call_a', name: 'a', arguments: '{"x":1}' },
    ]);
  });

  it('is told apart from the next one by its id when the engine numbers all of them 0', () => {
    const sink = calls(
      tool({ index: 0, id: 'call_a', function: { name: 'a', arguments: '{"n":1}' } }),
      tool({ index: 0, id: 'call_b', function: { name: 'a', arguments: '{"n"' } }),
      tool({ index: 0, function: { arguments: ':2' } }),
      tool({ index: 0, function: { arguments: '}' } }),
    );
    expect(sink.choices[0]?.calls.map((call) => call.arguments)).toEqual(['{"n":1}', '{"n":2}']);
  });

  it('waits for its name', () => {
    const sink = calls(
      tool({ index: 0, id: 'call_a', function: { arguments: '{"x"' } }),
      tool({ index: 0, function: { name: 'a', arguments: ':1' } }),
      tool({ function: { arguments: '}' } }),
    );
    expect(sink.choices[0]?.calls).toEqual([{ id: 'call_a', name: 'a', arguments: '{"x":1}' }]);
    const nameless = calls(tool({ index: 0, id: 'call_a', function: { arguments: '{}' } }));
    expect(nameless.error).toMatchObject({ kind: 'unreachable' });
  });

  it('[STREAM-9] after the 128th is refused', () => {
    const many = Array.from({ length: 129 }, (_, index) =>
      tool({ index, id: `call_${index}`, function: { name: 'a', arguments: '{}' } }),
    );
    expect(calls(...many.slice(1)).error).toBeUndefined();
    expect(calls(...many).error).toMatchObject({ kind: 'unreachable' });
  });

  it('[CHAT-87] makes the finish reason tool_calls, also when the engine says stop', () => {
    const call = tool({ index: 0, id: 'call_a', function: { name: 'a', arguments: '{}' } });
    const { sink } = readText(toStream([call, finish('stop')]));
    expect(sink.choices[0]?.finish).toEqual({ reason: 'tool_calls', native: 'stop' });
    const cut = readText(toStream([call, finish('length')]));
    expect(cut.sink.choices[0]?.finish).toEqual({ reason: 'length', native: 'length' });
  });
});

describe('log probabilities', () => {
  const entry = { token: 'Hi', logprob: -0.5, bytes: [72, 105], id: 9 };
  const logprobs = { content: [{ ...entry, top_logprobs: [entry, { token: '?', logprob: null }] }] };

  it('come with their text, cut to the number that was asked for', () => {
    const events = [toChunk({ content: 'Hi' }, { logprobs }), toChunk({ content: '' }, { logprobs })];
    const { sink } = readText(toStream(ended(...events)), { n: 1, topLogprobs: 2 });
    const hi = { token: 'Hi', logprob: -0.5, bytes: [72, 105] };
    expect(sink.choices[0]?.text).toBe('Hi');
    expect(sink.choices[0]?.logprobs).toEqual([
      { ...hi, topLogprobs: [hi, { token: '?', logprob: -9999, bytes: null }] },
      { ...hi, topLogprobs: [hi, { token: '?', logprob: -9999, bytes: null }] },
    ]);
    const { sink: none } = readText(toStream(ended(...events)), { n: 1, topLogprobs: 0 });
    expect(none.choices[0]?.logprobs[0]?.topLogprobs).toEqual([]);
  });

  it('are dropped when nobody asked', () => {
    const { sink } = readText(toStream(ended(toChunk({ content: 'Hi' }, { logprobs }))));
    expect(sink.choices[0]).toMatchObject({ text: 'Hi', logprobs: [] });
  });
});

describe('the end', () => {
  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['function_call', 'tool_calls'],
    ['repetition', 'stop'],
    ['toString', 'stop'],
  ])('[CHAT-84] [CHAT-89] %s is mapped, the engine’s own word kept', (native, reason) => {
    const { sink } = readText(toStream([toChunk({ content: 'x' }), finish(native)]));
    expect(sink.choices[0]?.finish).toEqual({ reason, native });
  });

  it.each(['abort', 'error'])('%s is a failure: the engine gave the answer up', (native) => {
    const { sink } = readText(toStream([toChunk({ content: 'x' }), finish(native)]));
    expect(sink.error).toMatchObject({ kind: 'unreachable' });
  });

  it.each(['stop_reason', 'matched_stop'])('names the stop sequence out of %s', (field) => {
    const at = (value: unknown, stop = ['END', '\n\n']) =>
      readText(toStream([toChunk({}, { finish_reason: 'stop', [field]: value })]), { n: 1, stop }).sink;
    expect(at('END').choices[0]?.finish?.stopSequence).toBe('END');
    expect(at('<|im_end|>').choices[0]?.finish).toEqual({ reason: 'stop', native: 'stop' });
    expect(at(151_645).choices[0]?.finish).toEqual({ reason: 'stop', native: 'stop' });
  });

  it('has the usage with cached and reasoning tokens, where engines put them', () => {
    const told = (value: object) =>
      readText(toStream([finish(), { ...base, choices: [], usage: value }])).sink.usages;
    expect(
      told({
        prompt_tokens: 10,
        completion_tokens: 6,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      }),
    ).toEqual([{ promptTokens: 10, completionTokens: 6, cachedTokens: 4, reasoningTokens: 2 }]);
    expect(
      told({ prompt_tokens: 10, completion_tokens: 6, prompt_tokens_details: null, reasoning_tokens: 3 }),
    ).toEqual([{ promptTokens: 10, completionTokens: 6, cachedTokens: 0, reasoningTokens: 3 }]);
    expect(told({ prompt_tokens: null })).toEqual([
      { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
    ]);
  });

  it('adds up the usages of an engine that counts every answer apart', () => {
    const counted = (tokens: number) => ({
      ...usageChunk,
      usage: { prompt_tokens: 3, completion_tokens: tokens },
    });
    const stream = toStream([finish('stop', 0), counted(5), finish('stop', 1), counted(7), '[DONE]']);
    const total = (hasUsagePerAnswer: boolean) =>
      readText(stream, { n: 2, hasUsagePerAnswer }).sink.usages.map((told) => [
        told.promptTokens,
        told.completionTokens,
      ]);
    expect(total(true)).toEqual([[3, 12]]);
    expect(total(false)).toEqual([[3, 7]]);
  });

  it.each([
    ['an error object', { error: { message: 'boom', code: 500 } }, 'unreachable'],
    ['an error text', { error: 'boom' }, 'unreachable'],
    ['an older error form', { object: 'error', message: 'too long', code: 400 }, 'invalid_request'],
    ['an error with a status in words', { error: { message: 'busy', code: '503' } }, 'overloaded'],
    ['a choice that nobody asked for', toChunk({ content: 'x' }, {}, 1), 'unreachable'],
    ['no object', 'null', 'unreachable'],
    ['no JSON', '{"choices":', 'unreachable'],
  ])('is a failure after %s', (_, event, kind) => {
    const { sink } = readText(toStream([toChunk({ content: 'x' }), event, finish(), '[DONE]']));
    expect(sink.heard).toEqual(['text', 'fail']);
    expect(sink.error?.kind).toBe(kind);
  });

  it('is a failure after an error field, as llama.cpp wrote it', () => {
    const { sink } = readText('error: {"code":400,"message":"the prompt is too long"}\n\n');
    expect(sink.error).toMatchObject({ kind: 'invalid_request', message: 'the prompt is too long' });
  });

  it('is well when the connection breaks after the finish reason', () => {
    const sink = createRecordingSink();
    const reader = new ChatEventReader(sink, { n: 1 });
    reader.push(Buffer.from(`${toStream([toChunk({ content: 'x' }), finish()])}data: {"cho`));
    reader.end({ kind: 'unreachable' } as never);
    expect(sink.heard.at(-1)).toBe('end');
  });

  it('is not heard when the sink stops the reader in the middle of a read', () => {
    const sink = createRecordingSink();
    const stopping = {
      ...sink,
      text(choice: number, piece: JsonBytes) {
        sink.text(choice, piece);
        reader.close();
      },
    };
    const reader = new ChatEventReader(stopping, { n: 1 });
    reader.push(Buffer.from(toStream(ended(...words))));
    reader.end();
    expect(sink.heard).toEqual(['text']);
  });
});
