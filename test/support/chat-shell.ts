/** The chat route over sample models and an inference of the test's own; every 200 is held against its shape. */
import { chatRoutes } from '../../src/api/chat/index.ts';
import { ChatCompletion, ChatCompletionChunk } from '../../src/api/chat/schema.ts';
import { type ChatRequest, type ChatResult, noUsage } from '../../src/engines/contract/chat.ts';
import { toJsonBytes } from '../../src/engines/contract/json-bytes.ts';
import { toAbortSignal } from '../../src/lib/presence.ts';
import { createValidator, type Validator } from '../../src/lib/schema.ts';
import type { Attachments } from '../../src/platform/attachments/index.ts';
import type { Declaration, Model } from '../../src/platform/catalog/index.ts';
import type { Platform } from '../../src/platform/index.ts';
import type { BilledSink, Inference, Operation, Prepared } from '../../src/platform/inference/types.ts';
import type { TestAnswer } from './inject.ts';
import { createSampleCatalog, type SampleOptions } from './sample-models.ts';
import { createShell, type Shell } from './shell.ts';

const engine = { type: 'chat', engine: 'sandbox' } as const;

export const chatModels: readonly Declaration[] = [
  { ...engine, id: 'plain', contextLength: 200_000, engineModel: 'Org/Plain' },
  {
    ...engine,
    id: 'thinker',
    contextLength: 200_000,
    reasoning: { supportsMaxTokens: true, supportedEfforts: ['low', 'medium', 'high'] },
  },
  { ...engine, id: 'muser', contextLength: 200_000, reasoning: {} },
  { ...engine, id: 'ponderer', contextLength: 200_000, reasoning: { mandatory: true } },
  { ...engine, id: 'seer', contextLength: 400_000, inputModalities: ['text', 'image', 'audio', 'video'] },
  { ...engine, id: 'small', contextLength: 1000, reasoning: { supportsMaxTokens: true } },
  {
    ...engine,
    id: 'tuned',
    contextLength: 200_000,
    maxCompletionTokens: 500,
    defaultParameters: {
      temperature: 0.6,
      topP: 0.95,
      topK: 20,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      repetitionPenalty: 1.05,
    },
  },
  { ...engine, id: 'bare', contextLength: 200_000, tools: false, structuredOutput: false, logprobs: false },
];

export function chatModel(id: string): Model<'chat'> {
  return createSampleCatalog({ models: chatModels }).resolve('chat', id).model;
}

export const answerOf = (text: string, changes: Partial<ChatResult> = {}): ChatResult => ({
  choices: [choiceOf({ text })],
  usage: { promptTokens: 20, completionTokens: 9, cachedTokens: 4, reasoningTokens: 3 },
  ...changes,
});

export const choiceOf = (changes: Partial<ChatResult['choices'][number]> = {}) => ({
  text: '',
  reasoning: '',
  toolCalls: [],
  logprobs: undefined,
  finish: { reason: 'stop' as const, native: 'stop' },
  ...changes,
});

/** Pushes a short answer, as an engine does. */
export function pushText(sink: BilledSink, text = 'Hello', n = 1): void {
  for (let choice = 0; choice < n; choice++) sink.text(choice, toJsonBytes(text));
  sink.flush();
  for (let choice = 0; choice < n; choice++) sink.finish(choice, { reason: 'stop', native: 'eos' });
  sink.cost(10_000_000n);
  sink.usage({ ...noUsage, promptTokens: 3, completionTokens: 2 });
  sink.end();
}

export interface ChatShellOptions extends Omit<SampleOptions, 'models'> {
  models?: readonly Declaration[];
  /** The whole answer, or what is thrown instead. */
  answer?: ChatResult | Error | ((request: ChatRequest) => ChatResult);
  /** Instead of `answer`: waits, or fails. */
  whole?: (operation: Operation) => Promise<ChatResult>;
  costPicoUsd?: bigint;
  /** Pushes a streamed answer; what it throws is rejected. */
  stream?: (sink: BilledSink, request: ChatRequest, operation: Operation) => void | Promise<void>;
  /** How many tokens the prompt has, once somebody counts. */
  promptTokens?: number | ((request: ChatRequest, signal: AbortSignal) => number | Promise<number>);
  attachments?: Pick<Attachments, 'load'>;
}

export interface ChatShell extends Shell {
  post(
    body: object,
    options?: { key?: string | null; headers?: Record<string, string> },
  ): Promise<TestAnswer>;
  /** `post` with the usual user message beside the given fields; answers what reached inference. */
  request(fields?: object): Promise<ChatRequest>;
  /** `post` with `stream: true`: the chunks, without `[DONE]`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read chunks whose shape is what they check
  chunks(fields?: object): Promise<any[]>;
  readonly requests: ChatRequest[];
  readonly operations: Operation[];
  readonly counted: ChatRequest[];
}

export const hello = [{ role: 'user', content: 'Hi' }];

export interface ChatParts {
  /** What a chat route uses of the platform, and nothing else. */
  readonly platform: Partial<Platform>;
  readonly requests: ChatRequest[];
  readonly operations: Operation[];
  readonly counted: ChatRequest[];
}

/** A platform that answers as the options say, and what it was asked. */
export function createChatParts(options: ChatShellOptions = {}): ChatParts {
  const { models = chatModels, answer = answerOf('Hello'), costPicoUsd = 12_345_678n } = options;
  const { stream = (sink, request) => pushText(sink, 'Hello', request.n), promptTokens = 100 } = options;
  const { defaults = { chat: 'plain' }, readModels, readServed } = options;
  const requests: ChatRequest[] = [];
  const operations: Operation[] = [];
  const counted: ChatRequest[] = [];
  const admit = async (operation: Operation, prepared: Prepared): Promise<ChatRequest> => {
    operations.push(operation);
    operation.onRate?.({ limit: 60, remaining: 59, resetMs: 1000 });
    const request = typeof prepared === 'function' ? await prepared() : prepared;
    requests.push(request);
    return request;
  };
  const inference: Pick<Inference, 'complete' | 'stream' | 'countTokens' | 'countPrompt'> = {
    async complete(operation, _, prepared) {
      const request = await admit(operation, prepared);
      if (options.whole !== undefined) return { result: await options.whole(operation), costPicoUsd };
      if (answer instanceof Error) throw answer;
      return { result: typeof answer === 'function' ? answer(request) : answer, costPicoUsd };
    },
    async stream(operation, _, prepared, sink) {
      const request = await admit(operation, prepared);
      sink.onStart({ pause: () => {}, resume: () => {} });
      await stream(sink, request, operation);
    },
    async countTokens(_, request, signal) {
      counted.push(request);
      return typeof promptTokens === 'function' ? promptTokens(request, signal) : promptTokens;
    },
    async countPrompt(operation, model, prepare) {
      return this.countTokens(model, await prepare(), toAbortSignal(operation.signal));
    },
  };
  const attachments = options.attachments ?? { load: () => Promise.reject(new Error('nothing is attached')) };
  const catalog = createSampleCatalog({
    models,
    defaults,
    ...(readModels === undefined ? {} : { readModels }),
    ...(readServed === undefined ? {} : { readServed }),
  });
  const platform = { catalog, inference, attachments } as unknown as Partial<Platform>;
  return { platform, requests, operations, counted };
}

export function createChatShell(options: ChatShellOptions = {}): ChatShell {
  const { platform, requests, operations, counted } = createChatParts(options);
  const shell = createShell(chatRoutes, { platform });

  const post: ChatShell['post'] = async (body, { key, headers = {} } = {}) => {
    const sent = await shell.send({
      method: 'POST',
      url: '/v1/chat/completions',
      headers,
      payload: body,
      ...(key === undefined ? {} : { key }),
    });
    const isStream = String(sent.headers['content-type']).startsWith('text/event-stream');
    if (isStream) toChunks(sent.body).forEach((chunk) => void hold(chunkShape, chunk));
    else if (sent.status === 200) hold(completionShape, sent.json());
    return sent;
  };
  return {
    ...shell,
    requests,
    operations,
    counted,
    post,
    async request(fields = {}) {
      const sent = await post({ messages: hello, ...fields });
      if (sent.status !== 200) throw new Error(sent.body);
      return requests.at(-1)!;
    },
    async chunks(fields = {}) {
      const sent = await post({ messages: hello, stream: true, ...fields });
      if (sent.status !== 200) throw new Error(sent.body);
      return toChunks(sent.body);
    },
  };
}

const completionShape = createValidator(ChatCompletion);
const chunkShape = createValidator(ChatCompletionChunk);

function hold(shape: Validator<typeof ChatCompletion | typeof ChatCompletionChunk>, value: unknown): void {
  if (shape.check(value)) return;
  const { path, message } = shape.problem(value);
  throw new Error(
    `the answer is not what the route declares: ${path} ${message} in ${JSON.stringify(value)}`,
  );
}

/** The chunks of an event stream that ends with `[DONE]`, comments left out. */
// biome-ignore lint/suspicious/noExplicitAny: tests read chunks whose shape is what they check
export function toChunks(body: string): any[] {
  const events = body.split('\n\n').filter((event) => event !== '' && !event.startsWith(':'));
  const last = events.pop();
  if (last !== 'data: [DONE]') throw new Error(`the stream ends with ${last}`);
  return events.map((event) => {
    if (!event.startsWith('data: {') || event.includes('\n')) throw new Error(`not one data line: ${event}`);
    return JSON.parse(event.slice('data: '.length));
  });
}
