/**
 * The small real models that the gateway runs itself. Their weights are fetched when a model is first used, or by
 * `roundhouse models pull`. They cost nothing: they run on the operator's own machine.
 */
import type { Builtins } from '../platform/catalog/index.ts';

const origin = { engine: 'embedded', created: Date.UTC(2026, 10, 15) / 1000 } as const;

/** By the letters of the voices' names: accent and sex. */
const kokoroSpeakers: Readonly<Record<string, string>> = {
  af: 'heart alloy aoede bella jessica kore nicole nova river sarah sky',
  am: 'adam echo eric fenrir liam michael onyx puck santa',
  bf: 'alice emma isabella lily',
  bm: 'daniel fable george lewis',
};
const speakerKinds: Readonly<Record<string, string>> = {
  af: 'Female, American',
  am: 'Male, American',
  bf: 'Female, British',
  bm: 'Male, British',
};

const kokoroVoices = Object.entries(kokoroSpeakers).flatMap(([kind, names]) =>
  names.split(' ').map((name) => ({
    id: `${kind}_${name}`,
    name: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
    languages: ['en'],
    description: speakerKinds[kind] as string,
  })),
);

export const embeddedModels: Builtins['models'] = [
  {
    ...origin,
    id: 'tinyllama-1.1b-chat',
    type: 'chat',
    author: 'tinyllama',
    name: 'TinyLlama 1.1B Chat',
    description:
      'A small chat model that runs on the CPU beside the gateway: English, short answers, two bits a weight. For trying things out; it is no judge of facts.',
    huggingFaceId: 'TinyLlama/TinyLlama-1.1B-Chat-v1.0',
    contextLength: 2048,
    maxCompletionTokens: 1024,
    inputModalities: ['text'],
    tools: false,
    structuredOutput: true,
    logprobs: true,
    defaultParameters: { temperature: 0.6, topP: 0.95, topK: 40, repetitionPenalty: 1.15 },
  },
  {
    ...origin,
    id: 'all-minilm-l6-v2',
    type: 'embedding',
    author: 'sentence-transformers',
    name: 'all-MiniLM-L6-v2',
    description:
      'Sentence embeddings of 384 dimensions, on the CPU beside the gateway. English, short texts.',
    huggingFaceId: 'sentence-transformers/all-MiniLM-L6-v2',
    contextLength: 256,
    dimensions: 384,
  },
  {
    ...origin,
    id: 'bge-small-en-v1.5',
    type: 'embedding',
    author: 'baai',
    name: 'BGE small, English, v1.5',
    description:
      'Embeddings for retrieval of 384 dimensions, on the CPU beside the gateway. Takes a query instruction.',
    huggingFaceId: 'BAAI/bge-small-en-v1.5',
    contextLength: 512,
    dimensions: 384,
    queryInstruction: {
      text: 'Represent this sentence for searching relevant passages: ',
      marker: 'Represent this sentence',
    },
  },
  {
    ...origin,
    id: 'bge-small-similarity',
    type: 'rerank',
    author: 'baai',
    engineModel: 'bge-small-en-v1.5',
    name: 'BGE small, by similarity',
    description:
      'Orders documents by the similarity of their embeddings to the query. A stand-in for a reranker: no model reads query and document together.',
    huggingFaceId: 'BAAI/bge-small-en-v1.5',
    contextLength: 512,
  },
  {
    ...origin,
    id: 'minilm-decision',
    type: 'decision',
    author: 'sentence-transformers',
    engineModel: 'all-minilm-l6-v2',
    name: 'MiniLM decisions',
    description:
      'Answers questions by how similar the state is to each answer, calibrated. Good at topics and sentiment, weak at degrees and negation.',
    huggingFaceId: 'sentence-transformers/all-MiniLM-L6-v2',
    contextLength: 4096,
  },
  {
    ...origin,
    id: 'kokoro-82m',
    type: 'speech',
    author: 'hexgrad',
    name: 'Kokoro 82M',
    description:
      'Speaks English, American and British, in 28 voices, on the CPU beside the gateway: about as fast as it is listened to.',
    huggingFaceId: 'hexgrad/Kokoro-82M',
    maxPromptLength: 4096,
    voices: kokoroVoices,
    defaultVoice: 'af_heart',
  },
  {
    ...origin,
    id: 'flite',
    type: 'speech',
    author: 'cmu',
    name: 'Flite',
    description:
      'Speaks English in four voices, like the machine that it is, ten times faster than it is listened to.',
    maxPromptLength: 4096,
    voices: [
      { id: 'slt', name: 'SLT', languages: ['en'], description: 'Female, American' },
      { id: 'rms', name: 'RMS', languages: ['en'], description: 'Male, American' },
      { id: 'awb', name: 'AWB', languages: ['en'], description: 'Male, Scottish' },
      { id: 'kal16', name: 'KAL', languages: ['en'], description: 'Male, American, the most robotic' },
    ],
    defaultVoice: 'slt',
  },
  {
    ...origin,
    id: 'whisper-base',
    type: 'transcription',
    author: 'openai',
    name: 'Whisper base',
    description:
      'Transcribes some ninety languages, on the CPU beside the gateway: about five times faster than it is listened to. Best in English and the larger European languages.',
    huggingFaceId: 'openai/whisper-base',
  },
  {
    ...origin,
    id: 'moonshine-tiny',
    type: 'transcription',
    author: 'useful-sensors',
    name: 'Moonshine tiny',
    description:
      'Transcribes English, on the CPU beside the gateway: ten times and more faster than it is listened to. Takes no spelling guidance.',
    huggingFaceId: 'UsefulSensors/moonshine-tiny',
    languages: ['en'],
  },
];

export const embeddedDefaults: Builtins['defaults'] = {
  chat: 'tinyllama-1.1b-chat',
  embedding: 'bge-small-en-v1.5',
  rerank: 'bge-small-similarity',
  decision: 'minilm-decision',
  speech: 'kokoro-82m',
  transcription: 'whisper-base',
};
