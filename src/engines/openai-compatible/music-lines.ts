/**
 * Reads the lines of a music engine's answer:
 *
 *   {"sample_rate": …, "channels": …}   first: what the samples are
 *   {"index": 0, "audio": "…"}          a stretch of a song, 16 bit little-endian in base64
 *   {"progress": 0.4}                   how far all songs are together
 *   {} or an empty line                 still at work
 *   {"error": …}                        the end: it failed
 *   {"done": true}                      the end: every song is whole
 */
import { GatewayError } from '../../lib/errors.ts';
import type { MusicPart, MusicRequest } from '../contract/music.ts';
import { failures, toAnswerFailure } from './failures.ts';

export interface MusicSink {
  part(part: MusicPart): void;
  progress(fraction: number): void;
}

/** Two minutes of stereo in one line; more is no line. */
const longestLine = 32 * 1024 * 1024;
const newline = 0x0a;
const none = Buffer.alloc(0);

type Wanted = Pick<MusicRequest, 'count' | 'sampleRate' | 'channels'>;

export class MusicReader {
  readonly #wanted: Wanted;
  readonly #sink: MusicSink;
  /** Of a line whose end has not come. */
  #pieces: Buffer[] = [];
  #length = 0;
  /** How many channels the engine sends; undefined until it has said so. */
  #channels: 1 | 2 | undefined;
  /** What is left of a frame, song by song. */
  readonly #rests = new Map<number, Buffer>();
  isDone = false;

  constructor(wanted: Wanted, sink: MusicSink) {
    this.#wanted = wanted;
    this.#sink = sink;
  }

  /** Throws a `GatewayError` for what the engine told, anything else for what cannot be read. */
  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0 && !this.isDone; at = chunk.indexOf(newline, from)) {
      this.#pieces.push(chunk.subarray(from, at));
      const line = Buffer.concat(this.#pieces).toString('utf8').trim();
      this.#pieces = [];
      this.#length = 0;
      from = at + 1;
      if (line !== '') this.#read(JSON.parse(line) as unknown);
    }
    this.#length += chunk.length - from;
    if (this.#length > longestLine) throw failures.tooLong();
    if (from < chunk.length) this.#pieces.push(chunk.subarray(from));
  }

  #read(line: unknown): void {
    if (typeof line !== 'object' || line === null || Array.isArray(line))
      throw new Error('a line is no object');
    const { error, sample_rate, channels, index, audio, progress, done } = line as Record<string, unknown>;
    if (error) throw toAnswerFailure(error);
    if (sample_rate !== undefined || channels !== undefined) this.#setFormat(sample_rate, channels);
    if (audio !== undefined) this.#take(index ?? 0, audio);
    if (typeof progress === 'number') this.#sink.progress(Math.min(1, Math.max(0, progress)));
    if (done === true) this.isDone = true;
  }

  #setFormat(sampleRate: unknown, channels: unknown): void {
    if (sampleRate !== this.#wanted.sampleRate) {
      // Told in full: the remedy is in the configuration.
      throw new GatewayError(
        'unreachable',
        `The engine plays at ${String(sampleRate)} Hz instead of ${this.#wanted.sampleRate}: the model's sampleRate has to say so`,
        { permanent: true },
      );
    }
    if (channels !== 1 && channels !== 2) throw new Error(`${String(channels)} channels`);
    this.#channels = channels;
  }

  #take(index: unknown, audio: unknown): void {
    if (this.#channels === undefined) throw new Error('sound came before its sample rate');
    const isSong =
      Number.isInteger(index) && (index as number) >= 0 && (index as number) < this.#wanted.count;
    if (!isSong || typeof audio !== 'string') throw new Error('a part of no song that was asked for');
    const song = index as number;
    const bytes = Buffer.concat([this.#rests.get(song) ?? none, Buffer.from(audio, 'base64')]);
    const whole = bytes.length - (bytes.length % (this.#channels * 2));
    this.#rests.set(song, bytes.subarray(whole));
    if (whole === 0) return;
    const samples = toChannels(bytes.subarray(0, whole), this.#channels, this.#wanted.channels);
    this.#sink.part({ index: song, samples });
  }
}

/** One to two: the same on both sides. Two to one: the mean of both. */
function toChannels(samples: Buffer, from: 1 | 2, to: number): Buffer {
  if (from === to) return samples;
  const frames = samples.length / (from * 2);
  const result = Buffer.alloc(frames * to * 2);
  for (let frame = 0; frame < frames; frame++) {
    const left = samples.readInt16LE(frame * from * 2);
    if (from === 1)
      for (let channel = 0; channel < to; channel++) result.writeInt16LE(left, (frame * to + channel) * 2);
    else result.writeInt16LE(Math.round((left + samples.readInt16LE(frame * 4 + 2)) / 2), frame * 2);
  }
  return result;
}
