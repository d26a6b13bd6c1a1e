/**
 * Tells speech from silence by loudness, frame by frame, without knowing the recording: what is silent is learned
 * from its quietest moments. Wrong on the careful side: what might be speech counts as speech, and then costs
 * some work of an engine, while a word that is taken for silence would be lost. Pure.
 */
import { transcriptionSampleRate } from '../../engines/contract/transcription.ts';

export const frameSamples = transcriptionSampleRate / 50;
export const framesPerSecond = transcriptionSampleRate / frameSamples;

/** Below any recording's own noise. */
const digitalSilenceDb = -100;
const fullScale = 32_768;

/** The loudness of a frame in decibels of full scale, without a constant offset that cheap recorders add. */
export function toLevelDb(samples: Int16Array, start: number, end: number): number {
  let sum = 0;
  let squares = 0;
  for (let i = start; i < end; i++) {
    const sample = samples[i]!;
    sum += sample;
    squares += sample * sample;
  }
  const count = end - start;
  const mean = sum / count;
  const power = (squares / count - mean * mean) / (fullScale * fullScale);
  return power <= 0 ? digitalSilenceDb : Math.max(digitalSilenceDb, 10 * Math.log10(power));
}

/** How far above the quietest moments speech begins, and where it has ended: in between nothing changes. */
const beginsAboveDb = 10;
const endsAboveDb = 6;
/** Nothing quieter is speech, however silent the rest is. */
const quietestSpeechDb = -58;
/** What is assumed while nothing is known yet, so that a clip that begins with a word does not lose it. */
const firstFloorDb = -60;
/** Nothing louder counts as background: loud noise is left to the engine. */
const loudestFloorDb = -40;
/** The quietest moments of the last five to ten seconds count. */
const blockFrames = 5 * framesPerSecond;
const smoothedFrames = 5;
/** A click is shorter. */
const onsetFrames = 2;

export class VoiceMeter {
  readonly #recent = new Float32Array(smoothedFrames).fill(Number.NaN);
  #frame = 0;
  #isVoice = false;
  #loudFrames = 0;
  #blockFloorDb = Number.POSITIVE_INFINITY;
  #lastFloorDb = firstFloorDb;

  /** Takes the next frame's level and answers whether it is speech. */
  push(levelDb: number): boolean {
    this.#learn(levelDb);
    const floor = Math.min(loudestFloorDb, this.#lastFloorDb, this.#blockFloorDb);
    const begin = Math.max(quietestSpeechDb, floor + beginsAboveDb);
    const end = begin - (beginsAboveDb - endsAboveDb);
    this.#loudFrames = levelDb >= begin ? this.#loudFrames + 1 : 0;
    if (this.#loudFrames >= onsetFrames) this.#isVoice = true;
    else if (levelDb < end) this.#isVoice = false;
    return this.#isVoice;
  }

  #learn(levelDb: number): void {
    this.#recent[this.#frame % smoothedFrames] = levelDb;
    this.#frame += 1;
    if (this.#frame < smoothedFrames) return;
    let sum = 0;
    for (const level of this.#recent) sum += level;
    this.#blockFloorDb = Math.min(this.#blockFloorDb, sum / smoothedFrames);
    if (this.#frame % blockFrames !== 0) return;
    this.#lastFloorDb = this.#blockFloorDb;
    this.#blockFloorDb = Number.POSITIVE_INFINITY;
  }
}
