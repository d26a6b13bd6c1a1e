/** Real engines' answers, recorded or written from their sources at a named version: every file says which. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createRecordingSink } from '../../../test/support/recording-sink.ts';
import { GatewayError } from '../../lib/errors.ts';
import { ResponseHead } from '../../lib/http1/client/response-head.ts';
import type { ChatRequest, Finish, TokenLogprob, Usage } from '../contract/chat.ts';
import { toRefusal } from './failures.ts';
import type { FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import type { Questions } from './questions.ts';
import { ChatEventReader } from './sse.ts';
import { countTokens } from './tokens.ts';
import { readWhole } from './whole.ts';
import type { Asked } from './wire.ts';

interface ExpectedChoice {
  text?: string;
  reasoning?: string;
  toolCalls?: { name: string; arguments: string }[];
  finish?: string;
  native?: string;
  stopSequence?: string;
  logprobs?: TokenLogprob[];
}

interface Fixture {
  engine: FlavorName;
  version: string;
  source: 'recorded' | 'written from source';
  case: string;
  mode: 'stream' | 'whole';
  status: number;
  /** What was asked of the engine. */
  request?: { n?: number; stop?: string | string[]; top_logprobs?: number; messages?: { content: string }[] };
  body: string;
  /** One choice, or several; or the kind of failure; or, on routes beside chat, a number of tokens. */
  expect: ExpectedChoice & {
    choices?: ExpectedChoice[];
    usage?: Partial<Usage>;
    failure?: string;
    tokens?: number;
  };
}

interface Read {
  choices: {
    text: string;
    reasoning: string;
    calls: { id: string; name: string; arguments: string }[];
    logprobs: readonly TokenLogprob[];
    finish: Finish | undefined;
  }[];
  usage: Usage | undefined;
}

const folder = new URL('./fixtures/', import.meta.url).pathname;
const all = globSync('*/*.json', { cwd: folder })
  .sort()
  .map((path) => [path, JSON.parse(readFileSync(folder + path, 'utf8')) as Fixture] as const);
const isChat = ({ expect: wanted }: Fixture) => wanted.finish !== undefined || wanted.choices !== undefined;
const chats = all.filter(([, fixture]) => isChat(fixture));
const failing = all.filter(([, { expect: wanted }]) => wanted.failure !== undefined);
const cuts = [Number.POSITIVE_INFINITY, 1, 7, 64, 1000];

function toAsked({ request = {}, engine, expect: wanted }: Fixture): Asked {
  return {
    // Ollama gives one answer, however many are asked for; this gateway never asks it for more.
    n: wanted.choices?.length ?? request.n ?? 1,
    hasUsagePerAnswer: flavors[engine].hasUsagePerAnswer,
    ...(request.stop === undefined ? {} : { stop: [request.stop].flat() }),
    ...(request.top_logprobs === undefined ? {} : { topLogprobs: request.top_logprobs }),
  };
}

function readStream(fixture: Fixture, cut: number, asked = toAsked(fixture)): Read {
  const bytes = Buffer.from(fixture.body);
  const sink = createRecordingSink();
  const reader = new ChatEventReader(sink, asked);
  for (let from = 0; from < bytes.length; from += cut) reader.push(bytes.subarray(from, from + cut));
  reader.end();
  if (sink.error !== undefined) throw sink.error;
  return { choices: sink.choices, usage: sink.usages[0] };
}

function readBody(fixture: Fixture, asked = toAsked(fixture)): Read {
  const { choices, usage } = readWhole(Buffer.from(fixture.body), asked);
  return {
    choices: choices.map(({ toolCalls, logprobs = [], ...choice }) => ({
      ...choice,
      calls: [...toolCalls],
      logprobs,
    })),
    usage,
  };
}

const read = (fixture: Fixture) =>
  fixture.mode === 'stream' ? readStream(fixture, fixture.body.length * 4) : readBody(fixture);

function check({ expect: wanted }: Fixture, { choices, usage }: Read): void {
  const expected = wanted.choices ?? [wanted];
  expect(choices).toHaveLength(expected.length);
  for (const [i, choice] of choices.entries()) {
    const { text, reasoning, toolCalls, logprobs, finish, native, stopSequence } = expected[i]!;
    expect(choice.text).toBe(text ?? '');
    expect(choice.reasoning).toBe(reasoning ?? '');
    expect(choice.calls.map(({ name, arguments: args }) => ({ name, arguments: args }))).toEqual(
      toolCalls ?? [],
    );
    for (const { id } of choice.calls) expect(id).toMatch(/^call_[A-Za-z0-9_-]+$/);
    expect(choice.finish?.reason).toBe(finish);
    expect(choice.finish?.native).toBe(native);
    expect(choice.finish?.stopSequence).toBe(stopSequence);
    expect(choice.logprobs).toEqual(logprobs ?? []);
  }
  if (wanted.usage !== undefined) expect(usage).toMatchObject(wanted.usage);
}

describe('the answers of real engines', () => {
  it('are there for every engine, streamed and whole, with tools and reasoning', () => {
    const there = new Set(chats.map(([, fixture]) => `${fixture.engine} ${fixture.case} ${fixture.mode}`));
    for (const engine of ['vllm', 'sglang', 'llama.cpp', 'ollama']) {
      for (const mode of ['stream', 'whole']) {
        for (const name of ['text', 'tools', 'reasoning'])
          expect(there).toContain(`${engine} ${name} ${mode}`);
      }
    }
  });

  it.each(all)('%s says where it comes from', (_, { version, source }) => {
    expect(version).not.toBe('');
    expect(['recorded', 'written from source']).toContain(source);
  });

  it.each(chats)('%s gives the expected parts, cut anywhere', (_, fixture) => {
    if (fixture.mode === 'whole') check(fixture, readBody(fixture));
    else for (const cut of cuts) check(fixture, readStream(fixture, cut));
  });

  it.each(failing)('%s is the expected failure', (_, fixture) => {
    const fail = () => {
      if (fixture.status !== 200) throw toRefusal(fixture.status, fixture.body, undefined);
      return read(fixture);
    };
    expect(fail).toThrow(GatewayError);
    expect(fail).toThrow(expect.objectContaining({ kind: fixture.expect.failure }));
  });

  it('[CHAT-95] have the same shape streamed and whole, whichever engine gave them', () => {
    const shapes = chats.map(([path, fixture]) => ({
      path,
      mode: fixture.mode,
      key: `${fixture.engine} ${fixture.case}`,
      shape: read(fixture).choices.map(({ reasoning, calls, logprobs, finish }) => ({
        hasReasoning: reasoning !== '',
        calls: calls.map(({ name }) => name),
        hasLogprobs: logprobs.length > 0,
        finish: finish?.reason,
      })),
    }));
    let pairs = 0;
    for (const { path, key, mode, shape } of shapes) {
      const other = shapes.find((candidate) => candidate.key === key && candidate.mode !== mode);
      if (other === undefined) continue;
      expect({ path, shape }).toEqual({ path, shape: other.shape });
      pairs += 1;
    }
    expect(pairs).toBeGreaterThanOrEqual(24);
  });

  it('[CHAT-68] [CHAT-73] continue only with new text when llama.cpp is asked as this gateway asks it', () => {
    const texts = chats.flatMap(([, fixture]) => {
      if (fixture.case !== 'continue-final-asked') return [];
      const repeats = fixture.request?.messages?.at(-1)?.content ?? '';
      const asked = { ...toAsked(fixture), repeats };
      const { choices } =
        fixture.mode === 'stream' ? readStream(fixture, 100, asked) : readBody(fixture, asked);
      return [choices[0]?.text];
    });
    expect(texts).toHaveLength(2);
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).toMatch(/^ /);
  });

  it.each(['vllm', 'sglang', 'llama.cpp'] as const)('count tokens as %s does', async (engine) => {
    const beside = all.filter(([, fixture]) => fixture.engine === engine && !isChat(fixture));
    const find = (name: string) => beside.find(([, fixture]) => fixture.case === name)?.[1];
    const request: ChatRequest = {
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      continueFinal: false,
      n: 1,
      maxTokens: 1,
      affinity: '',
    };
    const questions: Questions = {
      async post({ path }, _body, read) {
        return read({
          json: JSON.parse(find(path.slice(1))!.body),
          head: new ResponseHead('HTTP/1.1 200 OK\r\n'),
        });
      },
    };
    const parts = { flavor: flavors[engine], questions };
    const counted = await countTokens(parts, request, new AbortController().signal);
    expect(counted).toBe(find('tokenize')?.expect.tokens);
  });
});
