/** Jobs across `kill -9`: every one ends, whole, billed once and told at least once. */
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../src/storage/index.ts';
import { createTestPlace } from './support/database.ts';
import { startGatewayProcess } from './support/gateway-process.ts';

const key = 'sk-test-of-the-jobs-000001';
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
/**
 * They must all fall within three leases, 90 s: a job that is interrupted three times has failed. Usually they take a
 * quarter of that.
 */
const kills = 10;
/** About what a job takes on a busy machine: some die before it begins, some after its end. */
const longestMs = 1_500;
let place: Awaited<ReturnType<typeof createTestPlace>>;
let env: Record<string, string>;
let receiver: Server;
/** The bodies that came with each idempotency key. */
let told: Map<string, string[]>;

beforeEach(async () => {
  place = await createTestPlace();
  told = new Map();
  receiver = createServer(async (request, response) => {
    const id = String(request.headers['x-service-idempotency-key']);
    told.set(id, [...(told.get(id) ?? []), await text(request)]);
    response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const config = join(place.folder, 'roundhouse.yaml');
  // Small films, and as fast as they can be; a slot for each, as those of a dead process stay taken for a while.
  await writeFile(
    config,
    `limits: { requestsPerMinute: 100000, concurrent: 64 }
egress: { allowedNetworks: [127.0.0.1/32] }
engines:
  embedded: { kind: embedded }
  sandbox: { kind: sandbox, speedup: 1000, instruments: plain }
models:
  - id: film
    type: video
    engine: sandbox
    slots: 50
    maxPromptLength: 1000
    duration: { min: 4, max: 4, default: 4 }
    resolutions: { small: { '5:3': 320x192 } }
    defaultResolution: small
    defaultAspectRatio: '5:3'
    fps: 24
    audio: true
    pricing: { completion: '0.01' }
  - id: song
    type: music
    engine: sandbox
    slots: 50
    maxPromptLength: 1000
    duration: { min: 20, max: 20, default: 20 }
    formats: [wav]
    lyrics: false
    instrumental: false
    seed: false
    sampleRate: 32000
    channels: 2
    progressive: true
    pricing: { completion: '0.001' }
`,
  );
  env = { ...place.env, ROUNDHOUSE_API_KEY: key, ROUNDHOUSE_CONFIG: config };
});
afterEach(async () => {
  await new Promise((resolve) => receiver.close(resolve));
  await place.close();
});

interface SeenJob {
  id: string;
  status: string;
  error?: string;
  unsigned_urls: string[];
  output?: { bytes: number };
  outputs?: { bytes: number; duration: number }[];
  usage: { billed_seconds: number };
}

/** The same points every time. */
function createPoints(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function create(url: string, model: 'film' | 'song', prompt: string): Promise<string> {
  const { port } = receiver.address() as AddressInfo;
  const response = await fetch(`${url}/${model === 'film' ? 'videos' : 'music'}`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model, prompt, callback_url: `http://127.0.0.1:${port}/` }),
  });
  expect(response.status).toBe(202);
  return ((await response.json()) as SeenJob).id;
}

const pathOf = (id: string) => (id.startsWith('video_') ? 'videos' : 'music');

async function read(url: string, id: string): Promise<SeenJob> {
  const response = await fetch(`${url}/${pathOf(id)}/${id}`, { headers });
  expect(response.status).toBe(200);
  return (await response.json()) as SeenJob;
}

async function untilBegun(url: string, id: string): Promise<void> {
  while ((await read(url, id)).status === 'pending') await pause(5);
}

async function untilEnded(url: string, id: string): Promise<SeenJob> {
  for (;;) {
    const job = await read(url, id);
    if (job.status !== 'pending' && job.status !== 'in_progress') return job;
    await pause(250);
  }
}

/** Its boxes fill it exactly, and what says where the pictures are is there. */
function isWholeFilm(film: Buffer): boolean {
  const boxes: string[] = [];
  let at = 0;
  while (at + 8 <= film.length) {
    boxes.push(film.toString('latin1', at + 4, at + 8));
    at += Math.max(8, film.readUInt32BE(at));
  }
  return at === film.length && boxes.includes('moov') && boxes.includes('mdat');
}

const isWholeSong = (song: Buffer) => song.readUInt32LE(40) === song.length - 44;

it('[JOB-5] [BILL-28] [HOOK-2] kill -9 at ten points of twenty jobs: each ends whole, billed once, and told under one key', async () => {
  const nextPoint = createPoints(8);
  const ids: string[] = [];
  for (let round = 0; round < kills; round++) {
    await using gateway = await startGatewayProcess(place.folder, env);
    const film = await create(gateway.url, 'film', `round ${round}`);
    ids.push(film, await create(gateway.url, 'song', `round ${round}`));
    // Every other time at a moment of chance, else while a film is being made.
    if (round % 2 === 0) await pause(nextPoint() * longestMs);
    else await untilBegun(gateway.url, film);
    expect(await gateway.end('SIGKILL')).toBeNull();
  }

  await using gateway = await startGatewayProcess(place.folder, env);
  const jobs = await Promise.all(ids.map((id) => untilEnded(gateway.url, id)));
  for (const job of jobs) {
    expect([job.id, job.status, job.error]).toEqual([job.id, 'completed', undefined]);
    const file = Buffer.from(
      await (await fetch(`${gateway.url}/${pathOf(job.id)}/${job.id}/content`, { headers })).arrayBuffer(),
    );
    expect(file.length).toBe(job.output?.bytes ?? job.outputs?.[0]?.bytes);
    expect([job.id, job.output === undefined ? isWholeSong(file) : isWholeFilm(file)]).toEqual([
      job.id,
      true,
    ]);
  }

  // Whoever was killed while it told of one leaves a lease of 30 s behind.
  const keys = ids.map((id) => `${id}-completed`);
  await expect
    .poll(() => keys.filter((id) => !told.has(id)), { timeout: 150_000, interval: 250 })
    .toEqual([]);
  expect([...told.keys()].toSorted()).toEqual(keys.toSorted());
  for (const bodies of told.values()) {
    expect(new Set(bodies).size).toBe(1);
    expect(JSON.parse(bodies[0]!).data).toMatchObject({
      status: 'completed',
      unsigned_urls: [expect.any(String)],
    });
  }
  expect(await gateway.end('SIGTERM')).toBe(0);

  const database = await openDatabase({ databaseUrl: env['DATABASE_URL'], folder: place.folder });
  try {
    const bills = await database.query<{ id: string; seconds: number }>('select id, seconds from ledger');
    const billed = bills.map(({ id, seconds }) => [id, Number(seconds)] as const);
    expect(Object.fromEntries(billed)).toEqual(
      Object.fromEntries(jobs.map((job) => [job.id, job.usage.billed_seconds])),
    );
    expect(bills).toHaveLength(ids.length);
    const [attempts] = await database.query<{ sum: number }>('select sum(attempt) as sum from jobs');
    // Some were really interrupted.
    expect(Number(attempts?.sum)).toBeGreaterThan(ids.length);
  } finally {
    await database.close();
  }
}, 400_000);
