/**
 * Everything in which the engines that speak OpenAI's language differ, one table row each. Checked against the
 * sources of vLLM 0.27, SGLang 0.5.18, llama.cpp b10586, Ollama 0.32, text-embeddings-inference 1.9, vLLM-Omni
 * (August 2026), Kokoro-FastAPI 0.8, whisper.cpp 1.9 and speaches (August 2026); older versions are named where they behave otherwise. What all of them accept (both reasoning names, any tool call
 * id, any finish reason) is in `wire.ts`.
 */
import type { ContentPart, Effort, Thinking } from '../contract/chat.ts';
import type { ModelType } from '../contract/model-type.ts';
import type { SpeechRequest } from '../contract/speech.ts';
import type { TranscriptionRequest } from '../contract/transcription.ts';

export const flavorNames = [
  'vllm',
  'sglang',
  'llama.cpp',
  'ollama',
  'tei',
  'vllm-omni',
  'kokoro-fastapi',
  'whisper.cpp',
  'speaches',
  'generic',
] as const;
export type FlavorName = (typeof flavorNames)[number];

/** Fields of a request body. */
export type Fields = Readonly<Record<string, unknown>>;
export type MediaPart = Exclude<ContentPart, { type: 'text' }>;

/** How it turns texts into vectors: `POST /embeddings` under the OpenAI path, with base64 asked for. */
export interface EmbeddingQuirks {
  /** The most inputs of one request; the engine's `maxBatch` goes before it. */
  readonly batch: number;
  /** Requests for one list of inputs at a time. */
  readonly parallel: number;
  /** Whether an input may be a list of tokens. */
  readonly takesTokens: boolean;
  /**
   * What makes it cut an input that is too long. Where that is nothing, or not enough, the engine refuses, and
   * the gateway cuts the text and asks again (`fit.ts`).
   */
  readonly truncation: Fields;
}

/** How it ranks documents. */
export interface RerankQuirks {
  readonly route: Place;
  /** Where scores are asked for when the server has no such route. */
  readonly scoreRoute?: Place;
  /** What it calls the list of documents. */
  readonly documents: 'documents' | 'texts';
  readonly batch: number;
  readonly parallel: number;
  readonly fields: Fields;
}

/** How it decides: by the log probabilities of the first token of a chat answer. */
export interface DecisionQuirks {
  /** Requests for one decision at a time. */
  readonly parallel: number;
  /** Whether it is told not to think; a server that does not know how could refuse the request. */
  readonly stopsThinking: boolean;
}

/** How it speaks: `POST /audio/speech` under the OpenAI path, with raw samples of 24 kHz asked for. */
export interface SpeechQuirks {
  /** Whether it makes voices from descriptions and clips. */
  readonly makesVoices: boolean;
  /** What it is told besides the model, the text, the voice and the style. */
  fields(request: SpeechRequest): Fields;
}

/** How it transcribes: a form with a WAV file, answered by JSON with `text`. */
export interface TranscriptionQuirks {
  readonly route: Place;
  /** What it is told besides the model, the prompt and the temperature. */
  fields(request: TranscriptionRequest): Readonly<Record<string, string>>;
}

/** At the server's root, or under the OpenAI path. */
export interface Place {
  readonly at: 'root' | 'api';
  readonly path: string;
}

export interface Flavor {
  readonly name: FlavorName;
  readonly serves: readonly ModelType[];
  /** Undefined: it has no such route. */
  readonly embedding: EmbeddingQuirks | undefined;
  readonly rerank: RerankQuirks | undefined;
  readonly decision: DecisionQuirks | undefined;
  readonly speech: SpeechQuirks | undefined;
  readonly transcription: TranscriptionQuirks | undefined;
  /** Chat templates rarely know the role `developer`. */
  readonly developerRole: 'developer' | 'system';
  /** Whether a list of text parts is sent as one text. */
  readonly joinsText: boolean;
  media(part: MediaPart): Fields;
  /** Where earlier thinking of the assistant goes, for templates that show it to the model between tool calls. */
  readonly reasoningField: 'reasoning_content' | 'reasoning' | undefined;
  /** `named`: takes a choice of one tool; `words`: only the words; `none`: knows no `tool_choice`. */
  readonly toolChoice: 'named' | 'words' | 'none';
  /** Whether it can give several answers to one request. */
  readonly takesN: boolean;
  /** Sampling that OpenAI does not have. A `topK` of 0 disables it. */
  sampling(topK: number | undefined, repetitionPenalty: number | undefined): Fields;
  /** The least `top_logprobs` that brings log probabilities at all. */
  readonly leastTopLogprobs: number;
  /** What makes the engine go on with a final assistant message, without thinking. */
  readonly continuation: Fields;
  /** Whether a whole answer that continues a message begins with that message. */
  readonly repeatsContinued: boolean;
  /** Whether each of several streamed answers has a usage of its own. */
  readonly hasUsagePerAnswer: boolean;
  thinking(thinking: Thinking): Fields;
  /** Where its health is asked for. */
  readonly health: Place;
  /** How it counts tokens; undefined: it cannot be asked. */
  readonly tokenizer: 'messages' | 'template' | undefined;
}

/** Engines that take an effort at all go up to `max`. */
const toEngineEffort = (effort: Effort) => (effort === 'ultra' ? 'max' : effort);

const dataUri = ({ mediaType, base64 }: MediaPart) => `data:${mediaType};base64,${base64}`;

function image(part: MediaPart): Fields {
  const detail = part.detail === undefined ? {} : { detail: part.detail };
  return { type: 'image_url', image_url: { url: dataUri(part), ...detail } };
}

const audioFormats: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mp4': 'm4a',
  'audio/x-m4a': 'm4a',
};

function inputAudio({ mediaType, base64 }: MediaPart): Fields {
  const format = audioFormats[mediaType] ?? mediaType.slice(mediaType.indexOf('/') + 1);
  return { type: 'input_audio', input_audio: { data: base64, format } };
}

/** vLLM and SGLang take any kind by a data URI; SGLang 0.5 knows no `input_audio`. */
function byUri(part: MediaPart): Fields {
  if (part.type === 'image') return image(part);
  return part.type === 'audio'
    ? { type: 'audio_url', audio_url: { url: dataUri(part) } }
    : { type: 'video_url', video_url: { url: dataUri(part) } };
}

function penalty(name: string, value: number | undefined): Fields {
  return value === undefined ? {} : { [name]: value };
}

/** Qwen, GLM and Gemma templates read `enable_thinking`, DeepSeek and Granite `thinking`; others ignore both. */
function templateSwitches(enabled: boolean): Fields {
  return { enable_thinking: enabled, thinking: enabled };
}

/** vLLM 0.27 takes every effort but `ultra`; before 0.22 only `low`, `medium` and `high`. */
function switchesAndEffort({ enabled, effort }: Thinking): Fields {
  const isEffort = enabled && effort !== undefined && effort !== 'none';
  return {
    chat_template_kwargs: templateSwitches(enabled),
    ...(isEffort ? { reasoning_effort: toEngineEffort(effort) } : {}),
  };
}

/** OpenAI's own route. `verbose_json`, which names the language, is refused by models other than Whisper. */
const openaiTranscription: TranscriptionQuirks = {
  route: { at: 'api', path: '/audio/transcriptions' },
  fields: ({ language }) => ({ response_format: 'json', ...(language === undefined ? {} : { language }) }),
};

const vllm: Flavor = {
  name: 'vllm',
  serves: ['chat', 'embedding', 'rerank', 'decision', 'transcription'],
  // -1 is the model's own maximum. A `truncation_side` beside it would cut the closing special token away.
  embedding: {
    batch: 256,
    parallel: 2,
    takesTokens: true,
    truncation: { truncate_prompt_tokens: -1 },
  },
  // `/rerank` is there since 0.7; before, and on servers that have only that, pairs are scored.
  rerank: {
    route: { at: 'root', path: '/rerank' },
    scoreRoute: { at: 'root', path: '/score' },
    documents: 'documents',
    batch: 256,
    parallel: 2,
    fields: { truncate_prompt_tokens: -1 },
  },
  decision: { parallel: 8, stopsThinking: true },
  speech: undefined,
  transcription: openaiTranscription,
  developerRole: 'system',
  joinsText: false,
  media: byUri,
  reasoningField: 'reasoning_content',
  toolChoice: 'named',
  takesN: true,
  // 0 would do since 0.9, but only -1 disables it in every version; omitted, the model's own default holds.
  sampling: (topK, repetitionPenalty) => ({
    ...(topK === undefined ? {} : { top_k: topK === 0 ? -1 : topK }),
    ...penalty('repetition_penalty', repetitionPenalty),
  }),
  leastTopLogprobs: 0,
  continuation: {
    continue_final_message: true,
    add_generation_prompt: false,
    chat_template_kwargs: templateSwitches(false),
  },
  repeatsContinued: false,
  hasUsagePerAnswer: false,
  // Since 0.19, on servers that were started with a reasoning parser.
  thinking: (thinking) => ({
    ...switchesAndEffort(thinking),
    ...(thinking.enabled ? penalty('thinking_token_budget', thinking.budgetTokens) : {}),
  }),
  health: { at: 'root', path: '/health' },
  tokenizer: 'messages',
};

const sglang: Flavor = {
  ...vllm,
  name: 'sglang',
  serves: ['chat', 'embedding', 'rerank', 'decision'],
  transcription: undefined,
  // It cuts only when it was started with --allow-auto-truncate.
  embedding: { batch: 256, parallel: 2, takesTokens: true, truncation: {} },
  // Documents are sent back unless that is declined.
  rerank: {
    route: { at: 'api', path: '/rerank' },
    documents: 'documents',
    batch: 256,
    parallel: 2,
    fields: { return_documents: false },
  },
  // 0 is refused: "top_k must be -1 (disable) or at least 1".
  sampling: vllm.sampling,
  // `add_generation_prompt` is always true there: the text is put behind it.
  continuation: { continue_final_message: true, chat_template_kwargs: templateSwitches(false) },
  thinking: (thinking) => ({
    ...switchesAndEffort(thinking),
    ...(thinking.enabled && thinking.budgetTokens !== undefined
      ? { custom_params: { thinking_budget: thinking.budgetTokens } }
      : {}),
  }),
};

const llamaCpp: Flavor = {
  name: 'llama.cpp',
  serves: ['chat', 'embedding', 'rerank', 'decision'],
  // It never cuts: an encoder refuses what is longer than its batch (-ub) with a 500, the rest with a 400.
  embedding: { batch: 128, parallel: 1, takesTokens: true, truncation: {} },
  rerank: {
    route: { at: 'api', path: '/rerank' },
    documents: 'documents',
    batch: 128,
    parallel: 1,
    fields: {},
  },
  decision: { parallel: 2, stopsThinking: true },
  speech: undefined,
  transcription: undefined,
  developerRole: 'system',
  joinsText: false,
  // Audio and video must be bare base64; only images may be data URIs.
  media(part) {
    if (part.type === 'image') return image(part);
    if (part.type === 'audio') return inputAudio(part);
    return { type: 'input_video', input_video: { data: part.base64 } };
  },
  reasoningField: 'reasoning_content',
  // A choice that is no word is silently read as `auto`.
  toolChoice: 'words',
  takesN: true,
  // Its default is 40, so 0 has to be said.
  sampling: (topK, repetitionPenalty) => ({
    ...penalty('top_k', topK),
    ...penalty('repeat_penalty', repetitionPenalty),
  }),
  // 0 means "no log probabilities" there.
  leastTopLogprobs: 1,
  // A final assistant message is continued by itself, but then streamed answers repeat it too. Older servers
  // do not know the fields, and refuse a continuation while thinking is on.
  continuation: {
    continue_final_message: true,
    add_generation_prompt: false,
    chat_template_kwargs: templateSwitches(false),
  },
  repeatsContinued: true,
  hasUsagePerAnswer: true,
  // The effort goes through the template: only newer servers read it beside it.
  thinking({ enabled, effort, budgetTokens }) {
    const hasEffort = enabled && effort !== undefined && effort !== 'none';
    return {
      chat_template_kwargs: {
        ...templateSwitches(enabled),
        ...(hasEffort ? { reasoning_effort: toEngineEffort(effort) } : {}),
      },
      ...(enabled ? penalty('thinking_budget_tokens', budgetTokens) : {}),
    };
  },
  health: { at: 'root', path: '/health' },
  tokenizer: 'template',
};

/** Image types that Ollama knows by name; any other must come without one. */
const ollamaImages = /^image\/(?:jpeg|jpg|png|webp)$/;

const ollama: Flavor = {
  name: 'ollama',
  serves: ['chat', 'embedding', 'decision'],
  // It cuts by itself.
  embedding: { batch: 128, parallel: 1, takesTokens: false, truncation: {} },
  rerank: undefined,
  decision: { parallel: 1, stopsThinking: true },
  speech: undefined,
  transcription: undefined,
  developerRole: 'system',
  // Every part of a list becomes a message of its own, without its tool call id.
  joinsText: true,
  media(part) {
    if (part.type === 'audio') return inputAudio(part);
    if (part.type === 'video') return byUri(part);
    return image(ollamaImages.test(part.mediaType) ? part : { ...part, mediaType: '' });
  },
  reasoningField: 'reasoning',
  toolChoice: 'none',
  takesN: false,
  sampling: () => ({}),
  leastTopLogprobs: 0,
  // Its templates leave a final assistant message open.
  continuation: { reasoning_effort: 'none' },
  repeatsContinued: false,
  hasUsagePerAnswer: false,
  thinking: ({ enabled, effort }) =>
    !enabled || effort === 'none'
      ? { reasoning_effort: 'none' }
      : { reasoning_effort: effort === undefined ? 'medium' : toOllamaEffort(effort) },
  health: { at: 'root', path: '/api/version' },
  tokenizer: undefined,
};

/** Ollama takes `max` only since 0.30 and refused all but these three before. */
function toOllamaEffort(effort: Effort): string {
  if (effort === 'minimal') return 'low';
  return effort === 'xhigh' || effort === 'max' || effort === 'ultra' ? 'high' : effort;
}

const generic: Flavor = {
  name: 'generic',
  serves: ['chat', 'embedding', 'rerank', 'decision', 'speech', 'transcription'],
  // Services take from 96 inputs at a time (Cohere) to 2,048 (OpenAI), and refuse fields that they do not know.
  embedding: { batch: 96, parallel: 1, takesTokens: true, truncation: {} },
  // As Cohere and Jina have it.
  rerank: {
    route: { at: 'api', path: '/rerank' },
    documents: 'documents',
    batch: 96,
    parallel: 1,
    fields: { return_documents: false },
  },
  decision: { parallel: 4, stopsThinking: false },
  // What OpenAI's own route takes and nothing else.
  speech: { makesVoices: false, fields: () => ({}) },
  transcription: openaiTranscription,
  developerRole: 'developer',
  joinsText: false,
  media: (part) => (part.type === 'audio' ? inputAudio(part) : byUri(part)),
  // OpenAI's own servers refuse fields that they do not know.
  reasoningField: undefined,
  toolChoice: 'named',
  takesN: true,
  sampling: (topK, repetitionPenalty) => ({
    ...(topK === 0 ? {} : penalty('top_k', topK)),
    ...penalty('repetition_penalty', repetitionPenalty),
  }),
  leastTopLogprobs: 0,
  continuation: {},
  repeatsContinued: false,
  hasUsagePerAnswer: false,
  thinking({ enabled, effort }) {
    if (!enabled) return { reasoning_effort: 'none' };
    return effort === undefined ? {} : { reasoning_effort: effort };
  },
  health: { at: 'api', path: '/models' },
  tokenizer: undefined,
};

/** Hugging Face text-embeddings-inference: one encoder, no chat. */
const tei: Flavor = {
  ...generic,
  name: 'tei',
  serves: ['embedding', 'rerank'],
  // 32 is its --max-client-batch-size. Tokens are decoded and read again as text. On this route it cuts as
  // --auto-truncate says, which is on by default.
  embedding: { batch: 32, parallel: 4, takesTokens: true, truncation: {} },
  rerank: {
    route: { at: 'root', path: '/rerank' },
    documents: 'texts',
    batch: 32,
    parallel: 4,
    fields: { truncate: true, raw_scores: false, return_text: false },
  },
  decision: undefined,
  speech: undefined,
  transcription: undefined,
  health: { at: 'root', path: '/health' },
};

/** vLLM-Omni, which is a server of its own: one speech model, beside vLLM's routes. */
const vllmOmni: Flavor = {
  ...vllm,
  name: 'vllm-omni',
  serves: ['speech', 'chat'],
  embedding: undefined,
  rerank: undefined,
  decision: undefined,
  transcription: undefined,
  speech: {
    makesVoices: true,
    fields: (request) => ({
      // Raw bytes are what `stream` alone gave at first, and what `stream_format` gives since that became events.
      stream: true,
      stream_format: 'audio',
      // Some models speak at 44.1 kHz.
      sample_rate: 24_000,
      ...given('language', request.language === undefined ? undefined : toLanguageName(request.language)),
      ...given('seed', request.seed),
      ...given('temperature', request.temperature),
      ...given('top_p', request.topP),
      ...given('top_k', request.topK),
      ...toMadeVoice(request),
    }),
  },
};

function toMadeVoice({ voice }: SpeechRequest): Fields {
  if (voice.type === 'builtin') return {};
  if (voice.type === 'design') return { task_type: 'VoiceDesign', instructions: voice.description };
  const clip = `data:audio/wav;base64,${voice.clip.toString('base64')}`;
  // Without a transcript only the timbre is taken; with one the manner too.
  return voice.transcript === undefined
    ? { task_type: 'Base', ref_audio: clip, x_vector_only_mode: true }
    : { task_type: 'Base', ref_audio: clip, ref_text: voice.transcript };
}

const languageNames: Readonly<Record<string, string>> = {
  zh: 'Chinese',
  en: 'English',
  ja: 'Japanese',
  ko: 'Korean',
  de: 'German',
  fr: 'French',
  ru: 'Russian',
  pt: 'Portuguese',
  es: 'Spanish',
  it: 'Italian',
};

/** Qwen3-TTS knows languages by their English names. */
function toLanguageName(language: string): string {
  const name = languageNames[language.toLowerCase()] ?? language;
  return name.slice(0, 1).toUpperCase() + name.slice(1).toLowerCase();
}

/** Kokoro-FastAPI: one model, whose voices begin with the letter of their language. */
const kokoroFastapi: Flavor = {
  ...generic,
  name: 'kokoro-fastapi',
  serves: ['speech'],
  embedding: undefined,
  rerank: undefined,
  decision: undefined,
  transcription: undefined,
  speech: {
    makesVoices: false,
    fields: ({ language }) => ({
      stream: true,
      ...given('lang_code', language === undefined ? undefined : toLanguageLetter(language)),
    }),
  },
  health: { at: 'root', path: '/health' },
};

const languageLetters: Readonly<Record<string, string>> = {
  es: 'e',
  spanish: 'e',
  fr: 'f',
  french: 'f',
  hi: 'h',
  hindi: 'h',
  it: 'i',
  italian: 'i',
  ja: 'j',
  japanese: 'j',
  pt: 'p',
  portuguese: 'p',
  zh: 'z',
  chinese: 'z',
};

/** English has two letters, and the voice tells which: it is left to the voice, like a language that is not known. */
function toLanguageLetter(language: string): string | undefined {
  return languageLetters[language.toLowerCase()];
}

/** Servers that transcribe and do nothing else. */
const ears = {
  ...generic,
  serves: ['transcription'],
  embedding: undefined,
  rerank: undefined,
  decision: undefined,
  speech: undefined,
  health: { at: 'root', path: '/health' },
} as const satisfies Omit<Flavor, 'name'>;

/** whisper.cpp's server: one model, on a route of its own, one request at a time. */
const whisperCpp: Flavor = {
  ...ears,
  name: 'whisper.cpp',
  transcription: {
    route: { at: 'root', path: '/inference' },
    fields: ({ language }) => ({
      response_format: 'verbose_json',
      // It would listen a second time for them.
      no_language_probabilities: 'true',
      // Left out it means the language that the server was started with, which is English.
      language: language ?? 'auto',
    }),
  },
};

const speaches: Flavor = {
  ...ears,
  name: 'speaches',
  transcription: {
    route: { at: 'api', path: '/audio/transcriptions' },
    fields: ({ language }) => ({
      response_format: 'verbose_json',
      ...(language === undefined ? {} : { language }),
      // Silence is left out before.
      vad_filter: 'false',
    }),
  },
};

function given(name: string, value: unknown): Fields {
  return value === undefined ? {} : { [name]: value };
}

export const flavors: Readonly<Record<FlavorName, Flavor>> = {
  vllm,
  sglang,
  'llama.cpp': llamaCpp,
  ollama,
  tei,
  'vllm-omni': vllmOmni,
  'kokoro-fastapi': kokoroFastapi,
  'whisper.cpp': whisperCpp,
  speaches,
  generic,
};
