/**
 * Models that the gateway runs itself, on the processor: real ones on a machine that has nothing else. The native
 * libraries live in processes of their own (the `program.ts` of each folder), never in the gateway's.
 */
import { availableParallelism, totalmem } from 'node:os';
import Type from 'typebox';
import { commonEngineOptions, defineEngineKind } from '../contract/engine.ts';
import { createChatPort } from './chat.ts';
import { createDecisionPort } from './decision.ts';
import { createEmbeddingPort } from './embedding.ts';
import { createFinder } from './files.ts';
import { createModelHost } from './host/index.ts';
import { createHubFiles } from './hub.ts';
import type { LlamaOptions } from './llama/types.ts';
import { createPacks } from './packs/index.ts';
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
      /** For each of the model processes. A larger one is replaced between two requests. */
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
    const hub = createHubFiles({ dataFolder, log });
    const resolve = createFinder({ packs, hub });
    const llama = openHost('llama', new URL('./llama/program.ts', import.meta.url), {
      threads,
      contextTokens,
    });
    const onnx = openHost('onnx', new URL('./onnx/program.ts', import.meta.url), { threads });
    const kokoro = openHost('kokoro', new URL('./kokoro/program.ts', import.meta.url), { threads });
    const flite = openHost('flite', new URL('./flite/program.ts', import.meta.url), {});
    const ear = openHost('transcribe', new URL('./transcribe/program.ts', import.meta.url), { threads });
    return {
      kind: 'embedded',
      chat: createChatPort({ host: llama, resolve }),
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

/** Half of what this machine, or this container, has. */
function defaultMemoryMb(): number {
  const constrained = process.constrainedMemory();
  const bytes = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(512, Math.floor(bytes / 2 / 1024 / 1024));
}
