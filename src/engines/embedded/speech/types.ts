/** What the speech port asks a model process for. */
import type { Ending } from './pieces.ts';

/** A task of the kind `speak`: answered with an `Int16Array` of 24 kHz, empty when there is nothing to say. */
export interface SpeakInput {
  readonly text: string;
  readonly voice: string;
  readonly ending: Ending;
}
