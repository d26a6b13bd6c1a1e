/** The sandbox's songs with what they are played on in earnest: recorded instruments, and a studio's own process. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../src/engines/contract/engine.ts';
import type { MusicRequest } from '../src/engines/contract/music.ts';
import { sandbox } from '../src/engines/sandbox/index.ts';
import { createLog } from '../src/lib/log.ts';
import { createStudio, type RunningStudio } from '../src/platform/media/index.ts';
import { type PackFolder, packFolder, pullTimeoutMs } from './support/packs.ts';

const log = createLog('silent');
const asked: MusicRequest = {
  model: 'm',
  prompt: 'happy folk with violin',
  instrumental: true,
  durationSeconds: 8,
  count: 1,
  seed: 7,
  references: [],
  sampleRate: 32_000,
  channels: 2,
};

let folder: PackFolder;
let studio: RunningStudio;
let engine: Engine;

beforeAll(async () => {
  folder = await packFolder('gm-soundfont');
  studio = createStudio({ log });
  engine = open('recorded');
}, pullTimeoutMs);

afterAll(async () => {
  await engine.close();
  await studio.close();
  await folder[Symbol.asyncDispose]();
});

function open(instruments: 'recorded' | 'plain'): Engine {
  const context = { name: 'sandbox', log, secret: () => undefined, dataFolder: folder.dataFolder, studio };
  return sandbox.create({ kind: 'sandbox', speedup: 1_000, instruments }, context);
}

async function play(by: Engine, signal = new AbortController().signal, onPart = () => {}) {
  const context = { remembered: undefined, remember: async () => {}, progress() {}, expectedMs: 1_000 };
  const parts: Buffer[] = [];
  for await (const { samples } of by.music!.render(asked, context, signal)) {
    parts.push(samples);
    onPart();
  }
  return { parts, bytes: Buffer.concat(parts) };
}

describe('a song on recorded instruments', () => {
  it('is the same every time, not the one of plain instruments, and neither silent nor too loud', {
    timeout: 60_000,
  }, async () => {
    const { bytes } = await play(engine);
    expect(bytes).toHaveLength(8 * 32_000 * 4);
    expect((await play(engine)).bytes.equals(bytes)).toBe(true);
    const plain = open('plain');
    expect((await play(plain)).bytes.equals(bytes)).toBe(false);
    await plain.close();
    const samples = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
    let peak = 0;
    let power = 0;
    for (const sample of samples) {
      peak = Math.max(peak, Math.abs(sample) / 32_768);
      power += (sample / 32_768) ** 2;
    }
    expect(peak).toBeLessThan(0.97);
    const loudness = 10 * Math.log10(power / samples.length);
    expect(loudness).toBeGreaterThan(-21);
    expect(loudness).toBeLessThan(-11);
  });

  it('is ended by an abort, and the studio can be used again', { timeout: 60_000 }, async () => {
    const aborter = new AbortController();
    const aborted = play(engine, aborter.signal, () => aborter.abort(new Error('enough')));
    await expect(aborted).rejects.toThrow('enough');
    expect((await play(engine)).parts).toHaveLength(16);
  });
});
