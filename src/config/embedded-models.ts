/**
 * The small real models that the gateway runs itself. Their weights are fetched when a model is first used, or by
 * `roundhouse models pull`. They cost nothing: they run on the operator's own machine.
 */
import type { Builtins } from '../platform/catalog/index.ts';

const origin = { engine: 'embedded', created: Date.UTC(2026, 10, 15) / 1000 } as const;

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
];

export const embeddedDefaults: Builtins['defaults'] = {
  chat: 'tinyllama-1.1b-chat',
  embedding: 'bge-small-en-v1.5',
  rerank: 'bge-small-similarity',
  decision: 'minilm-decision',
};
