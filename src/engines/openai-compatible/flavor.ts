/** What a flavour says: everything in which engines that speak OpenAI's language may differ. */
import type { ContentPart, Thinking } from '../contract/chat.ts';
import type { ImageRequest } from '../contract/image.ts';
import type { ModelType } from '../contract/model-type.ts';
import type { PictureFormat } from '../contract/picture.ts';
import type { SpeechRequest } from '../contract/speech.ts';
import type { TranscriptionRequest } from '../contract/transcription.ts';
import type { VideoRequest } from '../contract/video.ts';
import type { FormFile } from './form.ts';

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
  'stable-diffusion.cpp',
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

/**
 * How it makes pictures: JSON to `POST /images/generations` under the OpenAI path, and a form to `/images/edits` for
 * pictures that start from others.
 */
export interface ImageQuirks {
  /** What it answers with when asked; for any other format it is asked for a png. */
  readonly formats: readonly PictureFormat[];
  /** In which field a mask goes, and what of it means "draw anew"; undefined: it takes no masks. */
  readonly mask: { readonly field: string; readonly anew: 'clear' | 'white' } | undefined;
  /** All that it is told besides files: numbers and texts, which are written as texts in a form. */
  fields(request: ImageRequest, format: PictureFormat): Fields;
}

/** How it films: a job at `POST /videos` under the OpenAI path, which is asked for by its id and cancelled by DELETE. */
export interface VideoQuirks {
  /** What it is told. Throws where the engine cannot do what is asked. */
  order(request: VideoRequest): VideoOrder;
}

export type VideoOrder =
  | { readonly json: Fields }
  | {
      readonly form: {
        readonly fields: Readonly<Record<string, string>>;
        readonly files: readonly FormFile[];
      };
    };

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
  readonly image: ImageQuirks | undefined;
  readonly video: VideoQuirks | undefined;
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
