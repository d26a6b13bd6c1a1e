/**
 * The engine that needs nothing: it answers every capability with made-up but well-formed results, the same
 * ones for the same request, and misbehaves exactly as a model's `script` says.
 */
import Type from 'typebox';
import { commonEngineOptions, defineEngineKind } from '../contract/engine.ts';
import { modelTypes } from '../contract/model-type.ts';
import { createSandboxChat } from './chat.ts';
import { createSandboxDecision } from './decision.ts';
import { createSandboxEmbedding } from './embedding.ts';
import { createSandboxRerank } from './rerank.ts';
import { ScriptOptions } from './script.ts';
import { createSandboxSpeech } from './speech.ts';
import { createSandboxTranscription } from './transcription.ts';

export const sandbox = defineEngineKind({
  kind: 'sandbox',
  serves: modelTypes,
  options: Type.Object(
    { kind: Type.Literal('sandbox'), ...commonEngineOptions },
    { additionalProperties: false },
  ),
  script: ScriptOptions,
  create: () => ({
    kind: 'sandbox',
    chat: createSandboxChat(),
    embedding: createSandboxEmbedding(),
    rerank: createSandboxRerank(),
    decision: createSandboxDecision(),
    speech: createSandboxSpeech(),
    transcription: createSandboxTranscription(),
    health: async () => ({ ok: true }),
    close: async () => {},
  }),
});
