/**
 * The engine that needs nothing: it answers every capability with made-up but well-formed results, the same
 * ones for the same request, and misbehaves exactly as a model's `script` says.
 */
import Type from 'typebox';
import { commonEngineOptions, defineEngineKind } from '../contract/engine.ts';
import { modelTypes } from '../contract/model-type.ts';
import { createPacks } from '../packs/index.ts';
import { createSandboxChat } from './chat.ts';
import { createSandboxDecision } from './decision.ts';
import { createSandboxEmbedding } from './embedding.ts';
import { createSandboxImage } from './image.ts';
import { createSandboxMusic } from './music.ts';
import { createSandboxRerank } from './rerank.ts';
import { ScriptOptions } from './script.ts';
import { createSandboxSpeech } from './speech.ts';
import { createSandboxTranscription } from './transcription.ts';
import { createSandboxVideo } from './video.ts';

const defaultSpeedup = 8;

export const sandbox = defineEngineKind({
  kind: 'sandbox',
  serves: modelTypes,
  options: Type.Object(
    {
      kind: Type.Literal('sandbox'),
      /** How much faster than real engines films and songs are made, if the machine can. */
      speedup: Type.Optional(Type.Number({ minimum: 1 })),
      /** Recorded instruments are fetched by the first song and played from the next one on; plain ones need nothing. */
      instruments: Type.Optional(Type.Union([Type.Literal('recorded'), Type.Literal('plain')])),
      ...commonEngineOptions,
    },
    { additionalProperties: false },
  ),
  script: ScriptOptions,
  create({ speedup = defaultSpeedup, instruments = 'recorded' }, { log, secret, dataFolder, studio }) {
    const packs = createPacks({ dataFolder, log, variable: secret });
    return {
      kind: 'sandbox',
      chat: createSandboxChat(),
      embedding: createSandboxEmbedding(),
      rerank: createSandboxRerank(),
      decision: createSandboxDecision(),
      speech: createSandboxSpeech(),
      transcription: createSandboxTranscription(),
      image: createSandboxImage(studio),
      video: createSandboxVideo(studio, { speedup }),
      music: createSandboxMusic({ studio, packs: instruments === 'recorded' ? packs : undefined, speedup }),
      health: async () => ({ ok: true }),
      close: () => packs.close(),
    };
  },
});
