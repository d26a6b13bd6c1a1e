/** Video jobs by the SDKs that have them, over a socket; the engine films on the test's command. */
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import { APICallError, experimental_generateVideo } from 'ai';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/lib/errors.ts';
import { createLog } from '../../src/lib/log.ts';
import { createMedia, type Media } from '../../src/platform/media/index.ts';
import { createPictures } from '../../src/platform/pictures/index.ts';
import type { Pictures } from '../../src/platform/pictures/types.ts';
import { thrown } from '../support/chat-gateway.ts';
import { jpegFile, pngFile } from '../support/images-shell.ts';
import { createJobsEngine, type JobsEngine } from '../support/jobs-engine.ts';
import { makeFilms, toDataUri } from '../support/jobs-media.ts';
import { createJobsShell, type JobsShell } from '../support/jobs-shell.ts';

const log = createLog('silent');
let engine: JobsEngine;
let shell: JobsShell;
let media: Media;
let pictures: Pictures;
let film: Buffer;
let base: string;

beforeAll(async () => {
  media = createMedia({ log });
  pictures = createPictures({ log });
  [film] = (await makeFilms({ frames: 45 })) as [Buffer];
  engine = createJobsEngine(film);
  engine.isHolding = true;
  shell = await createJobsShell({ engine, media, pictures });
  base = await shell.listen();
}, 60_000);
afterAll(async () => {
  await shell.close();
  await Promise.all([media.close(), pictures.close()]);
});

async function finish(id: string): Promise<void> {
  (await engine.filming(id)).finish();
  await shell.finished(id);
}

const refusal = new GatewayError('invalid_request', 'the prompt cannot be drawn');

describe('the OpenAI SDK', () => {
  const requests: string[] = [];
  const client = (options = {}) =>
    new OpenAI({
      apiKey: shell.keys.first,
      baseURL: base,
      fetch: (url, init) => {
        requests.push(`${init?.method} ${new URL(String(url)).pathname}`);
        return fetch(url, init);
      },
      ...options,
    });

  it('[ROUTE-28] [VIDEO-55] [VIDEO-70] creates a video, waits for it, downloads and deletes it', async () => {
    const { videos } = client();
    const created = await videos.create({
      model: 'film-line',
      prompt: 'A lake at dawn',
      seconds: '4',
      size: '1344x768' as '1280x720',
    });
    expect(created).toMatchObject({
      object: 'video',
      model: 'film-line',
      status: 'queued',
      seconds: '4',
      size: '1344x768',
      progress: 0,
      error: null,
      remixed_from_video_id: null,
      completed_at: null,
    });
    const { request } = await engine.filming(created.id);
    expect(request).toMatchObject({ prompt: 'A lake at dawn', durationSeconds: 4 });
    expect((await videos.retrieve(created.id)).status).toBe('in_progress');
    await finish(created.id);
    const done = await videos.retrieve(created.id);
    expect(done).toMatchObject({ status: 'completed', progress: 100, error: null });
    const content = await videos.downloadContent(created.id);
    expect(Buffer.from(await content.arrayBuffer()).equals(film)).toBe(true);
    expect(await videos.delete(created.id)).toEqual({
      id: created.id,
      object: 'video.deleted',
      deleted: true,
    });
    expect(await thrown(() => videos.retrieve(created.id))).toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('[ROUTE-28] waits only while a video is queued or in_progress, as its Python helper does', async () => {
    const { videos } = client();
    const blocking = await videos.create({ model: 'film-line', prompt: 'first' });
    await engine.filming(blocking.id);
    const { id } = await videos.create({ model: 'film-line', prompt: 'second' });
    const states: string[] = [];
    for (;;) {
      const { data, response } = await videos.retrieve(id).withResponse();
      if (states.at(-1) !== data.status) states.push(data.status);
      if (data.status !== 'queued' && data.status !== 'in_progress') break;
      expect(response.headers.get('openai-poll-after-ms')).toBe('2000');
      if (data.status === 'queued') {
        await finish(blocking.id);
        await engine.filming(id);
      } else await finish(id);
    }
    expect(states).toEqual(['queued', 'in_progress', 'completed']);
  });

  it('[VIDEO-55] [VIDEO-57] sends a file, or a frame by its address, and fields that only we have', async () => {
    const { videos } = client();
    const withFile = await videos.create({
      model: 'film',
      prompt: 'A lake',
      input_reference: await toFile(pngFile, 'frame.png', { type: 'image/png' }),
    });
    expect((await engine.filming(withFile.id)).request.firstFrame?.bytes.equals(pngFile)).toBe(true);
    const withAddress = await videos.create({
      model: 'film',
      prompt: 'A lake',
      input_reference: { image_url: toDataUri(jpegFile, 'image/jpeg') },
    });
    expect((await engine.filming(withAddress.id)).request.firstFrame?.mediaType).toBe('image/jpeg');
    const image_url = { url: toDataUri(pngFile, 'image/png') };
    const body = {
      model: 'film',
      prompt: 'A lake',
      frame_images: [
        { type: 'image_url', image_url, frame_type: 'first_frame' },
        { type: 'image_url', image_url, frame_type: 'last_frame' },
      ],
      num_inference_steps: 12,
      generate_audio: false,
      provider: { options: { start_time_seconds: 1.5 } },
    };
    const { request } = await engine.filming((await videos.create(body)).id);
    expect(request).toMatchObject({ steps: 12, generateAudio: false, startTimeSeconds: 1.5 });
    expect(request.firstFrame?.bytes.equals(pngFile)).toBe(true);
    expect(request.lastFrame?.bytes.equals(pngFile)).toBe(true);
  });

  it('[VIDEO-74] pages through the list', async () => {
    const { videos } = client();
    const ids: string[] = [];
    for (let each = 0; each < 5; each++)
      ids.push((await videos.create({ model: 'film-free', prompt: `number ${each}` })).id);
    const listed: string[] = [];
    for await (const video of videos.list({ limit: 2 })) {
      listed.push(video.id);
      if (listed.length === ids.length) break;
    }
    expect(listed).toEqual(ids.toReversed());
  });

  it('[JOB-17] [JOB-18] does not try a DELETE again that met the end of a render, and the film stays', async () => {
    const { videos } = client();
    const { id } = await videos.create({ model: 'film', prompt: 'A lake' });
    const running = await engine.filming(id);
    shell.meanwhile = async () => {
      running.finish();
      await shell.finished(id);
    };
    requests.length = 0;
    expect(await thrown(() => videos.delete(id))).toBeInstanceOf(OpenAI.ConflictError);
    expect(requests).toEqual([`DELETE /v1/videos/${id}`]);
    expect((await videos.retrieve(id)).status).toBe('completed');
    expect((await (await videos.downloadContent(id)).arrayBuffer()).byteLength).toBe(film.length);
  });

  it('[JOB-14] [JOB-15] [VIDEO-77] cancels, and is told what went wrong', async () => {
    const { videos } = client();
    const { id } = await videos.create({ model: 'film', prompt: 'A lake' });
    await engine.filming(id);
    requests.length = 0;
    expect(await thrown(() => videos.downloadContent(id))).toBeInstanceOf(OpenAI.ConflictError);
    expect(requests).toHaveLength(1);
    // A cancelled job is answered as a whole.
    expect(await videos.delete(id)).toMatchObject({ id, object: 'video', status: 'cancelled' });
    const failing = await videos.create({ model: 'film', prompt: 'A lake' });
    (await engine.filming(failing.id)).fail(refusal);
    await shell.finished(failing.id);
    expect((await videos.retrieve(failing.id)).error).toEqual({
      code: 'invalid_request',
      message: 'the prompt cannot be drawn',
    });
    const wrong = await thrown(() => videos.create({ model: 'film', prompt: 'A lake', seconds: '3' as '4' }));
    expect(wrong).toBeInstanceOf(OpenAI.BadRequestError);
    expect(wrong).toMatchObject({ param: 'seconds' });
  });

  it('[VIDEO-82] is told that what we do not have is not there', async () => {
    const { videos } = client();
    const { id } = await videos.create({ model: 'film', prompt: 'A lake' });
    const tries = [
      () => videos.remix(id, { prompt: 'x' }),
      () => videos.extend({ video: { id }, prompt: 'x', seconds: '4' }),
      () => videos.edit({ video: { id }, prompt: 'x' }),
      () => videos.getCharacter('char_1'),
    ];
    for (const each of tries) expect(await thrown(each)).toBeInstanceOf(OpenAI.NotFoundError);
  });
});

describe('the OpenRouter SDK', () => {
  const client = (serverURL = base) =>
    new OpenRouter({ serverURL, apiKey: shell.keys.first, retryConfig: { strategy: 'none' } });

  it('[ROUTE-30] [VIDEO-71] creates a video, polls it and reads its content', async () => {
    const { videoGeneration } = client();
    const created = await videoGeneration.generate({
      videoGenerationRequest: {
        model: 'film-line',
        prompt: 'A lake at dawn',
        duration: 5,
        resolution: '768p',
        aspectRatio: '1:1',
        generateAudio: true,
        seed: 7,
        frameImages: [
          {
            type: 'image_url',
            imageUrl: { url: toDataUri(pngFile, 'image/png') },
            frameType: 'first_frame',
          },
        ],
        callbackUrl: 'https://client.example/openrouter',
      },
    });
    expect(created).toMatchObject({ status: 'pending', pollingUrl: `${base}/videos/${created.id}` });
    const { request } = await engine.filming(created.id);
    expect(request).toMatchObject({ durationSeconds: 5, width: 768, height: 768, seed: 7 });
    expect(request.firstFrame?.mediaType).toBe('image/png');
    const poll = () => videoGeneration.getGeneration({ jobId: created.id });
    expect((await poll()).status).toBe('in_progress');
    await finish(created.id);
    const done = await poll();
    expect(done).toMatchObject({ status: 'completed', generationId: created.id, usage: { cost: 0.25 } });
    expect(done.unsignedUrls).toHaveLength(1);
    const stream = await videoGeneration.getVideoContent({ jobId: created.id, index: 0 });
    expect(Buffer.from(await new Response(stream).arrayBuffer()).equals(film)).toBe(true);
  });

  it('[ROUTE-30] [VIDEO-71] reads every ending', async () => {
    const { videoGeneration } = client();
    const create = () =>
      videoGeneration.generate({ videoGenerationRequest: { model: 'film', prompt: 'A lake' } });
    const failing = await create();
    (await engine.filming(failing.id)).fail(refusal);
    await shell.finished(failing.id);
    expect(await videoGeneration.getGeneration({ jobId: failing.id })).toMatchObject({
      status: 'failed',
      error: 'the prompt cannot be drawn',
    });
    const cancelled = await create();
    await shell.remove(`/videos/${cancelled.id}`);
    expect((await videoGeneration.getGeneration({ jobId: cancelled.id })).status).toBe('cancelled');
    const free = await videoGeneration.generate({
      videoGenerationRequest: { model: 'film-free', prompt: 'A lake' },
    });
    await finish(free.id);
    expect((await videoGeneration.getGeneration({ jobId: free.id })).usage?.cost).toBeUndefined();
    const unfinished = await create();
    expect(await thrown(() => videoGeneration.getVideoContent({ jobId: unfinished.id }))).toBeInstanceOf(
      errors.ConflictResponseError,
    );
    expect(
      await thrown(() => videoGeneration.getGeneration({ jobId: `video_${'0'.repeat(24)}` })),
    ).toBeInstanceOf(errors.NotFoundResponseError);
    const request = { model: 'film', prompt: 'A lake', duration: 3 };
    expect(await thrown(() => videoGeneration.generate({ videoGenerationRequest: request }))).toBeInstanceOf(
      errors.BadRequestResponseError,
    );
  });

  it('[ROUTE-30] [VIDEO-51] sends provider, of which only known names arrive', async () => {
    const { videoGeneration } = client();
    const { id } = await videoGeneration.generate({
      videoGenerationRequest: { model: 'film', prompt: 'A lake', provider: { options: {} } },
    });
    expect((await engine.filming(id)).request.steps).toBe(4);
  });

  it('[ROUTE-30] [VIDEO-83] lists the models', async () => {
    const { data } = await client().videoGeneration.listVideosModels();
    expect(data.map(({ id }) => id)).toContain('film');
    expect(data.find(({ id }) => id === 'film')).toMatchObject({
      supportedDurations: [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
      pricingSkus: { duration_seconds: '0.05' },
    });
  });
});

describe('the AI SDK with the OpenRouter provider', () => {
  const model = (id = 'film') =>
    createOpenRouter({ apiKey: shell.keys.first, baseURL: base }).videoModel(id, { pollIntervalMs: 10 });
  /** Its own refuses private hosts, where this test's gateway is; like its own it sends no headers. */
  const download = async ({ url }: { url: URL }) => {
    const response = await fetch(url);
    expect(response.status).toBe(200);
    return {
      data: new Uint8Array(await response.arrayBuffer()),
      mediaType: response.headers.get('content-type') ?? undefined,
    };
  };

  it('[VIDEO-80] makes a video, and downloads it by its signed link alone', async () => {
    engine.isHolding = false;
    const result = await experimental_generateVideo({
      model: model(),
      prompt: 'A lake at dawn',
      duration: 4,
      aspectRatio: '1:1',
      seed: 3,
      maxRetries: 0,
      download,
    }).finally(() => {
      engine.isHolding = true;
    });
    expect(result.video.mediaType).toBe('video/mp4');
    expect(Buffer.from(result.video.uint8Array).equals(film)).toBe(true);
    expect(result.providerMetadata['openrouter']).toMatchObject({ cost: 0.2 });
    expect(engine.films.at(-1)?.request).toMatchObject({ durationSeconds: 4, width: 768, seed: 3 });
  });

  it('is told why a video failed', async () => {
    const next = engine.nextFilming();
    const making = thrown(() =>
      experimental_generateVideo({ model: model('film-line'), prompt: 'A lake', maxRetries: 0, download }),
    );
    (await next).fail(refusal);
    const error = await making;
    expect(APICallError.isInstance(error)).toBe(true);
    expect((error as Error).message).toBe('the prompt cannot be drawn');
  });
});
