import { describe, expect, it } from 'vitest';
import type { Stage } from '../../contract/studio.ts';
import type { SongWish } from './compose.ts';
import { type MusicOrder, partSeconds, render } from './render.ts';

const sampleRate = 32_000;
const wish: SongWish = { prompt: 'happy pop', isInstrumental: true, seconds: 12, seed: 1, index: 0 };

async function play(changes: Partial<SongWish> = {}, order: Partial<MusicOrder> = {}) {
  const parts: Buffer[] = [];
  const stage = {
    emit: async (bytes: Uint8Array) => void parts.push(Buffer.from(bytes)),
    throwIfStopped() {},
  };
  await render(
    { wish: { ...wish, ...changes }, sampleRate, channels: 2, ...order },
    [],
    stage as unknown as Stage,
  );
  const bytes = Buffer.concat(parts);
  return { parts, bytes, samples: new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2) };
}

const decibels = (power: number) => 10 * Math.log10(power);

function measure(samples: Int16Array) {
  let peak = 0;
  let power = 0;
  let side = 0;
  for (let at = 0; at < samples.length; at += 2) {
    const [left, right] = [samples[at]! / 32_768, samples[at + 1]! / 32_768];
    peak = Math.max(peak, Math.abs(left), Math.abs(right));
    power += (left ** 2 + right ** 2) / 2;
    side += (left - right) ** 2 / 4;
  }
  const frames = samples.length / 2;
  return { peak, loudness: decibels(power / frames), width: decibels(side / power) };
}

/** How alike the loudness of a song is to itself some time later: highest where beats fall on beats. */
function pulseAt(samples: Int16Array, bpm: number): number {
  const hop = 320;
  const rises: number[] = [];
  let before = 0;
  for (let at = 0; at + hop * 2 < samples.length; at += hop * 2) {
    let power = 1e-6;
    for (let index = at; index < at + hop * 2; index += 2)
      power += ((samples[index + 2] ?? 0) - samples[index]!) ** 2;
    rises.push(Math.max(0, Math.log(power) - before));
    before = Math.log(power);
  }
  const lag = Math.round(((60 / bpm) * sampleRate) / hop);
  const mean = rises.reduce((sum, rise) => sum + rise, 0) / rises.length;
  let alike = 0;
  for (let at = 0; at + lag < rises.length; at++) alike += (rises[at]! - mean) * (rises[at + lag]! - mean);
  return alike / (rises.length - lag);
}

describe('a song that is played', () => {
  it.each(['happy pop', 'heavy metal', 'ambient', 'solo piano', 'techno 130 bpm', 'lullaby', 'march'])(
    '%s is as loud as songs are, does not clip, is heard from two sides, and ends in silence',
    async (prompt) => {
      const { samples } = await play({ prompt, seconds: 20 });
      const { peak, loudness, width } = measure(samples);
      expect(peak).toBeLessThan(0.97);
      expect(peak).toBeGreaterThan(0.3);
      expect(loudness).toBeGreaterThan(-21);
      expect(loudness).toBeLessThan(-11);
      expect(width).toBeGreaterThan(-30);
      expect(width).toBeLessThan(0);
      expect(measure(samples.subarray(-640)).peak).toBeLessThan(0.002);
      expect(Math.abs(samples.at(-1)!)).toBeLessThanOrEqual(1);
    },
  );

  it.each([5, 30, 240])('of %i seconds has just that length', { timeout: 60_000 }, async (seconds) => {
    const { bytes } = await play({ seconds });
    expect(bytes).toHaveLength(seconds * sampleRate * 4);
  });

  it('comes in parts of half a second, and their seams are not heard', async () => {
    const { parts, samples } = await play();
    expect(parts).toHaveLength(24);
    for (const part of parts) expect(part).toHaveLength(partSeconds * sampleRate * 4);
    const jumpAt = (frame: number) => Math.abs(samples[frame * 2]! - samples[frame * 2 - 2]!);
    const largest = (frames: number[]) => Math.max(...frames.map(jumpAt));
    const seams = Array.from({ length: 23 }, (_, part) => (part + 1) * partSeconds * sampleRate);
    const everywhere = Array.from({ length: samples.length / 2 - 1 }, (_, frame) => frame + 1);
    const most = everywhere.reduce((all, frame) => Math.max(all, jumpAt(frame)), 0);
    expect(largest(seams)).toBeLessThan(most);
    expect(Math.abs(samples[0]!)).toBeLessThan(700);
  });

  it('has its beat where the prompt wants it', async () => {
    const { samples } = await play({ prompt: 'techno 130 bpm', seconds: 20 });
    const asked = pulseAt(samples, 130);
    for (const other of [101, 113, 121, 140, 147]) expect(asked).toBeGreaterThan(pulseAt(samples, other));
  });

  it('is quieter in its introduction than in its chorus', async () => {
    const { samples } = await play({ prompt: 'rock 120 bpm', seconds: 30 });
    const second = (from: number) =>
      measure(samples.subarray(from * sampleRate * 2, (from + 2) * sampleRate * 2));
    expect(second(22).loudness - second(0).loudness).toBeGreaterThan(3);
  });

  it('is the same, byte by byte, for the same wish, and another for another seed', async () => {
    const { bytes } = await play();
    expect((await play()).bytes.equals(bytes)).toBe(true);
    expect((await play({ seed: 2 })).bytes.equals(bytes)).toBe(false);
    expect((await play({ index: 1 })).bytes.equals(bytes)).toBe(false);
  });

  it('is had in mono, and at other rates', async () => {
    expect((await play({ seconds: 5 }, { channels: 1 })).bytes).toHaveLength(5 * sampleRate * 2);
    expect((await play({ seconds: 5 }, { sampleRate: 44_100 })).bytes).toHaveLength(5 * 44_100 * 4);
  });

  it('stops when nobody waits any more', async () => {
    let emitted = 0;
    const stage = {
      emit: async () => {
        emitted += 1;
      },
      throwIfStopped() {
        if (emitted === 3) throw new Error('stopped');
      },
    };
    const playing = render({ wish, sampleRate, channels: 2 }, [], stage as unknown as Stage);
    await expect(playing).rejects.toThrow('stopped');
    expect(emitted).toBe(3);
  });
});
