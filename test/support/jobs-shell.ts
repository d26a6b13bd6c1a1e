/**
 * The video and music API over everything that really stands behind it, but for the engine, the clock and the world
 * outside, which are the test's. Every answer in JSON is held against the shape that its route declares.
 */
import { join } from 'node:path';
import { jobKinds, routes } from '../../src/api/index.ts';
import { migrationsFolder } from '../../src/compose.ts';
import { builtins } from '../../src/config/builtin-models.ts';
import { createApp } from '../../src/http/app.ts';
import { listen } from '../../src/http/server.ts';
import { createRouteTable } from '../../src/http/table.ts';
import { createLog } from '../../src/lib/log.ts';
import { createSafeFetch, type Post, type SafeFetch } from '../../src/lib/safe-fetch.ts';
import { createValidator } from '../../src/lib/schema.ts';
import { createAccounts } from '../../src/platform/accounts/index.ts';
import { createAdmission, type Limits } from '../../src/platform/admission/index.ts';
import { createAttachments } from '../../src/platform/attachments/index.ts';
import { createBilling } from '../../src/platform/billing/index.ts';
import { createCatalog, type Declaration } from '../../src/platform/catalog/index.ts';
import { createEngines } from '../../src/platform/engines/index.ts';
import { createIdempotency } from '../../src/platform/idempotency/index.ts';
import type { Platform } from '../../src/platform/index.ts';
import { createInference } from '../../src/platform/inference/index.ts';
import { createJobs, type WorkingJobs } from '../../src/platform/jobs/jobs.ts';
import type { Timers } from '../../src/platform/jobs/timers.ts';
import type { Media } from '../../src/platform/media/index.ts';
import { createLinks, createObjects } from '../../src/platform/objects/index.ts';
import type { Objects } from '../../src/platform/objects/types.ts';
import type { AcceptOptions, Pictures } from '../../src/platform/pictures/types.ts';
import { createRecordings } from '../../src/platform/recordings/index.ts';
import { createScratch } from '../../src/platform/scratch/index.ts';
import { createSignatures } from '../../src/platform/signatures/index.ts';
import { createWebhooks, type RunningWebhooks } from '../../src/platform/webhooks/index.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { createTestDatabase } from './database.ts';
import { send, type TestAnswer, type TestRequest } from './inject.ts';
import type { JobsEngine } from './jobs-engine.ts';
import { noStudio } from './no-studio.ts';
import { createTestClock, type TestClock } from './webhook-bench.ts';

const [film, song] = ['video', 'music'].map((type) => ({
  ...builtins.models.find((model) => model.type === type),
  engine: 'fake',
})) as [Declaration<'video'>, Declaration<'music'>];

/** The two that declare everything, and some that differ in one thing. */
export const jobModels: readonly Declaration[] = [
  { ...film, id: 'film', slots: 1000 },
  // The others have so many slots that no test waits for another.
  { ...film, id: 'film-line', slots: 1 },
  { ...film, id: 'film-free', slots: 1000, pricing: {} },
  { ...film, id: 'film-off', served: false },
  {
    id: 'film-plain',
    type: 'video',
    engine: 'fake',
    slots: 1000,
    maxPromptLength: 10,
    duration: { min: 2, max: 2, default: 2 },
    resolutions: { '480p': { '16:9': '640x352' } },
    defaultResolution: '480p',
    defaultAspectRatio: '16:9',
    fps: 24,
    audio: false,
  },
  { ...song, id: 'song', slots: 1000, parameters: [...(song.parameters ?? []), 'input_references'] },
  { ...song, id: 'song-line', slots: 1 },
  { ...song, id: 'song-off', served: false },
  {
    id: 'song-plain',
    type: 'music',
    engine: 'fake',
    slots: 1000,
    maxPromptLength: 10,
    duration: { min: 5, max: 60, default: 5 },
    formats: ['wav', 'flac'],
    lyrics: false,
    instrumental: false,
    seed: false,
    sampleRate: 32_000,
    channels: 2,
    progressive: false,
  },
];

export interface JobsShellOptions {
  readonly engine: JobsEngine;
  readonly media: Media;
  readonly pictures: Pictures;
  /** Whether jobs are worked on. Default true. */
  readonly works?: boolean;
  readonly publicUrl?: string;
  readonly limits?: Partial<Limits>;
  readonly models?: readonly Declaration[];
}

/** One call to a client's server. */
export interface Delivered extends Pick<Post, 'headers'> {
  readonly url: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read events whose shape is what they check
  readonly event: any;
}

export interface JobsShell {
  readonly engine: JobsEngine;
  readonly clock: TestClock;
  readonly database: Database;
  readonly jobs: WorkingJobs;
  readonly webhooks: RunningWebhooks;
  readonly objects: Objects;
  readonly folder: string;
  /** Two of one subscription, and one of another. */
  readonly keys: { readonly first: string; readonly second: string; readonly other: string };
  /** What addresses lead to; the rest is private. */
  readonly web: Map<string, Buffer>;
  readonly fetched: string[];
  readonly delivered: Delivered[];
  /** How pictures were looked at. */
  readonly accepted: AcceptOptions[];
  /** What clients' servers answer. */
  receiverStatus: number;
  /** Happens once, before the jobs' next transaction: something that nobody has seen coming. */
  meanwhile: (() => Promise<void>) | undefined;
  /** With the first key, unless `key` says otherwise; `null` sends none. */
  send(request: TestRequest & { key?: string | null }): Promise<TestAnswer>;
  get(path: string, headers?: Record<string, string>): Promise<TestAnswer>;
  post(path: string, body: object, headers?: Record<string, string>): Promise<TestAnswer>;
  postForm(path: string, fields: readonly (readonly [string, string | Blob])[]): Promise<TestAnswer>;
  remove(path: string, headers?: Record<string, string>): Promise<TestAnswer>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read jobs whose shape is what they check
  create(path: '/videos' | '/music', body?: object, headers?: Record<string, string>): Promise<any>;
  /** The job when nothing of it runs any more. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  finished(id: string): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: see above
  read(id: string): Promise<any>;
  /** A round of a timer of the jobs, to its end. */
  fire(name: 'claim' | 'heartbeat' | 'sweep'): Promise<void>;
  /** The ledger's rows of a job. */
  bills(id: string): Promise<{ seconds: number; costPico: bigint }[]>;
  /** Serves on a free port; answers the base address, `/v1` included. */
  listen(): Promise<string>;
  close(): Promise<void>;
}

export async function createJobsShell(options: JobsShellOptions): Promise<JobsShell> {
  const { engine, media } = options;
  const log = createLog('silent');
  const clock = createTestClock(Date.UTC(2026, 10, 15, 3));
  const { now } = clock;
  const opened = new AsyncDisposableStack();
  const open = <T extends { close(): Promise<void> }>(part: T): T => {
    opened.defer(() => part.close());
    return part;
  };
  const { database, folder } = open(await createTestDatabase());
  await migrate(database, { folder: migrationsFolder });

  const engines = { fake: { kind: 'fake' } };
  const settings = {
    source: 'the test',
    engines,
    models: options.models ?? jobModels,
    defaults: {},
    builtins: { defaults: {}, models: [] },
  };
  const catalog = createCatalog({ settings, engineKinds: [engine.kind] });
  const running = open(
    createEngines({
      kinds: [engine.kind],
      settings: engines,
      secret: () => undefined,
      dataFolder: folder,
      studio: noStudio,
      log,
      now,
    }),
  );
  const accounts = open(createAccounts({ database, now, log }));
  await accounts.start();
  const keys = await createKeys(accounts);

  const billing = open(createBilling({ database, folder, now, log }));
  await billing.start();
  const limits = { requestsPerMinute: 100_000, concurrent: 64, maxQueueWaitMs: 1_000, ...options.limits };
  const limitsOf = () => limits;
  const inference = open(
    createInference({ admission: open(createAdmission()), billing, engines: running, limitsOf, now, log }),
  );

  const world = createWorld(open);
  const objects = open(createObjects({ folder: join(folder, 'objects'), log, now }));
  const signatures = createSignatures({ database, now });
  await signatures.start();
  const links = createLinks({ signatures, now });
  const { schedule } = clock;
  const webhooks = open(createWebhooks({ database, safeFetch: world.safeFetch, now, log, schedule }));
  await webhooks.start();
  const recordings = open(createRecordings({ folder, now, log, pollMs: 20 }));
  const rounds = new Map<string, () => Promise<void>>();
  const interrupted: Database = {
    ...database,
    async transaction(work) {
      const { meanwhile } = shell;
      shell.meanwhile = undefined;
      await meanwhile?.();
      return database.transaction(work);
    },
  };
  const jobs = open(
    createJobs({
      database: interrupted,
      objects,
      media,
      recordings,
      webhooks,
      links,
      engines: running,
      catalog,
      kinds: jobKinds,
      now,
      log,
      settings: () => ({ retentionHours: 24 }),
      timers: createTimers(rounds),
    }),
  );

  const accepted: AcceptOptions[] = [];
  const platform: Partial<Platform> = {
    accounts,
    attachments: open(createAttachments({ safeFetch: world.safeFetch })),
    catalog,
    idempotency: open(createIdempotency({ database, objects, now, log })),
    inference,
    jobs,
    links,
    media,
    objects,
    pictures: {
      ...options.pictures,
      accept(bytes, asked, signal) {
        accepted.push(asked);
        return options.pictures.accept(bytes, asked, signal);
      },
    },
    recordings,
    scratch: open(createScratch({ folder: join(folder, 'scratch'), log, now })),
    signatures,
    usage: billing.usage,
    webhooks,
    limitsOf,
    publicUrl: () => options.publicUrl,
  };
  const app = createApp({ routes, platform: platform as Platform, log });
  const table = createRouteTable(routes);

  function checked(answer: TestAnswer, { method = 'GET', url }: TestRequest): TestAnswer {
    const response = table.find(url.replace(/^\/v1|\?.*$/g, ''))?.methods.get(method as 'GET')?.response;
    if (answer.status >= 300 || response === undefined) return answer;
    const validator = createValidator(response);
    const value: unknown = answer.json();
    if (validator.check(value)) return answer;
    const { path, message } = validator.problem(value);
    throw new Error(`${method} ${url} does not answer what it declares: ${path} ${message}`);
  }

  const shell: JobsShell = {
    engine,
    clock,
    database,
    jobs,
    webhooks,
    objects,
    folder,
    keys,
    ...world,
    accepted,
    meanwhile: undefined,
    get receiverStatus() {
      return world.receiver.status;
    },
    set receiverStatus(status) {
      world.receiver.status = status;
    },
    async send({ key = keys.first, headers = {}, ...request }) {
      const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
      return checked(await send(app, { ...request, headers: { ...authorization, ...headers } }), request);
    },
    get: (path, headers = {}) => shell.send({ url: `/v1${path}`, headers }),
    post: (path, payload, headers = {}) =>
      shell.send({ method: 'POST', url: `/v1${path}`, payload, headers }),
    async postForm(path, fields) {
      const form = new FormData();
      for (const [name, value] of fields) form.append(name, value);
      const encoded = new Response(form);
      return shell.send({
        method: 'POST',
        url: `/v1${path}`,
        payload: Buffer.from(await encoded.arrayBuffer()),
        headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
      });
    },
    remove: (path, headers = {}) => shell.send({ method: 'DELETE', url: `/v1${path}`, headers }),
    async create(path, body = {}, headers = {}) {
      const usual = { model: path === '/videos' ? 'film' : 'song', prompt: 'a lake' };
      const answer = await shell.post(path, { ...usual, ...body }, headers);
      if (answer.status !== 202) throw new Error(`${path} answered ${answer.status}: ${answer.body}`);
      return answer.json();
    },
    async finished(id) {
      await (id.startsWith('video_') ? engine.filming(id) : engine.playing(id));
      await Promise.all([...jobs.runs].filter(({ jobId }) => jobId === id).map(({ ended }) => ended));
      return shell.read(id);
    },
    async read(id) {
      const answer = await shell.get(`${id.startsWith('video_') ? '/videos' : '/music'}/${id}`);
      if (answer.status !== 200) throw new Error(`${id} is read with ${answer.status}: ${answer.body}`);
      return answer.json();
    },
    async fire(name) {
      await rounds.get(name)?.();
    },
    async bills(id) {
      const rows = await database.query<{ seconds: number; cost: string }>(
        'select seconds, cast(cost_pico as text) as cost from ledger where id = $1',
        [id],
      );
      return rows.map(({ seconds, cost }) => ({ seconds: Number(seconds), costPico: BigInt(cost) }));
    },
    async listen() {
      const listener = await listen(app, { host: '127.0.0.1', port: 0 });
      opened.defer(() => listener.close(0));
      return `${listener.address}/v1`;
    },
    close: () => opened.disposeAsync(),
  };
  if (options.works !== false) jobs.start();
  return shell;
}

async function createKeys(accounts: ReturnType<typeof createAccounts>): Promise<JobsShell['keys']> {
  await accounts.createSubscription('one');
  await accounts.createSubscription('two');
  const [first, second, other] = await Promise.all(
    ['one', 'one', 'two'].map((subscription, index) =>
      accounts.createKey({ subscription, name: `key ${index}` }),
    ),
  );
  return { first: first!.secret, second: second!.secret, other: other!.secret };
}

/** What addresses lead to: files that are fetched, servers that are told of events, and nothing else. */
function createWorld(open: (door: SafeFetch) => SafeFetch) {
  const web = new Map<string, Buffer>();
  const fetched: string[] = [];
  const delivered: Delivered[] = [];
  const receiver = { status: 200 };
  const door = open(createSafeFetch({ resolve: async () => [{ address: '10.0.0.1', family: 4 }] }));
  const safeFetch: SafeFetch = {
    ...door,
    async get(url, limits) {
      fetched.push(url);
      const bytes = web.get(url);
      if (bytes === undefined || bytes.length > limits.maxBytes) return door.get(url, limits);
      return { bytes, mediaType: '' };
    },
    async post(url, post) {
      if (!url.startsWith('https://client.example/')) return door.post(url, post);
      delivered.push({ url, headers: post.headers, event: JSON.parse(post.body.toString()) });
      return { status: receiver.status };
    },
  };
  return { web, fetched, delivered, receiver, safeFetch };
}

/** Nothing happens by itself: a pause between two tries is over at once, one that limits a wait never. */
function createTimers(rounds: Map<string, () => Promise<void>>): Timers {
  return {
    every(name, _ms, work) {
      rounds.set(name, work);
      return () => rounds.delete(name);
    },
    pause: (_ms, signal) =>
      new Promise((resolve) => {
        if (signal === undefined) resolve();
        else signal.addEventListener('abort', () => resolve());
      }),
  };
}
