/** What clients' servers are told of video and music jobs, from the job to the delivery. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../src/lib/errors.ts';
import { createLog } from '../src/lib/log.ts';
import { createMedia, type Media } from '../src/platform/media/index.ts';
import type { Pictures } from '../src/platform/pictures/types.ts';
import { createJobsEngine, type JobsEngine, makeSamples } from './support/jobs-engine.ts';
import { makeFilms } from './support/jobs-media.ts';
import { createJobsShell, type Delivered, type JobsShell } from './support/jobs-shell.ts';

const openai = { 'user-agent': 'OpenAI/JS 7.53.0', 'x-stainless-lang': 'js' };
const callback_url = 'https://client.example/hook';
const publicUrl = 'https://ai.example.com/v1';
const dayMs = 24 * 3600 * 1000;
let engine: JobsEngine;
let shell: JobsShell;
let media: Media;

beforeAll(async () => {
  media = createMedia({ log: createLog('silent') });
  const [film] = (await makeFilms({ frames: 12 })) as [Buffer];
  engine = createJobsEngine(film);
  engine.isHolding = true;
  shell = await createJobsShell({ engine, media, pictures: {} as Pictures, publicUrl });
}, 60_000);
afterAll(async () => {
  await shell.close();
  await media.close();
});
beforeEach(() => {
  shell.delivered.length = 0;
  shell.receiverStatus = 200;
});

type Kind = 'video' | 'music';
const kinds = ['video', 'music'] as const;
const pathOf = { video: '/videos', music: '/music' } as const;
const make = (kind: Kind, body: object = {}, headers = {}) =>
  shell.create(
    pathOf[kind],
    { callback_url, ...(kind === 'music' ? { duration: 5 } : {}), ...body },
    headers,
  );

async function complete(kind: Kind, id: string) {
  if (kind === 'video') (await engine.filming(id)).finish();
  else {
    const playing = await engine.playing(id);
    void playing.play(makeSamples(1));
    playing.finish();
  }
  return shell.finished(id);
}

async function fail(kind: Kind, id: string) {
  const error = new GatewayError('invalid_request', 'the prompt cannot be drawn');
  (kind === 'video' ? await engine.filming(id) : await engine.playing(id)).fail(error);
  return shell.finished(id);
}

async function delivered({ id }: { id: string }): Promise<Delivered[]> {
  await shell.webhooks.idle();
  return shell.delivered.filter(({ event }) => event.data.id === id);
}

describe.each(kinds)('a %s job', (kind) => {
  it('[HOOK-1] [HOOK-2] [HOOK-16] [HOOK-17] that completed sends its event, with the job as a plain client reads it', async () => {
    const { id } = await make(kind, {}, openai);
    const job = await complete(kind, id);
    const [only, ...more] = await delivered({ id });
    expect(more).toEqual([]);
    expect(only).toMatchObject({ url: callback_url, event: { type: `${kind}.generation.completed` } });
    expect(only?.event.data).toEqual(job);
    expect(job.unsigned_urls[0].startsWith(`${publicUrl}${pathOf[kind]}/${id}/content?index=0&`)).toBe(true);
    expect(only?.event.data).not.toHaveProperty('error');
    expect(only?.headers).toMatchObject({ 'X-Service-Idempotency-Key': `${id}-completed` });
  });

  it('[HOOK-1] without a callback_url sends none', async () => {
    const { id } = await make(kind, { callback_url: null });
    await complete(kind, id);
    expect(await delivered({ id })).toEqual([]);
  });

  it('[HOOK-3] [HOOK-16] that failed sends its event, with the error in words, also when an OpenAI client made it', async () => {
    const { id } = await make(kind, {}, openai);
    await fail(kind, id);
    const [only] = await delivered({ id });
    expect(only?.event).toMatchObject({
      type: `${kind}.generation.failed`,
      data: { id, status: 'failed', error: 'the prompt cannot be drawn', error_code: 'invalid_request' },
    });
  });

  it('[HOOK-4] [HOOK-16] that was cancelled sends its event, pending or running', async () => {
    const running = await make(kind, { model: kind === 'video' ? 'film-line' : 'song-line' });
    await (kind === 'video' ? engine.filming(running.id) : engine.playing(running.id));
    const waiting = await make(kind, { model: kind === 'video' ? 'film-line' : 'song-line' });
    for (const { id } of [waiting, running]) await shell.remove(`${pathOf[kind]}/${id}`, openai);
    const events = [...(await delivered(waiting)), ...(await delivered(running))].map(({ event }) => event);
    expect(events.map(({ type, data }) => [type, data.id, data.status])).toEqual(
      expect.arrayContaining(
        [running, waiting].map(({ id }) => [`${kind}.generation.cancelled`, id, 'cancelled']),
      ),
    );
    expect(events).toHaveLength(2);
    for (const { data } of events) expect(data).not.toHaveProperty('error');
  });

  it('[HOOK-5] whose outputs expired sends its event', async () => {
    const { id } = await make(kind);
    await complete(kind, id);
    await delivered({ id });
    shell.delivered.length = 0;
    shell.clock.advance(dayMs + 1_000);
    await shell.fire('sweep');
    const [only, ...more] = await delivered({ id });
    expect(more).toEqual([]);
    expect(only?.event).toMatchObject({
      type: `${kind}.generation.expired`,
      data: { id, status: 'expired' },
    });
    expect(only?.event.data).not.toHaveProperty('unsigned_urls');
    expect(only?.headers).toMatchObject({ 'X-Service-Idempotency-Key': `${id}-expired` });
    // It is told once, whoever notices.
    await shell.read(id);
    await shell.fire('sweep');
    expect(await delivered({ id })).toHaveLength(1);
  });

  it('[HOOK-1] that is deleted after its end says no more', async () => {
    const { id } = await make(kind);
    await complete(kind, id);
    await shell.remove(`${pathOf[kind]}/${id}`);
    shell.clock.advance(2 * dayMs);
    await shell.fire('sweep');
    expect((await delivered({ id })).map(({ event }) => event.type)).toEqual([
      `${kind}.generation.completed`,
    ]);
  });

  it('[HOOK-6] with a name that leads to a private address is made, and its event never delivered', async () => {
    const { id } = await make(kind, { callback_url: 'https://inside.example/hook' });
    await complete(kind, id);
    expect(await delivered({ id })).toEqual([]);
    const [delivery] = await shell.webhooks.deliveries({ jobId: id, limit: 10 });
    expect(delivery).toMatchObject({ status: 'waiting', attempts: 1 });
    expect(delivery?.lastStatus).toBeUndefined();
    expect((await shell.read(id)).status).toBe('completed');
  });

  it('[HOOK-29] keeps its state and its bill when the receiver fails', async () => {
    shell.receiverStatus = 500;
    const { id } = await make(kind);
    const job = await complete(kind, id);
    const bills = await shell.bills(id);
    expect(bills).toHaveLength(1);
    const hourMs = 3600_000;
    for (const ms of [30_000, 120_000, 600_000, hourMs, 6 * hourMs]) {
      await shell.webhooks.idle();
      shell.clock.advance(ms + 1_000);
    }
    const all = await delivered({ id });
    expect(all).toHaveLength(6);
    expect(new Set(all.map(({ headers }) => headers['X-Service-Idempotency-Key']))).toEqual(
      new Set([`${id}-completed`]),
    );
    expect(await shell.read(id)).toEqual(job);
    expect(await shell.bills(id)).toEqual(bills);
  });
});

it('[HOOK-17] an event is signed with the secret that its subscription reads', async () => {
  const { id } = await make('video');
  await complete('video', id);
  const [only] = await delivered({ id });
  const { secret } = (await shell.get('/webhooks/secret')).json();
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(only?.headers['X-Service-Signature'] ?? '') ?? [];
  const body = JSON.stringify(only?.event);
  expect(createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')).toBe(v1);
});
