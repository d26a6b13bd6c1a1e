/** Engines that speak OpenAI's language: vLLM, SGLang, llama.cpp's server, Ollama, TEI, stable-diffusion.cpp, and others. */
import Type from 'typebox';
import { GatewayError } from '../../lib/errors.ts';
import { ConnectionPool } from '../../lib/http1/client/pool.ts';
import { reservedHeaders } from '../../lib/http1/client/request-head.ts';
import type { Log } from '../../lib/log.ts';
import { Wheel } from '../../lib/wheel.ts';
import type { ChatPort, ChatRequest, ChatRun } from '../contract/chat.ts';
import { commonEngineOptions, defineEngineKind, type Engine } from '../contract/engine.ts';
import type { Studio } from '../contract/studio.ts';
import { type Address, toAddress } from './address.ts';
import { askStatus } from './ask-status.ts';
import { toBody } from './body.ts';
import { toBodyText } from './body-text.ts';
import { type CallParts, StreamCall, WholeCall } from './call.ts';
import { createDecisionPort } from './decision.ts';
import { createEmbeddingPort } from './embedding.ts';
import { type Flavor, flavorNames } from './flavor.ts';
import { flavors } from './flavors.ts';
import { checkHealth } from './health.ts';
import { createImagePort, mostImageBytes } from './image.ts';
import { createMusicPort } from './music.ts';
import { PlainAnswers } from './plain-answers.ts';
import { createQuestions } from './questions.ts';
import { createRerankPort } from './rerank.ts';
import { createSpeechPort } from './speech.ts';
import { countTokens, tokenPatienceMs } from './tokens.ts';
import { createTranscriptionPort } from './transcription.ts';
import { createVideoPort, mostFilmBytes, pollPatienceMs, type VideoTimers } from './video.ts';
import type { Asked } from './wire.ts';

/** Clients give up after 300 s without headers, and a 504 has to reach them before that. */
const defaultTimeoutMs = 280_000;
const longestTimeoutMs = 295_000;
const defaultIdleTimeoutMs = 60_000;

/** Any but those that the connection sets itself; a `host` is the name that it asks for. */
const headerName = `^(?!(?:${toReserved()})$)[A-Za-z0-9!#$%&'*+.^_\`|~-]+$`;
const headerValue = '^[\\t\\x20-\\x7e]*$';

export const openaiCompatible = defineEngineKind({
  kind: 'openai-compatible',
  serves: ['chat', 'embedding', 'rerank', 'decision', 'speech', 'transcription', 'image', 'video', 'music'],
  options: Type.Object(
    {
      kind: Type.Literal('openai-compatible'),
      /** `http://host:8000` or `http://host:8000/v1`. */
      url: Type.String({ pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$' }),
      flavor: Type.Optional(Type.Union(flavorNames.map((name) => Type.Literal(name)))),
      /** The environment variable that holds the engine's key. */
      apiKeyEnv: Type.Optional(Type.String({ minLength: 1 })),
      /** Until the first token. */
      timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: longestTimeoutMs })),
      /** Between two tokens. */
      idleTimeoutMs: Type.Optional(Type.Integer({ minimum: 1 })),
      /** The most inputs or documents of one request to the engine: a longer list is split. */
      maxBatch: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_048 })),
      /** Sent with every request. */
      headers: Type.Optional(
        Type.Record(Type.String({ pattern: headerName }), Type.String({ pattern: headerValue }), {
          additionalProperties: false,
        }),
      ),
      ...commonEngineOptions,
    },
    { additionalProperties: false },
  ),
  servesWith: ({ flavor }) => flavors[flavor ?? 'generic'].serves,
  create(options, { secret, log, studio }) {
    const { url, flavor = 'generic', apiKeyEnv, headers, timeoutMs, idleTimeoutMs, maxBatch } = options;
    return createOpenaiCompatible({
      address: toAddress(url),
      flavor: flavors[flavor],
      apiKey: apiKeyEnv === undefined ? undefined : secret(apiKeyEnv),
      headers: headers ?? {},
      timeoutMs: timeoutMs ?? defaultTimeoutMs,
      idleTimeoutMs: idleTimeoutMs ?? defaultIdleTimeoutMs,
      maxBatch,
      log,
      studio,
    });
  },
});

export interface EngineParts {
  address: Address;
  flavor: Flavor;
  apiKey: string | undefined;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  idleTimeoutMs: number;
  maxBatch?: number | undefined;
  log?: Log;
  /** Where masks are turned round for engines that read them the other way, and films are enlarged. */
  studio?: Studio;
  wheel?: Wheel;
  /** For the pauses between two questions about a film. */
  timers?: VideoTimers;
}

export function createOpenaiCompatible(parts: EngineParts): Engine {
  const { address, flavor, timeoutMs, idleTimeoutMs, maxBatch, wheel = new Wheel() } = parts;
  const { host, ...others } = toHeaderFields(parts);
  const pool = new ConnectionPool({
    origin: address.origin,
    host,
    connectMs: 10_000,
    // Just under the 5 s after which uvicorn and llama.cpp close an idle connection.
    idleMs: 4_000,
  });
  const headers = Object.entries(others).flat();
  const questions = createQuestions({ pool, wheel, address, headers, timeoutMs, idleTimeoutMs });
  const picturing = createQuestions({
    pool,
    wheel,
    address,
    headers,
    timeoutMs,
    idleTimeoutMs,
    maxBytes: mostImageBytes,
  });
  const filming = createQuestions({
    pool,
    wheel,
    address,
    headers,
    timeoutMs,
    idleTimeoutMs,
    maxBytes: mostFilmBytes,
  });
  const polls = createQuestions({
    pool,
    wheel,
    address,
    headers,
    timeoutMs: Math.min(timeoutMs, pollPatienceMs),
    idleTimeoutMs: Math.min(idleTimeoutMs, pollPatienceMs),
  });
  const countings = createQuestions({
    pool,
    wheel,
    address,
    headers,
    timeoutMs: tokenPatienceMs,
    idleTimeoutMs: tokenPatienceMs,
  });
  const path = `${address.api}/chat/completions`;
  const plainAnswers = new PlainAnswers();
  let closing: Promise<void> | undefined;

  const toCall = (request: ChatRequest, isStreamed: boolean): CallParts => ({
    pool,
    wheel,
    request: { method: 'POST', path, headers, body: toBodyText(toBody(request, flavor, isStreamed)) },
    timeoutMs,
    idleTimeoutMs,
  });

  const chat: ChatPort = {
    stream: (request, sink) =>
      begin(
        () => new StreamCall(toCall(request, true), sink, toAsked(request, flavor)).start(),
        (error) => sink.fail(error),
      ),
    complete: (request, done) =>
      begin(
        () => new WholeCall(toCall(request, false), done, toAsked(request, flavor), plainAnswers).start(),
        done,
      ),
    countTokens: (request, signal) => countTokens({ flavor, questions: countings }, request, signal),
  };

  const { serves, embedding, rerank, decision, speech, transcription, image, video } = flavor;
  return {
    kind: 'openai-compatible',
    ...(serves.includes('chat') ? { chat } : {}),
    ...(embedding === undefined
      ? {}
      : {
          embedding: createEmbeddingPort({
            questions,
            quirks: embedding,
            maxBatch: maxBatch ?? embedding.batch,
          }),
        }),
    ...(rerank === undefined
      ? {}
      : { rerank: createRerankPort({ questions, quirks: rerank, maxBatch: maxBatch ?? rerank.batch }) }),
    ...(decision === undefined
      ? {}
      : {
          decision: createDecisionPort({
            questions,
            flavor,
            quirks: decision,
            countTokens: chat.countTokens,
            log: parts.log,
          }),
        }),
    ...(speech === undefined
      ? {}
      : {
          speech: createSpeechPort({
            pool,
            wheel,
            address,
            headers,
            timeoutMs,
            idleTimeoutMs,
            quirks: speech,
          }),
        }),
    ...(transcription === undefined
      ? {}
      : { transcription: createTranscriptionPort({ questions, quirks: transcription }) }),
    ...(image === undefined
      ? {}
      : { image: createImagePort({ questions: picturing, address, quirks: image, studio: parts.studio }) }),
    ...(video === undefined
      ? {}
      : {
          video: createVideoPort({
            questions: filming,
            polls,
            address,
            quirks: video,
            studio: parts.studio,
            idleTimeoutMs,
            ...(parts.timers === undefined ? {} : { timers: parts.timers }),
          }),
        }),
    ...(serves.includes('music')
      ? { music: createMusicPort({ pool, wheel, address, headers, timeoutMs, idleTimeoutMs }) }
      : {}),
    health: (signal) =>
      checkHealth(
        { address, flavor, askStatus: (at, during) => askStatus(pool, { path: at, headers }, during) },
        signal,
      ),
    close() {
      closing ??= pool.close().then(() => wheel.close());
      return closing;
    },
  };
}

/** As a pattern that takes them in any case. */
function toReserved(): string {
  const names = [...reservedHeaders].filter((name) => name !== 'host');
  return names.join('|').replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** Names in lower case. */
function toHeaderFields({ apiKey, headers }: EngineParts): Record<string, string> {
  const own: Record<string, string> = { 'content-type': 'application/json' };
  if (apiKey !== undefined) own['authorization'] = `Bearer ${apiKey}`;
  for (const [name, value] of Object.entries(headers)) own[name.toLowerCase()] = value;
  return own;
}

/** What the answer has to be read for. */
export function toAsked(request: ChatRequest, flavor: Flavor): Asked {
  const { n, stop, topLogprobs, continueFinal, messages } = request;
  const continued = continueFinal && flavor.repeatsContinued ? messages.at(-1)?.content : undefined;
  return {
    n,
    ...(stop === undefined ? {} : { stop }),
    ...(topLogprobs === undefined ? {} : { topLogprobs }),
    ...(typeof continued === 'string' ? { repeats: continued } : {}),
    hasUsagePerAnswer: flavor.hasUsagePerAnswer && n > 1,
  };
}

/** A request that this engine cannot take fails like any other: after the caller has its handle. */
function begin(start: () => ChatRun, fail: (error: GatewayError) => void): ChatRun {
  try {
    return start();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    let isAborted = false;
    process.nextTick(() => isAborted || fail(error));
    const abort = () => {
      isAborted = true;
    };
    return { abort, pause: () => {}, resume: () => {} };
  }
}
