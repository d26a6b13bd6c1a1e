import { describe, expect, it } from 'vitest';
import { createPlayStudio } from '../../../test/support/play-studio.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { MusicPart, MusicRequest } from '../contract/music.ts';
import type { RenderContext } from '../contract/render.ts';
import { createSandboxMusic, type SandboxMusicParts } from './music.ts';
import type { Timers } from './script.ts';

const asked: MusicRequest = {
  model: 'm',
  prompt: 'folk song at 120 bpm',
  instrumental: true,
  durationSeconds: 6,
  count: 1,
  seed: 7,
  references: [],
  sampleRate: 32_000,
  channels: 2,
};
const never = new AbortController().signal;
const bytesPerSecond = 32_000 * 4;

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

/** Time that passes only while somebody waits. */
function createFastTimers() {
  let time = 0;
  const waits: number[] = [];
  const timers: Timers = {
    now: () => time,
    after(delayMs, callback) {
      waits.push(delayMs);
      const soon = setImmediate(() => {
        time += delayMs;
        callback();
      });
      return () => clearImmediate(soon);
    },
  };
  return { timers, waits, now: () => time };
}

function open(parts: Partial<SandboxMusicParts> = {}) {
  const studio = createPlayStudio();
  return { studio, port: createSandboxMusic({ studio, packs: undefined, speedup: 8, ...parts }) };
}

async function collect(changes: Partial<MusicRequest> = {}, parts: Partial<SandboxMusicParts> = {}) {
  const { port, studio } = open(parts);
  const { context, told } = contextOf();
  const got: MusicPart[] = [];
  for await (const part of port.render({ ...asked, ...changes }, context, never)) got.push(part);
  return { got, told, studio, bytes: Buffer.concat(got.map(({ samples }) => samples)) };
}

describe('the sandbox’s music', () => {
  it('comes in whole frames of half a second, as long as it was asked for', async () => {
    const { got, bytes } = await collect();
    expect(bytes).toHaveLength(6 * bytesPerSecond);
    expect(got.map(({ samples }) => samples.length)).toEqual(Array(12).fill(bytesPerSecond / 2));
  });

  it('is the same for the same request, and another for another seed, prompt or words', async () => {
    const { bytes } = await collect();
    expect((await collect()).bytes.equals(bytes)).toBe(true);
    const others: Partial<MusicRequest>[] = [
      { seed: 8 },
      { prompt: 'techno' },
      { negativePrompt: 'guitar' },
      { lyrics: 'la la la', instrumental: false },
    ];
    for (const changes of others) expect((await collect(changes)).bytes.equals(bytes)).toBe(false);
  });

  it('several songs are numbered and differ', async () => {
    const { got } = await collect({ count: 3, durationSeconds: 5 });
    const songs = [0, 1, 2].map((index) =>
      Buffer.concat(got.filter((part) => part.index === index).map(({ samples }) => samples)),
    );
    for (const song of songs) expect(song).toHaveLength(5 * bytesPerSecond);
    expect(songs[0]?.equals(songs[1]!)).toBe(false);
    expect(songs[1]?.equals(songs[2]!)).toBe(false);
  });

  it('is heard while it is made, and what is not taken is not made', async () => {
    const { port, studio } = open();
    const playing = port
      .render({ ...asked, durationSeconds: 60 }, contextOf().context, never)
      [Symbol.asyncIterator]();
    expect((await playing.next()).done).toBe(false);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(studio.made).toBeLessThan(4);
    await playing.return?.();
  });

  it('comes no faster than the expected time, sped up', async () => {
    const { timers, now } = createFastTimers();
    const { port } = open({ timers, speedup: 4 });
    const arrivals: number[] = [];
    for await (const _ of port.render(asked, contextOf(24_000).context, never)) arrivals.push(now());
    // 24 s, four times as fast, in twelve parts.
    expect(arrivals).toEqual(Array.from({ length: 12 }, (_, part) => part * 500));
  });

  it('tells how far it is', async () => {
    const { told } = await collect({ count: 2, durationSeconds: 5 });
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told[0]).toBeCloseTo(1 / 20, 5);
    expect(told.at(-1)).toBe(1);
  });

  it('stops at once when it is aborted, also while it waits', async () => {
    const { port, studio } = open();
    const aborter = new AbortController();
    const playing = port.render(asked, contextOf(10_000_000).context, aborter.signal)[Symbol.asyncIterator]();
    await playing.next();
    const second = playing.next();
    setImmediate(() => aborter.abort(new Error('enough')));
    await expect(second).rejects.toThrow('enough');
    const { made } = studio;
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(studio.made).toBe(made);
  });

  it('fails as the model’s script says, before the first part or after some', async () => {
    const { port } = open();
    const got: MusicPart[] = [];
    const run = async (script: MusicRequest['script']) => {
      got.length = 0;
      for await (const part of port.render(
        { ...asked, ...(script && { script }) },
        contextOf().context,
        never,
      ))
        got.push(part);
    };
    await expect(run({ failBefore: 'overload' })).rejects.toMatchObject({ kind: 'overloaded' });
    expect(got).toHaveLength(0);
    await expect(run({ failAfterTokens: 3 })).rejects.toMatchObject({ kind: 'unreachable' });
    expect(got).toHaveLength(3);
  });

  it('refuses more channels than two', async () => {
    await expect(collect({ channels: 6 })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'channels',
    });
  });
});

describe('recorded instruments', () => {
  it('are asked for by a song, which is played on plain ones while they are on their way', async () => {
    const wanted: string[] = [];
    const packs = {
      async require(name: string): Promise<never> {
        wanted.push(name);
        throw new GatewayError('overloaded', 'it is being fetched: 3 %');
      },
    };
    const { bytes, studio } = await collect({}, { packs });
    expect(wanted).toEqual(['gm-soundfont']);
    expect(studio.orders[0]?.inputs).toEqual([]);
    expect(bytes.equals((await collect()).bytes)).toBe(true);
  });

  it('that are gone again are as good as not there', async () => {
    const packs = { require: async () => ({ instruments: '/nowhere/instruments.sf3' }) };
    expect((await collect({}, { packs })).studio.orders[0]?.inputs).toEqual([]);
  });
});
