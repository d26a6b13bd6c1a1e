import { describe, expect, it } from 'vitest';
import { describeChatPort } from '../../../test/support/chat-port-conformance.ts';
import {
  chatRequest,
  completed,
  createRecordingSink,
  settled,
  streamed,
} from '../../../test/support/chat-sink.ts';
import { computing } from '../../../test/support/computing.ts';
import { createValidator } from '../../lib/schema.ts';
import type { ChatMessage, ChatRequest } from '../contract/chat.ts';
import { createSandboxChat } from './chat.ts';
import { countTextTokens } from './chat-tokens.ts';
import type { Timers } from './script.ts';

describeChatPort('the sandbox', { open: () => ({ port: createSandboxChat() }) });

const port = createSandboxChat();
const ask = (text: string, fields: Partial<ChatRequest> = {}) => completed(port, chatRequest(text, fields));
const textOf = async (text: string, fields: Partial<ChatRequest> = {}) =>
  (await ask(text, fields)).choices[0]?.text ?? '';

describe('what it says', () => {
  it('is about the last message of the user, in whole sentences', async () => {
    const text = await textOf('What is the capital of France?');
    expect(text).toContain('“the capital of France”');
    expect(text).toContain('Your message has 6 words.');
    expect(text).toMatch(/^[A-Z].*[.!]$/s);
  });

  it.each([
    ['Say hello world', 'hello world'],
    ['Repeat exactly: "Grüße, 世界 🌍"', 'Grüße, 世界 🌍'],
    ['Please reply with the word PONG', 'PONG'],
    ['Count to 5', '1, 2, 3, 4, 5.'],
    ['Can you count from 8 to ten?', '8, 9, 10.'],
    ['What is 17 * 3?', '17 * 3 = 51.'],
    ['0.1 + 0.2', '0.1 + 0.2 = 0.3.'],
    ['7 / 0', '7 / 0 has no result.'],
  ])('%s', async (asked, said) => {
    expect(await textOf(asked)).toBe(said);
  });

  it('lists as many things as are asked for, and writes as many words', async () => {
    const list = await textOf('Give me four ideas for dinner');
    expect(list.split('\n').filter((line) => /^\d+\. /.test(line))).toHaveLength(4);
    const essay = await textOf('Write 300 words about rivers');
    expect(essay.split(/\s+/).length).toBeGreaterThanOrEqual(300);
    expect(essay).toContain('rivers');
  });

  it('names the media of the message with their sizes', async () => {
    const { choices, usage } = await ask('', {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', mediaType: 'image/png', base64: Buffer.alloc(2050).toString('base64') },
            { type: 'audio', mediaType: 'audio/wav', base64: Buffer.alloc(10).toString('base64') },
          ],
        },
      ],
    });
    expect(choices[0]?.text).toContain('an image (image/png, 2050 bytes)');
    expect(choices[0]?.text).toContain('an audio clip (audio/wav, 10 bytes)');
    // Three tokens of image, one of audio, four of text, and what stands around a message.
    expect(usage.promptTokens).toBe(3 + 1 + 4 + 4 + 3);
  });

  it('is the same for the same request, and another for another seed, temperature or conversation', async () => {
    const fields = { temperature: 0.7, seed: 7 };
    expect(await textOf('Tell me about tea', fields)).toBe(await textOf('Tell me about tea', fields));
    const variants = await Promise.all(
      Array.from({ length: 8 }, (_, seed) => textOf('Tell me about tea', { temperature: 0.7, seed })),
    );
    expect(new Set(variants).size).toBeGreaterThan(4);
  });

  it('[CHAT-14] at temperature 0 does not depend on seed or top_p', async () => {
    const greedy = await textOf('Tell me about tea', { temperature: 0 });
    expect(await textOf('Tell me about tea', { temperature: 0, seed: 5, topP: 0.1 })).toBe(greedy);
    const { choices } = await ask('Tell me about tea', { temperature: 0, n: 2 });
    expect(choices.map(({ text }) => text)).toEqual([greedy, greedy]);
  });

  it('differs between the answers of one request', async () => {
    const { choices, usage } = await ask('Tell me about tea', { n: 4 });
    expect(new Set(choices.map(({ text }) => text)).size).toBe(4);
    const tokens = choices.reduce((sum, { text }) => sum + countTextTokens(text), 0);
    expect(usage.completionTokens).toBe(tokens);
  });
});

describe('where it ends', () => {
  it('counts the tokens of its text exactly, and cuts them at the limit', async () => {
    const whole = await ask('Tell me about tea');
    const text = whole.choices[0]?.text ?? '';
    const count = countTextTokens(text);
    expect(whole.usage.completionTokens).toBe(count);
    expect(whole.choices[0]?.finish).toEqual({ reason: 'stop', native: 'end_of_text' });
    for (const maxTokens of [1, 7, count - 1, count]) {
      const { choices, usage } = await ask('Tell me about tea', { maxTokens });
      expect(usage.completionTokens).toBe(maxTokens);
      expect(text.startsWith(choices[0]?.text ?? 'x')).toBe(true);
      expect(choices[0]?.finish.reason).toBe(maxTokens < count ? 'length' : 'stop');
    }
  });

  it('stops before the first stop sequence', async () => {
    const { choices, usage } = await ask('Count to 9', { stop: ['7', ', 5', ''] });
    expect(choices[0]?.text).toBe('1, 2, 3, 4');
    expect(choices[0]?.finish).toEqual({ reason: 'stop', native: 'stop_sequence', stopSequence: ', 5' });
    expect(usage.completionTokens).toBe(countTextTokens('1, 2, 3, 4'));
    const short = await ask('Count to 9', { stop: [', 5'], maxTokens: 7 });
    expect(short.choices[0]?.finish.reason).toBe('length');
  });

  it('ends as filtered where the script says so', async () => {
    const { choices } = await ask('Count to 9', { script: { filterAfterTokens: 3 } });
    expect(choices[0]).toMatchObject({
      text: '1, 2',
      finish: { reason: 'content_filter', native: 'filtered' },
    });
  });
});

describe('a continuation', () => {
  const resume = (beginning: string, fields: Partial<ChatRequest> = {}) =>
    textOf('', {
      messages: [
        { role: 'user', content: 'Tell me about tea' },
        { role: 'assistant', content: beginning },
      ],
      continueFinal: true,
      ...fields,
    });

  it('goes on with the answer that was cut, also when it had thoughts', async () => {
    const whole = await textOf('Tell me about tea');
    const cut = await ask('Tell me about tea', { maxTokens: 150, thinking: { enabled: true } });
    const beginning = cut.choices[0]?.text ?? '';
    expect(beginning.length).toBeGreaterThan(0);
    expect(beginning.length).toBeLessThan(whole.length);
    expect(beginning + (await resume(beginning))).toBe(whole);
  });

  it('goes on from any other beginning, without thoughts', async () => {
    expect(await resume('Tea is')).toMatch(/^ and so on.*\.$/);
    expect(await resume('Tea is a drink.')).toMatch(/^ [A-Z].*\.$/);
    const whole = await textOf('Tell me about tea');
    expect(await resume(whole)).toMatch(/^ [A-Z].*\.$/);
  });

  it('completes JSON', async () => {
    const rest = await resume('{', { responseFormat: { type: 'json_object' } });
    expect(JSON.parse(`{${rest}`)).toMatchObject({ topic: 'tea' });
  });
});

describe('thoughts', () => {
  const think = (thinking: ChatRequest['thinking'], fields: Partial<ChatRequest> = {}) =>
    ask('Tell me about tea', thinking === undefined ? fields : { ...fields, thinking });

  it('come only when they are asked for, and do not change the answer', async () => {
    const without = await think(undefined);
    expect([without.choices[0]?.reasoning, without.usage.reasoningTokens]).toEqual(['', 0]);
    expect((await think({ enabled: false })).choices[0]?.reasoning).toBe('');
    expect((await think({ enabled: true, effort: 'none' })).choices[0]?.reasoning).toBe('');
    const { choices, usage } = await think({ enabled: true });
    expect(choices[0]?.reasoning).toContain('“tea”');
    expect(choices[0]?.text).toBe(without.choices[0]?.text);
    expect(usage.reasoningTokens).toBe(countTextTokens(choices[0]?.reasoning ?? ''));
    expect(usage.completionTokens).toBe(usage.reasoningTokens + without.usage.completionTokens);
  });

  it('grow with the effort', async () => {
    const efforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'] as const;
    const lengths = await Promise.all(
      efforts.map(async (effort) => (await think({ enabled: true, effort })).usage.reasoningTokens),
    );
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    expect(new Set(lengths).size).toBe(efforts.length);
  });

  it('are cut exactly at their budget', async () => {
    for (const budgetTokens of [1, 10, 100]) {
      const { usage, choices } = await think({ enabled: true, effort: 'high', budgetTokens });
      expect(usage.reasoningTokens).toBe(budgetTokens);
      expect(choices[0]?.text).not.toBe('');
    }
  });

  it('can take all there is', async () => {
    const { usage, choices } = await think({ enabled: true }, { maxTokens: 20 });
    expect([usage.reasoningTokens, choices[0]?.text, choices[0]?.finish.reason]).toEqual([20, '', 'length']);
  });
});

describe('JSON', () => {
  it('is an object where one is asked for', async () => {
    const text = await textOf('Tell me about tea', { responseFormat: { type: 'json_object' } });
    expect(JSON.parse(text)).toMatchObject({ topic: 'tea', words: 4 });
  });

  it('fits the schema', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'array', items: { type: 'integer' } } },
      required: ['city', 'days'],
      additionalProperties: false,
    };
    const text = await textOf('The weather in Oslo for 3 days', {
      responseFormat: { type: 'json_schema', name: 'weather', schema },
    });
    const value: unknown = JSON.parse(text);
    expect(createValidator(schema).check(value)).toBe(true);
    expect(value).toMatchObject({ city: 'Oslo' });
  });
});

describe('tools', () => {
  const weather = {
    name: 'get_weather',
    description: 'The current weather in a city.',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { enum: ['C', 'F'] },
        days: { type: 'integer', minimum: 1 },
      },
      required: ['city', 'unit'],
    },
    strict: true,
  };
  const clock = { name: 'clock', description: 'Tells the time.' };
  const tools = [clock, weather];
  const callsOf = async (text: string, fields: Partial<ChatRequest> = {}) =>
    (await ask(text, { tools, ...fields })).choices[0]?.toolCalls ?? [];

  it('are called when the words suggest it, with arguments that fit', async () => {
    const { choices, usage } = await ask('What is the weather in Paris?', { tools });
    const [call, ...more] = choices[0]?.toolCalls ?? [];
    expect(more).toEqual([]);
    expect(call?.name).toBe('get_weather');
    expect(call?.id).toMatch(/^call_[0-9a-f]{24}$/);
    const args: unknown = JSON.parse(call?.arguments ?? '');
    expect(args).toMatchObject({ city: 'Paris' });
    expect(createValidator(weather.parameters).check(args)).toBe(true);
    expect(choices[0]).toMatchObject({ text: '', finish: { reason: 'tool_calls' } });
    expect(usage.completionTokens).toBe(1 + countTextTokens(call?.arguments ?? ''));
  });

  it('are left alone otherwise, and when they are switched off', async () => {
    expect(await callsOf('Tell me a joke')).toEqual([]);
    expect(await callsOf('What is the weather in Paris?', { toolChoice: 'none' })).toEqual([]);
  });

  it('are called when it is demanded', async () => {
    expect((await callsOf('Tell me a joke', { toolChoice: 'required' })).map(({ name }) => name)).toEqual([
      'clock',
    ]);
    const [named] = await callsOf('Tell me a joke', { toolChoice: { name: 'get_weather' } });
    expect(named?.name).toBe('get_weather');
    const [bare] = await callsOf('Use the clock');
    expect(bare).toMatchObject({ name: 'clock', arguments: '{}' });
  });

  it('are called side by side, unless that is switched off', async () => {
    const asked = 'What is the weather in Paris and London, and what does the clock say?';
    const calls = await callsOf(asked);
    expect(calls.map(({ name }) => name)).toEqual(['clock', 'get_weather', 'get_weather']);
    expect(calls.map(({ arguments: args }) => JSON.parse(args).city)).toEqual([undefined, 'Paris', 'London']);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    expect(await callsOf(asked, { parallelToolCalls: false })).toHaveLength(1);
  });

  it('are answered with what they said', async () => {
    const messages: ChatMessage[] = [
      { role: 'user', content: 'What is the weather in Paris?' },
      {
        role: 'assistant',
        content: null,
        toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris","unit":"C"}' }],
      },
      { role: 'tool', toolCallId: 'call_1', content: 'Sunny, 21 degrees' },
    ];
    expect(await textOf('', { messages, tools })).toBe('The tool answered: Sunny, 21 degrees');
    const next: ChatMessage[] = [...messages, { role: 'assistant', content: 'Sunny.' }];
    const again = {
      messages: [...next, { role: 'user' as const, content: 'And the weather in Rome?' }],
      tools,
    };
    expect((await ask('', again)).choices[0]?.toolCalls).toHaveLength(1);
  });
});

describe('log probabilities', () => {
  it('come with each token, and the alternatives are likeliest first', async () => {
    const sink = await streamed(port, chatRequest('Count to 30', { topLogprobs: 3 }));
    const { text, logprobs = [] } = sink.choice();
    expect(logprobs.map(({ token }) => token).join('')).toBe(text);
    for (const { token, logprob, bytes, topLogprobs } of logprobs) {
      expect(Buffer.from(bytes ?? []).toString()).toBe(token);
      expect(topLogprobs).toHaveLength(3);
      expect(topLogprobs[0]).toEqual({ token, logprob, bytes });
      const values = topLogprobs.map((entry) => entry.logprob);
      expect(values).toEqual([...values].sort((a, b) => b - a));
      expect(values.reduce((sum, value) => sum + Math.exp(value), 0)).toBeLessThanOrEqual(1);
      expect(new Set(topLogprobs.map((entry) => entry.token)).size).toBe(3);
    }
    expect(sink.choice()).toEqual((await ask('Count to 30', { topLogprobs: 3 })).choices[0]);
  });

  it('come without alternatives for 0, with 20 for 20, and not at all unless asked for', async () => {
    const first = async (topLogprobs: number) =>
      (await ask('Count to 3', { topLogprobs })).choices[0]?.logprobs?.[0];
    expect((await first(0))?.topLogprobs).toEqual([]);
    expect((await first(20))?.topLogprobs).toHaveLength(20);
    expect((await ask('Count to 3')).choices[0]?.logprobs).toBeUndefined();
  });
});

describe('the prompt', () => {
  it('is counted as usage has it', async () => {
    const tools = [{ name: 'clock' }];
    const request = chatRequest('Count to 3', { tools });
    const { usage } = await completed(port, request);
    expect(await port.countTokens(request, new AbortController().signal)).toBe(usage.promptTokens);
    const plain = await ask('Count to 3');
    expect(plain.usage.promptTokens).toBe(3 + 4 + 3);
    expect(usage.promptTokens).toBeGreaterThan(plain.usage.promptTokens);
  });

  it('is counted with breaks when it is long, and no further once nobody waits', async () => {
    const aborter = new AbortController();
    const request = chatRequest('word '.repeat(50_000));
    let turns = 0;
    const turn = () => {
      turns += 1;
      if (turns < 5) setImmediate(turn);
    };
    setImmediate(turn);
    expect(await port.countTokens(request, aborter.signal)).toBe(50_001 + 7);
    expect(turns).toBeGreaterThan(3);
    const counting = port.countTokens(request, aborter.signal);
    aborter.abort();
    await expect(counting).rejects.toThrow('abort');
  });

  it('is found in the cache up to what is new, in blocks of 64 tokens', async () => {
    const fresh = createSandboxChat();
    const first: ChatMessage[] = [{ role: 'user', content: 'word '.repeat(150) }];
    const second: ChatMessage[] = [
      ...first,
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'More' },
    ];
    const cached = async (messages: readonly ChatMessage[], affinity: string) =>
      (await completed(fresh, chatRequest('', { messages, affinity }))).usage.cachedTokens;
    expect(await cached(first, 'a')).toBe(0);
    expect(await cached(second, 'a')).toBe(128);
    expect(await cached(second, 'b')).toBe(0);
    expect(await cached([{ role: 'user', content: 'other' }, ...second], 'a')).toBe(0);
  });

  it('remembers a bounded number of conversations', async () => {
    const fresh = createSandboxChat();
    const cached = async (affinity: string) =>
      (await completed(fresh, chatRequest('word '.repeat(150), { affinity, maxTokens: 1 }))).usage
        .cachedTokens;
    await cached('first');
    expect(await cached('first')).toBe(128);
    for (let index = 0; index < 256; index++) await cached(`other ${index}`);
    expect(await cached('first')).toBe(0);
  });
});

describe('the script', () => {
  /** Time that moves only when it is told to. */
  function createManualTimers() {
    let now = 0;
    const pending = new Set<{ dueAt: number; callback: () => void }>();
    const timers: Timers = {
      now: () => now,
      after(delayMs, callback) {
        const timer = { dueAt: now + delayMs, callback };
        pending.add(timer);
        return () => pending.delete(timer);
      },
    };
    const advance = async (ms: number) => {
      now += ms;
      for (const timer of [...pending]) {
        if (timer.dueAt > now) continue;
        pending.delete(timer);
        timer.callback();
      }
      await settled();
    };
    return { timers, advance, pending };
  }
  const play = (script: ChatRequest['script'], timers?: Timers) => {
    const sink = createRecordingSink();
    const chat = createSandboxChat(timers);
    const run = chat.stream(chatRequest('Count to 9', script === undefined ? {} : { script }), sink);
    return { sink, run };
  };
  const said = (sink: ReturnType<typeof createRecordingSink>) => sink.choice().text;
  /** What was heard; a batch that a busy machine broke in two is one. */
  const order = ({ heard }: ReturnType<typeof createRecordingSink>) =>
    heard.map(({ type }) => type).filter((type, at, all) => type !== 'flush' || all[at + 1] !== 'text');

  it('sets the pace, and each token leaves when it is due', async () => {
    const { timers, advance, pending } = createManualTimers();
    const { sink } = play({ delayMs: 100, tokensPerSecond: 10 }, timers);
    await settled();
    expect(sink.heard).toEqual([]);
    await advance(100);
    expect(said(sink)).toBe('1');
    await advance(100);
    await advance(100);
    expect(said(sink)).toBe('1, 2');
    expect(sink.heard.map(({ type }) => type)).toEqual(['text', 'flush', 'text', 'flush', 'text', 'flush']);
    await advance(10_000);
    await sink.over;
    expect(said(sink)).toBe('1, 2, 3, 4, 5, 6, 7, 8, 9.');
    expect(pending.size).toBe(0);
  });

  it('abort leaves no timer, and nothing is heard', async () => {
    const { timers, advance, pending } = createManualTimers();
    const { sink, run } = play({ tokensPerSecond: 10 }, timers);
    await settled();
    const before = sink.heard.length;
    expect([before > 0, pending.size]).toEqual([true, 1]);
    run.abort();
    expect(pending.size).toBe(0);
    await advance(10_000);
    expect(sink.heard.length).toBe(before);
    const waiting = play({ delayMs: 1000 }, timers);
    await settled();
    expect(pending.size).toBe(1);
    waiting.run.abort();
    expect(pending.size).toBe(0);
    await settled();
    expect(waiting.sink.heard).toEqual([]);
  });

  it('holds still while it is paused, though tokens are due', async () => {
    const { timers, advance } = createManualTimers();
    const { sink, run } = play({ tokensPerSecond: 10 }, timers);
    await settled();
    run.pause();
    await advance(1000);
    await advance(1000);
    expect(said(sink)).toBe('1');
    run.resume();
    await advance(100_000);
    await sink.over;
    expect(said(sink)).toBe('1, 2, 3, 4, 5, 6, 7, 8, 9.');
  });

  it('fails before the first token', async () => {
    const { sink } = play({ failBefore: 'refuse' });
    await sink.over;
    expect(sink.order()).toBe('fail');
    expect(sink.error).toMatchObject({ kind: 'unreachable' });
    const whole = completed(createSandboxChat(), chatRequest('x', { script: { failBefore: 'timeout' } }));
    await expect(whole).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('fails after some tokens, which have left before', async () => {
    const { sink } = play({ failAfterTokens: 3 });
    await sink.over;
    expect(order(sink)).toEqual(['text', 'text', 'text', 'flush', 'fail']);
    expect(sink.error?.kind).toBe('unreachable');
  });

  it('falls silent, until it is aborted', async () => {
    const { sink, run } = play({ stallAfterTokens: 2 });
    await sink.parts(2);
    await settled();
    expect(order(sink)).toEqual(['text', 'text', 'flush']);
    run.abort();
    await settled();
    expect(order(sink)).toHaveLength(3);
  });

  it('counts the requests of its model', async () => {
    const chat = createSandboxChat();
    const script = { overload: { every: 2 } };
    const kinds = [];
    for (let index = 0; index < 4; index++) {
      kinds.push((await streamed(chat, chatRequest(`say ${index}`, { script }))).error?.kind);
    }
    expect(kinds).toEqual([undefined, 'overloaded', undefined, 'overloaded']);
  });
});

describe('a hostile question', () => {
  it.each([
    ['wishes', 'count '.repeat(20_000)],
    ['blanks', `in${' '.repeat(100_000)}x`],
    ['commas', `${','.repeat(100_000)}x`],
    ['capitals', 'A '.repeat(50_000)],
    ['digits', '1'.repeat(100_000)],
    ['quotes', '"'.repeat(100_000)],
  ])('takes no longer than another of its length (%s)', async (_, text) => {
    const computed = computing();
    const tools = Array.from({ length: 100 }, (_, index) => ({
      name: `tool_${index}`,
      description: text.slice(-2_000),
    }));
    await ask(text, { maxTokens: 5, tools });
    expect(computed()).toBeLessThan(1_000);
  });
});

describe('a long answer', () => {
  it('is delivered in batches, and others get their turn in between', async () => {
    const sink = createRecordingSink();
    let turns = 0;
    let longestMs = 0;
    let computed = computing();
    let isOver = false;
    const turn = () => {
      turns += 1;
      longestMs = Math.max(longestMs, computed());
      computed = computing();
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    port.stream(chatRequest('Count to 9000'), sink);
    await sink.over;
    isOver = true;
    const parts = sink.heard.filter(({ type }) => type === 'text').length;
    const flushes = sink.heard.filter(({ type }) => type === 'flush').length;
    expect(parts).toBeGreaterThan(20_000);
    expect(flushes).toBeGreaterThanOrEqual(Math.floor(parts / 64));
    expect(turns).toBeGreaterThan(200);
    // About 5 ms.
    expect(longestMs).toBeLessThan(100);
  });
});
