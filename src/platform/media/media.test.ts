import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSound } from '../../../test/support/audio-files.ts';
import { createLog } from '../../lib/log.ts';
import { createMedia, createStudio, type Media } from './index.ts';
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

describe('stereo', () => {
  const rate = 32_000;
  /** Another tone in each ear. */
  const toStereo = (seconds: number) =>
    Int16Array.from(
      { length: seconds * rate * 2 },
      (_, i) => 8_000 * Math.sin((2 * Math.PI * hertz * (1 + (i % 2)) * Math.floor(i / 2)) / rate),
    );
  const whole = { startSeconds: 0, endSeconds: 3_600, maxSeconds: 3_600, param: 'file' };

  it.each([
    ['mp3', rate, 192_000],
    ['opus', 48_000, undefined],
    ['flac', rate, undefined],
    ['wav', rate, 1_024_000],
  ] as const)(
    '[MUSIC-10] is written as %s, each ear with its own sound',
    async (format, outRate, bitRate) => {
      const file = await media.encode(toStereo(3), { format, sampleRate: rate, channels: 2 }, signal);
      const { audio, durationSeconds } = await media.probe(file, 'file', signal);
      expect(audio).toMatchObject({ channels: 2, sampleRate: outRate });
      expect(durationSeconds).toBeCloseTo(3, 1);
      if (bitRate !== undefined) expect(Math.abs((file.length * 8) / 3 / bitRate - 1)).toBeLessThan(0.1);
      const wav = await media.cut(file, { ...whole, sampleRate: rate, channels: 2 }, signal);
      const samples = new Int16Array(Uint8Array.from(wav.subarray(44)).buffer);
      const [left, right] = [0, 1].map((ear) => samples.filter((_, index) => index % 2 === ear));
      expect(Math.abs(pitchOf(left!, rate) - hertz)).toBeLessThan(5);
      expect(Math.abs(pitchOf(right!, rate) - hertz * 2)).toBeLessThan(5);
    },
  );

  it('at another speed keeps its ears and its pitch', async () => {
    const options = { format: 'wav', sampleRate: rate, channels: 2, speed: 2 } as const;
    const wav = await media.encode(toStereo(4), options, signal);
    const samples = new Int16Array(Uint8Array.from(wav.subarray(44)).buffer);
    expect(samples.length / 2 / rate).toBeCloseTo(2, 1);
    const right = samples.filter((_, index) => index % 2 === 1);
    expect(Math.abs(pitchOf(right, rate) - hertz * 2) / hertz).toBeLessThan(0.04);
  });

  it('of ten minutes is no trouble', async () => {
    const samples = new Int16Array(600 * rate * 2);
    const file = await media.encode(samples, { format: 'flac', sampleRate: rate, channels: 2 }, signal);
    expect((await media.probe(file, 'file', signal)).durationSeconds).toBe(600);
  });

  it('is made of mono without a change of loudness', async () => {
    const wav = await media.cut(
      toWav(toTone(1, rate), rate),
      { ...whole, sampleRate: rate, channels: 2 },
      signal,
    );
    const samples = new Int16Array(Uint8Array.from(wav.subarray(44)).buffer);
    expect(Math.abs(loudnessOf(samples) / loudnessOf(toTone(1, rate)) - 1)).toBeLessThan(0.02);
  });
});

describe('cutting and joining', () => {
  const shape = { sampleRate, channels: 1 } as const;

  it('takes a stretch out of a sound, to the sample', async () => {
    const tone = toTone(3);
    const options = { ...shape, startSeconds: 0.5, endSeconds: 1.75, maxSeconds: 10, param: 'file' };
    const wav = await media.cut(toWav(tone, sampleRate), options, signal);
    expect(wav).toEqual(toWav(tone.slice(12_000, 42_000), sampleRate));
  });

  it('ends with the sound where the stretch goes on', async () => {
    const options = { ...shape, startSeconds: 2.5, endSeconds: 60, maxSeconds: 10, param: 'file' };
    const wav = await media.cut(toWav(toTone(3), sampleRate), options, signal);
    expect((wav.length - 44) / 2 / sampleRate).toBe(0.5);
  });

  it('puts sounds of different kinds one after the other', async () => {
    const mp3 = await media.encode(toTone(2), { format: 'mp3', sampleRate }, signal);
    const sounds = [
      { bytes: toWav(toTone(1, 8_000), 8_000), param: 'a' },
      { bytes: mp3, param: 'b' },
    ];
    const wav = await media.join(sounds, { ...shape, maxSeconds: 10 }, signal);
    const { durationSeconds, container } = await media.probe(wav, 'file', signal);
    expect(container).toBe('wav');
    expect(durationSeconds).toBeCloseTo(3, 1);
    const broken = [...sounds, { bytes: Buffer.from('hello'), param: 'sounds[2]' }];
    await expect(media.join(broken, { ...shape, maxSeconds: 10 }, signal)).rejects.toMatchObject({
      param: 'sounds[2]',
    });
  });
});

describe('a film that is given to work from', () => {
  let film: Buffer;
  beforeAll(async () => {
    const modules = new URL('../../../test/support/', import.meta.url);
    const studio = createStudio({ log: createLog('silent'), modules });
    const request = { act: 'film', frames: 72, sampleRate: 48_000 };
    const order = { module: new URL('./render-stub.ts', modules), request, inputs: [] };
    const parts = studio.render({ ...order, maxBytes: 1e7, maxCpuMs: 60_000 }, signal);
    film = Buffer.concat(await Array.fromAsync(parts));
    await studio.close();
  });
  const refuse = (bytes: Buffer) =>
    media.probeFilm(bytes, 'refs[0]', signal).catch((error: unknown) => error);

  it('[VIDEO-34] is an MP4 or a MOV, told apart by its bytes', async () => {
    expect(await media.probeFilm(film, 'x', signal)).toMatchObject({ container: 'mp4', durationSeconds: 3 });
    const mov = Buffer.from(film);
    mov.write('qt  ', 8, 'latin1');
    expect(await media.probeFilm(mov, 'x', signal)).toMatchObject({ container: 'mov', durationSeconds: 3 });
    for (const format of ['webm', 'wav'] as const)
      expect(await refuse(await makeSound(format, 1))).toMatchObject({
        kind: 'invalid_request',
        param: 'refs[0]',
        message: 'refs[0] is not a video of an accepted kind: mp4 or mov',
      });
  });

  it('[VIDEO-34] has pictures that can be decoded', async () => {
    expect(await refuse(await makeSound('m4a', 1))).toMatchObject({ message: 'refs[0] has no video in it' });
    const broken = Buffer.from(film);
    broken.fill(0xff, broken.indexOf('mdat', 0, 'latin1') + 4);
    expect(await refuse(broken)).toMatchObject({
      message: 'refs[0] cannot be decoded: its video is damaged',
    });
    expect(await refuse(film.subarray(0, 60))).toMatchObject({ message: 'refs[0] has no video in it' });
  });

  it('[VIDEO-36] is as long as its pictures are, whatever its header says', async () => {
    const lying = Buffer.from(film);
    // Behind the times of its making and the scale (ISO 14496-12, section 8.2.2).
    const at = lying.indexOf('mvhd', 0, 'latin1') + 4 + 16;
    expect(lying.readUInt32BE(at)).toBe(3 * lying.readUInt32BE(at - 4));
    lying.writeUInt32BE(10 * lying.readUInt32BE(at - 4), at);
    expect((await media.probeFilm(lying, 'x', signal)).durationSeconds).toBe(3);
    const cut = film.subarray(0, Math.round(film.length * 0.6));
    expect((await media.probeFilm(cut, 'x', signal)).durationSeconds).toBeLessThan(2.5);
  });

  it('[VIDEO-34] sound to work from is of the containers that are accepted there', async () => {
    const wav = toWav(toTone(2), sampleRate);
    expect(await media.probe(wav, 'x', signal, ['wav', 'mp3'])).toMatchObject({ container: 'wav' });
    const flac = await media.encode(toTone(2), { format: 'flac', sampleRate }, signal);
    await expect(media.probe(flac, 'refs[1]', signal, ['wav', 'mp3'])).rejects.toMatchObject({
      param: 'refs[1]',
      message: 'refs[1] is not audio of an accepted kind: wav or mp3',
    });
  });

  it('[VIDEO-36] sound is as long as its samples are, whatever its header says', async () => {
    const lying = toWav(toTone(2), sampleRate);
    lying.writeUInt32LE(sampleRate * 2 * 10, 40);
    expect((await media.probe(lying, 'x', signal)).durationSeconds).toBeCloseTo(2, 2);
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
