import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSound } from '../../../test/support/audio-files.ts';
import { createLog } from '../../lib/log.ts';
import { createMedia, type Media } from './index.ts';
import { toWav } from './wav.ts';

const sampleRate = 24_000;
const hertz = 440;
const signal = new AbortController().signal;
let media: Media;

beforeAll(() => {
  media = createMedia({ log: createLog('silent') });
});

afterAll(() => media.close());

function toTone(seconds: number, rate = sampleRate): Int16Array {
  return Int16Array.from(
    { length: seconds * rate },
    (_, i) => 8_000 * Math.sin((2 * Math.PI * hertz * i) / rate),
  );
}

async function decode(bytes: Buffer, rate = 16_000, maxSeconds = 3_600): Promise<Int16Array> {
  const pieces: Int16Array[] = [];
  for await (const piece of media.decode(bytes, { sampleRate: rate, maxSeconds, param: 'file' }, signal))
    pieces.push(piece);
  const all = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** By the times at which it crosses zero upwards, of the middle half. */
function pitchOf(samples: Int16Array, rate: number): number {
  const middle = samples.subarray(samples.length >> 2, samples.length - (samples.length >> 2));
  let crossings = 0;
  for (let i = 1; i < middle.length; i++) if (middle[i - 1]! < 0 && middle[i]! >= 0) crossings += 1;
  return (crossings * rate) / middle.length;
}

function loudnessOf(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
}

describe('encoding', () => {
  it.each([
    ['mp3', 'mp3', 'mp3'],
    ['opus', 'ogg', 'opus'],
    ['flac', 'flac', 'flac'],
    ['wav', 'wav', 'pcm_s16le'],
  ] as const)(
    '[SPEECH-16] writes %s that says what it is and sounds as it did',
    async (format, container, codec) => {
      const file = await media.encode(toTone(3), { format, sampleRate }, signal);
      const info = await media.probe(file, 'file', signal);
      expect(info).toMatchObject({ container, audio: { codec, channels: 1 }, video: undefined });
      expect(info.durationSeconds).toBeCloseTo(3, 1);
      const samples = await decode(file, sampleRate);
      expect(samples.length / sampleRate).toBeCloseTo(3, 1);
      expect(pitchOf(samples, sampleRate)).toBeCloseTo(hertz, -1);
      expect(loudnessOf(samples)).toBeGreaterThan(5_000);
    },
  );

  it.each([8_000, 16_000, 22_050, 44_100, 48_000, 96_000])(
    'takes samples of %i Hz in every format',
    async (rate) => {
      for (const format of ['mp3', 'opus', 'flac', 'wav'] as const) {
        const file = await media.encode(toTone(1, rate), { format, sampleRate: rate }, signal);
        const samples = await decode(file);
        expect(samples.length / 16_000).toBeCloseTo(1, 1);
        expect(Math.abs(pitchOf(samples, 16_000) - hertz)).toBeLessThan(8);
      }
    },
  );

  it('gives the same file for the same samples', async () => {
    const options = { format: 'opus', sampleRate } as const;
    const [first, second] = await Promise.all([0, 1].map(() => media.encode(toTone(1), options, signal)));
    expect(first?.equals(second as Buffer)).toBe(true);
  });

  it('makes a file of no samples too', async () => {
    for (const format of ['mp3', 'opus', 'flac', 'wav'] as const)
      expect((await media.encode(new Int16Array(0), { format, sampleRate }, signal)).length).toBeGreaterThan(
        0,
      );
  });
});

describe('another speed', () => {
  it.each([0.25, 0.5, 0.8, 1, 1.5, 2, 3, 4])(
    '[SPEECH-21] of %d changes the length and not the pitch',
    async (speed) => {
      const tone = toTone(8);
      const samples = await media.stretch(tone, sampleRate, speed, signal);
      const expected = tone.length / speed;
      expect(Math.abs(samples.length - expected) / expected).toBeLessThan(0.02);
      expect(Math.abs(pitchOf(samples, sampleRate) - hertz) / hertz).toBeLessThan(0.02);
      expect(loudnessOf(samples)).toBeGreaterThan(4_000);
    },
  );

  it.each([0.25, 0.5, 2, 4])('of %d is there in every format', async (speed) => {
    for (const format of ['mp3', 'opus', 'flac', 'wav'] as const) {
      const file = await media.encode(toTone(4), { format, sampleRate, speed }, signal);
      const samples = await decode(file);
      expect(Math.abs(samples.length / 16_000 - 4 / speed) / (4 / speed)).toBeLessThan(0.03);
      expect(Math.abs(pitchOf(samples, 16_000) - hertz) / hertz).toBeLessThan(0.02);
    }
  });
});

describe('decoding', () => {
  it('comes in pieces of a second, mono, at the rate that was asked for', async () => {
    const file = toWav(toTone(3), sampleRate);
    const lengths: number[] = [];
    for await (const piece of media.decode(
      file,
      { sampleRate: 8_000, maxSeconds: 10, param: 'file' },
      signal,
    ))
      lengths.push(piece.length);
    expect(lengths.slice(0, 2)).toEqual([8_000, 8_000]);
    expect(lengths.reduce((sum, length) => sum + length)).toBe(24_000);
  });

  it.each([1, 2, 3, 4, 6, 8])('mixes %i channels into one', async (channels) => {
    const tone = toTone(1);
    const wav = toWav(
      Int16Array.from({ length: tone.length * channels }, (_, i) => tone[Math.floor(i / channels)] ?? 0),
      sampleRate,
    );
    wav.writeUInt16LE(channels, 22);
    wav.writeUInt32LE(sampleRate * 2 * channels, 28);
    wav.writeUInt16LE(2 * channels, 32);
    const samples = await decode(wav);
    expect(samples.length / 16_000).toBeCloseTo(1, 2);
    expect(Math.abs(pitchOf(samples, 16_000) - hertz)).toBeLessThan(5);
    expect(loudnessOf(samples)).toBeGreaterThan(3_000);
  });

  it.each(['mov', 'vorbis'] as const)('reads %s', async (format) => {
    const samples = await decode(await makeSound(format, 2));
    expect(samples.length / 16_000).toBeCloseTo(2, 1);
    expect(Math.abs(pitchOf(samples, 16_000) - hertz)).toBeLessThan(5);
  });

  it('names a codec that it does not read', async () => {
    await expect(decode(await makeSound('ac3', 1))).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'file',
      message: 'file holds audio in a codec that is not read: ac3',
    });
  });

  it.each([
    [7_200, 'file is longer than the limit of 2 hours', 7_201],
    [120, 'file is longer than the limit of 2 minutes', 121],
    [1, 'file is longer than the limit of 1 second', 2],
  ])(
    '[STT-10] refuses what is longer than %i s, before a sample is decoded',
    async (maxSeconds, message, seconds) => {
      const file = toWav(new Int16Array(4_000 * seconds), 4_000);
      await expect(decode(file, 16_000, maxSeconds)).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'file',
        message,
      });
    },
  );

  it('accepts what is exactly as long as it may be', async () => {
    expect(await decode(toWav(toTone(2), sampleRate), 16_000, 2)).toHaveLength(32_000);
  });

  it('[STT-11] says what is wrong with what is no sound, naming the field', async () => {
    const refuse = (bytes: Buffer) =>
      media.probe(bytes, 'input_audio.data', signal).catch((error: unknown) => error);
    expect(await refuse(Buffer.from('hello'))).toMatchObject({
      kind: 'invalid_request',
      param: 'input_audio.data',
      message: 'input_audio.data is not audio of an accepted kind: wav, mp3, flac, m4a, ogg, webm or aac',
    });
    expect(await refuse(Buffer.alloc(0))).toMatchObject({ message: 'input_audio.data is empty' });
    expect(await refuse(Buffer.from('fLaC and then nothing of the kind'))).toMatchObject({
      kind: 'invalid_request',
      message: 'input_audio.data cannot be read as flac',
    });
  });

  it('stops when its signal comes', async () => {
    const leaving = new AbortController();
    const file = toWav(toTone(60), sampleRate);
    const reading = (async () => {
      for await (const _piece of media.decode(
        file,
        { sampleRate, maxSeconds: 100, param: 'file' },
        leaving.signal,
      ))
        leaving.abort(new Error('left'));
    })();
    await expect(reading).rejects.toThrow('left');
    await expect(media.probe(file, 'file', leaving.signal)).rejects.toThrow('left');
  });
});
