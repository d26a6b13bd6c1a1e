/** A video job from its creation to its end, as clients see it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayError } from '../src/lib/errors.ts';
import { createLog } from '../src/lib/log.ts';
import { createMedia, type Media } from '../src/platform/media/index.ts';
import { createPictures } from '../src/platform/pictures/index.ts';
import type { Pictures } from '../src/platform/pictures/types.ts';
import { pngFile } from './support/images-shell.ts';
import { createJobsEngine, type JobsEngine } from './support/jobs-engine.ts';
import { makeFilms, toDataUri } from './support/jobs-media.ts';
import { createJobsShell, type JobsShell } from './support/jobs-shell.ts';

const log = createLog('silent');
const openai = { 'user-agent': 'OpenAI/JS 7.53.0', 'x-stainless-lang': 'js' };
const dayMs = 24 * 3600 * 1000;
let engine: JobsEngine;
let shell: JobsShell;
let media: Media;
let pictures: Pictures;
let film: Buffer;
let silent: Buffer;

beforeAll(async () => {
  media = createMedia({ log });
  pictures = createPictures({ log });
  [film, silent] = (await makeFilms({ frames: 45 }, { frames: 12, hasSound: false })) as [Buffer, Buffer];
  engine = createJobsEngine(film);
  engine.isHolding = true;
  shell = await createJobsShell({ engine, media, pictures });
}, 60_000);
afterAll(async () => {
  await shell.close();
  await Promise.all([media.close(), pictures.close()]);
});

const make = (body: object = {}, headers = {}) => shell.create('/videos', body, headers);

/** A job that has completed. */
async function complete(body: object = {}, made = film) {
  const { id } = await make(body);
  (await engine.filming(id)).finish(made);
  return shell.finished(id);
}

async function fail(error: unknown, body: object = {}) {
  const { id } = await make(body);
  (await engine.filming(id)).fail(error);
  return shell.finished(id);
}

const refusal = new GatewayError('invalid_request', 'the picture of the first frame is broken');
const contentOf = (job: { id: string }, query = '') => `/videos/${job.id}/content${query}`;
const failure = async (answer: Promise<{ json(): { error: unknown } }>) => (await answer).json().error;

describe('a job', () => {
  it('[VIDEO-62] [VIDEO-63] has an id and an absolute address that reads it', async () => {
    const job = await make();
    expect(job.id).toMatch(/^video_[0-9a-f]{24}$/);
    expect(job.polling_url).toBe(`http://localhost:80/v1/videos/${job.id}`);
    const { pathname } = new URL(job.polling_url);
    expect((await shell.send({ url: pathname })).json()).toMatchObject({ id: job.id });
  });

  it('[VIDEO-64] [JOB-13] tells what it was asked, and its times', async () => {
    const now = Math.floor(shell.clock.now() / 1000);
    const job = await make({
      prompt: 'a lake',
      seconds: '5',
      seed: 12,
      quality: 'medium',
      aspect_ratio: '9:16',
    });
    expect(job).toEqual({
      id: job.id,
      object: 'video',
      model: 'film',
      status: 'pending',
      polling_url: expect.any(String),
      created_at: now,
      started_at: null,
      completed_at: null,
      expires_at: null,
      queue_position: expect.any(Number),
      progress: 0,
      prompt: 'a lake',
      duration: 5,
      seconds: '5',
      resolution: '768p',
      aspect_ratio: '9:16',
      size: '768x1344',
      quality: 'standard',
      num_inference_steps: 20,
      generate_audio: true,
      seed: 12,
      generation_id: job.id,
    });
  });

  it('[VIDEO-65] [VIDEO-60] [VIDEO-66] [VIDEO-68] [JOB-5] that completed has output, unsigned_urls and usage', async () => {
    const job = await complete({ duration: 4 });
    const created = job.created_at;
    expect(job).toMatchObject({
      status: 'completed',
      progress: 100,
      duration: 4,
      // What was made, not what was asked.
      output: { duration: 1.875, width: 320, height: 192, fps: 24, bytes: film.length, has_audio: true },
      usage: { billed_seconds: 4, cost: 0.2 },
      started_at: expect.any(Number),
      completed_at: expect.any(Number),
      expires_at: job.completed_at + dayMs / 1000,
    });
    expect(job.completed_at).toBeGreaterThanOrEqual(created);
    expect(job.unsigned_urls).toHaveLength(1);
    expect(new URL(job.unsigned_urls[0]).searchParams.get('index')).toBe('0');
    expect((await shell.get(contentOf(job))).bytes).toEqual(film);
    expect((await complete({ generate_audio: false }, silent)).output).toMatchObject({
      duration: 0.5,
      has_audio: false,
    });
  });

  it('[VIDEO-66] [VIDEO-68] [JOB-8] that has not completed has none of them, nor an error', async () => {
    const job = await make({ model: 'film-line' });
    const running = await engine.filming(job.id);
    const late = ['output', 'unsigned_urls', 'usage', 'error', 'error_code'];
    expect(Object.keys(job).filter((name) => late.includes(name))).toEqual([]);
    expect(Object.keys(await shell.read(job.id)).filter((name) => late.includes(name))).toEqual([]);
    running.finish();
    expect(Object.keys(await shell.finished(job.id)).filter((name) => late.includes(name))).toEqual([
      'output',
      'unsigned_urls',
      'usage',
    ]);
    expect(Object.keys(await fail(refusal)).filter((name) => late.includes(name))).toEqual([
      'error',
      'error_code',
    ]);
  });

  it('[VIDEO-68] of a model without a price says no cost', async () => {
    expect((await complete({ model: 'film-free' })).usage).toEqual({ billed_seconds: 6 });
  });

  it('[VIDEO-69] [JOB-22] is found by its id alone', async () => {
    const { id } = await make();
    const answer = await shell.get(`/videos/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ id, object: 'video' });
    for (const unknown of [`video_${'0'.repeat(24)}`, 'video_1', 'nothing', id.toUpperCase(), `${id}0`]) {
      for (const method of ['GET', 'DELETE'] as const) {
        const missing = await shell.send({ method, url: `/v1/videos/${unknown}` });
        expect([unknown, missing.status]).toEqual([unknown, 404]);
        expect(missing.json().error.message).toBe(`There is no video job "${unknown}"`);
      }
    }
    const music = id.replace('video', 'music');
    expect((await shell.get(`/videos/${music}`)).status).toBe(404);
    expect((await shell.get(`/music/${id}`)).status).toBe(404);
  });

  it('[VIDEO-72] [VIDEO-73] says when to ask again, and that answers differ by who asks', async () => {
    const { id } = await make();
    const vary = 'User-Agent, X-Stainless-Lang';
    const running = await engine.filming(id);
    expect((await shell.get(`/videos/${id}`)).headers).toMatchObject({
      vary,
      'openai-poll-after-ms': '2000',
    });
    running.finish();
    await shell.finished(id);
    const { headers } = await shell.get(`/videos/${id}`);
    expect(headers).toMatchObject({ vary });
    expect(headers).not.toHaveProperty('openai-poll-after-ms');
    expect((await shell.post('/videos', { model: 'film', prompt: 'x' })).headers).toMatchObject({ vary });
    expect((await shell.get('/videos')).headers).toMatchObject({ vary });
    expect((await shell.remove(`/videos/${id}`)).headers).toMatchObject({ vary });
  });

  it('[VIDEO-70] is read by OpenAI clients in their words', async () => {
    const made = await make({ model: 'film-line' }, openai);
    expect(made).toMatchObject({ status: 'queued', error: null, remixed_from_video_id: null, seconds: '6' });
    const running = await engine.filming(made.id);
    const readAs = async (id: string, headers = {}) => (await shell.get(`/videos/${id}`, headers)).json();
    expect((await readAs(made.id, openai)).status).toBe('in_progress');
    running.fail(refusal);
    await shell.finished(made.id);
    expect(await readAs(made.id, openai)).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_image', message: 'the picture of the first frame is broken' },
    });
    expect((await shell.get('/videos?limit=1', openai)).json().data[0].error.code).toBe('invalid_image');
    // Also those that cannot name themselves.
    expect((await readAs(made.id, { 'x-stainless-lang': 'python' })).error.code).toBe('invalid_image');
  });

  it('[VIDEO-71] [JOB-1] is read by everybody else as pending, with an error in words or none', async () => {
    for (const agent of [
      'curl/8',
      'speakeasy-sdk/typescript 1.3.19 2.914.0 1.0.0 @openrouter/sdk',
      'ai-sdk/openrouter/3.1.0',
    ]) {
      const job = await make({ model: 'film-line' }, { 'user-agent': agent });
      expect(job.status).toBe('pending');
      expect(job).not.toHaveProperty('error');
      expect(job).not.toHaveProperty('remixed_from_video_id');
      (await engine.filming(job.id)).fail(refusal);
      expect(await shell.finished(job.id)).toMatchObject({
        status: 'failed',
        error: 'the picture of the first frame is broken',
        error_code: 'invalid_image',
      });
    }
  });

  it('[VIDEO-82] has no routes that other APIs have', async () => {
    const { id } = await make();
    for (const path of [`/videos/${id}/remix`, '/videos/edits', '/videos/extensions', '/videos/characters']) {
      const answer = await shell.post(path, { prompt: 'x' });
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.json().error.message).toBe(`No route POST /v1${path}`);
    }
    expect((await shell.get('/videos/characters/char_1')).status).toBe(404);
    // A wrong method on a path that may exist is still that.
    expect((await shell.post(`/videos/${id}`, {})).headers).toMatchObject({
      allow: 'GET, DELETE, HEAD, OPTIONS',
    });
  });
});

describe('its states', () => {
  it('[JOB-2] [JOB-3] [JOB-4] [VIDEO-1] it waits in the line of its model, and starts when its turn has come', async () => {
    const line = [await make({ model: 'film-line' })];
    await engine.filming(line[0].id);
    for (let place = 0; place < 3; place++) line.push(await make({ model: 'film-line' }));
    expect(line.slice(1).map((job) => job.queue_position)).toEqual([0, 1, 2]);
    expect((await make({ model: 'film-free' })).queue_position).toBe(0);
    expect(await shell.read(line[0].id)).not.toHaveProperty('queue_position');
    (await engine.filming(line[0].id)).finish();
    await engine.filming(line[1].id);
    expect(await shell.read(line[1].id)).toMatchObject({
      status: 'in_progress',
      started_at: expect.any(Number),
    });
    expect(await shell.read(line[1].id)).not.toHaveProperty('queue_position');
    expect((await shell.read(line[3].id)).queue_position).toBe(1);
    for (const { id } of line.slice(1)) {
      (await engine.filming(id)).finish();
      await shell.finished(id);
    }
  });

  it('[VIDEO-61] [JOB-11] [JOB-12] its progress is estimated from what it should take, and never falls', async () => {
    const usual = await engine.filming((await make({ duration: 10 })).id);
    expect(usual.context.expectedMs).toBe(30_000);
    usual.finish();
    const image = { type: 'image_url', image_url: { url: toDataUri(pngFile, 'image/png') } };
    const referred = await engine.filming((await make({ duration: 10, input_references: [image] })).id);
    expect(referred.context.expectedMs).toBe(50_000);
    referred.finish();
    const { id } = await make({ duration: 10, resolution: '2K' });
    const large = await engine.filming(id);
    expect(large.context.expectedMs).toBe(90_000);
    const seen = [];
    for (let step = 0; step < 6; step++) {
      seen.push((await shell.read(id)).progress);
      // Within its lease, which is renewed: it is not to be taken for abandoned.
      shell.clock.advance(25_000);
      await shell.fire('heartbeat');
    }
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(new Set(seen).size).toBe(6);
    expect(seen.every((progress) => Number.isInteger(progress) && progress >= 0 && progress < 100)).toBe(
      true,
    );
    large.finish();
    expect((await shell.finished(id)).progress).toBe(100);
  });

  it('[JOB-6] [JOB-8] [JOB-9] [JOB-10] a render that fails ends it with words and a code, and is read with 200', async () => {
    for (const [error, code] of [
      [new GatewayError('invalid_request', 'the prompt is empty'), 'invalid_request'],
      [new GatewayError('invalid_request', 'the video_url cannot be decoded'), 'invalid_media'],
      [new GatewayError('too_large', 'too much'), 'payload_too_large'],
      [
        new GatewayError('invalid_request', 'no', { code: 'content_policy_violation' }),
        'content_policy_violation',
      ],
      [new GatewayError('unreachable', 'gone', { permanent: true }), 'provider_unavailable'],
    ] as const) {
      const job = await fail(error);
      expect(job).toMatchObject({ status: 'failed', error: error.message, error_code: code });
      expect(job.progress).toBeLessThan(100);
    }
  });

  it('[JOB-7] an input that is gone before its turn has come fails it from pending', async () => {
    const first = await make({ model: 'film-line' });
    await engine.filming(first.id);
    const input_reference = toDataUri(pngFile, 'image/png');
    const second = await make({ model: 'film-line', input_reference });
    await shell.objects.remove(`jobs/${second.id}`);
    (await engine.filming(first.id)).finish();
    await shell.finished(first.id);
    await shell.fire('claim');
    expect(await shell.read(second.id)).toMatchObject({
      status: 'failed',
      error_code: 'invalid_media',
      started_at: null,
    });
  });

  it('[JOB-25] a failure on the server side is tried again without a change of state or less progress', async () => {
    const { id } = await make();
    const first = await engine.filming(id);
    shell.clock.advance(9_000);
    const before = await shell.read(id);
    first.fail(new GatewayError('unreachable', 'the engine is away'));
    const between = await shell.finished(id);
    shell.clock.advance(20_000);
    await shell.fire('claim');
    const second = await engine.filming(id, 2);
    const after = await shell.read(id);
    expect([before.status, between.status, after.status]).toEqual(Array(3).fill('in_progress'));
    expect(between.progress).toBeGreaterThanOrEqual(before.progress);
    expect(after.progress).toBeGreaterThanOrEqual(between.progress);
    second.finish();
    expect(await shell.finished(id)).toMatchObject({ status: 'completed', progress: 100 });
    expect(await shell.bills(id)).toHaveLength(1);
  });

  it('[JOB-23] [JOB-24] [VIDEO-78] what it made is deleted when its time is over, and nothing else changes it', async () => {
    const job = await complete();
    const failed = await fail(refusal);
    expect(failed.expires_at).toEqual(expect.any(Number));
    shell.clock.advance(dayMs - 1);
    expect((await shell.read(job.id)).status).toBe('completed');
    shell.clock.advance(1_000);
    const expired = await shell.read(job.id);
    expect(expired.status).toBe('expired');
    for (const name of ['output', 'unsigned_urls', 'usage']) expect(expired).not.toHaveProperty(name);
    const gone = await shell.get(contentOf(job));
    expect(gone.status).toBe(404);
    expect(await shell.objects.find(`jobs/${job.id}/1/0.mp4`)).toBeUndefined();
    // [JOB-26]: a record that made nothing goes as a whole.
    expect((await shell.get(`/videos/${failed.id}`)).status).toBe(404);
  });

  it('[JOB-26] records of failed and cancelled jobs are read until their time is over', async () => {
    const failed = await fail(refusal);
    const { id } = await make();
    await shell.remove(`/videos/${id}`);
    shell.clock.advance(dayMs - 2_000);
    expect((await shell.read(failed.id)).status).toBe('failed');
    expect((await shell.read(id)).status).toBe('cancelled');
    shell.clock.advance(3_000);
    for (const each of [failed.id, id]) expect((await shell.get(`/videos/${each}`)).status).toBe(404);
  });
});

describe('DELETE', () => {
  it('[JOB-14] [BILL-13] cancels a job that waits', async () => {
    const first = await make({ model: 'film-line' });
    const running = await engine.filming(first.id);
    const { id } = await make({ model: 'film-line' });
    const answer = await shell.remove(`/videos/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ id, object: 'video', status: 'cancelled' });
    expect(answer.json()).not.toHaveProperty('queue_position');
    running.finish();
    await shell.finished(first.id);
    expect((await shell.read(id)).status).toBe('cancelled');
    expect(await shell.bills(id)).toEqual([]);
  });

  it('[JOB-15] [JOB-16] [BILL-13] cancels a job that is rendered, and stops it at the engine', async () => {
    const { id } = await make();
    const running = await engine.filming(id);
    const stopped = new Promise((resolve) => running.signal.addEventListener('abort', resolve));
    const answer = await shell.remove(`/videos/${id}`, openai);
    expect(answer.json()).toMatchObject({ id, status: 'cancelled', error: null });
    await stopped;
    running.finish();
    expect((await shell.finished(id)).status).toBe('cancelled');
    expect(await shell.bills(id)).toEqual([]);
    expect((await shell.get(contentOf({ id }))).status).toBe(404);
  });

  it('[JOB-17] of a job whose state changes meanwhile is a 409, which nobody tries again, and changes nothing', async () => {
    const { id } = await make();
    const running = await engine.filming(id);
    shell.meanwhile = async () => {
      running.finish();
      await shell.finished(id);
    };
    const answer = await shell.remove(`/videos/${id}`);
    expect(answer.status).toBe(409);
    expect(answer.json().error).toMatchObject({ metadata: { error_type: 'invalid_request' } });
    expect(answer.headers).toMatchObject({ 'x-should-retry': 'false' });
    expect((await shell.read(id)).status).toBe('completed');
    expect((await shell.get(contentOf({ id }))).bytes).toEqual(film);
  });

  it('[JOB-19] [JOB-21] [JOB-22] [VIDEO-81] of a completed job deletes it with its film', async () => {
    const job = await complete();
    const answer = await shell.remove(`/videos/${job.id}`);
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ id: job.id, object: 'video.deleted', deleted: true });
    for (const path of [`/videos/${job.id}`, contentOf(job)])
      expect((await shell.get(path)).status).toBe(404);
    const { pathname, search } = new URL(job.unsigned_urls[0]);
    expect((await shell.send({ url: pathname + search, key: null })).status).toBe(404);
    expect((await shell.remove(`/videos/${job.id}`)).status).toBe(404);
    expect(await shell.objects.find(`jobs/${job.id}/1/0.mp4`)).toBeUndefined();
  });

  it('[JOB-20] [JOB-21] of a failed, a cancelled and an expired job deletes the record', async () => {
    const failed = await fail(refusal);
    const cancelled = await make();
    await shell.remove(`/videos/${cancelled.id}`);
    const deleted = { object: 'video.deleted', deleted: true };
    for (const { id } of [failed, cancelled]) {
      expect((await shell.remove(`/videos/${id}`)).json()).toEqual({ id, ...deleted });
      expect((await shell.get(`/videos/${id}`)).status).toBe(404);
    }
    const { id } = await complete();
    shell.clock.advance(dayMs + 1_000);
    expect((await shell.read(id)).status).toBe('expired');
    expect((await shell.remove(`/videos/${id}`)).json()).toEqual({ id, ...deleted });
  });
});

describe('the content', () => {
  it('[VIDEO-75] is the film, with its length, its kind and a name', async () => {
    const job = await complete();
    const answer = await shell.get(contentOf(job, '?index=0'));
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': String(film.length),
      'accept-ranges': 'bytes',
      'content-disposition': `inline; filename="${job.id}-0.mp4"`,
    });
    expect(answer.bytes).toEqual(film);
  });

  it('[VIDEO-76] comes in parts', async () => {
    const answer = await shell.get(contentOf(await complete()), { range: 'bytes=100-199' });
    expect(answer.status).toBe(206);
    expect(answer.headers).toMatchObject({
      'content-range': `bytes 100-199/${film.length}`,
      'content-length': '100',
    });
    expect(answer.bytes).toEqual(film.subarray(100, 200));
  });

  it('[VIDEO-77] of a job that is not finished is a 409, which nobody tries again', async () => {
    const { id } = await make({ model: 'film-line' });
    const pending = await make({ model: 'film-line' });
    const running = await engine.filming(id);
    for (const job of [{ id }, pending]) {
      const answer = await shell.get(contentOf(job));
      expect(answer.status).toBe(409);
      expect(answer.headers).toMatchObject({ 'x-should-retry': 'false' });
    }
    expect(await failure(shell.get(contentOf({ id })))).toMatchObject({
      message: `The video job ${id} is not finished: it is in_progress`,
    });
    running.finish();
    (await engine.filming(pending.id)).finish();
    await shell.finished(pending.id);
  });

  it('[VIDEO-78] of another index, or of a job without a film, is a 404', async () => {
    const job = await complete();
    expect((await shell.get(contentOf(job, '?index=1'))).status).toBe(404);
    expect((await shell.get(contentOf(await fail(refusal)))).status).toBe(404);
    for (const index of ['-1', 'x', '0.5'])
      expect(await failure(shell.get(contentOf(job, `?index=${index}`)))).toMatchObject({
        code: 400,
        param: 'index',
      });
  });

  it('[VIDEO-79] has the variant video alone', async () => {
    const job = await complete();
    expect((await shell.get(contentOf(job, '?variant=video'))).status).toBe(200);
    for (const variant of ['thumbnail', 'spritesheet'])
      expect(await failure(shell.get(contentOf(job, `?variant=${variant}`)))).toMatchObject({
        code: 400,
        param: 'variant',
      });
  });

  it('[VIDEO-80] needs the key, or a link that is signed for it and not yet late', async () => {
    const job = await complete();
    const other = await complete();
    const { pathname, searchParams } = new URL(job.unsigned_urls[0]);
    const fetchAs = async (query: URLSearchParams, path = pathname) =>
      (await shell.send({ url: `${path}?${query}`, key: null })).status;
    expect(await fetchAs(searchParams)).toBe(200);
    expect((await shell.send({ url: pathname, key: null })).status).toBe(401);
    const forged = new URLSearchParams(searchParams);
    forged.set('sig', `${forged.get('sig')?.slice(0, -1)}${forged.get('sig')?.endsWith('A') ? 'E' : 'A'}`);
    expect(await fetchAs(forged)).toBe(401);
    const longer = new URLSearchParams(searchParams);
    longer.set('exp', String(Number(longer.get('exp')) + 1));
    expect(await fetchAs(longer)).toBe(401);
    expect(await fetchAs(searchParams, `/v1/videos/${other.id}/content`)).toBe(401);
    expect((await shell.send({ url: `${pathname}?${searchParams}`, key: 'wrong' })).status).toBe(401);
    shell.clock.advance(dayMs + 1_000);
    expect(await fetchAs(searchParams)).toBe(401);
  });
});

describe('the list', () => {
  it('[VIDEO-74] has the newest first, or the oldest, and pages', async () => {
    const ids: string[] = [];
    for (let each = 0; each < 5; each++) ids.push((await make({ model: 'film-free' })).id);
    const newest = ids.toReversed();
    const list = async (query = '') => (await shell.get(`/videos${query}`)).json();
    const page = await list('?limit=2');
    expect(page).toMatchObject({ object: 'list', first_id: newest[0], last_id: newest[1], has_more: true });
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual(newest.slice(0, 2));
    const next = await list(`?limit=2&after=${page.last_id}`);
    expect(next.data.map(({ id }: { id: string }) => id)).toEqual(newest.slice(2, 4));
    const oldest = await list(`?order=asc&after=${ids[2]}&limit=100`);
    expect(oldest).toMatchObject({ first_id: ids[3], last_id: ids[4], has_more: false });
    expect((await list()).data.length).toBeLessThanOrEqual(20);
    expect((await list()).data[0].id).toBe(newest[0]);
    for (const [name, value] of [
      ['limit', '0'],
      ['limit', '101'],
      ['limit', 'x'],
      ['order', 'up'],
    ])
      expect(await failure(shell.get(`/videos?${name}=${value}`))).toMatchObject({ code: 400, param: name });
    const empty = (await shell.send({ url: '/v1/videos', key: shell.keys.other })).json();
    expect(empty).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false });
  });
});

describe('who sees it', () => {
  it('[AUTH-19] every key of its subscription', async () => {
    const job = await complete();
    const as = (method: 'GET' | 'DELETE', path: string) =>
      shell.send({ method, url: `/v1${path}`, key: shell.keys.second });
    expect((await as('GET', `/videos/${job.id}`)).json()).toEqual(job);
    expect((await as('GET', contentOf(job))).bytes).toEqual(film);
    expect((await as('GET', '/videos')).json().data.map(({ id }: { id: string }) => id)).toContain(job.id);
    expect((await as('DELETE', `/videos/${job.id}`)).json().deleted).toBe(true);
  });

  it('[AUTH-22] no other subscription, which cannot tell it from one that does not exist', async () => {
    const job = await complete();
    const running = await make();
    await engine.filming(running.id);
    for (const { id } of [job, running])
      for (const [method, path] of [
        ['GET', `/videos/${id}`],
        ['GET', `/videos/${id}/content`],
        ['DELETE', `/videos/${id}`],
      ] as const) {
        const answer = await shell.send({ method, url: `/v1${path}`, key: shell.keys.other });
        expect([method, path, answer.status]).toEqual([method, path, 404]);
        expect(answer.json().error.message).toBe(`There is no video job "${id}"`);
      }
    expect((await shell.read(running.id)).status).toBe('in_progress');
    const listed = await shell.send({ url: `/v1/videos?after=${job.id}`, key: shell.keys.other });
    expect(listed.json().data).toEqual([]);
    for (const path of ['/videos', `/videos/${job.id}`, contentOf(job)])
      expect((await shell.send({ url: `/v1${path}`, key: null })).status).toBe(401);
  });
});

describe('its bill', () => {
  it.each([
    ['[BILL-11] [BILL-14] turbo', { duration: 4 }, 4],
    ['[BILL-14] auto', { duration: 4, quality: 'auto' }, 4],
    ['[BILL-14] low', { duration: 4, quality: 'low' }, 4],
    ['[BILL-14] standard', { duration: 4, quality: 'standard' }, 12],
    ['[BILL-14] medium', { duration: 4, quality: 'medium' }, 12],
    ['[BILL-14] max', { duration: 4, quality: 'max' }, 20],
    ['[BILL-14] high', { duration: 4, quality: 'high' }, 20],
    ['[BILL-15] 2K', { duration: 4, resolution: '2K' }, 16],
    ['[BILL-16] 10 steps', { duration: 4, num_inference_steps: 10 }, 7],
    ['[BILL-17] 19 steps', { duration: 4, num_inference_steps: 19 }, 12],
    ['[BILL-17] 31 steps', { duration: 4, num_inference_steps: 31 }, 20],
    ['[BILL-17] 40 steps', { duration: 4, num_inference_steps: 40 }, 20],
    ['[BILL-18] 41 steps', { duration: 6, num_inference_steps: 41 }, 41],
    ['[BILL-19] 9 steps', { duration: 6, num_inference_steps: 9 }, 6],
  ])('%s', async (_title, body, seconds) => {
    const job = await complete(body);
    // [BILL-20]
    expect(job.usage).toEqual({ billed_seconds: seconds, cost: Math.round(seconds * 5) / 100 });
    expect(await shell.bills(job.id)).toEqual([{ seconds, costPico: BigInt(seconds) * 50_000_000_000n }]);
  });

  it('[BILL-12] [BILL-13] [BILL-20] is written when it completes, once, and not when it fails', async () => {
    const { id } = await make();
    const running = await engine.filming(id);
    expect(await shell.bills(id)).toEqual([]);
    running.finish();
    await shell.finished(id);
    await shell.read(id);
    await shell.get(contentOf({ id }));
    await shell.get(contentOf({ id }));
    expect(await shell.bills(id)).toHaveLength(1);
    expect(await shell.bills((await fail(refusal)).id)).toEqual([]);
    const kept = await shell.get(`/generation?id=${id}`);
    expect(kept.status).toBe(200);
    expect(kept.json().data).toMatchObject({ id, model: 'film', total_cost: 0.3 });
  });
});

describe('creating one', () => {
  it('[IDEM-1] [IDEM-2] [IDEM-3] with the same key twice makes one job', async () => {
    const headers = { 'idempotency-key': 'a lake, once' };
    const first = await shell.post('/videos', { model: 'film', prompt: 'a lake' }, headers);
    // What `GET /generation` knows it by.
    expect(first.headers).toMatchObject({ 'x-generation-id': first.json().id });
    const again = await shell.post('/videos', { prompt: 'a lake', model: 'film' }, headers);
    expect(again.status).toBe(202);
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'x-generation-id': first.json().generation_id,
    });
    expect(again.json()).toEqual(first.json());
    const other = await shell.post('/videos', { model: 'film', prompt: 'a sea' }, headers);
    expect(other.json().error).toMatchObject({ code: 400, param: 'Idempotency-Key' });
  });

  it('[LIMIT-1] [LIMIT-3] [LIMIT-6] [LIMIT-7] [LIMIT-13] over the limit of its model is a 429, reading is not', async () => {
    const limited = await createJobsShell({ engine, media, pictures, limits: { requestsPerMinute: 2 } });
    try {
      const body = { model: 'film', prompt: 'a lake' };
      const first = await limited.post('/videos', body);
      expect(first.headers).toMatchObject({
        'x-ratelimit-limit-requests': '2',
        'x-ratelimit-remaining-requests': '1',
      });
      expect((await limited.post('/videos', body)).status).toBe(202);
      const third = await limited.post('/videos', body);
      expect(third.status).toBe(429);
      expect(Number(third.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect((await limited.post('/videos', { ...body, model: 'film-free' })).status).toBe(202);
      expect(
        (await limited.send({ method: 'POST', url: '/v1/videos', payload: body, key: limited.keys.other }))
          .status,
      ).toBe(202);
      for (let each = 0; each < 5; each++)
        expect((await limited.get(`/videos/${first.json().id}`)).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  it('[LIMIT-10] holds no place while its job waits and is rendered', async () => {
    const narrow = await createJobsShell({
      engine,
      media,
      pictures,
      limits: { concurrent: 1, maxQueueWaitMs: 1 },
    });
    try {
      for (let each = 0; each < 4; each++) await narrow.create('/videos');
    } finally {
      await narrow.close();
    }
  });

  it('[VIDEO-67] makes links with the address that the operator names', async () => {
    const named = await createJobsShell({ engine, media, pictures, publicUrl: 'https://ai.example.com/v1' });
    try {
      const { id, polling_url } = await named.create('/videos');
      expect(polling_url).toBe(`https://ai.example.com/v1/videos/${id}`);
      (await engine.filming(id)).finish();
      const job = await named.finished(id);
      expect(job.unsigned_urls[0]).toMatch(
        new RegExp(`^https://ai\\.example\\.com/v1/videos/${id}/content\\?index=0&exp=\\d+&sig=[\\w-]+$`),
      );
    } finally {
      await named.close();
    }
  });
});

it('an engine that answers with something else than a film fails the job', async () => {
  const { id } = await make();
  for (let attempt = 1; attempt <= 3; attempt++) {
    (await engine.filming(id, attempt)).finish(pngFile);
    await shell.finished(id);
    shell.clock.advance(60_000);
    await shell.fire('claim');
  }
  expect(await shell.read(id)).toMatchObject({
    status: 'failed',
    error: 'The engine answered with a film that cannot be read',
    error_code: 'provider_unavailable',
  });
});
