/** Servers of text models: what each takes and leaves out. */
import type { Effort, Thinking } from '../contract/chat.ts';
import type { Fields, Flavor, MediaPart, TranscriptionQuirks } from './flavor.ts';
import { openaiImages, sglangImages } from './image-quirks.ts';
import { openaiVideos, sglangVideos } from './video-quirks.ts';

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

export const vllm: Flavor = {
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
  image: undefined,
  video: undefined,
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

export const sglang: Flavor = {
  ...vllm,
  name: 'sglang',
  // Pictures come from SGLang-diffusion, which is a server of its own beside the one for text.
  serves: ['chat', 'embedding', 'rerank', 'decision', 'image', 'video'],
  transcription: undefined,
  image: sglangImages,
  video: sglangVideos,
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

export const llamaCpp: Flavor = {
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
  image: undefined,
  video: undefined,
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

export const ollama: Flavor = {
  name: 'ollama',
  serves: ['chat', 'embedding', 'decision'],
  // It cuts by itself.
  embedding: { batch: 128, parallel: 1, takesTokens: false, truncation: {} },
  rerank: undefined,
  decision: { parallel: 1, stopsThinking: true },
  speech: undefined,
  transcription: undefined,
  image: undefined,
  video: undefined,
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

export const generic: Flavor = {
  name: 'generic',
  serves: ['chat', 'embedding', 'rerank', 'decision', 'speech', 'transcription', 'image', 'video', 'music'],
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
  image: openaiImages,
  video: openaiVideos,
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
export const tei: Flavor = {
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
  image: undefined,
  video: undefined,
  health: { at: 'root', path: '/health' },
};
