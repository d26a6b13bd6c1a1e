/**
 * Cuts sound into stretches of speech, at silences. Holds one stretch at a time, however long the sound is; what
 * is silent is left out.
 *
 *   silent ──voice──▶ open ──a pause after its usual length, or a long pause──▶ silent
 *                     open ──its greatest length: cut at its quietest moment──▶ open
 */
import { longestStretchSeconds } from '../../engines/contract/transcription.ts';
import { frameSamples, framesPerSecond, toLevelDb, VoiceMeter } from './voice.ts';

export interface Stretch {
  readonly samples: Int16Array;
  /** How many samples of the whole sound are behind its end. */
  readonly endsAt: number;
}

export interface CutOptions {
  /**
   * The usual lengths in seconds of the first stretches; the last one goes for the rest. Short ones give a stream
   * an early beginning; long ones give an engine that always hears 30 s less to do.
   */
  readonly usualSeconds: readonly number[];
}

const seconds = (count: number) => Math.round(count * framesPerSecond);

/** Kept around speech: consonants at its ends are quiet. */
const marginFrames = seconds(0.3);
const pauseFrames = seconds(0.35);
/** For who speaks without a breath: taken once the stretch is half as long again as usual. */
const shortPauseFrames = seconds(0.14);
const longPauseFrames = seconds(2);
const mostFrames = longestStretchSeconds * framesPerSecond;
/** Fewer frames of voice than these are a click or a knock. */
const fewestVoiced = 4;
/** How much of the end of a stretch that is too long is searched for a quiet moment. */
const searchedShare = 0.4;
const quietFrames = 7;

export class StretchCutter {
  readonly #usualSeconds: readonly number[];
  readonly #meter = new VoiceMeter();
  readonly #samples = new Int16Array(mostFrames * frameSamples);
  readonly #levels = new Float32Array(mostFrames);
  readonly #voiced = new Uint8Array(mostFrames);
  /** Frames that are held: while silent, those that may be the quiet beginning of a word. */
  #frames = 0;
  #isOpen = false;
  /** Since the last voice. */
  #pause = 0;
  #voicedFrames = 0;
  readonly #partial = new Int16Array(frameSamples);
  #partialLength = 0;
  #taken = 0;
  #made = 0;

  constructor({ usualSeconds }: CutOptions) {
    this.#usualSeconds = usualSeconds;
  }

  /** Samples that were given, silence included. */
  get taken(): number {
    return this.#taken + this.#partialLength;
  }

  /** Answers the stretches that end in this piece. */
  push(piece: Int16Array): Stretch[] {
    const made: Stretch[] = [];
    let at = 0;
    while (at < piece.length) {
      const count = Math.min(frameSamples - this.#partialLength, piece.length - at);
      this.#partial.set(piece.subarray(at, at + count), this.#partialLength);
      this.#partialLength += count;
      at += count;
      if (this.#partialLength < frameSamples) break;
      this.#partialLength = 0;
      const stretch = this.#take();
      if (stretch !== undefined) made.push(stretch);
    }
    return made;
  }

  /** What is left at the end. */
  end(): Stretch[] {
    const made: (Stretch | undefined)[] = [];
    const rest = this.#partialLength;
    if (rest > 0) {
      this.#partial.fill(0, rest);
      this.#partialLength = 0;
      made.push(this.#take());
      this.#taken -= frameSamples - rest;
    }
    if (this.#isOpen) made.push(this.#close());
    return made.filter((stretch) => stretch !== undefined);
  }

  #take(): Stretch | undefined {
    const level = toLevelDb(this.#partial, 0, frameSamples);
    const isVoice = this.#meter.push(level);
    this.#samples.set(this.#partial, this.#frames * frameSamples);
    this.#levels[this.#frames] = level;
    this.#voiced[this.#frames] = isVoice ? 1 : 0;
    this.#frames += 1;
    this.#taken += frameSamples;
    if (!this.#isOpen) {
      if (isVoice) this.#open();
      else if (this.#frames > marginFrames) this.#keepLast(marginFrames);
      return undefined;
    }
    this.#pause = isVoice ? 0 : this.#pause + 1;
    if (isVoice) this.#voicedFrames += 1;
    if (this.#mayEnd()) return this.#close();
    return this.#frames >= this.#most() ? this.#split() : undefined;
  }

  #open(): void {
    this.#isOpen = true;
    this.#pause = 0;
    this.#voicedFrames = 1;
  }

  #usual(): number {
    return seconds(this.#usualSeconds[this.#made] ?? this.#usualSeconds.at(-1) ?? longestStretchSeconds);
  }

  #most(): number {
    return Math.min(mostFrames, 2 * this.#usual());
  }

  #mayEnd(): boolean {
    if (this.#pause >= longPauseFrames) return true;
    const usual = this.#usual();
    if (this.#frames < usual) return false;
    return this.#pause >= (this.#frames < 1.5 * usual ? pauseFrames : shortPauseFrames);
  }

  /** Ends in silence; undefined where there was no voice worth the name. */
  #close(): Stretch | undefined {
    const frames = this.#frames - Math.max(0, this.#pause - marginFrames);
    const stretch =
      this.#voicedFrames < fewestVoiced
        ? undefined
        : { samples: this.#samples.slice(0, frames * frameSamples), endsAt: this.#taken };
    this.#isOpen = false;
    // The margin behind one stretch may be the margin before the next.
    this.#keepLast(Math.min(marginFrames, this.#pause));
    if (stretch !== undefined) this.#made += 1;
    return stretch;
  }

  /** Nobody paused: ends where it was quietest lately, and the rest opens the next one. */
  #split(): Stretch {
    const end = this.#quietestFrame();
    const samples = this.#samples.slice(0, end * frameSamples);
    const rest = this.#frames - end;
    this.#keepLast(rest);
    this.#voicedFrames = this.#voiced.subarray(0, rest).reduce((sum, each) => sum + each, 0);
    this.#pause = rest - 1 - this.#voiced.subarray(0, rest).lastIndexOf(1);
    this.#made += 1;
    return { samples, endsAt: this.#taken - rest * frameSamples };
  }

  #quietestFrame(): number {
    const half = Math.floor(quietFrames / 2);
    let quietest = this.#frames;
    let least = Number.POSITIVE_INFINITY;
    for (let frame = Math.floor(this.#frames * (1 - searchedShare)); frame + half < this.#frames; frame++) {
      let sum = 0;
      for (let near = frame - half; near <= frame + half; near++) sum += this.#levels[near]!;
      if (sum > least) continue;
      least = sum;
      quietest = frame;
    }
    return quietest;
  }

  #keepLast(frames: number): void {
    const start = this.#frames - frames;
    this.#samples.copyWithin(0, start * frameSamples, this.#frames * frameSamples);
    this.#levels.copyWithin(0, start, this.#frames);
    this.#voiced.copyWithin(0, start, this.#frames);
    this.#frames = frames;
  }
}

/** The stretches of a sound that comes in pieces, each as soon as it has ended. `onTaken` hears how far it was read. */
export async function* cutAtSilences(
  audio: AsyncIterable<Int16Array>,
  options: CutOptions,
  onTaken: (samples: number) => void,
): AsyncGenerator<Stretch> {
  const cutter = new StretchCutter(options);
  for await (const piece of audio) {
    const stretches = cutter.push(piece);
    onTaken(cutter.taken);
    yield* stretches;
  }
  const last = cutter.end();
  onTaken(cutter.taken);
  yield* last;
}
