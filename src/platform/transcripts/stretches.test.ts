import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { longestStretchSeconds, transcriptionSampleRate } from '../../engines/contract/transcription.ts';
import { cutAtSilences, type Stretch, StretchCutter } from './stretches.ts';

type Part = readonly [kind: 'voice' | 'silence' | 'murmur', seconds: number, levelDb?: number];

/** The same noise every time: a small linear congruential generator. */
function createNoise(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  };
}

/** Speech as far as loudness goes: syllables of a quarter of a second over a room's noise. */
function sound(...parts: readonly Part[]): Int16Array {
  const noise = createNoise();
  const samples: number[] = [];
  for (const [kind, seconds, levelDb = kind === 'silence' ? -65 : -20] of parts) {
    const count = Math.round(seconds * transcriptionSampleRate);
    for (let i = 0; i < count; i++) {
      const time = i / transcriptionSampleRate;
      // A murmur dips at every syllable without ever being silent.
      const syllable = kind === 'silence' ? 1 : 0.55 + 0.45 * Math.cos(2 * Math.PI * 4 * time);
      samples.push(Math.round(noise() * 1.73 * 32_768 * 10 ** (levelDb / 20) * syllable));
    }
  }
  return Int16Array.from(samples);
}

function cut(samples: Int16Array, usualSeconds: readonly number[] = [24], pieceSize = 16_000): Stretch[] {
  const cutter = new StretchCutter({ usualSeconds });
  const made: Stretch[] = [];
  for (let at = 0; at < samples.length; at += pieceSize) {
    made.push(...cutter.push(samples.subarray(at, at + pieceSize)));
  }
  made.push(...cutter.end());
  expect(cutter.taken).toBe(samples.length);
  return made;
}

const lengths = (stretches: readonly Stretch[]) =>
  stretches.map(({ samples }) => samples.length / transcriptionSampleRate);

describe('a recording', () => {
  it('of silence has no stretches at all', () => {
    expect(cut(new Int16Array(20 * 16_000))).toEqual([]);
    expect(cut(sound(['silence', 20]))).toEqual([]);
    expect(cut(sound(['silence', 30, -45])).length).toBeLessThanOrEqual(1);
  });

  it('loses no word that stands at its very beginning or end', () => {
    const [only, ...more] = cut(sound(['voice', 2.005]));
    expect(more).toEqual([]);
    expect(only?.samples.length).toBeGreaterThanOrEqual(2.005 * transcriptionSampleRate);
  });

  it('is cut at its silences, which are left out but for a margin', () => {
    const made = cut(sound(['silence', 3], ['voice', 5], ['silence', 4], ['voice', 7], ['silence', 6]));
    const [first, second, ...more] = lengths(made);
    expect(more).toEqual([]);
    expect(first).toBeGreaterThan(5);
    expect(first).toBeLessThan(6);
    expect(second).toBeGreaterThan(7);
    expect(second).toBeLessThan(8);
  });

  it('is not cut at the pauses between sentences before a stretch has its usual length', () => {
    const sentences = Array.from({ length: 20 }, (): Part[] => [
      ['voice', 4],
      ['silence', 0.6],
    ]).flat();
    const made = lengths(cut(sound(...sentences), [24]));
    expect(made).toHaveLength(4);
    for (const length of made.slice(0, -1)) {
      expect(length).toBeGreaterThan(24);
      expect(length).toBeLessThan(30);
    }
  });

  it('begins with short stretches where somebody reads along', () => {
    const sentences = Array.from({ length: 13 }, (): Part[] => [
      ['voice', 4],
      ['silence', 0.6],
    ]).flat();
    const [first = 0, second = 0, third = 0] = lengths(cut(sound(...sentences), [5, 10, 20, 24]));
    expect(first).toBeLessThan(10);
    expect(second).toBeLessThan(15);
    expect(third).toBeGreaterThan(20);
  });

  it('without a pause is cut at a quiet moment, and nothing of it is lost', () => {
    const samples = sound(['murmur', 26], ['silence', 0.06], ['murmur', 54]);
    const made = cut(samples);
    expect(Math.max(...lengths(made))).toBeLessThanOrEqual(longestStretchSeconds);
    expect(made[0]?.samples.length).toBeGreaterThan(26 * transcriptionSampleRate);
    expect(made[0]?.samples.length).toBeLessThan(26.07 * transcriptionSampleRate);
    expect(
      made.map(({ samples: part }) => part.length).reduce((sum, each) => sum + each, 0),
    ).toBeGreaterThanOrEqual(samples.length - 320);
  });

  it('with loud noise behind it is handed on rather than taken for silence', () => {
    const seconds = lengths(cut(sound(['silence', 40, -28]))).reduce((sum, each) => sum + each, 0);
    expect(seconds).toBeGreaterThan(39);
  });

  it('that is very quiet is heard all the same', () => {
    expect(cut(sound(['silence', 2, -85], ['voice', 3, -48], ['silence', 2, -85]))).toHaveLength(1);
  });

  it('has no stretch for a click', () => {
    expect(cut(sound(['silence', 6], ['voice', 0.03], ['silence', 6]))).toEqual([]);
  });

  it('is cut in the same places, whatever the size of the pieces', () => {
    const samples = sound(['voice', 8], ['silence', 3], ['voice', 40], ['silence', 1]);
    // Compared by value: a deep comparison of millions of samples takes seconds.
    const toText = (stretches: readonly Stretch[]) =>
      stretches.map(({ samples: part, endsAt }) => `${endsAt} ${hash('sha256', part)}`);
    const made = toText(cut(samples, [24], 16_000));
    expect(made).toHaveLength(3);
    for (const size of [101, 319, 320, 321, 100_000]) expect(toText(cut(samples, [24], size))).toEqual(made);
  });

  it('says how far each of its stretches reaches', () => {
    const samples = sound(['voice', 5], ['silence', 4], ['voice', 5]);
    const ends = cut(samples).map(({ endsAt }) => endsAt / transcriptionSampleRate);
    expect(ends[0]).toBeGreaterThan(5);
    expect(ends[0]).toBeLessThan(9);
    expect(ends[1]).toBe(14);
  });
});

describe('a recording that comes in pieces', () => {
  it('gives each stretch before the pieces behind it are asked for', async () => {
    const asked: number[] = [];
    async function* audio() {
      const samples = sound(['voice', 4], ['silence', 3], ['voice', 4], ['silence', 3]);
      for (let second = 0; second < 14; second++) {
        asked.push(second);
        yield samples.subarray(second * 16_000, (second + 1) * 16_000);
      }
    }
    const heard: number[] = [];
    for await (const _ of cutAtSilences(audio(), { usualSeconds: [24] }, () => {})) heard.push(asked.length);
    expect(heard).toEqual([6, 13]);
  });

  it('takes no more memory when it is long', async () => {
    const piece = sound(['voice', 0.8], ['silence', 0.2]);
    async function* audio() {
      for (let second = 0; second < 1_800; second++) yield piece;
    }
    let largest = 0;
    let taken = 0;
    const cutting = cutAtSilences(audio(), { usualSeconds: [24] }, (samples) => {
      taken = samples;
    });
    const before = process.memoryUsage().arrayBuffers;
    for await (const { samples } of cutting) {
      largest = Math.max(largest, samples.length, 0);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
    }
    expect(largest).toBeLessThanOrEqual(longestStretchSeconds * transcriptionSampleRate);
    expect(taken).toBe(1_800 * 16_000);
  });
});
