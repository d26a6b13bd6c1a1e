/** What `POST /music` takes, and a music job from its creation to its end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayError } from '../src/lib/errors.ts';
import { createLog } from '../src/lib/log.ts';
import { createMedia, type Media } from '../src/platform/media/index.ts';
import type { Pictures } from '../src/platform/pictures/types.ts';
import { createJobsEngine, type JobsEngine, makeSamples } from './support/jobs-engine.ts';
import { toDataUri } from './support/jobs-media.ts';
import { createJobsShell, type JobsShell } from './support/jobs-shell.ts';

const log = createLog('silent');
const never = new AbortController().signal;
const openai = { 'user-agent': 'OpenAI/Python 2.1.0', 'x-stainless-lang': 'python' };
const dayMs = 24 * 3600 * 1000;
let engine: JobsEngine;
let shell: JobsShell;
let media: Media;

beforeAll(async () => {
  media = createMedia({ log });
  engine = createJobsEngine(Buffer.alloc(0));
  engine.isHolding = true;
  shell = await createJobsShell({ engine, media, pictures: {} as Pictures });
});
afterAll(async () => {
  await shell.close();
  await media.close();
});

const make = (body: object = {}, headers = {}) => shell.create('/music', { duration: 5, ...body }, headers);

async function ask(body: object = {}) {
  const { id } = await shell.create('/music', body);
  return (await engine.playing(id)).request;
}

/** Songs of five seconds, as many as were asked for. */
async function complete(body: object = {}) {
  const { id } = await make(body);
  return perform(id);
}

async function perform(id: string) {
  const { request, play, finish } = await engine.playing(id);
  for (let index = 0; index < request.count; index++) void play(makeSamples(5, index), index);
  finish();
  return shell.finished(id);
}

async function refused(body: object, param: string, status = 400): Promise<string> {
  const answer = await shell.post('/music', { model: 'song', prompt: 'a lake', ...body });
  expect([answer.status, answer.body]).toEqual([status, expect.any(String)]);
  const { error } = answer.json();
  expect(error.param).toBe(param);
  return error.message;
}

const contentOf = (job: { id: string }, query = '') => `/music/${job.id}/content${query}`;

describe('a request', () => {
  it('[MUSIC-1] [MUSIC-2] is answered with 202 and the job, pending', async () => {
    const answer = await shell.post('/music', { model: 'song', prompt: 'a lake' });
    expect(answer.status).toBe(202);
    expect(answer.json()).toMatchObject({ object: 'music', status: 'pending', queue_position: 0 });
    expect(answer.json().id).toMatch(/^music_[0-9a-f]{24}$/);
    expect(answer.headers).toMatchObject({ vary: 'User-Agent, X-Stainless-Lang' });
  });

  it('[MUSIC-3] needs a model and a prompt, which is a string', async () => {
    for (const name of ['model', 'prompt']) {
      const { [name]: _, ...body }: Record<string, string> = { model: 'song', prompt: 'a lake' };
      const answer = await shell.post('/music', body);
      expect(answer.json().error).toMatchObject({ code: 400, param: name, message: `${name} is required` });
    }
    await refused({ prompt: ['a'] }, 'prompt');
    expect(await refused({ prompt: 'x'.repeat(2001) }, 'prompt')).toBe(
      'prompt must have at most 2000 characters',
    );
    expect((await ask({ prompt: ' as it\nis ' })).prompt).toBe(' as it\nis ');
  });

  it('[MUSIC-4] for a model that is not served is a 503, for an unknown one a 404', async () => {
    expect((await shell.post('/music', { model: 'song-off', prompt: 'a lake' })).status).toBe(503);
    for (const model of ['nobody', 'film'])
      expect((await shell.post('/music', { model, prompt: 'a lake' })).status).toBe(404);
  });

  it('[MUSIC-5] [MUSIC-6] has words and says whether there is singing, under three names', async () => {
    expect(await ask({ lyrics: 'la la', instrumental: false })).toMatchObject({
      lyrics: 'la la',
      instrumental: false,
    });
    expect((await ask({ lyrics_text: 'la' })).lyrics).toBe('la');
    expect((await ask({ lyrics: 'first', lyrics_text: 'second' })).lyrics).toBe('first');
    for (const name of ['instrumental', 'is_instrumental', 'force_instrumental'])
      expect((await ask({ [name]: true })).instrumental).toBe(true);
    expect((await ask({ instrumental: false, force_instrumental: true })).instrumental).toBe(false);
    expect((await ask()).instrumental).toBe(false);
    await refused({ lyrics: 5 }, 'lyrics');
    await refused({ lyrics_text: 'x'.repeat(4001) }, 'lyrics_text');
    for (const name of ['instrumental', 'is_instrumental', 'force_instrumental'])
      await refused({ [name]: 'true' }, name);
  });

  it('[MUSIC-7] [MUSIC-8] says in whole seconds how long, also as text, and under three names', async () => {
    expect((await ask()).durationSeconds).toBe(30);
    expect((await ask({ duration: 5 })).durationSeconds).toBe(5);
    expect((await ask({ duration: '240' })).durationSeconds).toBe(240);
    expect((await ask({ seconds: '7' })).durationSeconds).toBe(7);
    expect((await ask({ music_length_ms: 9_000 })).durationSeconds).toBe(9);
    expect((await ask({ music_length_ms: 9_001 })).durationSeconds).toBe(10);
    expect((await ask({ duration: 6, seconds: 7, music_length_ms: 8_000 })).durationSeconds).toBe(6);
    for (const duration of [6.5, '6.5', 'abc', true])
      expect(await refused({ duration }, 'duration')).toBe('duration must be a whole number');
    expect(await refused({ duration: 4 }, 'duration')).toBe('duration must be from 5 to 240 seconds');
    await refused({ seconds: 241 }, 'seconds');
    expect(await refused({ music_length_ms: 300_000 }, 'music_length_ms')).toBe(
      'music_length_ms must be from 5000 to 240000 milliseconds',
    );
  });

  it('[MUSIC-9] says how many songs, up to what the model makes', async () => {
    expect((await ask()).count).toBe(1);
    expect((await ask({ n: 4, duration: 5 })).count).toBe(4);
    expect((await ask({ n: '2', duration: 5 })).count).toBe(2);
    for (const n of [0, 5]) expect(await refused({ n }, 'n')).toBe('n must be from 1 to 4');
    await refused({ n: 1.5 }, 'n');
    expect(await refused({ model: 'song-plain', n: 2 }, 'n')).toBe('n must be 1');
  });

  it('[MUSIC-10] says in which format, under two names', async () => {
    expect((await make()).response_format).toBe('mp3');
    for (const format of ['mp3', 'wav', 'flac', 'opus']) {
      expect((await make({ response_format: format })).response_format).toBe(format);
      expect((await make({ output_format: format })).response_format).toBe(format);
    }
    await refused({ response_format: 'aac' }, 'response_format');
    await refused({ output_format: 'mp3_44100_128' }, 'output_format');
    expect((await shell.create('/music', { model: 'song-plain' })).response_format).toBe('wav');
    expect(await refused({ model: 'song-plain', response_format: 'mp3' }, 'response_format')).toBe(
      'response_format must be one of wav, flac',
    );
  });

  it('[MUSIC-11] has settings where the model declares them', async () => {
    const settings = {
      seed: '-5',
      negative_prompt: 'drums',
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      guidance_scale: 3.5,
      num_inference_steps: 30,
    };
    expect(await ask(settings)).toMatchObject({
      seed: -5,
      negativePrompt: 'drums',
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      guidanceScale: 3.5,
      steps: 30,
      sampleRate: 32_000,
      channels: 2,
    });
    const plain = await ask({ model: 'song-plain' });
    for (const name of ['negativePrompt', 'temperature', 'topP', 'topK', 'guidanceScale', 'steps', 'lyrics'])
      expect(plain).not.toHaveProperty(name);
    const others = { lyrics: 'la', instrumental: true, input_references: [], cfg: 1 };
    for (const [name, value] of Object.entries({ ...settings, ...others })) {
      const answer = await shell.post('/music', { model: 'song-plain', prompt: 'x', [name]: value });
      expect(answer.json().error).toMatchObject({
        code: 400,
        param: name,
        message: `${name} is not supported by the model song-plain`,
        metadata: { error_type: 'unsupported_parameter' },
      });
    }
    await refused({ temperature: 3 }, 'temperature');
    await refused({ top_k: 'many' }, 'top_k');
  });

  it('[MUSIC-12] has a sound to work from where the model declares it', async () => {
    const sound = await media.encode(new Int16Array(64_000), { format: 'mp3', sampleRate: 32_000 }, never);
    const reference = (url: string) => ({ input_references: [{ type: 'audio_url', audio_url: { url } }] });
    const param = 'input_references[0].audio_url.url';
    const { references } = await ask(reference(toDataUri(sound, 'audio/mpeg')));
    expect(references).toMatchObject([{ mediaType: 'audio/mpeg' }]);
    expect(references[0]?.bytes.equals(sound)).toBe(true);
    const large = `data:audio/wav;base64,${Buffer.alloc(15e6 + 1).toString('base64')}`;
    expect(await refused(reference(large), param, 413)).toBe(`${param} is larger than the limit of 15 MB`);
    await refused(reference('http://files.example/a.wav'), param);
    await refused(reference(toDataUri(Buffer.from('no sound'), 'audio/wav')), param);
    await refused({ input_references: [{ type: 'audio_url' }] }, 'input_references[0].audio_url');
    const picture = { type: 'image_url', audio_url: { url: 'https://files.example/a.png' } };
    await refused({ input_references: [picture] }, 'input_references[0].type');
    await refused({ model: 'song-line', ...reference(large) }, 'input_references');
  });

  it('[MUSIC-13] has settings under provider too: routing is ignored, an unknown one a 400 naming its path', async () => {
    const options = { temperature: 0.25, roundhouse: { top_k: 3, temperature: 1 } };
    expect(await ask({ provider: { order: ['x'], options } })).toMatchObject({ temperature: 0.25, topK: 3 });
    expect((await ask({ provider: { options }, temperature: 0.75 })).temperature).toBe(0.75);
    await refused({ provider: { options: { temprature: 1 } } }, 'provider.options.temprature');
    await refused({ provider: { options: { roundhouse: { x: 1 } } } }, 'provider.options.roundhouse.x');
    await refused({ provider: { options: { temperature: 'hot' } } }, 'provider.options.temperature');
    await refused(
      { model: 'song-plain', provider: { options: { temperature: 1 } } },
      'provider.options.temperature',
    );
    await refused({ provider: [] }, 'provider');
  });

  it('[MUSIC-14] may carry user, session_id and trace, which are ignored', async () => {
    const fields = { user: 'u', session_id: 's', trace: { trace_id: 't' } };
    const request = await ask(fields);
    for (const name of Object.keys(fields)) expect(request).not.toHaveProperty(name);
    expect((await ask({ model: 'song-plain', ...fields })).durationSeconds).toBe(5);
  });

  it.each(['http://client.example/', 'https://10.0.0.1/', 'https://[fe80::1]/', 'x'])(
    '[HOOK-6] has no callback_url like %s',
    async (callback_url) => {
      await refused({ callback_url }, 'callback_url');
    },
  );

  it('[IDEM-1] [IDEM-2] with the same Idempotency-Key twice makes one job', async () => {
    const headers = { 'idempotency-key': 'a song, once' };
    const [first, again] = [await make({}, headers), await make({}, headers)];
    expect(again).toEqual(first);
  });
});

describe('a job', () => {
  it('[MUSIC-15] [MUSIC-18] tells what it was asked', async () => {
    const body = { prompt: 'a lake', lyrics: 'la', seed: 3, response_format: 'opus', instrumental: true };
    const job = await make({ ...body, model: 'song-line' });
    expect(job).toEqual({
      id: job.id,
      object: 'music',
      model: 'song-line',
      status: 'pending',
      polling_url: `http://localhost:80/v1/music/${job.id}`,
      created_at: Math.floor(shell.clock.now() / 1000),
      started_at: null,
      completed_at: null,
      expires_at: null,
      queue_position: 0,
      progress: 0,
      prompt: 'a lake',
      lyrics: 'la',
      instrumental: true,
      duration: 5,
      response_format: 'opus',
      seed: 3,
      generation_id: job.id,
      stream_url: `http://localhost:80/v1/music/${job.id}/stream?index=0`,
    });
    const playing = await engine.playing(job.id);
    expect(await shell.read(job.id)).toMatchObject({ status: 'in_progress', stream_url: job.stream_url });
    void playing.play(makeSamples(1));
    playing.finish();
    const done = await shell.finished(job.id);
    expect(done.status).toBe('completed');
    expect(done).not.toHaveProperty('stream_url');
  });

  it('[MUSIC-18] of a model that does not stream has no stream_url', async () => {
    const job = await shell.create('/music', { model: 'song-plain' });
    expect(job).not.toHaveProperty('stream_url');
    expect((await perform(job.id)).outputs).toHaveLength(1);
  });

  it('[MUSIC-16] [MUSIC-17] [BILL-21] has outputs when it has completed, numbered from 0', async () => {
    const { id, ...pending } = await make({ n: 3, response_format: 'flac' });
    expect(pending).not.toHaveProperty('outputs');
    const job = await perform(id);
    expect(job.outputs).toEqual(
      [0, 1, 2].map((index) => ({
        index,
        url: job.unsigned_urls[index],
        duration: 5,
        format: 'flac',
        media_type: 'audio/flac',
        sample_rate: 32_000,
        channels: 2,
        bytes: expect.any(Number),
      })),
    );
    expect(job.usage).toEqual({ billed_seconds: 15, cost: 0.0105 });
    expect(await shell.bills(id)).toEqual([{ seconds: 15, costPico: 10_500_000_000n }]);
    for (const { index, bytes, url } of job.outputs) {
      const { pathname, search } = new URL(url);
      const answer = await shell.send({ url: pathname + search, key: null });
      expect(answer.bytes.length).toBe(bytes);
      expect(makeSamples(5, index).equals(await pcmOf(answer.bytes))).toBe(true);
    }
  });

  /** Lossless formats give back what was played. */
  async function pcmOf(file: Buffer): Promise<Buffer> {
    const options = { startSeconds: 0, endSeconds: 60, maxSeconds: 60, param: 'file' };
    const wav = await media.cut(file, { ...options, sampleRate: 32_000, channels: 2 }, never);
    return wav.subarray(44);
  }

  it('[BILL-13] that fails or is cancelled bills nothing; [BILL-21] one without a price says no cost', async () => {
    const [failed, cancelled] = [await make(), await make()];
    (await engine.playing(failed.id)).fail(new GatewayError('invalid_request', 'the lyrics cannot be sung'));
    await engine.playing(cancelled.id);
    await shell.remove(`/music/${cancelled.id}`);
    expect(await shell.finished(failed.id)).toMatchObject({
      status: 'failed',
      error: 'the lyrics cannot be sung',
      error_code: 'invalid_request',
    });
    expect((await shell.finished(cancelled.id)).status).toBe('cancelled');
    for (const { id } of [failed, cancelled]) expect(await shell.bills(id)).toEqual([]);
    expect((await complete({ model: 'song-plain' })).usage).toEqual({ billed_seconds: 5 });
  });

  it('[MUSIC-19] is read by OpenAI clients in their words', async () => {
    const job = await make({ model: 'song-line' }, openai);
    expect(job).toMatchObject({ status: 'queued', error: null });
    expect(job).not.toHaveProperty('remixed_from_video_id');
    (await engine.playing(job.id)).fail(new GatewayError('too_large', 'too much'));
    expect(await shell.finished(job.id)).toMatchObject({
      status: 'failed',
      error: 'too much',
      error_code: 'payload_too_large',
    });
    expect((await shell.get(`/music/${job.id}`, openai)).json().error).toEqual({
      code: 'payload_too_large',
      message: 'too much',
    });
  });

  it('[MUSIC-20] [MUSIC-21] is listed and read like a video', async () => {
    const ids = [(await make()).id, (await make()).id, (await make()).id];
    const page = (await shell.get('/music?limit=2')).json();
    expect(page).toMatchObject({ object: 'list', first_id: ids[2], last_id: ids[1], has_more: true });
    const next = (await shell.get(`/music?limit=1&order=asc&after=${ids[0]}`)).json();
    expect(next.data.map(({ id }: { id: string }) => id)).toEqual([ids[1]]);
    expect((await shell.get('/music?limit=101')).status).toBe(400);
    expect((await shell.get(`/music/${ids[0]}`)).json()).toMatchObject({ id: ids[0], object: 'music' });
    for (const id of [`music_${'0'.repeat(24)}`, 'music_1', 'x'])
      expect((await shell.get(`/music/${id}`)).json().error).toMatchObject({
        code: 404,
        message: `There is no music job "${id}"`,
      });
    expect((await shell.post('/music/edits', {})).json().error.message).toBe('No route POST /v1/music/edits');
  });

  it.each([
    ['mp3', 'audio/mpeg', 'mp3'],
    ['wav', 'audio/wav', 'wav'],
    ['flac', 'audio/flac', 'flac'],
    ['opus', 'audio/ogg', 'ogg'],
  ])('[MUSIC-22] has %s as %s', async (response_format, mediaType, extension) => {
    const job = await complete({ response_format });
    const answer = await shell.get(contentOf(job, '?index=0'));
    expect(answer.headers).toMatchObject({
      'content-type': mediaType,
      'content-length': String(job.outputs[0].bytes),
      'content-disposition': `inline; filename="${job.id}-0.${extension}"`,
    });
    expect(await media.probe(answer.bytes, 'file', never)).toMatchObject({ container: extension });
    const part = await shell.get(contentOf(job), { range: 'bytes=-10' });
    expect(part.status).toBe(206);
    expect(part.bytes).toEqual(answer.bytes.subarray(-10));
  });

  it('[MUSIC-23] [JOB-23] has content only between its end and its expiry, and only what it made', async () => {
    const unfinished = await make();
    await engine.playing(unfinished.id);
    expect((await shell.get(contentOf(unfinished))).status).toBe(409);
    await shell.remove(`/music/${unfinished.id}`);
    const job = await complete();
    expect((await shell.get(contentOf(job))).status).toBe(200);
    expect((await shell.get(contentOf(job, '?index=1'))).status).toBe(404);
    shell.clock.advance(dayMs + 1_000);
    expect((await shell.get(contentOf(job))).status).toBe(404);
    expect(await shell.read(job.id)).toMatchObject({ status: 'expired' });
  });

  it('[MUSIC-24] [JOB-19] [JOB-21] is deleted with its songs and its stream', async () => {
    const job = await complete();
    expect((await shell.remove(`/music/${job.id}`)).json()).toEqual({
      id: job.id,
      object: 'music.deleted',
      deleted: true,
    });
    for (const path of [`/music/${job.id}`, contentOf(job), `/music/${job.id}/stream`])
      expect((await shell.get(path)).status).toBe(404);
  });

  it('[AUTH-19] [AUTH-22] is seen by every key of its subscription and by no other', async () => {
    const job = await complete();
    for (const path of [`/music/${job.id}`, contentOf(job), `/music/${job.id}/stream`]) {
      expect((await shell.send({ url: `/v1${path}`, key: shell.keys.second })).status).toBe(200);
      expect((await shell.send({ url: `/v1${path}`, key: shell.keys.other })).status).toBe(404);
      expect((await shell.send({ url: `/v1${path}`, key: null })).status).toBe(401);
    }
  });

  it('[LIMIT-1] over the limit of its model is a 429', async () => {
    const pictures = {} as Pictures;
    const limited = await createJobsShell({ engine, media, pictures, limits: { requestsPerMinute: 1 } });
    try {
      await limited.create('/music', { duration: 5 });
      expect((await limited.post('/music', { model: 'song', prompt: 'a lake' })).status).toBe(429);
    } finally {
      await limited.close();
    }
  });

  it('of an engine that plays nothing fails', async () => {
    const { id } = await make();
    for (let attempt = 1; attempt <= 3; attempt++) {
      (await engine.playing(id, attempt)).finish();
      await shell.finished(id);
      shell.clock.advance(60_000);
      await shell.fire('claim');
    }
    expect(await shell.read(id)).toMatchObject({
      status: 'failed',
      error: 'The engine answered without music',
      error_code: 'provider_unavailable',
    });
  });
});
