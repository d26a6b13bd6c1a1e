/** Takes the head of a WAV file off a stream of samples, for servers that send one where none was asked for. */
import { speechSampleRate } from '../contract/speech.ts';

/** Heads are 44 bytes, with notes in them some hundred. */
const longestHead = 64 * 1024;
const none = Buffer.alloc(0);

export class WavHead {
  /** What has come, until it is known what it is. */
  #waiting: Buffer | undefined = none;

  /** The samples in what came; throws when it is a WAV file of another kind. */
  strip(chunk: Buffer): Buffer {
    if (this.#waiting === undefined) return chunk;
    const bytes = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk]);
    const start = findSamples(bytes);
    this.#waiting = start === undefined ? bytes : undefined;
    return start === undefined ? none : bytes.subarray(start);
  }

  /** At the end: what was too short to tell. */
  rest(): Buffer {
    const rest = this.#waiting ?? none;
    this.#waiting = undefined;
    return rest;
  }
}

/** Where the samples begin; undefined while that cannot be told. */
function findSamples(bytes: Buffer): number | undefined {
  if (bytes.length < 4) return undefined;
  if (bytes.toString('latin1', 0, 4) !== 'RIFF') return 0;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    if (name === 'data') return at + 8;
    if (name === 'fmt ' && at + 24 <= bytes.length) checkFormat(bytes.subarray(at + 8));
    at += 8 + size + (size % 2);
  }
  if (bytes.length > longestHead) throw new Error('a WAV file without samples');
  return undefined;
}

function checkFormat(format: Buffer): void {
  const channels = format.readUInt16LE(2);
  const rate = format.readUInt32LE(4);
  const bits = format.readUInt16LE(14);
  if (channels !== 1 || rate !== speechSampleRate || bits !== 16)
    throw new Error(`a WAV file of ${rate} Hz, ${bits} bit, ${channels} channels`);
}
