/** The video port against a server that answers as it is told, and as real ones do. */
import { globSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createMockEngine,
  type MockEngine,
  type MockExchange,
  type MockScript,
} from '../../../test/support/mock-engine.ts';
import { formOf } from '../../../test/support/mock-form.ts';
import { Wheel } from '../../lib/wheel.ts';
import type { Engine } from '../contract/engine.ts';
import { type RenderContext, RenderHandedOver } from '../contract/render.ts';
import type { Studio } from '../contract/studio.ts';
import type { VideoRequest } from '../contract/video.ts';
import { toAddress } from './address.ts';
import type { FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import { createOpenaiCompatible } from './index.ts';
import type { VideoTimers } from './video.ts';
import { readJob, readJobId } from './video-job.ts';

let mock: MockEngine;
let wheel: Wheel;
let clock: { at: number; pauses: number[]; patience: (() => void)[] };
const engines: Engine[] = [];

beforeEach(async () => {
  wheel = new Wheel();
  mock = await createMockEngine();
  clock = { at: 0, pauses: [], patience: [] };
});
afterEach(async () => {
  expect(clock.patience).toEqual([]);
  expect(wheel.size).toBe(0);
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await mock.close();
});

/** Pauses between two questions pass at once; patience only runs out when a test says so. */
const timers: VideoTimers = {
  now: () => clock.at,
  after(delayMs, callback) {
    if (delayMs >= 5_000) {
      clock.patience.push(callback);
      return () => {
        clock.patience = clock.patience.filter((other) => other !== callback);
      };
    }
    clock.pauses.push(delayMs);
    const timer = setImmediate(() => {
      clock.at += delayMs;
      callback();
    });
    return () => clearImmediate(timer);
  },
};

function engine(flavor: FlavorName, studio?: Studio): Engine {
  const made = createOpenaiCompatible({
    address: toAddress(mock.url),
    flavor: flavors[flavor],
    apiKey: 'secret',
    headers: { 'x-team': 'films' },
    timeoutMs: 100_000,
    idleTimeoutMs: 20_000,
    wheel,
    timers,
    ...(studio === undefined ? {} : { studio }),
  });
  engines.push(made);
  return made;
}

const file = (text: string, mediaType: string) => ({ bytes: Buffer.from(text), mediaType });
const request = (changes: Partial<VideoRequest> = {}): VideoRequest => ({
  model: 'Org/Film',
  prompt: 'a fox',
  durationSeconds: 4,
  width: 1344,
  height: 768,
  upscale: 1,
  fps: 24,
  seed: 7,
  steps: 4,
  schedule: 'turbo',
  generateAudio: true,
  references: [],
  ...changes,
});

interface Told {
  notes: string[];
  fractions: number[];
}

function context(told: Told, remembered?: string): RenderContext {
  return {
    remembered,
    remember: async (note) => {
      told.notes.push(note);
    },
    progress: (fraction) => told.fractions.push(fraction),
    expectedMs: 12_000,
  };
}

const { signal: never } = new AbortController();

async function render(
  flavor: FlavorName,
  changes: Partial<VideoRequest> = {},
  { remembered, signal = never, studio }: { remembered?: string; signal?: AbortSignal; studio?: Studio } = {},
) {
  const told: Told = { notes: [], fractions: [] };
  const film = await engine(flavor, studio).video!.render(
    request(changes),
    context(told, remembered),
    signal,
  );
  return { film, ...told };
}

/** A box of an MP4 file. */
function box(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}
const handler = (kind: string) => box('hdlr', Buffer.alloc(8), Buffer.from(kind), Buffer.alloc(13));
const track = (kind: string) => box('trak', box('tkhd', Buffer.alloc(12)), box('mdia', handler(kind)));
const film = Buffer.concat([
  box('ftyp', Buffer.from('isom')),
  box('moov', box('mvhd', Buffer.alloc(20)), track('vide'), track('soun')),
  box('mdat', Buffer.from('pictures and sound')),
]);

const id = 'video_1';
const jobPath = `/v1/videos/${id}`;
const bytes = (content: Buffer) => async (exchange: MockExchange) => {
  exchange.head({ 'content-type': 'video/mp4', 'content-length': String(content.length) });
  await exchange.write(content);
  exchange.end();
};

/** Each answer once, the last one for ever. */
function inTurn(...scripts: MockScript[]): MockScript {
  let next = 0;
  return (exchange) => scripts[Math.min(next++, scripts.length - 1)]?.(exchange);
}
const says =
  (status: string, more: object = {}): MockScript =>
  ({ json }) =>
    json(200, { id, object: 'video', status, ...more });

function filming(...answers: MockScript[]): void {
  mock.route('/v1/videos', says('queued', { progress: 0 }));
  mock.route(jobPath, inTurn(...(answers.length > 0 ? answers : [says('completed', { progress: 100 })])));
  mock.route(`${jobPath}/content`, bytes(film));
}
const asked = (method: string, path: string) =>
  mock.others.filter((sent) => sent.method === method && sent.path === path);

const first = file('first', 'image/png');
const last = file('last', 'image/webp');
const references = [
  { ...file('cat', 'image/jpeg'), kind: 'image', role: 'reference' },
  { ...file('clip', 'video/quicktime'), kind: 'video', role: 'reference' },
  { ...file('song', 'audio/mpeg'), kind: 'audio', role: 'reference' },
] as const;
const h3 = { model: 'MiniMaxAI/MiniMax-H3' };
const uri = (text: string, type: string) => `data:${type};base64,${Buffer.from(text).toString('base64')}`;

describe('an order', () => {
  it('[VIDEO-7] is the form that OpenAI takes, with the prompt exactly as written and no field more', async () => {
    filming();
    const prompt = 'Ein Fuchs, "sehr"\r\n--schnell  ';
    await render('generic', { prompt, firstFrame: first });
    const [sent] = asked('POST', '/v1/videos');
    expect(await formOf(sent!)).toEqual({
      fields: { model: 'Org/Film', prompt, seconds: '4', size: '1344x768' },
      files: [['input_reference', 'first-frame.png', 'image/png', Buffer.from('first')]],
    });
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-team': 'films' });
  });

  it('is the JSON that SGLang takes, with the first frame as a data URI', async () => {
    filming();
    await render('sglang', { firstFrame: first, steps: 20 });
    expect(asked('POST', '/v1/videos')[0]?.body).toEqual({
      model: 'Org/Film',
      prompt: 'a fox',
      seconds: 4,
      seed: 7,
      size: '1344x768',
      fps: 24,
      num_inference_steps: 20,
      reference_url: uri('first', 'image/png'),
    });
  });

  it.each([
    ['t2va', {}, []],
    [
      'fl2va',
      { firstFrame: first, lastFrame: last },
      [
        { type: 'image', uri: uri('first', 'image/png'), role: 'keyframe', frame_index: 0 },
        { type: 'image', uri: uri('last', 'image/webp'), role: 'keyframe', frame_index: -1 },
      ],
    ],
    [
      'ref2va',
      { references, startTimeSeconds: 1.5 },
      [
        { type: 'image', uri: uri('cat', 'image/jpeg'), role: 'reference' },
        {
          type: 'video',
          uri: uri('clip', 'video/quicktime'),
          role: 'reference',
          start_time_seconds: 1.5,
        },
        { type: 'audio', uri: uri('song', 'audio/mpeg'), role: 'reference' },
      ],
    ],
  ] as const)(
    '[VIDEO-49] names the task %s and its conditions to H3 on SGLang',
    async (task, changes, conditions) => {
      filming();
      await render('sglang', { ...h3, ...changes });
      expect(asked('POST', '/v1/videos')[0]?.body).toEqual({
        ...h3,
        prompt: 'a fox',
        seconds: 4,
        seed: 7,
        task,
        conditions,
        target: { short_edge: 768, aspect_ratio: '16:9', duration_seconds: 4 },
        // The end of the schedule counts as one.
        num_inference_steps: 5,
      });
    },
  );

  it.each([
    [1344, 768, '16:9'],
    [768, 1344, '9:16'],
    [1024, 768, '4:3'],
    [768, 1024, '3:4'],
    [768, 768, '1:1'],
    [1536, 672, '21:9'],
  ])('[VIDEO-17] calls %i × %i %s', async (width, height, ratio) => {
    filming();
    await render('sglang', { ...h3, width, height });
    expect(asked('POST', '/v1/videos')[0]?.body?.['target']).toMatchObject({ aspect_ratio: ratio });
  });

  it('is the form that vLLM-Omni takes', async () => {
    filming();
    await render('vllm-omni', { firstFrame: first, generateAudio: false });
    expect(await formOf(asked('POST', '/v1/videos')[0]!)).toEqual({
      fields: {
        model: 'Org/Film',
        prompt: 'a fox',
        width: '1344',
        height: '768',
        fps: '24',
        seed: '7',
        seconds: '4',
        num_inference_steps: '4',
        generate_sound: 'false',
      },
      files: [['input_reference', 'first-frame.png', 'image/png', Buffer.from('first')]],
    });
  });

  it.each([
    ['frames', { firstFrame: first, lastFrame: last }, { task: 'fl2va', frame_indices: [0, -1] }],
    ['a last frame', { lastFrame: last }, { task: 'fl2va', frame_indices: [-1] }],
    ['references', { references, startTimeSeconds: 2 }, { task: 'ref2va', start_time_seconds: [2] }],
    ['nothing', {}, { task: 't2va' }],
  ] as const)('tells H3 on vLLM-Omni of %s in its own words', async (_, changes, extra) => {
    filming();
    await render('vllm-omni', { ...h3, ...changes });
    const { fields, files } = await formOf(asked('POST', '/v1/videos')[0]!);
    expect(JSON.parse(fields['extra_params'] ?? '')).toEqual({
      duration: 4,
      aspect_ratio: '16:9',
      ...extra,
    });
    expect(fields).toMatchObject({ num_inference_steps: '5', width: '1344', height: '768', fps: '24' });
    const names = files.map(([field, name, type]) => [field, name, type]);
    if ('references' in changes) {
      expect(names).toEqual([
        ['input_references', 'reference-1.jpeg', 'image/jpeg'],
        ['input_references', 'reference-2.mov', 'video/quicktime'],
        ['input_references', 'reference-3.mp3', 'audio/mpeg'],
      ]);
    } else expect(names).toHaveLength(Object.keys(changes).length);
  });

  it.each([
    ['generic', { lastFrame: last }, 'frame_images'],
    ['generic', { references }, 'input_references'],
    ['sglang', { lastFrame: last }, 'frame_images'],
    ['vllm-omni', { references }, 'input_references'],
    ['sglang', { ...h3, references: [{ ...references[0], role: 'driving' }] }, 'input_references'],
  ] as const)('that %s cannot take is refused before it is sent: %o', async (flavor, changes, param) => {
    await expect(render(flavor, changes)).rejects.toMatchObject({ kind: 'invalid_request', param });
    expect(mock.others).toEqual([]);
  });

  it('that the engine refuses fails with its first line', async () => {
    mock.route('/v1/videos', ({ json }) => json(400, { detail: 'seconds must be 4\nTraceback' }));
    await expect(render('sglang')).rejects.toMatchObject({
      kind: 'invalid_request',
      message: 'seconds must be 4',
    });
  });

  it('may be answered with 202, as this gateway itself does', async () => {
    filming();
    mock.route('/v1/videos', ({ json }) => json(202, { id, status: 'pending' }));
    expect((await render('generic')).film).toEqual(film);
  });
});

describe('a job at the engine', () => {
  it('is remembered at once, asked for until it is done, and fetched', async () => {
    filming(
      says('queued'),
      says('in_progress', { progress: 25 }),
      says('in_progress', { progress: 80 }),
      says('completed', { progress: 100 }),
    );
    const { film: made, notes, fractions } = await render('generic');
    expect(made).toEqual(film);
    expect(notes).toEqual([id]);
    expect(fractions).toEqual([0.25, 0.8]);
    expect(clock.pauses).toEqual([500, 500, 500]);
  });

  it('that was remembered is waited for, not begun anew', async () => {
    filming();
    const { film: made, notes } = await render('sglang', {}, { remembered: id });
    expect(made).toEqual(film);
    expect(notes).toEqual([]);
    expect(asked('POST', '/v1/videos')).toEqual([]);
  });

  it('that was remembered and is not known any more is begun anew', async () => {
    filming();
    mock.route('/v1/videos/gone', ({ json }) => json(404, { detail: 'Video not found' }));
    const { film: made, notes } = await render('sglang', {}, { remembered: 'gone' });
    expect(made).toEqual(film);
    expect(notes).toEqual([id]);
  });

  it('that the engine forgets while it is waited for is a failure that another attempt can cure', async () => {
    filming(says('queued'), ({ json }) => json(404, { detail: 'Video not found' }));
    await expect(render('sglang')).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('survives a moment without answers', async () => {
    filming(
      ({ reset }) => reset(),
      ({ text }) => text(502, 'Bad Gateway'),
      ({ json }) => json(503, { detail: 'busy' }),
      says('completed'),
    );
    expect((await render('generic')).film).toEqual(film);
  });

  it('is given up when nothing answers for longer than the idle timeout', async () => {
    filming(({ text }) => text(500, 'broken'));
    await expect(render('generic')).rejects.toMatchObject({ kind: 'unreachable' });
    expect(clock.at).toBeGreaterThanOrEqual(20_000);
    expect(clock.at).toBeLessThan(21_000);
  });

  it('is given up, and cancelled, when it takes far longer than expected', async () => {
    filming();
    mock.route(jobPath, ({ request: sent, json }) => {
      if (sent.method !== 'DELETE') clock.at += 600_000;
      json(200, { id, status: 'in_progress' });
    });
    await expect(render('generic')).rejects.toMatchObject({ kind: 'timeout' });
    expect(asked('DELETE', jobPath)).toHaveLength(1);
  });

  it('[JOB-6] that fails fails the render with the first line of what the engine says', async () => {
    filming(says('failed', { error: { message: 'no memory on 10.0.0.7:8000\nTraceback (most recent)' } }));
    await expect(render('vllm-omni')).rejects.toMatchObject({
      kind: 'unreachable',
      message: 'The engine failed: no memory on [address]',
    });
  });

  it('that a filter stopped says so', async () => {
    filming(says('failed', { error: { code: 'moderation_blocked', message: 'Blocked by moderation' } }));
    await expect(render('generic')).rejects.toMatchObject({
      kind: 'invalid_request',
      code: 'content_policy_violation',
      message: 'Blocked by moderation',
    });
  });

  it('without an id that can be asked for is an unreadable answer', async () => {
    mock.route('/v1/videos', ({ json }) => json(200, { id: '../../secrets', status: 'queued' }));
    await expect(render('generic')).rejects.toMatchObject({ kind: 'unreachable' });
    expect(mock.others).toHaveLength(1);
  });
});

describe('the film', () => {
  it('is fetched again when the connection breaks', async () => {
    filming();
    mock.route(
      `${jobPath}/content`,
      inTurn(({ reset }) => reset(), bytes(film)),
    );
    expect((await render('generic')).film).toEqual(film);
  });

  it('that is no MP4 file is a failure of the engine', async () => {
    filming();
    mock.route(`${jobPath}/content`, ({ text }) => text(200, 'not yet'));
    await expect(render('generic')).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('that the engine keeps on another host is not followed there', async () => {
    filming(says('completed', { url: 'https://bucket.example.com/film.mp4' }));
    mock.route(`${jobPath}/content`, ({ json }) => json(400, { detail: 'uploaded to cloud storage' }));
    await expect(render('sglang')).rejects.toMatchObject({
      message: expect.stringContaining('another host'),
    });
  });

  it('[VIDEO-59] has no sound track when no audio was asked for, whatever the engine made', async () => {
    filming();
    const { film: silent } = await render('sglang', { generateAudio: false });
    expect(silent.length).toBe(film.length);
    expect(silent.toString('latin1').match(/trak/g)).toHaveLength(1);
    expect(silent.toString('latin1').match(/free/g)).toHaveLength(1);
    // The track that stays is the one with the pictures.
    expect(silent.indexOf('trak')).toBeLessThan(silent.indexOf('vide'));
    expect(silent.indexOf('free')).toBeGreaterThan(silent.indexOf('vide'));
  });

  it('[VIDEO-18] is asked for in the size before enlarging, and enlarged in the studio', async () => {
    filming();
    const orders: unknown[] = [];
    const studio: Studio = {
      async *render(order) {
        orders.push({ ...order, module: order.module.pathname.replace(/^.*\//, '') });
        yield Buffer.from('large ');
        yield Buffer.from('film');
      },
    };
    const { film: made } = await render(
      'sglang',
      { width: 2688, height: 1536, upscale: 2, generateAudio: false },
      { studio },
    );
    expect(made.toString()).toBe('large film');
    expect(asked('POST', '/v1/videos')[0]?.body?.['size']).toBe('1344x768');
    expect(orders).toMatchObject([
      { module: 'enlarge.ts', request: { fps: 24, upscale: 2, hasSound: false }, inputs: [film] },
    ]);
  });
});

describe('an abort', () => {
  it('[JOB-16] cancels the job at the engine', async () => {
    const abort = new AbortController();
    filming();
    mock.route(
      jobPath,
      inTurn(
        says('in_progress'),
        ({ request: sent }) => {
          abort.abort(new Error('cancelled'));
          return sent.aborted;
        },
        says('deleted'),
      ),
    );
    await expect(render('generic', {}, { signal: abort.signal })).rejects.toThrow('cancelled');
    expect(asked('DELETE', jobPath)).toHaveLength(1);
    expect(asked('GET', `${jobPath}/content`)).toEqual([]);
  });

  it('leaves the job alone when another process goes on with it', async () => {
    const abort = new AbortController();
    filming();
    mock.route(jobPath, ({ request: sent }) => {
      abort.abort(new RenderHandedOver('closing'));
      return sent.aborted;
    });
    await expect(render('generic', {}, { signal: abort.signal })).rejects.toThrow('closing');
    expect(asked('DELETE', jobPath)).toEqual([]);
  });

  it('while the job is being created cancels it as soon as it is known', async () => {
    const abort = new AbortController();
    filming();
    mock.route('/v1/videos', ({ json }) => {
      abort.abort(new Error('cancelled'));
      json(200, { id, status: 'queued' });
    });
    await expect(render('generic', {}, { signal: abort.signal })).rejects.toThrow('cancelled');
    expect(asked('DELETE', jobPath)).toHaveLength(1);
    expect(asked('GET', jobPath)).toEqual([]);
  });

  it('waits no longer than its patience for an engine that does not answer', async () => {
    const abort = new AbortController();
    filming();
    mock.route('/v1/videos', ({ request: sent }) => {
      abort.abort(new Error('cancelled'));
      setImmediate(() => {
        for (const runOut of clock.patience.splice(0)) runOut();
      });
      return sent.aborted;
    });
    await expect(render('generic', {}, { signal: abort.signal })).rejects.toThrow('cancelled');
    expect(mock.others).toHaveLength(1);
  });

  it('before anything was sent sends nothing', async () => {
    await expect(
      render('generic', {}, { signal: AbortSignal.abort(new Error('cancelled')) }),
    ).rejects.toThrow('cancelled');
    expect(mock.others).toEqual([]);
  });

  it('follows when the id cannot be remembered: nobody else would hear of the job', async () => {
    filming();
    const failing = {
      ...context({ notes: [], fractions: [] }),
      remember: () => Promise.reject(new Error('lost')),
    };
    await expect(engine('generic').video!.render(request(), failing, never)).rejects.toThrow('lost');
    expect(asked('DELETE', jobPath)).toHaveLength(1);
  });
});

interface Fixture {
  engine: FlavorName;
  case: string;
  status: number;
  request?: Record<string, unknown>;
  body: string;
  expect: {
    id?: string;
    state?: string;
    fraction?: number;
    isElsewhere?: boolean;
    error?: string;
    failure?: string;
  };
}

const folder = new URL('./fixtures/', import.meta.url).pathname;
const fixtures = globSync('*/videos*.json', { cwd: folder })
  .sort()
  .map((path) => [path, JSON.parse(readFileSync(folder + path, 'utf8')) as Fixture] as const);

describe('what real engines answer', () => {
  it('is there for every flavour that films', () => {
    const there = new Set(fixtures.map(([, fixture]) => `${fixture.engine} ${fixture.case}`));
    for (const { name, video } of Object.values(flavors)) {
      if (name !== 'generic')
        expect([name, there.has(`${name} videos`)]).toEqual([name, video !== undefined]);
    }
  });

  it.each(fixtures.filter(([, fixture]) => fixture.case === 'videos'))(
    '%s: the job is known by its id, and was asked for in just these words',
    async (_, { engine: flavor, request: wanted = {}, body, status, expect: expected }) => {
      expect(readJobId(JSON.parse(body))).toBe(expected.id);
      mock.route('/v1/videos', ({ text }) => text(status, body));
      mock.route(`/v1/videos/${expected.id}`, says('completed'));
      mock.route(`/v1/videos/${expected.id}/content`, bytes(film));
      await render(flavor, { model: String(wanted['model']) });
      const [sent] = asked('POST', '/v1/videos');
      expect(sent?.body ?? (await formOf(sent!)).fields).toEqual(wanted);
    },
  );

  it.each(fixtures.filter(([, fixture]) => fixture.expect.state !== undefined))(
    '%s is understood',
    (_, { body, expect: expected }) => {
      const job = readJob(Buffer.from(body));
      expect(job.state).toBe(expected.state);
      if (job.state === 'under way') expect(job.fraction).toBe(expected.fraction);
      if (job.state === 'done') expect(job.isElsewhere).toBe(expected.isElsewhere ?? false);
      if (job.state === 'failed') expect(job.error.message).toBe(expected.error);
    },
  );

  it.each([
    ['no JSON', 'Hello'],
    ['nothing', '{}'],
    ['null', 'null'],
    ['a status that is no word', '{"status":3}'],
  ])('with %s cannot be read', (_, body) => {
    expect(() => readJob(Buffer.from(body))).toThrow('could not be read');
  });
});
