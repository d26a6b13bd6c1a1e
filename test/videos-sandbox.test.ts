/** Films and songs from end to end: the whole gateway, its sandbox engine, the real codecs and a socket. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinEngines } from '../src/config/builtin-models.ts';
import { createTestGateway, type TestGateway } from './support/gateway.ts';
import { pngFile } from './support/images-shell.ts';
import { toDataUri } from './support/jobs-media.ts';

const never = new AbortController().signal;
let gateway: TestGateway;
let base: string;

beforeAll(async () => {
  const sandbox = { kind: 'sandbox', speedup: 1000, instruments: 'plain' };
  gateway = await createTestGateway({ settings: { engines: { ...builtinEngines, sandbox } } });
  base = await gateway.listen();
});
afterAll(() => gateway.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read jobs whose shape is what they check
type AnyJob = any;
const headers = () => ({ authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' });

async function post(path: string, body: object): Promise<AnyJob> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(202);
  return response.json();
}

/** As clients do: asks until it has ended. */
async function poll(url: string): Promise<AnyJob> {
  for (;;) {
    const job = (await (await fetch(url, { headers: headers() })).json()) as AnyJob;
    if (job.status !== 'pending' && job.status !== 'in_progress') return job;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const download = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
const small = { model: 'sandbox-video', prompt: 'a lake at dawn', duration: 4, aspect_ratio: '1:1', seed: 1 };

describe('a film', { timeout: 60_000 }, () => {
  it('[VIDEO-59] [VIDEO-60] [VIDEO-65] has 24 pictures a second, stereo AAC and a length on the frame grid', async () => {
    const { polling_url } = await post('/videos', small);
    const job = await poll(polling_url);
    expect(job).toMatchObject({
      status: 'completed',
      duration: 4,
      output: { width: 768, height: 768, fps: 24, has_audio: true },
      usage: { billed_seconds: 4, cost: 0.2 },
    });
    expect(job.output.duration).toBeGreaterThan(4);
    expect(job.output.duration).toBeLessThan(4.6);
    const film = await download(job.unsigned_urls[0]);
    expect(film.length).toBe(job.output.bytes);
    expect(await gateway.house.platform.media.probeFilm(film, 'film', never)).toMatchObject({
      container: 'mp4',
      video: { codec: 'h264', width: 768, height: 768, fps: 24 },
      audio: { codec: 'aac', channels: 2 },
    });
  });

  it('[VIDEO-59] is silent where no sound is asked for', async () => {
    const { polling_url } = await post('/videos', { ...small, generate_audio: false });
    const job = await poll(polling_url);
    expect(job.output.has_audio).toBe(false);
    const film = await download(job.unsigned_urls[0]);
    expect((await gateway.house.platform.media.probeFilm(film, 'film', never)).audio).toBeUndefined();
  });

  it('[ROUTE-28] [VIDEO-25] is made by the OpenAI SDK from a first frame', async () => {
    const { videos } = new OpenAI({ apiKey: gateway.key, baseURL: base });
    const created = await videos.create({
      model: 'sandbox-video',
      prompt: 'a lake at dawn',
      seconds: '4',
      size: '768x768' as '1280x720',
      input_reference: { image_url: toDataUri(pngFile, 'image/png') },
    });
    await poll(`${base}/videos/${created.id}`);
    const done = await videos.retrieve(created.id);
    expect(done).toMatchObject({ status: 'completed', error: null });
    const content = Buffer.from(await (await videos.downloadContent(created.id)).arrayBuffer());
    expect(content.toString('latin1', 4, 8)).toBe('ftyp');
  });
});

describe('a song', { timeout: 60_000 }, () => {
  it('[MUSIC-29] [MUSIC-30] [MUSIC-33] is heard while it is made, and stored as it was heard', async () => {
    const body = {
      model: 'sandbox-music',
      prompt: 'calm piano',
      duration: 6,
      response_format: 'wav',
      seed: 2,
    };
    const created = await post('/music', body);
    const early = fetch(created.stream_url, { headers: headers() });
    const job = await poll(created.polling_url);
    expect(job).toMatchObject({
      status: 'completed',
      outputs: [{ format: 'wav', sample_rate: 32_000, channels: 2 }],
    });
    const late = await fetch(created.stream_url, { headers: headers() });
    const [first, second] = await Promise.all(
      [await early, late].map(async (response) => Buffer.from(await response.arrayBuffer())),
    );
    expect(second!.equals(first!)).toBe(true);
    expect(first!.readUInt32LE(40)).toBe(6 * 32_000 * 4);
    const file = await download(job.outputs[0].url);
    expect(file.subarray(44).equals(first!.subarray(44))).toBe(true);
    expect(job.outputs[0].duration).toBeCloseTo((file.length - 44) / 128_000, 3);
  });
});
