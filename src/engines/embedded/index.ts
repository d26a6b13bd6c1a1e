/**
 * Models that the gateway runs itself, on the processor: real ones on a machine that has nothing else. The native
 * libraries live in processes of their own (the `program.ts` of each folder), never in the gateway's.
 */
import { availableParallelism, totalmem } from 'node:os';
import Type from 'typebox';
import { commonEngineOptions, defineEngineKind } from '../contract/engine.ts';
import { createPacks } from '../packs/index.ts';
import { createChatPort } from './chat.ts';
import { createDecisionPort } from './decision.ts';
import { createEmbeddingPort } from './embedding.ts';
import { createFinder } from './files.ts';
import { createModelHost } from './host/index.ts';
import { createHubFiles } from './hub.ts';
import type { LlamaOptions } from './llama/types.ts';
import { createRerankPort } from './rerank.ts';
import { createSpeechPort } from './speech/index.ts';
import { createTranscriptionPort } from './transcription.ts';

const defaultIdleMs = 15 * 60_000;
const defaultQueueLength = 32;
const defaultContextTokens = 8_192;
const mostThreads = 16;

export const embedded = defineEngineKind({
  kind: 'embedded',
  serves: ['chat', 'embedding', 'rerank', 'decision', 'speech', 'transcription'],
  options: Type.Object(
    {
      kind: Type.Literal('embedded'),
      /**
       * For each of the model processes. A larger one is replaced between two requests; a model that is larger by
       * itself is refused.
       */
      memoryMb: Type.Optional(Type.Integer({ minimum: 256 })),
      /** A model that nobody asked for so long is let go. */
      idleMs: Type.Optional(Type.Integer({ minimum: 1_000 })),
      /** Threads that calculate, for each of the processes. */
      threads: Type.Optional(Type.Integer({ minimum: 1, maximum: 256 })),
      /** How many requests may wait for one model. */
      queueLength: Type.Optional(Type.Integer({ minimum: 0 })),
      /** The most tokens of prompt and answer together, where a chat model could read more: they take memory. */
      contextTokens: Type.Optional(Type.Integer({ minimum: 256 })),
      /** Until the first token, the time in line included, and between two tokens. */
      timeoutMs: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 295_000 })),
      ...commonEngineOptions,
    },
    { additionalProperties: false },
  ),
  create(options, { name, log, secret, dataFolder }) {
    const {
      memoryMb = defaultMemoryMb(),
      idleMs = defaultIdleMs,
      threads = defaultThreads(),
      queueLength = defaultQueueLength,
      contextTokens = defaultContextTokens,
      timeoutMs,
    } = options;
    const limits = { memoryMb, idleMs, queueLength, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const openHost = (runtime: string, program: URL, told: LlamaOptions | { threads?: number }) =>
      createModelHost({ program, name: `${name}/${runtime}`, log, ...limits, options: { ...told } });

    const packs = createPacks({ dataFolder, log, variable: secret });
    const hub = createHubFiles({ dataFolder, log, variable: secret });
    const resolve = createFinder({ packs, hub });
    const llama = openHost('llama', new URL('./llama/program.ts', import.meta.url), {
      threads,
      contextTokens,
    });
    const onnx = openHost('onnx', new URL('./onnx/program.ts', import.meta.url), { threads });
    const kokoro = openHost('kokoro', new URL('./kokoro/program.ts', import.meta.url), {
      threads: options.threads ?? speechThreads(threads),
    });
    const flite = openHost('flite', new URL('./flite/program.ts', import.meta.url), {});
    const ear = openHost('transcribe', new URL('./transcribe/program.ts', import.meta.url), { threads });
    return {
      kind: 'embedded',
      chat: createChatPort({ host: llama, resolve, contextTokens }),
      embedding: createEmbeddingPort({ host: onnx, resolve }),
      rerank: createRerankPort({ host: onnx, resolve }),
      decision: createDecisionPort({ host: onnx, resolve }),
      speech: createSpeechPort({
        hostOf: ({ options: { architecture } }) => (architecture === 'flite' ? flite : kokoro),
        resolve,
      }),
      transcription: createTranscriptionPort({ host: ear, resolve }),
      // What is not here is fetched, and what crashed starts anew with the next request.
      health: async () => ({ ok: true }),
      async close() {
        const hosts = [llama, onnx, kokoro, flite, ear];
        await Promise.all(hosts.map((host) => host.drained()));
        await Promise.all([...hosts.map((host) => host.close()), packs.close(), hub.close()]);
      },
    };
  },
});

/** One core is left to the gateway. With more threads than free cores, llama.cpp is ten times slower. */
function defaultThreads(): number {
  return Math.min(mostThreads, Math.max(1, availableParallelism() - 1));
}

/**
 * Somebody listens: one core makes a second of Kokoro's speech in 0.75 s, two in 0.45 s, and the first words are there
 * in half the time. The priority of a model's process keeps both of them free for the gateway.
 */
function speechThreads(threads: number): number {
  return Math.max(threads, Math.min(2, availableParallelism()));
}

function defaultMemoryMb(): number {
  const constrained = process.constrainedMemory();
  return toMemoryMb(constrained > 0 ? Math.min(constrained, totalmem()) : totalmem());
}

/** A quarter of what this machine, or this container, has: there are several processes, and seldom all are busy. */
export function toMemoryMb(bytes: number): number {
  return Math.max(1_024, Math.floor(bytes / 4 / 1024 / 1024));
}
