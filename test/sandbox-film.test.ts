/** The sandbox's films as they leave the studio's own process: real files, and nothing left behind. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VideoRequest } from '../src/engines/contract/video.ts';
import { enlargeFilm } from '../src/engines/openai-compatible/enlarge.ts';
import { withoutSound } from '../src/engines/openai-compatible/silent-film.ts';
import { createSandboxVideo } from '../src/engines/sandbox/video.ts';
import { createLog } from '../src/lib/log.ts';
import { createMedia, createStudio, type Media, type RunningStudio } from '../src/platform/media/index.ts';

const log = createLog('silent');
const never = new AbortController().signal;
const timeout = 90_000;
const request: VideoRequest = {
  model: 'm',
  prompt: 'a boat on the sea at sunset',
  durationSeconds: 4,
  width: 192,
  height: 112,
  upscale: 1,
  fps: 24,
  seed: 7,
  steps: 4,
  schedule: 'turbo',
  generateAudio: true,
  references: [],
};

let studio: RunningStudio;
let media: Media;
/** One film that several tests look at. */
let film: Buffer;

beforeAll(async () => {
  studio = createStudio({ log });
  media = createMedia({ log });
  film = await shoot();
}, timeout);
afterAll(async () => {
  const { pids } = studio;
  await Promise.all([studio.close(), media.close()]);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
});

function shoot(changes: Partial<VideoRequest> = {}, signal = never): Promise<Buffer> {
  const context = { remembered: undefined, remember: async () => {}, progress() {}, expectedMs: 0 };
  return createSandboxVideo(studio, { speedup: 8 }).render({ ...request, ...changes }, context, signal);
}

describe('a film from the studio', () => {
  it('[VIDEO-59] [VIDEO-60] is H.264 at 24 fps and stereo AAC, of 4.375 s when 4 are asked for', {
    timeout,
  }, async () => {
    expect(await media.probeFilm(film, 'film', never)).toMatchObject({
      container: 'mp4',
      durationSeconds: expect.closeTo(4.375, 2),
      video: { codec: 'h264', width: 192, height: 112, fps: 24 },
      audio: { codec: 'aac', channels: 2, sampleRate: 48_000 },
    });
  });

  it('is byte for byte the same when it is asked for again', { timeout }, async () => {
    expect((await shoot()).equals(film)).toBe(true);
  });

  it('[VIDEO-18] [VIDEO-59] is enlarged, and silent when no audio is asked for', { timeout }, async () => {
    const large = await shoot({ width: 384, height: 224, upscale: 2, generateAudio: false });
    expect(await media.probeFilm(large, 'film', never)).toMatchObject({
      durationSeconds: expect.closeTo(4.375, 2),
      video: { width: 384, height: 224, fps: 24 },
      audio: undefined,
    });
  });

  it('takes films and their sound as references', { timeout }, async () => {
    const file = { bytes: film, mediaType: 'video/mp4', role: 'reference' } as const;
    const made = await shoot({
      references: [
        { ...file, kind: 'video' },
        { ...file, kind: 'audio' },
      ],
      startTimeSeconds: 2,
    });
    expect(made.equals(film)).toBe(false);
    expect((await media.probeFilm(made, 'film', never)).durationSeconds).toBeCloseTo(4.375, 2);
  });

  it('[JOB-16] stops within two seconds when it is aborted', { timeout }, async () => {
    const abort = new AbortController();
    const stopping = shoot({ durationSeconds: 15, width: 1344, height: 768 }, abort.signal);
    setTimeout(() => abort.abort(new Error('cancelled')), 300);
    await expect(stopping).rejects.toThrow('cancelled');
  });
});

describe('a film of another engine', () => {
  it('[VIDEO-59] loses its sound and nothing else', { timeout }, async () => {
    const silent = withoutSound(Buffer.from(film));
    expect(await media.probeFilm(silent, 'film', never)).toMatchObject({
      durationSeconds: expect.closeTo(4.375, 2),
      video: { codec: 'h264', width: 192, height: 112, fps: 24 },
      audio: undefined,
    });
  });

  it.each([true, false])(
    '[VIDEO-18] is enlarged with its length and, if wanted, its sound: %s',
    { timeout },
    async (hasSound) => {
      const large = await enlargeFilm(film, { fps: 24, upscale: 2, hasSound }, studio, never);
      const info = await media.probeFilm(large, 'film', never);
      expect(info.durationSeconds).toBeCloseTo(4.375, 2);
      expect(info.video).toMatchObject({ width: 384, height: 224, fps: 24 });
      expect(info.audio !== undefined).toBe(hasSound);
    },
  );
});
