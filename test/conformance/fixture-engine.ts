/**
 * An engine that answers with the fixtures of a real one: the model's name says which case. Answers that no
 * fixture has (one call alone, thoughts before calls, another text) are put together from its events, so that
 * every byte still has the form that this engine writes.
 */
import { readFileSync } from 'node:fs';
import { answers, createMockEngine, type MockEngine, type MockExchange } from '../support/mock-engine.ts';

export type FixtureEngineName = 'vllm' | 'sglang' | 'llama.cpp';
type Mode = 'stream' | 'whole';

export interface FixtureUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
}

/** What a reader must make of a fixture. */
export interface FixtureAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
  readonly stopSequence?: string;
  readonly usage: FixtureUsage;
  readonly continuation?: string;
}

export interface Fixture {
  readonly status: number;
  readonly body: string;
  readonly request: {
    readonly stop?: readonly string[];
    readonly messages: readonly { readonly content: string }[];
  };
  readonly expect: FixtureAnswer;
}

interface WireCall {
  id?: string | null;
  index?: number;
}

interface WireMessage {
  content?: string | null;
  reasoning?: string | null;
  reasoning_content?: string | null;
  tool_calls?: WireCall[] | null;
}

interface WireChoice {
  delta?: WireMessage;
  message?: WireMessage;
  finish_reason?: string | null;
}

interface WireAnswer {
  choices: WireChoice[];
}

const folder = new URL('../../src/engines/openai-compatible/fixtures/', import.meta.url);

export function readFixture(engine: FixtureEngineName, name: string, mode: Mode): Fixture {
  return JSON.parse(readFileSync(new URL(`${engine}/${name}.${mode}.json`, folder), 'utf8')) as Fixture;
}

/** What is said where a JSON text is asked for. */
export const structuredText = '{"city":"Paris","unit":"C"}';

export interface FixtureEngine {
  readonly mock: MockEngine;
  /** What the engine was asked in this case, oldest first. */
  asked(model: string): MockEngine['requests'];
  close(): Promise<void>;
}

export async function createFixtureEngine(engine: FixtureEngineName): Promise<FixtureEngine> {
  const mock = await createMockEngine();
  const fixture = (name: string, mode: Mode) => readFixture(engine, name, mode);
  const prompt = (model: string) => promptTokensOf(engine, model);
  mock.route('/health', ({ text }) => text(200, ''));
  // vLLM and SGLang count the messages; llama.cpp writes the prompt first and counts its text.
  mock.route('/apply-template', ({ json, request }) =>
    json(200, { prompt: String(request.body?.['model']) }),
  );
  mock.route('/tokenize', ({ json, request }) => {
    const count = prompt(String(request.body?.['model']));
    json(200, { count, tokens: Array.from({ length: count }, (_, token) => token) });
  });
  mock.respond(async (exchange) => {
    const { model, stream, messages } = exchange.request.body as {
      model: string;
      stream?: boolean;
      messages: { role: string }[];
    };
    const mode: Mode = stream === true ? 'stream' : 'whole';
    const say = (body: string) =>
      mode === 'stream' ? sendEvents(exchange, body) : sendWhole(exchange, body);
    const results = messages.filter(({ role }) => role === 'tool').length;
    switch (model) {
      case 'loop':
      case 'thinking-loop': {
        const calls = fixture('tools', mode);
        const thoughts = model === 'loop' ? undefined : fixture('reasoning', mode);
        if (results === 0) return say(withThoughts(thoughts, withFreshIds(calls.body)));
        if (results < 3) return say(withThoughts(thoughts, withFreshIds(lastCallOf(calls.body))));
        return say(thoughts?.body ?? fixture('text', mode).body);
      }
      case 'thinking':
        return say(fixture('reasoning', mode).body);
      case 'length':
        return say(fixture('length', mode).body);
      case 'stop':
        return say(fixture('stop-sequence', mode).body);
      case 'prefill':
        return say(fixture(engine === 'llama.cpp' ? 'continue-final-asked' : 'text', mode).body);
      case 'structured':
        return say(withText(fixture('text', mode).body, structuredText));
      case 'invalid': {
        const refusal = fixture('invalid-request', 'whole');
        return exchange.text(refusal.status, refusal.body, { 'content-type': 'application/json' });
      }
      case 'busy':
        return answers.busy(429, '7')(exchange);
      case 'failing': {
        const failure = engine === 'llama.cpp' ? undefined : fixture('engine-error', 'whole');
        if (failure === undefined) return answers.html500(exchange);
        return exchange.text(failure.status, failure.body, { 'content-type': 'application/json' });
      }
      case 'html':
        return answers.html500(exchange);
      case 'garbage':
        return answers.garbage(exchange);
      case 'late':
        return answers.stallAtOnce(exchange);
      case 'breaking':
        return sendEvents(exchange, fixture('error-in-stream', 'stream').body);
      case 'cut':
        await sendEvents(exchange, beginningOf(fixture('text', 'stream').body), false);
        return exchange.reset();
      case 'stalling':
        await sendEvents(exchange, beginningOf(fixture('text', 'stream').body), false);
        return exchange.request.aborted;
      default:
        return say(fixture('text', mode).body);
    }
  });
  return {
    mock,
    asked: (model) => mock.requests.filter(({ body }) => body?.['model'] === model),
    close: () => mock.close(),
  };
}

/** Which fixture a case begins with. */
const fixtureOf: Readonly<Record<string, string>> = {
  loop: 'tools',
  'thinking-loop': 'tools',
  thinking: 'reasoning',
  length: 'length',
  stop: 'stop-sequence',
};

function promptTokensOf(engine: FixtureEngineName, model: string): number {
  const name =
    model === 'prefill' && engine === 'llama.cpp' ? 'continue-final-asked' : (fixtureOf[model] ?? 'text');
  return readFixture(engine, name, 'stream').expect.usage.promptTokens;
}

/** How many events a stream sends before it stalls or breaks: a role, then text. */
const partsBefore = 4;

export function beginningOf(body: string): string {
  return `${body.split('\n\n').slice(0, partsBefore).join('\n\n')}\n\n`;
}

/** The text of the events of a stream. */
export function streamedText(body: string): string {
  return toChunks(body)
    .map(({ choices }) => choices?.[0]?.delta?.content ?? '')
    .join('');
}

async function sendEvents(exchange: MockExchange, body: string, isWhole = true): Promise<void> {
  for (const event of body.split(/(?<=\n\n)/)) await exchange.write(event);
  if (isWhole) exchange.end();
}

function sendWhole(exchange: MockExchange, body: string): void {
  exchange.text(200, body, { 'content-type': 'application/json' });
}

const done = '[DONE]';

function toChunks(body: string): WireAnswer[] {
  return body
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as WireAnswer);
}

function toBody(chunks: readonly WireAnswer[]): string {
  return [...chunks.map((chunk) => JSON.stringify(chunk)), done].map((data) => `data: ${data}\n\n`).join('');
}

const isStream = (body: string) => body.startsWith('data: ');
const messageOf = ({ choices: [choice] }: WireAnswer): WireMessage => choice?.delta ?? choice?.message ?? {};
const isFinish = ({ choices: [choice] }: WireAnswer) => choice?.finish_reason != null;

/** Engines never give two calls the same id. */
function withFreshIds(body: string): string {
  let fresh = body;
  for (const chunk of isStream(body) ? toChunks(body) : [JSON.parse(body) as WireAnswer]) {
    for (const { id } of messageOf(chunk).tool_calls ?? []) {
      if (typeof id !== 'string') continue;
      const { prefix, kept } = /^(?<prefix>chatcmpl-tool-|call_)?(?<kept>.*)$/.exec(id)?.groups ?? {};
      const next = crypto
        .randomUUID()
        .replaceAll('-', '')
        .slice(0, (kept ?? id).length);
      fresh = fresh.replaceAll(`"${id}"`, `"${prefix ?? ''}${next}"`);
    }
  }
  return fresh;
}

/** The second of two calls alone, without the text before them. */
function lastCallOf(body: string): string {
  if (!isStream(body)) {
    const answer = JSON.parse(body) as WireAnswer;
    const message = messageOf(answer);
    message.tool_calls = (message.tool_calls ?? []).slice(1);
    message.content = null;
    return JSON.stringify(answer);
  }
  const chunks = toChunks(body).filter((chunk, at) => {
    const message = messageOf(chunk);
    message.tool_calls &&= message.tool_calls
      .filter(({ index }) => index === 1)
      .map((call) => ({ ...call, index: 0 }));
    const hasCall = message.tool_calls != null && message.tool_calls.length > 0;
    return at === 0 || hasCall || isFinish(chunk) || chunk.choices.length === 0;
  });
  return toBody(chunks);
}

/** The thoughts of one answer before the calls of another. */
function withThoughts(thoughts: Fixture | undefined, body: string): string {
  if (thoughts === undefined) return body;
  if (!isStream(body)) {
    const answer = JSON.parse(body) as WireAnswer;
    const { reasoning, reasoning_content } = messageOf(JSON.parse(thoughts.body) as WireAnswer);
    Object.assign(messageOf(answer), reasoning === undefined ? { reasoning_content } : { reasoning });
    return JSON.stringify(answer);
  }
  const [head, ...rest] = toChunks(body);
  const thinking = toChunks(thoughts.body).filter((chunk) => {
    const { reasoning, reasoning_content } = messageOf(chunk);
    return (reasoning ?? reasoning_content ?? '') !== '';
  });
  return toBody([head!, ...thinking, ...rest]);
}

/** The same answer with another text, in pieces of four letters. */
function withText(body: string, text: string): string {
  if (!isStream(body)) {
    const answer = JSON.parse(body) as WireAnswer;
    messageOf(answer).content = text;
    return JSON.stringify(answer);
  }
  const chunks = toChunks(body);
  const spoken = chunks.findIndex((chunk) => (messageOf(chunk).content ?? '') !== '');
  const pieces = (text.match(/.{1,4}/gs) ?? []).map((content) => {
    const chunk = structuredClone(chunks[spoken]!);
    messageOf(chunk).content = content;
    return chunk;
  });
  const rest = chunks.filter((chunk) => isFinish(chunk) || chunk.choices.length === 0);
  return toBody([...chunks.slice(0, spoken), ...pieces, ...rest]);
}
