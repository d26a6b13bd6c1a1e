/**
 * What every engine is. An engine does the work of one or more capabilities; each capability brings its own
 * small port, and an engine has the ports of what it serves as properties. A missing capability is an absent
 * property, never a stub: the catalogue refuses a model whose engine kind does not serve the model's type.
 */
import Type, { type Static, type TSchema } from 'typebox';
import type { Log } from '../../lib/log.ts';
import type { ChatPort } from './chat.ts';
import type { DecisionPort } from './decision.ts';
import type { EmbeddingPort } from './embedding.ts';
import type { ImagePort } from './image.ts';
import type { ModelType } from './model-type.ts';
import type { MusicPort } from './music.ts';
import type { RerankPort } from './rerank.ts';
import type { SpeechPort } from './speech.ts';
import type { Studio } from './studio.ts';
import type { TranscriptionPort } from './transcription.ts';
import type { VideoPort } from './video.ts';

export interface EngineHealth {
  ok: boolean;
  /** Why not, in words for the operator's log; never shown to clients. */
  detail?: string;
}

/** A running engine. Ports are added here as optional properties, one per capability. */
export interface Engine {
  readonly kind: string;
  readonly chat?: ChatPort;
  readonly embedding?: EmbeddingPort;
  readonly rerank?: RerankPort;
  readonly decision?: DecisionPort;
  readonly speech?: SpeechPort;
  readonly transcription?: TranscriptionPort;
  readonly image?: ImagePort;
  readonly video?: VideoPort;
  readonly music?: MusicPort;
  /** Whether the engine can take a request now. Answers `ok: false` rather than rejecting. */
  health(signal: AbortSignal): Promise<EngineHealth>;
  /** Takes no more calls, lets those under way end, then lets go of connections, processes and timers. */
  close(): Promise<void>;
}

/** An entry under `engines` in the configuration: its kind, and the options that the kind declares. */
export interface EngineSettings {
  readonly kind: string;
  readonly [option: string]: unknown;
}

/** What an engine is given besides its options. */
export interface EngineContext {
  /** Its name in the configuration. */
  readonly name: string;
  readonly log: Log;
  /** The value of an environment variable that the options name (`apiKeyEnv`): engines read no environment. */
  secret(variable: string): string | undefined;
  /** Where an engine may keep files of its own, such as models: shared with other processes. */
  readonly dataFolder: string;
  /** Where it lets its own code draw, film and play, away from the requests. */
  readonly studio: Studio;
}

/** How one kind of engine is declared: `engines/index.ts` lists them, one line each. */
export interface EngineKind<Options extends TSchema = TSchema> {
  readonly kind: string;
  readonly serves: readonly ModelType[];
  /** What an engine with these options serves, on kinds where that depends on them; less than `serves`. */
  servesWith?(options: Static<Options>): readonly ModelType[];
  /** The shape of an entry under `engines` in the configuration, `kind` included. */
  readonly options: Options;
  /** The shape of a model's `script`, on kinds whose behaviour can be scripted. */
  readonly script?: TSchema;
  create(options: Static<Options>, context: EngineContext): Engine;
}

/** Options that every kind takes, beside its `kind` literal. */
export const commonEngineOptions = {
  /** How many requests the engine runs at once; more wait in line. */
  slots: Type.Optional(Type.Integer({ minimum: 1 })),
};

export function defineEngineKind<const Options extends TSchema>(kind: EngineKind<Options>): EngineKind {
  // Options reach `create` only after a check against the same kind's schema.
  return kind as unknown as EngineKind;
}
