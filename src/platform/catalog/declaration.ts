/**
 * How an operator declares a model in the configuration, one schema per model type. The same declaration is
 * published in the catalogue and enforced on requests, so the two cannot differ. A published price is a
 * string in dollars: per token for what reads tokens, per megapixel for images, per second for the rest.
 */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import type { ModelType } from '../../engines/contract/model-type.ts';

export type { ModelType };

/** Everything in a declaration is closed: a misspelt field is a mistake that start-up names. */
function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const id = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$',
  maxLength: 200,
});
const price = Type.String({
  pattern: '^\\d+(\\.\\d+)?$',
  description: 'dollars, as an exact decimal string',
});
const positive = Type.Integer({ minimum: 1 });
const size = Type.String({ pattern: '^[1-9]\\d*x[1-9]\\d*$', description: 'WIDTHxHEIGHT' });
const range = closed({
  min: Type.Number(),
  max: Type.Number(),
  default: Type.Optional(Type.Number()),
  also: Type.Optional(
    Type.Array(Type.Number(), { description: 'values outside the range that are taken too' }),
  ),
});

/** Whole seconds. */
const duration = closed({ min: positive, max: positive, default: positive });

export const inputModalities = ['text', 'image', 'file', 'audio', 'video'] as const;
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'] as const;

export const RateLimits = closed({
  requestsPerMinute: Type.Optional(positive),
  concurrent: Type.Optional(positive),
});

const common = {
  id,
  name: Type.Optional(Type.String({ minLength: 1 })),
  description: Type.Optional(Type.String()),
  /** The provider slug: `owned_by`, and the author in `links.details`. */
  author: Type.Optional(Type.String({ pattern: '^[a-z0-9][a-z0-9._-]*$' })),
  created: Type.Optional(Type.Integer({ minimum: 0, description: 'Unix seconds' })),
  huggingFaceId: Type.Optional(Type.String({ minLength: 1 })),
  engine: Type.Optional(Type.String()),
  engines: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
  engineModel: Type.Optional(Type.String({ minLength: 1 })),
  /** A model of one's own for the embedded engine: a GGUF file, an ONNX folder, or an https address of a file. */
  file: Type.Optional(Type.String({ minLength: 1 })),
  /** Other names under which requests reach the model. */
  aliases: Type.Optional(Type.Array(id)),
  /** Ids of models that this one replaced. */
  legacyIds: Type.Optional(Type.Array(id)),
  /** Works by its id, but stands in no list. */
  private: Type.Optional(Type.Boolean()),
  /** False: declared, but not offered. */
  served: Type.Optional(Type.Boolean()),
  moderated: Type.Optional(Type.Boolean()),
  shutdownDate: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
  limits: Type.Optional(RateLimits),
  /** How the sandbox engine behaves for this model; see `engines/sandbox/script.ts`. */
  script: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
};

const sizeTable = Type.Record(Type.String(), Type.Record(Type.String({ pattern: '^\\d+:\\d+$' }), size), {
  description: 'resolution → aspect ratio → size',
});

/** How many jobs of the model run at once, over all processes; more of them wait in line. */
const slots = Type.Optional(positive);

export const ChatDeclaration = closed({
  ...common,
  type: Type.Literal('chat'),
  contextLength: positive,
  maxCompletionTokens: Type.Optional(positive),
  inputModalities: Type.Optional(Type.Array(Type.Enum([...inputModalities]), { minItems: 1 })),
  tools: Type.Optional(Type.Boolean()),
  structuredOutput: Type.Optional(Type.Boolean()),
  logprobs: Type.Optional(Type.Boolean()),
  instructType: Type.Optional(Type.String()),
  reasoning: Type.Optional(
    closed({
      mandatory: Type.Optional(Type.Boolean()),
      supportsMaxTokens: Type.Optional(Type.Boolean()),
      supportedEfforts: Type.Optional(Type.Array(Type.Enum([...efforts]))),
      defaultEffort: Type.Optional(Type.Enum([...efforts])),
      defaultEnabled: Type.Optional(Type.Boolean()),
    }),
  ),
  defaultParameters: Type.Optional(
    closed({
      temperature: Type.Optional(Type.Number()),
      topP: Type.Optional(Type.Number()),
      topK: Type.Optional(Type.Integer()),
      frequencyPenalty: Type.Optional(Type.Number()),
      presencePenalty: Type.Optional(Type.Number()),
      repetitionPenalty: Type.Optional(Type.Number()),
    }),
  ),
  pricing: Type.Optional(
    closed({
      prompt: Type.Optional(price),
      completion: Type.Optional(price),
      internalReasoning: Type.Optional(price),
      inputCacheRead: Type.Optional(price),
    }),
  ),
});

const inputPricing = Type.Optional(closed({ prompt: Type.Optional(price) }));
const outputPricing = Type.Optional(closed({ completion: Type.Optional(price) }));

export const EmbeddingDeclaration = closed({
  ...common,
  type: Type.Literal('embedding'),
  contextLength: positive,
  dimensions: positive,
  /** Trained so that a cut vector still works (Matryoshka): `dimensions` is accepted on requests. */
  flexibleDimensions: Type.Optional(Type.Boolean()),
  /** Put before a query; `marker` is how a text that already has an instruction begins. */
  queryInstruction: Type.Optional(
    closed({ text: Type.String({ minLength: 1 }), marker: Type.String({ minLength: 1 }) }),
  ),
  pricing: inputPricing,
});

export const RerankDeclaration = closed({
  ...common,
  type: Type.Literal('rerank'),
  contextLength: positive,
  pricing: inputPricing,
});

export const DecisionDeclaration = closed({
  ...common,
  type: Type.Literal('decision'),
  contextLength: positive,
  pricing: inputPricing,
});

export const ImageDeclaration = closed({
  ...common,
  type: Type.Literal('image'),
  maxPromptLength: positive,
  maxImages: Type.Optional(positive),
  size: closed({
    multipleOf: positive,
    minArea: positive,
    maxArea: positive,
    maxRatio: Type.Number({ minimum: 1 }),
    maxTotalArea: Type.Optional(positive),
    default: size,
  }),
  resolutions: sizeTable,
  defaultResolution: Type.String(),
  steps: Type.Optional(range),
  /** Billing multiplies the megapixels by steps / this count, where it is given. */
  billedSteps: Type.Optional(positive),
  guidanceScale: Type.Optional(range),
  negativePrompt: Type.Optional(Type.Boolean()),
  outputFormats: Type.Optional(Type.Array(Type.Enum(['png', 'jpeg', 'webp']), { minItems: 1 })),
  transparentBackground: Type.Optional(Type.Boolean()),
  /** Present on models with reference editing. */
  references: Type.Optional(
    closed({
      max: positive,
      formats: Type.Array(Type.Enum(['png', 'jpeg', 'webp', 'gif', 'heic', 'heif', 'avif']), { minItems: 1 }),
      mask: Type.Optional(Type.Boolean()),
    }),
  ),
  pricing: outputPricing,
});

export const VideoDeclaration = closed({
  ...common,
  type: Type.Literal('video'),
  slots,
  maxPromptLength: positive,
  duration,
  resolutions: sizeTable,
  defaultResolution: Type.String(),
  defaultAspectRatio: Type.String(),
  fps: positive,
  audio: Type.Boolean(),
  seed: Type.Optional(Type.Boolean()),
  frameImages: Type.Optional(Type.Array(Type.Enum(['first_frame', 'last_frame']))),
  inputReferences: Type.Optional(
    closed({
      images: Type.Integer({ minimum: 0 }),
      videos: Type.Integer({ minimum: 0 }),
      audio: Type.Integer({ minimum: 0 }),
      total: positive,
    }),
  ),
  steps: Type.Optional(range),
  quality: Type.Optional(Type.Boolean()),
  /** Resolutions that only the turbo schedule renders: another `quality` or step count is refused with them. */
  turboOnlyResolutions: Type.Optional(Type.Array(Type.String())),
  /** Price factor of a resolution other than the default one. */
  resolutionPriceFactors: Type.Optional(Type.Record(Type.String(), Type.Number({ minimum: 0 }))),
  pricing: outputPricing,
});

export const MusicDeclaration = closed({
  ...common,
  type: Type.Literal('music'),
  slots,
  maxPromptLength: positive,
  maxLyricsLength: Type.Optional(positive),
  duration,
  maxOutputs: Type.Optional(positive),
  formats: Type.Array(Type.Enum(['mp3', 'wav', 'flac', 'opus']), { minItems: 1 }),
  lyrics: Type.Boolean(),
  instrumental: Type.Boolean(),
  seed: Type.Boolean(),
  sampleRate: positive,
  channels: positive,
  /** The song can be heard while it renders. */
  progressive: Type.Boolean(),
  /** Names of further fields that the model takes. */
  parameters: Type.Optional(
    Type.Array(
      Type.Enum([
        'negative_prompt',
        'temperature',
        'top_p',
        'top_k',
        'guidance_scale',
        'num_inference_steps',
        'input_references',
      ]),
    ),
  ),
  pricing: outputPricing,
});

export const SpeechDeclaration = closed({
  ...common,
  type: Type.Literal('speech'),
  maxPromptLength: positive,
  voices: Type.Array(
    closed({
      id: Type.String({ minLength: 1 }),
      name: Type.Optional(Type.String()),
      languages: Type.Optional(Type.Array(Type.String())),
      description: Type.Optional(Type.String()),
    }),
    { minItems: 1 },
  ),
  defaultVoice: Type.String(),
  design: Type.Optional(Type.Boolean()),
  clone: Type.Optional(Type.Boolean()),
  instructions: Type.Optional(Type.Boolean()),
  pricing: outputPricing,
});

export const TranscriptionDeclaration = closed({
  ...common,
  type: Type.Literal('transcription'),
  languages: Type.Optional(Type.Array(Type.String())),
  pricing: inputPricing,
});

/** Every model type, in the order in which the reference names them. */
export const declarations = {
  chat: ChatDeclaration,
  embedding: EmbeddingDeclaration,
  image: ImageDeclaration,
  video: VideoDeclaration,
  music: MusicDeclaration,
  speech: SpeechDeclaration,
  transcription: TranscriptionDeclaration,
  decision: DecisionDeclaration,
  rerank: RerankDeclaration,
} as const satisfies Record<ModelType, TSchema>;

export type Declaration<T extends ModelType = ModelType> = Static<(typeof declarations)[T]>;

/** What every model has once its declaration was read: defaults filled in, engines as one list. */
interface Resolved {
  name: string;
  author: string;
  created: number;
  engines: readonly string[];
  /** What the engine calls it. */
  engineModel: string;
  aliases: readonly string[];
  legacyIds: readonly string[];
  private: boolean;
  served: boolean;
}

export type Model<T extends ModelType = ModelType> = T extends ModelType
  ? Readonly<Omit<Declaration<T>, keyof Resolved | 'engine'> & Resolved>
  : never;

export type ChatModel = Model<'chat'>;
export type EmbeddingModel = Model<'embedding'>;
export type ImageModel = Model<'image'>;
export type VideoModel = Model<'video'>;
export type MusicModel = Model<'music'>;
export type SpeechModel = Model<'speech'>;
export type TranscriptionModel = Model<'transcription'>;
export type DecisionModel = Model<'decision'>;
export type RerankModel = Model<'rerank'>;
