/** The fast path of whole answers reads what the parser reads, or leaves the answer to it. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../test/support/random.ts';
import type { ChatResult } from '../contract/chat.ts';
import { PlainAnswers } from './plain-answers.ts';
import { readWhole } from './whole.ts';
import type { Asked } from './wire.ts';

const asked: Asked = { n: 1 };

interface Fields {
  id?: string;
  content?: string;
  finish?: string;
  message?: object;
  choice?: object;
  usage?: object;
  rest?: object;
}

function bodyOf({ id = 'chatcmpl-1', content = 'Hi', finish = 'stop', ...more }: Fields = {}): string {
  const message = { role: 'assistant', content, refusal: null, tool_calls: [], ...more.message };
  return JSON.stringify({
    id,
    object: 'chat.completion',
    created: 1_787_400_000 + content.length,
    model: 'Qwen/Qwen3-8B',
    choices: [
      { index: 0, message, logprobs: null, finish_reason: finish, stop_reason: null, ...more.choice },
    ],
    usage: { prompt_tokens: 33, total_tokens: 53, completion_tokens: 20, ...more.usage },
    ...more.rest,
  });
}

/** What a result says, however it is held. */
function told({ choices, usage }: ChatResult): unknown {
  const fields = choices.map(({ text, reasoning, toolCalls, logprobs, finish }) => ({
    text,
    reasoning,
    toolCalls,
    logprobs,
    finish,
  }));
  return { choices: fields, usage };
}

function outcome(body: string | Buffer, known?: PlainAnswers, wanted = asked): unknown {
  try {
    return told(readWhole(Buffer.from(body as string), wanted, known));
  } catch (error) {
    return (error as Error).message;
  }
}

function learned(...bodies: string[]): PlainAnswers {
  const known = new PlainAnswers();
  for (const body of bodies) readWhole(Buffer.from(body), asked, known);
  return known;
}

describe('the answers of an engine that have the shape of an earlier one', () => {
  it.each([
    ['text', 'A longer text.'],
    ['escapes', 'C:\\menu "is" there\n\t\r\b\f/'],
    ['other scripts', 'Crème brûlée 🍮👩‍🍳\u2028 机关车库'],
    ['half a character', '\ud83d'],
    ['what imitates a field', '","content":"no","prompt_tokens":1,"index":7'],
    ['nothing', ''],
  ])('[CHAT-94] are read without a parser: %s', (_, content) => {
    const known = learned(bodyOf());
    const body = bodyOf({ id: 'x-2', content, usage: { prompt_tokens: 7, completion_tokens: 0 } });
    const result = known.read(body);
    expect(result && told(result)).toEqual(outcome(body));
    expect(JSON.parse(`"${result?.choices[0]?.textInJson}"`)).toBe(content);
  });

  it('are read whatever other numbers stand in them', () => {
    const timings = (ms: number) => ({ rest: { timings: { prompt_ms: ms, cache_n: -1, rate: 1e-9 * ms } } });
    const body = bodyOf({ content: 'Hello', ...timings(0.25) });
    expect(learned(bodyOf(timings(67.685))).read(body)).toBeDefined();
  });

  it('[CHAT-93] have the usage that they tell, and none where it cannot be true', () => {
    const details = (cached: number, reasoning: number) => ({
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    });
    const known = learned(bodyOf({ usage: details(0, 0) }));
    const usage = { prompt_tokens: 40, completion_tokens: 9, ...details(16, 5) };
    expect(known.read(bodyOf({ usage }))?.usage).toEqual({
      promptTokens: 40,
      completionTokens: 9,
      cachedTokens: 16,
      reasoningTokens: 5,
    });
    const untrue = bodyOf({ usage: { ...usage, prompt_tokens: 2_000_000_000 } });
    expect(known.read(untrue)?.usage).toMatchObject({ promptTokens: 0, completionTokens: 0 });
  });

  it.each([
    [
      'calls a tool',
      { message: { tool_calls: [{ id: 'call_1', function: { name: 'f', arguments: '{}' } }] } },
    ],
    ['thinks', { message: { reasoning: 'hm' } }],
    ['thinks by another name', { message: { reasoning_content: 'hm' } }],
    ['ends otherwise', { finish: 'length' }],
    ['was given up', { finish: 'abort' }],
    ['is a failure', { rest: { error: { message: 'no' } } }],
    ['is of another choice', { choice: { index: 1 } }],
    ['has no text', { message: { content: null } }],
  ] satisfies [string, Fields][])('leave to the parser one that %s', (_, fields) => {
    const known = learned(bodyOf());
    const body = bodyOf(fields);
    expect(known.read(body)).toBeUndefined();
    expect(outcome(body, known)).toEqual(outcome(body));
    expect(outcome(bodyOf(), known)).toEqual(outcome(bodyOf()));
  });

  it('are parsed when more is asked for than their text', () => {
    const known = learned(bodyOf());
    const more: Asked[] = [{ n: 1, stop: ['x'] }, { n: 1, topLogprobs: 2 }, { n: 1, repeats: 'H' }, { n: 2 }];
    for (const wanted of more) {
      expect(outcome(bodyOf(), known, wanted)).toEqual(outcome(bodyOf(), undefined, wanted));
      expect(outcome(bodyOf({ choice: { stop_reason: 'x' } }), known, wanted)).toEqual(
        outcome(bodyOf({ choice: { stop_reason: 'x' } }), undefined, wanted),
      );
    }
  });

  it('are told apart by their model and their end', () => {
    const bodies = ['stop', 'length'].flatMap((finish) =>
      ['a', 'b'].map((model) => bodyOf({ finish, rest: { model } })),
    );
    const known = learned(...bodies);
    for (const body of bodies) {
      expect(known.read(body)).toBeDefined();
      expect(outcome(body, known)).toEqual(outcome(body));
    }
  });
});

describe('a shape that comes back', () => {
  it('is not forgotten for those that do not', () => {
    const known = learned(bodyOf(), bodyOf());
    for (let i = 0; i < 20; i++) outcome(bodyOf({ rest: { trace: `t${i}` } }), known);
    expect(known.read(bodyOf({ content: 'Hello' }))).toBeDefined();
  });
});

describe('a shape is not learned', () => {
  const isLearned = (body: string) => learned(body).read(body) !== undefined;

  it('where a number of the same name means something else', () => {
    expect(isLearned(bodyOf({ usage: { cached_tokens: 5 } }))).toBe(false);
    expect(isLearned(bodyOf({ rest: { prompt_tokens: 5 } }))).toBe(true);
    expect(learned(bodyOf({ rest: { prompt_tokens: 5 } })).read(bodyOf({ rest: { prompt_tokens: 6 } }))).toBe(
      undefined,
    );
  });

  it('where other numbers would make a failure of it, which is no failure of the answer', () => {
    const body = bodyOf({ rest: { error: 0 } });
    expect(outcome(body, new PlainAnswers())).toEqual(outcome(body));
    expect(isLearned(body)).toBe(false);
  });

  it('where the text is not the only one of its name', () => {
    const twice = bodyOf({ message: { audio: { content: 'Hi' } } });
    const known = learned(twice);
    const other = bodyOf({ content: 'Ho', message: { audio: { content: 'Ho' } } });
    expect(outcome(other, known)).toEqual(outcome(other));
  });

  it('where the answer is long', () => {
    expect(isLearned(bodyOf({ content: 'x'.repeat(70_000) }))).toBe(false);
    expect(learned(bodyOf()).read(bodyOf({ content: 'x'.repeat(70_000) }))).toBeUndefined();
  });

  it('for ever, by an engine whose answers never look the same', () => {
    const known = new PlainAnswers();
    let parses = 0;
    const take = (body: string) => {
      const parse = (other: string) => {
        parses += 1;
        return readWhole(Buffer.from(other), asked);
      };
      known.learn(body, readWhole(Buffer.from(body), asked), parse);
    };
    for (let i = 0; i < 200; i++) take(bodyOf({ rest: { trace: `t${i}` } }));
    expect(parses).toBe(64);
    expect(known.read(bodyOf({ rest: { trace: 't63' } }))).toBeUndefined();
  });
});

const folder = new URL('./fixtures/', import.meta.url).pathname;
const recorded = globSync('*/*.whole.json', { cwd: folder })
  .sort()
  .map((path) => [path, JSON.parse(readFileSync(folder + path, 'utf8')) as { body: string }] as const)
  .filter(([, { body }]) => body.includes('"chat.completion"'));

describe('what engines really answer', () => {
  it.each(recorded)('reads the same with and without the shapes that came before: %s', (_, { body }) => {
    const known = learned(...recorded.flatMap(([, other]) => (isWhole(other.body) ? [other.body] : [])));
    expect(withoutIds(outcome(body, known))).toEqual(withoutIds(outcome(body)));
  });

  it.each(['vllm', 'sglang', 'ollama', 'llama.cpp'])('has a shape that is learned: %s', (engine) => {
    const body = recorded.find(([path]) => path === `${engine}/text.whole.json`)?.[1].body ?? '';
    expect(learned(body).read(body)).toBeDefined();
  });

  /** Bytes are changed, lost and put in: whatever the parser makes of them is what comes of it. */
  it('reads the same when it is damaged', () => {
    const random = createRandom(6);
    const texts = recorded.filter(([path]) => path.endsWith('text.whole.json')).map(([, { body }]) => body);
    const known = learned(...texts, ...texts);
    const pieces = [
      '"',
      '\\',
      '\n',
      '\u0000',
      '0',
      '-',
      '.5',
      'e3',
      '}',
      ',',
      'é',
      '\\u12',
      '"content":"x",',
      ' ',
    ];
    let read = 0;
    for (let i = 0; i < 4_000; i++) {
      const bytes = Buffer.from(texts[Math.floor(random() * texts.length)] as string);
      const at = Math.floor(random() * bytes.length);
      const piece = Buffer.from(pieces[Math.floor(random() * pieces.length)] as string);
      const lost = Math.floor(random() * 3);
      const damaged = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + lost)]);
      if (known.read(damaged.toString('utf8')) !== undefined) read += 1;
      expect(withoutIds(outcome(damaged, known))).toEqual(withoutIds(outcome(damaged)));
    }
    expect(read).toBeGreaterThan(100);
  });
});

function isWhole(body: string): boolean {
  return typeof outcome(body) === 'object';
}

/** Ids of calls that an engine left out are made up. */
function withoutIds(result: unknown): unknown {
  return JSON.parse(JSON.stringify(result).replaceAll(/"call_[0-9a-f]{24}"/g, '"call"'));
}
