/** A catalogue with every kind of model: one that declares everything, and one that declares only what it must. */
import { sandbox } from '../../src/engines/sandbox/index.ts';
import {
  type CatalogOptions,
  createCatalog,
  type ReplaceableCatalog,
} from '../../src/platform/catalog/catalog.ts';
import type { Declaration, Model, ModelType } from '../../src/platform/catalog/index.ts';

const ratios768 = {
  '16:9': '1344x768',
  '9:16': '768x1344',
  '4:3': '1024x768',
  '3:4': '768x1024',
  '1:1': '768x768',
  '21:9': '1536x672',
};
const ratios2K = {
  '16:9': '2688x1536',
  '9:16': '1536x2688',
  '4:3': '2048x1536',
  '3:4': '1536x2048',
  '1:1': '1536x1536',
  '21:9': '3072x1344',
};

export const sampleModels: readonly Declaration[] = [
  {
    id: 'qwen3-8b',
    type: 'chat',
    engine: 'sandbox',
    name: 'Qwen3 8B',
    description: 'A chat model that thinks.',
    author: 'qwen',
    created: 1_760_000_000,
    huggingFaceId: 'Qwen/Qwen3-8B',
    legacyIds: ['qwen2.5-7b'],
    contextLength: 131_072,
    maxCompletionTokens: 32_768,
    inputModalities: ['image', 'text'],
    instructType: 'chatml',
    moderated: true,
    shutdownDate: '2027-06-30',
    reasoning: {
      mandatory: false,
      supportsMaxTokens: true,
      supportedEfforts: ['low', 'medium', 'high'],
      defaultEffort: 'medium',
      defaultEnabled: true,
    },
    defaultParameters: {
      temperature: 0.6,
      topP: 0.95,
      topK: 20,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      repetitionPenalty: 1.05,
    },
    pricing: {
      prompt: '0.00000015',
      completion: '0.0000006',
      internalReasoning: '0.0000005',
      inputCacheRead: '0.00000003',
    },
  },
  {
    id: 'plain-chat',
    type: 'chat',
    engine: 'sandbox',
    contextLength: 4096,
    tools: false,
    structuredOutput: false,
    logprobs: false,
  },
  {
    id: 'acme/thinker',
    type: 'chat',
    engine: 'sandbox',
    author: 'acme',
    contextLength: 8192,
    reasoning: {},
  },
  { id: 'hidden-chat', type: 'chat', engine: 'sandbox', contextLength: 4096, private: true },
  { id: 'retired-chat', type: 'chat', engine: 'sandbox', contextLength: 4096, served: false },
  {
    id: 'embed-small',
    type: 'embedding',
    engine: 'sandbox',
    contextLength: 512,
    dimensions: 384,
    flexibleDimensions: true,
    pricing: { prompt: '0.00000002' },
  },
  { id: 'embed-large', type: 'embedding', engine: 'sandbox', contextLength: 8192, dimensions: 1024 },
  {
    id: 'draw-fast',
    type: 'image',
    engine: 'sandbox',
    author: 'atelier',
    description: 'Draws fast.',
    maxPromptLength: 4000,
    maxImages: 10,
    size: { multipleOf: 16, minArea: 65_536, maxArea: 4_194_304, maxRatio: 4, default: '1024x1024' },
    resolutions: {
      '512': { '1:1': '512x512' },
      '768': { '1:1': '768x768' },
      '1K': { '1:1': '1024x1024', '16:9': '1344x768' },
      '1.5K': { '1:1': '1536x1536' },
      '2K': { '1:1': '2048x2048' },
    },
    defaultResolution: '1K',
    steps: { min: 1, max: 50, default: 8 },
    guidanceScale: { min: 0, max: 20, default: 0 },
    negativePrompt: true,
    pricing: { completion: '0.01' },
  },
  {
    id: 'atelier/draw-edit',
    type: 'image',
    engine: 'sandbox',
    author: 'atelier',
    maxPromptLength: 2000,
    maxImages: 4,
    size: {
      multipleOf: 8,
      minArea: 65_536,
      maxArea: 1_048_576,
      maxRatio: 2,
      maxTotalArea: 2_097_152,
      default: '1024x1024',
    },
    resolutions: { '1K': { '1:1': '1024x1024' } },
    defaultResolution: '1K',
    guidanceScale: { min: 1, max: 10, also: [0] },
    outputFormats: ['png', 'webp'],
    transparentBackground: true,
    references: { max: 10, formats: ['png', 'jpeg'], mask: true },
  },
  {
    id: 'film-one',
    type: 'video',
    engine: 'sandbox',
    description: 'Renders clips with sound.',
    huggingFaceId: 'Studio/Film-One',
    maxPromptLength: 7000,
    duration: { min: 4, max: 15, default: 6 },
    resolutions: { '768p': ratios768, '2K': ratios2K },
    defaultResolution: '768p',
    defaultAspectRatio: '16:9',
    fps: 24,
    audio: true,
    seed: true,
    frameImages: ['first_frame', 'last_frame'],
    inputReferences: { images: 9, videos: 3, audio: 3, total: 12 },
    steps: { min: 4, max: 50 },
    quality: true,
    resolutionPriceFactors: { '2K': 4 },
    pricing: { completion: '0.05' },
  },
  {
    id: 'film-mini',
    type: 'video',
    engine: 'sandbox',
    maxPromptLength: 500,
    duration: { min: 2, max: 2, default: 2 },
    resolutions: { '360p': { '1:1': '360x360' } },
    defaultResolution: '360p',
    defaultAspectRatio: '1:1',
    fps: 12,
    audio: false,
  },
  {
    id: 'song-one',
    type: 'music',
    engine: 'sandbox',
    description: 'Sings.',
    huggingFaceId: 'Studio/Song-One',
    maxPromptLength: 2000,
    maxLyricsLength: 3000,
    duration: { min: 10, max: 300, default: 30 },
    maxOutputs: 2,
    formats: ['mp3', 'wav', 'flac', 'opus'],
    lyrics: true,
    instrumental: true,
    seed: true,
    sampleRate: 32_000,
    channels: 2,
    progressive: true,
    parameters: ['temperature', 'guidance_scale', 'input_references'],
    pricing: { completion: '0.002' },
  },
  {
    id: 'song-mini',
    type: 'music',
    engine: 'sandbox',
    maxPromptLength: 200,
    duration: { min: 5, max: 10, default: 5 },
    formats: ['wav'],
    lyrics: false,
    instrumental: false,
    seed: false,
    sampleRate: 16_000,
    channels: 1,
    progressive: false,
  },
  {
    id: 'voice-one',
    type: 'speech',
    engine: 'sandbox',
    maxPromptLength: 4096,
    voices: [{ id: 'vivian', name: 'Vivian', languages: ['zh', 'en'], description: 'Warm.' }, { id: 'ryan' }],
    defaultVoice: 'vivian',
    design: true,
    clone: true,
    instructions: true,
    pricing: { completion: '0.0003' },
  },
  {
    id: 'voice-mini',
    type: 'speech',
    engine: 'sandbox',
    maxPromptLength: 500,
    voices: [{ id: 'solo' }],
    defaultVoice: 'solo',
  },
  {
    id: 'listen-one',
    type: 'transcription',
    engine: 'sandbox',
    languages: ['en'],
    pricing: { prompt: '0.0001' },
  },
  {
    id: 'judge-one',
    type: 'decision',
    engine: 'sandbox',
    description: 'Answers typed questions.',
    created: 1_760_000_000,
    contextLength: 8192,
    pricing: { prompt: '0.0000001' },
  },
  {
    id: 'rank-one',
    type: 'rerank',
    engine: 'sandbox',
    contextLength: 4096,
    pricing: { prompt: '0.00000005' },
  },
];

/** The models that the public lists show. */
export const listedIds: readonly string[] = sampleModels
  .filter((declaration) => declaration.private !== true && declaration.served !== false)
  .map((declaration) => declaration.id);

export interface SampleOptions extends Pick<CatalogOptions, 'readModels' | 'readServed'> {
  /** Instead of the samples. */
  models?: readonly Declaration[];
  defaults?: Partial<Record<ModelType, string>>;
}

export function createSampleCatalog(options: SampleOptions = {}): ReplaceableCatalog {
  const { models = sampleModels, defaults = {}, ...sources } = options;
  return createCatalog({
    settings: {
      source: 'test',
      defaults,
      engines: { sandbox: { kind: 'sandbox' } },
      models,
      builtins: { models: [], defaults: {} },
    },
    engineKinds: [sandbox],
    ...sources,
  });
}

/** A listed sample as the catalogue holds it. */
export function sampleModel<T extends ModelType>(type: T, id: string): Model<T> {
  const model = createSampleCatalog().find(id);
  if (model?.type !== type) throw new Error(`there is no ${type} model ${id} among the samples`);
  return model as Model<T>;
}
