/**
 * The four engines that every client is tried against: the sandbox, and stand-ins for vLLM, SGLang and llama.cpp
 * that answer with their fixtures. Each is a whole gateway on a socket with one model per case; the models have
 * the same names everywhere, so that one suite runs on all.
 */
import { expect } from 'vitest';
import type { ScriptOptions } from '../../src/engines/sandbox/script.ts';
import type { Declaration } from '../../src/platform/catalog/index.ts';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';
import type { MockRequest } from '../support/mock-engine.ts';
import {
  beginningOf,
  createFixtureEngine,
  type FixtureAnswer,
  type FixtureEngine,
  type FixtureEngineName,
  readFixture,
  streamedText,
} from './fixture-engine.ts';

/** Every model of a backend. */
export const caseNames = [
  'text',
  'loop',
  'thinking',
  'thinking-loop',
  'sight',
  'prefill',
  'length',
  'stop',
  'structured',
  'once',
  'invalid',
  'busy',
  'failing',
  'html',
  'garbage',
  'late',
  'breaking',
  'cut',
  'stalling',
] as const;
export type CaseName = (typeof caseNames)[number];

/** What is asked of a backend and what it answers, where that differs. */
export interface Cases {
  readonly text: { readonly prompt: string; readonly text: string };
  readonly length: { readonly prompt: string; readonly text: string; readonly maxTokens: number };
  readonly stop: {
    readonly prompt: string;
    readonly text: string;
    readonly sequences: readonly string[];
    /** Undefined where the engine does not say which one it was. */
    readonly found: string | undefined;
  };
  readonly prefill: { readonly prompt: string; readonly beginning: string; readonly rest: string };
  readonly thinking: { readonly prompt: string; readonly text: string; readonly reasoning: RegExp };
  /** What comes before a stream breaks. */
  readonly breaking: { readonly prompt: string; readonly text: string };
  readonly cut: { readonly prompt: string; readonly text: string };
  /** The first engine's answer of a tool loop: its calls in order. */
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  /** Of the prompt of `text`. */
  readonly promptTokens: number;
}

export interface Backend {
  readonly name: string;
  readonly base: string;
  readonly key: string;
  readonly gateway: TestGateway;
  readonly cases: Cases;
  /** What the engine was asked in this case; undefined where nobody can look. */
  asked(name: CaseName): MockRequest[] | undefined;
  /** Resolves when the engine is asked again. */
  arrival(): Promise<unknown> | undefined;
  close(): Promise<void>;
}

export interface BackendKind {
  readonly name: string;
  open(): Promise<Backend>;
}

export const backends: readonly BackendKind[] = [
  { name: 'the sandbox', open: openSandbox },
  { name: 'vLLM', open: () => openFixtures('vLLM', 'vllm') },
  { name: 'SGLang', open: () => openFixtures('SGLang', 'sglang') },
  { name: 'llama.cpp', open: () => openFixtures('llama.cpp', 'llama.cpp') },
];

const declaration = {
  type: 'chat',
  contextLength: 131_072,
  inputModalities: ['text', 'image'] as ('text' | 'image')[],
  tools: true,
  structuredOutput: true,
  logprobs: true,
  pricing: { prompt: '0.000001', completion: '0.000002' },
} as const;

const thinkers: ReadonlySet<string> = new Set(['thinking', 'thinking-loop']);
const reasoning = {
  supportsMaxTokens: true,
  supportedEfforts: ['none', 'low', 'medium', 'high'] as ('none' | 'low' | 'medium' | 'high')[],
  defaultEnabled: false,
};

const limitsOf: Partial<Record<CaseName, Declaration['limits']>> = {
  once: { requestsPerMinute: 1 },
  // A permit that was not given back would hold up the next request.
  stalling: { concurrent: 1 },
};

function declare(name: CaseName, engine: string): Declaration {
  const limits = limitsOf[name];
  return {
    ...declaration,
    id: name,
    engine,
    ...(limits === undefined ? {} : { limits }),
    ...(thinkers.has(name) ? { reasoning } : {}),
  };
}

const limits = { requestsPerMinute: 100_000, concurrent: 64, maxQueueWaitMs: 5_000 };

const scripts: Partial<Record<CaseName, ScriptOptions>> = {
  busy: { overload: { rate: 1, retryAfterSeconds: 7 } },
  failing: { failBefore: 'error' },
  html: { failBefore: 'refuse' },
  garbage: { failBefore: 'error' },
  late: { failBefore: 'timeout' },
  breaking: { failAfterTokens: 5 },
  cut: { failAfterTokens: 5 },
  stalling: { stallAfterTokens: 5 },
};

const counted = '1, 2, 3, 4, 5, 6, 7, 8, 9.';

async function openSandbox(): Promise<Backend> {
  // An engine each: one that fails is left alone for a while, and the others must not notice.
  const models = caseNames.map((name) => ({
    ...declare(name, `sandbox-${name}`),
    ...(scripts[name] === undefined ? {} : { script: scripts[name] }),
  })) as Declaration[];
  const engines = Object.fromEntries(caseNames.map((name) => [`sandbox-${name}`, { kind: 'sandbox' }]));
  const gateway = await createTestGateway({
    settings: { limits, engines, models, defaults: { chat: 'text' }, builtins: { models: [], defaults: {} } },
  });
  const prompt = 'Count to 9';
  return {
    name: 'the sandbox',
    base: await gateway.listen(),
    key: gateway.key,
    gateway,
    cases: {
      text: { prompt, text: counted },
      length: { prompt, text: '1, 2', maxTokens: 3 },
      stop: { prompt, text: '1, 2, 3, 4', sequences: ['nothing', ', 5'], found: ', 5' },
      prefill: { prompt, beginning: '1, 2, 3,', rest: ' 4, 5, 6, 7, 8, 9.' },
      thinking: { prompt, text: counted, reasoning: /^The question is about/ },
      breaking: { prompt, text: '1, 2, 3' },
      cut: { prompt, text: '1, 2, 3' },
      calls: ['Paris', 'London'].map((city) => ({
        name: 'get_weather',
        input: { city, unit: expect.stringMatching(/^(?:celsius|fahrenheit)$/) as unknown },
      })),
      promptTokens: 10,
    },
    asked: () => undefined,
    arrival: () => undefined,
    close: () => gateway.close(),
  };
}

async function openFixtures(name: string, flavor: FixtureEngineName): Promise<Backend> {
  const engine = await createFixtureEngine(flavor);
  const toEngine = (caseName: CaseName) => [
    `${caseName}-engine`,
    {
      kind: 'openai-compatible',
      url: engine.mock.url,
      flavor,
      timeoutMs: caseName === 'late' ? 20 : 10_000,
    },
  ];
  const gateway = await createTestGateway({
    settings: {
      limits,
      engines: Object.fromEntries(caseNames.map(toEngine)),
      models: caseNames.map((caseName) => declare(caseName, `${caseName}-engine`)),
      defaults: { chat: 'text' },
      builtins: { models: [], defaults: {} },
    },
  });
  return {
    name,
    base: await gateway.listen(),
    key: gateway.key,
    gateway,
    cases: toCases(flavor),
    asked: (caseName) => engine.asked(caseName),
    arrival: () => engine.mock.request(engine.mock.requests.length),
    close: () => closeBoth(gateway, engine),
  };
}

async function closeBoth(gateway: TestGateway, engine: FixtureEngine): Promise<void> {
  await gateway.close();
  await engine.close();
}

function toCases(flavor: FixtureEngineName): Cases {
  const fixture = (name: string) => readFixture(flavor, name, 'stream');
  const promptOf = (name: string) => fixture(name).request.messages[0]?.content ?? '';
  const answer = (name: string): FixtureAnswer => fixture(name).expect;
  const stop = fixture('stop-sequence');
  const text = { prompt: promptOf('text'), text: answer('text').text };
  const continued = flavor === 'llama.cpp' ? fixture('continue-final-asked') : undefined;
  return {
    text,
    length: { prompt: promptOf('length'), text: answer('length').text, maxTokens: 8 },
    stop: {
      prompt: promptOf('stop-sequence'),
      text: stop.expect.text,
      sequences: stop.request.stop ?? [],
      found: stop.expect.stopSequence,
    },
    prefill: {
      prompt: text.prompt,
      beginning: continued?.request.messages.at(-1)?.content ?? 'The menu says:',
      rest: continued?.expect.continuation ?? text.text,
    },
    thinking: {
      prompt: promptOf('reasoning'),
      text: answer('reasoning').text,
      reasoning: new RegExp(`^${RegExp.escape(answer('reasoning').reasoning)}$`),
    },
    breaking: { prompt: text.prompt, text: streamedText(fixture('error-in-stream').body) },
    cut: { prompt: text.prompt, text: streamedText(beginningOf(fixture('text').body)) },
    calls: answer('tools').toolCalls.map(({ name, arguments: args }) => ({
      name,
      input: JSON.parse(args) as unknown,
    })),
    promptTokens: answer('text').usage.promptTokens,
  };
}
