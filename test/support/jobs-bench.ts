/** Jobs over one database, in as many processes as a test opens: the clock, renders, engines and files are the test's. */
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Engine } from '../../src/engines/contract/engine.ts';
import type { GatewayError } from '../../src/lib/errors.ts';
import { createLog } from '../../src/lib/log.ts';
import type { Catalog, Model } from '../../src/platform/catalog/index.ts';
import type { Engines } from '../../src/platform/engines/index.ts';
import { createJobs, type JobsParts, type WorkingJobs } from '../../src/platform/jobs/jobs.ts';
import type { Timers } from '../../src/platform/jobs/timers.ts';
import type { JobKind, JobKindName, JobRun, NewJob } from '../../src/platform/jobs/types.ts';
import type { Links, Objects } from '../../src/platform/objects/types.ts';
import type { Recordings } from '../../src/platform/recordings/types.ts';
import type { Webhooks } from '../../src/platform/webhooks/types.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { createTestDatabase } from './database.ts';

const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url));

/** A render that waits for the test to end it. Aborted, it ends by itself. */
export interface Render {
  readonly run: JobRun;
  /** Stores one output and ends well. */
  finish(): Promise<void>;
  fail(error: unknown): void;
}

export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** One process: its own jobs, timers and renders. */
export interface BenchProcess {
  readonly jobs: WorkingJobs;
  readonly renders: Render[];
  /** The latest render of a job. */
  render(jobId: string): Render;
  /** A round of the timer, to its end; runs that it begins have reached their render. */
  fire(name: 'claim' | 'heartbeat' | 'sweep'): Promise<void>;
  /** Until nothing of the job, or of any, runs here any more. */
  settled(jobId?: string): Promise<void>;
  /** As `kill -9` does: from now on it asks and changes nothing, and hears nothing. */
  kill(): void;
}

export interface JobsBench {
  readonly database: Database;
  readonly files: Map<string, Buffer>;
  readonly models: Map<string, Model>;
  /** Engines' uses, oldest first: `a: answered`. */
  readonly uses: string[];
  clock: number;
  retentionHours: number;
  /** `gate`: whoever wants to decide when each question to the database and each change of a file happens. */
  open(more?: Partial<JobsParts>, gate?: Gate): BenchProcess;
  newJob(more?: Partial<NewJob>): NewJob;
  /** The events that are committed, oldest first, as `<job> <ending>`. */
  events(): Promise<{ job: string; ending: string; data: Record<string, unknown> }[]>;
  /** The ids in the ledger and whether the sums agree with it. */
  ledger(): Promise<{ ids: string[]; seconds: number; costPico: bigint }>;
  status(jobId: string): Promise<string | undefined>;
  close(): Promise<void>;
}

export function toModel(type: JobKindName, id: string, more: object = {}): Model {
  const model = { id, type, name: id, engines: ['a', 'b'], engineModel: id, pricing: { completion: '0.05' } };
  return { ...model, ...more } as unknown as Model;
}

/** Lets everything that is ready to go on do so. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export async function createJobsBench(): Promise<JobsBench> {
  const { database, close } = await createTestDatabase();
  await migrate(database, { folder: migrationsFolder });
  await database.script(
    `create table test_events (job text, ending text, data text not null, primary key (job, ending))`,
  );
  const files = new Map<string, Buffer>();
  const models = new Map([
    ['vid-1', toModel('video', 'vid-1')],
    ['vid-2', toModel('video', 'vid-2')],
    ['song-1', toModel('music', 'song-1', { pricing: undefined })],
  ]);
  const uses: string[] = [];
  const opened: BenchProcess[] = [];

  const bench: JobsBench = {
    database,
    files,
    models,
    uses,
    clock: Date.UTC(2026, 10, 15, 3),
    retentionHours: 24,
    open(more = {}, gate = (work) => work()) {
      const process = openProcess(bench, more, gate);
      opened.push(process);
      return process;
    },
    newJob: (more = {}) => ({
      kind: 'video',
      caller: { subscriptionId: 'sub_1', keyId: 'key_1', keyName: 'one' },
      model: models.get('vid-1') as NewJob['model'],
      request: { prompt: 'a lake' },
      inputs: [],
      callbackUrl: 'https://client.example/hook',
      baseUrl: 'https://ai.example/v1',
      billedSeconds: 6,
      expectedMs: 18_000,
      ...more,
    }),
    async events() {
      const rows = await database.query<{ job: string; ending: string; data: string }>(
        'select job, ending, data from test_events',
      );
      return rows.map((row) => ({ ...row, data: JSON.parse(row.data) as Record<string, unknown> }));
    },
    async ledger() {
      const rows = await database.query<{ id: string }>('select id from ledger order by id');
      const [sums] = await database.query<{ requests: number; seconds: number; cost: string }>(
        `select coalesce(sum(requests), 0) as requests, coalesce(sum(seconds), 0) as seconds,
           cast(coalesce(sum(cost_pico), 0) as text) as cost from usage_days`,
      );
      if (sums?.requests !== rows.length) throw new Error('the sums do not agree with the ledger');
      return { ids: rows.map(({ id }) => id), seconds: sums.seconds, costPico: BigInt(sums.cost) };
    },
    async status(jobId) {
      const [row] = await database.query<{ status: string }>('select status from jobs where id = $1', [
        jobId,
      ]);
      return row?.status;
    },
    async close() {
      for (const process of opened) await process.jobs.close();
      await close();
    },
  };
  return bench;
}

function openProcess(bench: JobsBench, more: Partial<JobsParts>, gate: Gate): BenchProcess {
  const renders: Render[] = [];
  const rounds = new Map<string, () => Promise<void>>();
  const life = { isOver: false };
  /** Of a process that can be killed: then no question is ever answered. */
  const alive: Gate = async (work) => {
    if (life.isOver) await new Promise(() => {});
    const result = await gate(work);
    if (life.isOver) await new Promise(() => {});
    return result;
  };
  const timers: Timers = {
    every(name, _ms, work) {
      rounds.set(name, work);
      return () => rounds.delete(name);
    },
    // A pause between two tries is over at once; one that limits a wait is as long as that.
    pause: (_ms, signal) =>
      new Promise((resolve) =>
        signal === undefined ? resolve() : signal.addEventListener('abort', () => resolve()),
      ),
  };
  const kinds = (['video', 'music'] as const).map((kind) => createKind(kind, renders));
  const jobs = createJobs({
    database: mortal(bench.database, alive, life),
    objects: createFiles(bench, alive),
    media: undefined as unknown as JobsParts['media'],
    recordings: { remove: async () => {} } as unknown as Recordings,
    webhooks: createOutbox(),
    links: {} as Links,
    engines: createBenchEngines(bench.uses),
    catalog: createBenchCatalog(bench.models),
    kinds,
    now: () => bench.clock,
    log: createLog('silent'),
    settings: () => ({ retentionHours: bench.retentionHours }),
    timers,
    ...more,
  });
  return {
    jobs: { ...jobs, close: async () => (life.isOver ? undefined : jobs.close()) },
    renders,
    render(jobId) {
      const render = renders.findLast(({ run }) => run.job.id === jobId);
      if (render === undefined) throw new Error(`${jobId} is not rendered here`);
      return render;
    },
    async fire(name) {
      if (!rounds.has(name)) jobs.start();
      await rounds.get(name)?.();
      await turn();
    },
    async settled(jobId) {
      const runs = [...jobs.runs].filter((run) => jobId === undefined || run.jobId === jobId);
      await Promise.all(runs.map(({ ended }) => ended));
    },
    kill() {
      life.isOver = true;
    },
  };
}

function createKind(kind: JobKindName, renders: Render[]): JobKind {
  return {
    kind,
    run: (run) =>
      new Promise((resolve, reject) => {
        let isOver = false;
        const end = (how: () => void) => {
          if (!isOver) how();
          isOver = true;
        };
        run.signal.addEventListener('abort', () => end(() => reject(run.signal.reason)));
        renders.push({
          run,
          async finish() {
            if (isOver) return;
            isOver = true;
            const objectKey = run.outputKey(0, 'mp4');
            const made = { index: 0, objectKey, mediaType: 'video/mp4', bytes: 6, durationSeconds: 6.4 };
            await run.objects
              .put(objectKey, Buffer.from(`film ${run.job.attempt}`))
              .then(() => resolve([{ ...made, details: { width: 640 } }]), reject);
          },
          fail: (error) => end(() => reject(error)),
        });
      }),
    toPlain: ({ id, status, progress, outputs, error, errorCode }) => ({
      id,
      status,
      progress,
      outputs: outputs.length,
      error,
      errorCode,
    }),
  };
}

function mortal(database: Database, alive: Gate, life: { isOver: boolean }): Database {
  return {
    ...database,
    query: (text, values) => alive(() => database.query(text, values)),
    transaction: (work) => alive(() => database.transaction(work)),
    notify: (channel, payload) => alive(() => database.notify(channel, payload)),
    listen: (channel, onMessage, onGap) =>
      database.listen(channel, (payload) => !life.isOver && onMessage(payload), onGap),
  };
}

function createFiles(bench: JobsBench, alive: Gate): Objects {
  const { files } = bench;
  const info = (data: Buffer) => ({ bytes: data.length, writtenAt: bench.clock });
  return {
    put: (key, data) =>
      alive(async () => {
        files.set(key, Buffer.from(data as Uint8Array));
        return info(files.get(key) as Buffer);
      }),
    async find(key) {
      const data = files.get(key);
      return data === undefined ? undefined : info(data);
    },
    read: async (key) => files.get(key),
    open: async (key) => Readable.from(files.get(key) ?? []),
    remove: (key) =>
      alive(async () => {
        for (const name of files.keys()) if (name === key || name.startsWith(`${key}/`)) files.delete(name);
      }),
    passingKey: (folder, _expiresAt, name) => `${folder}/${name}`,
    close: async () => {},
  };
}

/** A real table, so that a rolled-back event is none. Twice the same is refused: nothing may be told twice. */
function createOutbox(): Webhooks {
  return {
    async enqueue(tx, { jobId, ending, data }) {
      await tx.query('insert into test_events (job, ending, data) values ($1, $2, $3)', [
        jobId,
        ending,
        JSON.stringify(data),
      ]);
    },
    wake: () => {},
  } as Partial<Webhooks> as Webhooks;
}

function createBenchEngines(uses: string[]): Engines {
  return {
    use(names, _affinity, tried) {
      const name = names.find((candidate) => !tried.includes(candidate));
      if (name === undefined) return undefined;
      return {
        name,
        engine: { kind: name } as Engine,
        enter: () => undefined,
        release: (outcome) => {
          uses.push(`${name}: ${typeof outcome === 'string' ? outcome : (outcome as GatewayError).kind}`);
        },
      };
    },
  } as Partial<Engines> as Engines;
}

function createBenchCatalog(models: ReadonlyMap<string, Model>): Catalog {
  return {
    resolve(_type, name) {
      const model = models.get(name ?? '');
      if (model === undefined) throw new Error(`no model ${name}`);
      return { model, variant: undefined };
    },
  } as Partial<Catalog> as Catalog;
}
