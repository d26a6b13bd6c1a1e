import { describe, expect, it } from 'vitest';
import { createFilmStudio, rawPicture } from '../../../test/support/film-studio.ts';
import type { RenderContext } from '../contract/render.ts';
import type { VideoRequest } from '../contract/video.ts';
import type { Timers } from './script.ts';
import { createSandboxVideo } from './video.ts';

const [width, height] = [64, 36];
const never = new AbortController().signal;
const asked = (changes: Partial<VideoRequest> = {}): VideoRequest => ({
  model: 'm',
  prompt: 'a boat on the sea at sunset',
  durationSeconds: 4,
  width,
  height,
  upscale: 1,
  fps: 24,
  seed: 7,
  steps: 4,
  schedule: 'turbo',
  generateAudio: false,
  references: [],
  ...changes,
});

function contextOf(expectedMs = 0) {
  const told: number[] = [];
  const context: RenderContext = {
    remembered: undefined,
    remember: async () => {},
    progress: (fraction) => told.push(fraction),
    expectedMs,
  };
  return { context, told };
}

async function shoot(changes: Partial<VideoRequest> = {}) {
  const studio = createFilmStudio();
  const { context, told } = contextOf();
  const bytes = await createSandboxVideo(studio, { speedup: 8 }).render(asked(changes), context, never);
  const [reel] = studio.reels;
  return { studio, told, bytes, ...reel! };
}

/** How far two frames are from each other, per part of a pixel. */
function distance(one: Uint8Array, other: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += Math.abs(one[at]! - other[at]!);
  return sum / one.length;
}

/** A picture of vertical stripes in one colour. */
function striped(red: number, green: number, blue: number): Uint8Array {
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let at = 0; at < data.length; at += 4) {
    const shade = (at / 4) % 8 < 4 ? 1 : 0.5;
    data.set([red * shade, green * shade, blue * shade], at);
  }
  return data;
}
const png = (data: Uint8Array) => ({ bytes: rawPicture({ width, height, data }), mediaType: 'image/png' });
const [red, green] = [striped(220, 40, 30), striped(20, 160, 60)];

describe('a film of the sandbox', () => {
  it.each([
    [4, 105, 4.375],
    [6, 153, 6.375],
    [15, 369, 15.375],
  ])('[VIDEO-60] of %i s has %i frames on the grid: %f s', async (durationSeconds, count, seconds) => {
    const { frames, options, bytes } = await shoot({ durationSeconds });
    expect(frames).toHaveLength(count);
    expect(frames.length / options.fps).toBe(seconds);
    expect(bytes.toString()).toBe(`a film of ${count} frames`);
  });

  it('[VIDEO-18] is drawn in the size before enlarging', async () => {
    const { options, frames } = await shoot({ width: 128, height: 72, upscale: 2 });
    expect(options).toMatchObject({ width: 64, height: 36, upscale: 2, fps: 24 });
    expect(frames[0]).toHaveLength(64 * 36 * 4);
  });

  it('is the same for the same request, and another for another seed', async () => {
    const [one, again, other] = [await shoot(), await shoot(), await shoot({ seed: 8 })];
    expect(again.frames).toEqual(one.frames);
    expect(distance(other.frames[50]!, one.frames[50]!)).toBeGreaterThan(2);
  });

  it('moves from frame to frame, and never jumps', async () => {
    const { frames } = await shoot();
    for (let at = 1; at < frames.length; at++) {
      const step = distance(frames[at]!, frames[at - 1]!);
      expect(step).toBeGreaterThan(0.02);
      expect(step).toBeLessThan(12);
    }
    expect(distance(frames.at(-1)!, frames[0]!)).toBeGreaterThan(3);
  });

  it.each([
    'snow falls on mountains at night',
    'a red car in a neon city in the rain',
    'watercolour of a cat in a meadow',
    'quantum serendipity',
    'a rocket in space, zoom out',
    'thunder and lightning over the desert',
    'a cup of coffee in a cozy room',
  ])('follows its prompt: %s', async (prompt) => {
    const [one, other] = [await shoot({ prompt }), await shoot()];
    expect(distance(one.frames[60]!, other.frames[60]!)).toBeGreaterThan(8);
    expect(distance(one.frames[60]!, one.frames[20]!)).toBeGreaterThan(0.3);
  });

  it('[VIDEO-46] gains detail with more steps, and stays the same film', async () => {
    const [few, many] = [await shoot({ steps: 4 }), await shoot({ steps: 40, schedule: 'base' })];
    const apart = distance(few.frames[60]!, many.frames[60]!);
    expect(apart).toBeGreaterThan(0.2);
    expect(apart).toBeLessThan(distance(few.frames[60]!, (await shoot({ seed: 9 })).frames[60]!));
  });
});

describe('frames that are given', () => {
  it('[VIDEO-25] begin the film with exactly the first one, from which it moves on', async () => {
    const { frames } = await shoot({ firstFrame: png(red) });
    expect(frames[0]).toEqual(red);
    expect(distance(frames[12]!, red)).toBeLessThan(20);
    expect(distance(frames.at(-1)!, red)).toBeGreaterThan(20);
  });

  it('[VIDEO-25] end it with exactly the last one', async () => {
    const { frames } = await shoot({ lastFrame: png(green) });
    expect(frames.at(-1)).toEqual(green);
    expect(distance(frames[0]!, green)).toBeGreaterThan(20);
  });

  it('[VIDEO-25] both: lead from one to the other', async () => {
    const { frames } = await shoot({ firstFrame: png(red), lastFrame: png(green) });
    expect(frames[0]).toEqual(red);
    expect(frames.at(-1)).toEqual(green);
    const middle = frames[Math.floor(frames.length / 2)]!;
    expect(distance(middle, red)).toBeGreaterThan(5);
    expect(distance(middle, green)).toBeGreaterThan(5);
  });
});

describe('references', () => {
  const image = { ...png(red), kind: 'image', role: 'reference' } as const;
  const video = {
    bytes: Buffer.from('v'),
    mediaType: 'video/mp4',
    kind: 'video',
    role: 'reference',
  } as const;
  const audio = {
    bytes: Buffer.from('a'),
    mediaType: 'audio/mpeg',
    kind: 'audio',
    role: 'reference',
  } as const;

  it('are seen in the film', async () => {
    const [plain, shown] = [await shoot(), await shoot({ references: [image] })];
    expect(shown.frames[0]).toEqual(plain.frames[0]);
    expect(distance(shown.frames[60]!, plain.frames[60]!)).toBeGreaterThan(5);
    const middle = (18 * width + 32) * 4;
    // The stripes of the picture, red all over.
    expect(shown.frames[60]![middle]).toBeGreaterThan(2 * shown.frames[60]![middle + 1]!);
  });

  it('[VIDEO-49] that are films play from the time that is asked for, and are let go of', async () => {
    const { studio } = await shoot({ references: [video, video], startTimeSeconds: 1.5 });
    expect(studio.readings).toEqual([
      { startSeconds: 1.5, fps: 12, frames: expect.any(Number) },
      { startSeconds: 1.5, fps: 12, frames: expect.any(Number) },
    ]);
    expect(studio.readings[0]!.frames).toBeGreaterThan(45);
    expect(studio.open).toBe(0);
  });

  it('that are sounds are heard', async () => {
    const changes = { generateAudio: true } as const;
    const [plain, heard] = [await shoot(changes), await shoot({ ...changes, references: [audio] })];
    const mean = (sound: Int16Array) => sound.reduce((sum, sample) => sum + sample, 0) / sound.length;
    expect(Math.abs(mean(plain.sound))).toBeLessThan(300);
    expect(mean(heard.sound)).toBeGreaterThan(1_500);
  });

  it('may be twelve at once', async () => {
    const references = [...Array(9).fill(image), ...Array(3).fill(video)];
    expect((await shoot({ references })).frames).toHaveLength(105);
  });
});

describe('the soundtrack', () => {
  it('[VIDEO-59] is stereo, as long as the film, neither silent nor clipped, and dies away without a click', async () => {
    const { sound, options, frames } = await shoot({ generateAudio: true });
    expect(options.sampleRate).toBe(48_000);
    expect(sound).toHaveLength((frames.length / 24) * 48_000 * 2);
    const peak = sound.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    expect(peak).toBeGreaterThan(4_000);
    expect(peak).toBeLessThan(31_000);
    expect(sound.slice(0, 40).every((sample) => Math.abs(sample) < 400)).toBe(true);
    expect(sound.slice(-400).every((sample) => Math.abs(sample) < 60)).toBe(true);
    const [left, right] = [0, 1].map((side) => sound.filter((_, at) => at % 2 === side));
    expect(left).not.toEqual(right);
  });

  it('[VIDEO-59] is not there when no audio is asked for', async () => {
    const { options, sound } = await shoot({ generateAudio: false });
    expect(options.sampleRate).toBeUndefined();
    expect(sound).toHaveLength(0);
  });

  it('fits the prompt: another one sounds otherwise', async () => {
    const changes = { generateAudio: true } as const;
    const [sea, city] = [await shoot(changes), await shoot({ ...changes, prompt: 'rain in a city, techno' })];
    expect(city.sound).not.toEqual(sea.sound);
  });
});

/** Time that passes only while somebody waits. */
function createFastTimers() {
  let time = 0;
  const timers: Timers = {
    now: () => time,
    after(delayMs, callback) {
      const soon = setImmediate(() => {
        time += delayMs;
        callback();
      });
      return () => clearImmediate(soon);
    },
  };
  return { timers, now: () => time };
}

describe('how long it takes', () => {
  it('[VIDEO-61] is what is expected, divided by the speedup; progress is told on the way and never falls', async () => {
    const { timers, now } = createFastTimers();
    const { context, told } = contextOf(12_000);
    await createSandboxVideo(createFilmStudio(), { speedup: 8, timers }).render(asked(), context, never);
    expect(now()).toBeCloseTo(1_500, 6);
    expect(told.length).toBeGreaterThan(30);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(told.at(-1)).toBe(1);
  });

  it('[JOB-16] ends at once when it is aborted, and nothing is left open', async () => {
    const studio = createFilmStudio();
    const abort = new AbortController();
    const { context } = contextOf();
    const port = createSandboxVideo(studio, { speedup: 8 });
    const stopping = { ...context, progress: () => abort.abort(new Error('stop')) };
    await expect(port.render(asked(), stopping, abort.signal)).rejects.toThrow('stop');
    expect(studio.reels[0]).toMatchObject({ isClosed: true });
    expect(studio.reels[0]!.frames.length).toBeLessThan(105);
  });

  it.each([
    [{ failBefore: 'overload' }, 'overloaded', 0],
    [{ failBefore: { kind: 'error', message: 'no memory' } }, 'unreachable', 0],
    [{ failAfterTokens: 40 }, 'unreachable', 1],
  ] as const)('may fail as a script says: %o', async (script, kind, films) => {
    const studio = createFilmStudio();
    const { context, told } = contextOf();
    const port = createSandboxVideo(studio, { speedup: 8 });
    await expect(port.render(asked({ script }), context, never)).rejects.toMatchObject({ kind });
    expect(studio.reels).toHaveLength(films);
    expect(studio.reels.every(({ isClosed }) => isClosed)).toBe(true);
    if (films === 1) expect(Math.max(...told)).toBeLessThan(0.41);
  });

  it('begins later when a script delays it', async () => {
    const { timers, now } = createFastTimers();
    const { context } = contextOf();
    const port = createSandboxVideo(createFilmStudio(), { speedup: 8, timers });
    await port.render(asked({ script: { delayMs: 700 } }), context, never);
    expect(now()).toBe(700);
  });
});
