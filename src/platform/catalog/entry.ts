/**
 * The public model entry, as the specification's table gives it. Two capabilities answer with it (`/models` and
 * `/embeddings/models`) and neither may import the other, so it is the one place in the platform where wire
 * names appear.
 */
import Type, { type Static, type TProperties } from 'typebox';
import { inputModalities, type Model, type ModelType } from './declaration.ts';
import { supportedParameters } from './parameters.ts';

function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const count = Type.Union([Type.Integer(), Type.Null()]);
const optionalText = Type.Union([Type.String(), Type.Null()]);
const price = Type.String({ description: 'dollars, as an exact decimal' });

export const Architecture = closed({
  input_modalities: Type.Array(Type.String()),
  output_modalities: Type.Array(Type.String()),
  modality: Type.String({ description: 'such as text+image->text' }),
  tokenizer: Type.String(),
  instruct_type: optionalText,
});

export const Pricing = closed({
  prompt: price,
  completion: price,
  internal_reasoning: Type.Optional(price),
  input_cache_read: Type.Optional(price),
});

export const ModelEntry = closed({
  id: Type.String(),
  object: Type.Literal('model'),
  owned_by: Type.String(),
  canonical_slug: Type.String(),
  hugging_face_id: optionalText,
  name: Type.String(),
  created: Type.Integer({ description: 'Unix seconds' }),
  description: Type.Optional(Type.String()),
  context_length: count,
  architecture: Architecture,
  pricing: Pricing,
  top_provider: closed({ context_length: count, max_completion_tokens: count, is_moderated: Type.Boolean() }),
  per_request_limits: Type.Null(),
  supported_parameters: Type.Array(Type.String()),
  default_parameters: Type.Union([
    closed({
      temperature: Type.Optional(Type.Number()),
      top_p: Type.Optional(Type.Number()),
      top_k: Type.Optional(Type.Integer()),
      frequency_penalty: Type.Optional(Type.Number()),
      presence_penalty: Type.Optional(Type.Number()),
      repetition_penalty: Type.Optional(Type.Number()),
    }),
    Type.Null(),
  ]),
  supported_voices: Type.Union([Type.Array(Type.String()), Type.Null()]),
  links: closed({ details: Type.String() }),
  reasoning: Type.Optional(
    closed({
      mandatory: Type.Boolean(),
      supports_max_tokens: Type.Optional(Type.Boolean()),
      supported_efforts: Type.Optional(Type.Array(Type.String())),
      default_effort: Type.Optional(Type.String()),
      default_enabled: Type.Optional(Type.Boolean()),
    }),
  ),
  shutdown_date: Type.Optional(Type.String()),
});
export type ModelEntry = Static<typeof ModelEntry>;

/** A memo of a pure function, so that a list is not rendered anew for every call; it lives as long as the models. */
const rendered = new WeakMap<Model, ModelEntry>();

export function toModelEntry(model: Model): ModelEntry {
  let entry = rendered.get(model);
  if (entry === undefined) {
    entry = render(model);
    rendered.set(model, entry);
  }
  return entry;
}

function render(model: Model): ModelEntry {
  const contextLength = 'contextLength' in model ? model.contextLength : null;
  return {
    id: model.id,
    object: 'model',
    owned_by: model.author,
    canonical_slug: model.id,
    hugging_face_id: model.huggingFaceId ?? null,
    name: model.name,
    created: model.created,
    ...present('description', model.description),
    context_length: contextLength,
    architecture: toArchitecture(model),
    pricing: toPricing(model),
    top_provider: {
      context_length: contextLength,
      max_completion_tokens: (model.type === 'chat' ? model.maxCompletionTokens : undefined) ?? null,
      is_moderated: model.moderated ?? false,
    },
    per_request_limits: null,
    supported_parameters: [...supportedParameters(model)],
    default_parameters: toDefaultParameters(model),
    supported_voices: model.type === 'speech' ? model.voices.map((voice) => voice.id) : null,
    links: { details: `/v1/model/${model.author}/${model.id}` },
    ...present('reasoning', toReasoning(model)),
    ...present('shutdown_date', model.shutdownDate),
  };
}

/** What a model makes, in the names of the model-router convention; a song is `audio`. */
const outputModality: Readonly<Record<ModelType, string>> = {
  chat: 'text',
  embedding: 'embeddings',
  image: 'image',
  video: 'video',
  music: 'audio',
  speech: 'speech',
  transcription: 'transcription',
  decision: 'decisions',
  rerank: 'rerank',
};

export function toArchitecture(model: Model): Static<typeof Architecture> {
  const reads = inputsOf(model);
  const inputs = inputModalities.filter((modality) => reads.includes(modality));
  const output = outputModality[model.type];
  return {
    input_modalities: inputs,
    output_modalities: [output],
    modality: `${inputs.join('+')}->${output}`,
    tokenizer: 'Other',
    instruct_type: (model.type === 'chat' ? model.instructType : undefined) ?? null,
  };
}

type Modality = (typeof inputModalities)[number];

function inputsOf(model: Model): readonly Modality[] {
  switch (model.type) {
    case 'chat':
      return model.inputModalities ?? ['text'];
    case 'image':
      return model.references === undefined ? ['text'] : ['text', 'image'];
    case 'video': {
      const { images = 0, videos = 0, audio = 0 } = model.inputReferences ?? {};
      const frames = model.frameImages ?? [];
      const reads: Modality[] = ['text'];
      if (frames.length > 0 || images > 0) reads.push('image');
      if (audio > 0) reads.push('audio');
      if (videos > 0) reads.push('video');
      return reads;
    }
    case 'music':
      return model.parameters?.includes('input_references') === true ? ['text', 'audio'] : ['text'];
    case 'speech':
      return model.clone === true ? ['text', 'audio'] : ['text'];
    case 'transcription':
      return ['audio'];
    default:
      return ['text'];
  }
}

/** The side without a price is the string `0`: what is read is priced in `prompt`, what is made in `completion`. */
export function toPricing(model: Model): Static<typeof Pricing> {
  const { prompt = '0', completion = '0', internalReasoning, inputCacheRead }: Prices = model.pricing ?? {};
  return {
    prompt,
    completion,
    ...present('internal_reasoning', internalReasoning),
    ...present('input_cache_read', inputCacheRead),
  };
}

interface Prices {
  prompt?: string;
  completion?: string;
  internalReasoning?: string;
  inputCacheRead?: string;
}

function toDefaultParameters(model: Model): ModelEntry['default_parameters'] {
  if (model.type !== 'chat' || model.defaultParameters === undefined) return null;
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, repetitionPenalty } =
    model.defaultParameters;
  return {
    ...present('temperature', temperature),
    ...present('top_p', topP),
    ...present('top_k', topK),
    ...present('frequency_penalty', frequencyPenalty),
    ...present('presence_penalty', presencePenalty),
    ...present('repetition_penalty', repetitionPenalty),
  };
}

function toReasoning(model: Model): ModelEntry['reasoning'] {
  if (model.type !== 'chat' || model.reasoning === undefined) return undefined;
  const {
    mandatory = false,
    supportsMaxTokens,
    supportedEfforts,
    defaultEffort,
    defaultEnabled,
  } = model.reasoning;
  return {
    mandatory,
    ...present('supports_max_tokens', supportsMaxTokens),
    ...present('supported_efforts', supportedEfforts),
    ...present('default_effort', defaultEffort),
    ...present('default_enabled', defaultEnabled),
  };
}

/** Unknown fields are left out, never null: strict SDKs refuse a null where a field is merely optional. */
function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
