/** Music has no SDK of its own: what clients of other routes send and read over a socket serves it too. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/lib/log.ts';
import { createMedia, type Media } from '../../src/platform/media/index.ts';
import type { Pictures } from '../../src/platform/pictures/types.ts';
import { createJobsEngine, type JobsEngine, makeSamples } from '../support/jobs-engine.ts';
import { createJobsShell, type JobsShell } from '../support/jobs-shell.ts';

let engine: JobsEngine;
let shell: JobsShell;
let media: Media;
let base: string;

beforeAll(async () => {
  media = createMedia({ log: createLog('silent') });
  engine = createJobsEngine(Buffer.alloc(0));
  engine.isHolding = true;
  shell = await createJobsShell({ engine, media, pictures: {} as Pictures });
  base = await shell.listen();
});
afterAll(async () => {
  await shell.close();
  await media.close();
});

interface MusicJob {
  id: string;
  status: string;
  error: unknown;
  stream_url?: string;
  outputs?: { url: string; bytes: number }[];
}

describe('the OpenAI client, by its own requests', () => {
  it('[MUSIC-1] [MUSIC-19] [MUSIC-22] makes a song, waits for it and downloads it', async () => {
    const client = new OpenAI({ apiKey: shell.keys.first, baseURL: base });
    const body = { model: 'song-line', prompt: 'a lake', duration: 5 };
    const created = await client.post<MusicJob>('/music', { body });
    expect(created).toMatchObject({ object: 'music', status: 'queued', error: null });
    const playing = await engine.playing(created.id);
    expect((await client.get<MusicJob>(`/music/${created.id}`)).status).toBe('in_progress');
    const stream = await fetch(created.stream_url ?? '', {
      headers: { authorization: `Bearer ${shell.keys.first}` },
    });
    void playing.play(makeSamples(2));
    playing.finish();
    await shell.finished(created.id);
    expect((await stream.arrayBuffer()).byteLength).toBe(44 + 2 * 32_000 * 4);
    const done = await client.get<MusicJob>(`/music/${created.id}`);
    expect(done.status).toBe('completed');
    const [output] = done.outputs ?? [];
    // The link is enough.
    const file = await fetch(output?.url ?? '');
    expect(file.headers.get('content-type')).toBe('audio/mpeg');
    expect((await file.arrayBuffer()).byteLength).toBe(output?.bytes);
    expect(await client.delete(`/music/${created.id}`)).toMatchObject({ object: 'music.deleted' });
    await expect(client.get(`/music/${created.id}`)).rejects.toThrow(OpenAI.NotFoundError);
  });
});
