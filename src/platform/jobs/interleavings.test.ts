/**
 * Random interleavings of everything that can happen to jobs, on two processes over one database. Each question to the
 * database and each change of a file is one step, and the order of the steps of both processes is random. After every
 * step the database is looked at from outside.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BenchProcess,
  createJobsBench,
  type Gate,
  type JobsBench,
  toModel,
  turn,
} from '../../../test/support/jobs-bench.ts';
import { GatewayError } from '../../lib/errors.ts';
import { StoreUnavailable } from '../../storage/database.ts';
import { hasEnded, type JobEvent, nextStatus } from './states.ts';
import { findJob } from './store.ts';
import type { Job, NewJob } from './types.ts';

let bench: JobsBench;

beforeAll(async () => {
  bench = await createJobsBench();
});
afterAll(() => bench.close());

const slots = 2;
const events: readonly JobEvent[] = ['start', 'retry', 'finish', 'fail', 'cancel', 'expire', 'delete'];
const permanent = new GatewayError('invalid_request', 'no such thing');
const waits = [500, 3_000, 12_000, 31_000, 61_000, 25 * 3_600_000];
const passing = new GatewayError('unreachable', 'the engine is away');

interface Step {
  readonly process: 0 | 1;
  readonly action:
    | 'create'
    | 'claim'
    | 'heartbeat'
    | 'sweep'
    | 'finish'
    | 'fail'
    | 'retry'
    | 'remove'
    | 'wait'
    | 'crash'
    | 'close'
    | 'lose';
  readonly choice: number;
  /** Which of the waiting questions go through before the next action; or all of them do. */
  readonly picks: readonly number[] | 'all';
}

const steps = fc.array(
  fc.record<Step>({
    process: fc.constantFrom(0, 1),
    action: fc.constantFrom(
      ...([
        'create',
        'create',
        'claim',
        'claim',
        'heartbeat',
        'sweep',
        'finish',
        'finish',
        'finish',
      ] as const),
      ...([
        'finish',
        'fail',
        'retry',
        'remove',
        'remove',
        'remove',
        'wait',
        'wait',
        'crash',
        'close',
        'lose',
      ] as const),
    ),
    choice: fc.nat({ max: 11 }),
    picks: fc.oneof(
      { weight: 2, arbitrary: fc.array(fc.nat({ max: 11 }), { maxLength: 5 }) },
      { weight: 1, arbitrary: fc.constant('all' as const) },
    ),
  }),
  { minLength: 5, maxLength: 35 },
);

/** Two jobs under way, one in either process. */
const prelude: readonly Step[] = [
  { process: 0, action: 'create', choice: 0, picks: 'all' },
  { process: 0, action: 'claim', choice: 0, picks: 'all' },
  { process: 1, action: 'create', choice: 1, picks: 'all' },
  { process: 1, action: 'claim', choice: 0, picks: 'all' },
];

/** Questions wait here until they are let through, one at a time. */
function createGates() {
  const waiting: (() => Promise<void>)[] = [];
  let isNextLost = false;
  const pass: Gate = (work) =>
    new Promise((resolve, reject) => {
      waiting.push(async () => {
        const isLost = isNextLost;
        isNextLost = false;
        const answer = work();
        await (isLost ? answer.then(() => reject(new StoreUnavailable('lost'))) : answer.then(resolve)).catch(
          reject,
        );
      });
    });
  return {
    waiting,
    pass,
    /** The next thing is done, but its answer never comes. */
    loseNext() {
      isNextLost = true;
    },
    async letThrough(pick: number) {
      const [next] = waiting.length === 0 ? [] : waiting.splice(pick % waiting.length, 1);
      await next?.();
      await turn();
    },
  };
}

/** What an onlooker has seen so far. */
class Onlooker {
  readonly #seen = new Map<string, Job>();
  readonly #completed = new Set<string>();
  readonly #told = new Set<string>();

  async look(): Promise<Map<string, Job>> {
    const rows = await bench.database.query<{ id: string }>('select id from jobs');
    const jobs = new Map<string, Job>();
    for (const { id } of rows) {
      // As the row is, also past its time.
      const job = await findJob(bench.database, id, {}, Math.min(bench.clock, (await dueAt(id)) - 1));
      jobs.set(id, job as Job);
    }
    for (const [id, job] of jobs) this.#compare(id, this.#seen.get(id), job);
    for (const [id, job] of this.#seen) {
      if (jobs.has(id)) continue;
      expect(nextStatus(job.status, 'delete'), `a job that is ${job.status} was deleted`).toBe('deleted');
      this.#seen.delete(id);
    }
    const running = [...jobs.values()].filter(({ status }) => status === 'in_progress');
    expect(running.length).toBeLessThanOrEqual(slots);
    expect((await bench.ledger()).ids).toEqual([...this.#completed].toSorted());
    const told = (await bench.events()).map(({ job, ending }) => `${job} ${ending}`);
    expect(told.toSorted()).toEqual([...this.#told].toSorted());
    return jobs;
  }

  #compare(id: string, before: Job | undefined, now: Job): void {
    if (before === undefined) expect(now.status, 'a new job').toBe('pending');
    else if (before.status !== now.status) {
      const reached = events.map((event) => nextStatus(before.status, event));
      expect(reached, `from ${before.status}`).toContain(now.status);
    }
    if (before !== undefined && before.status !== now.status && hasEnded(now.status)) {
      this.#told.add(`${id} ${now.status}`);
      if (now.status === 'completed') this.#completed.add(id);
    }
    expect(now.progress).toBeGreaterThanOrEqual(before?.progress ?? 0);
    expect(now.attempt).toBeGreaterThanOrEqual(before?.attempt ?? 0);
    expect(now.error !== undefined).toBe(now.status === 'failed');
    if (now.status === 'completed') {
      for (const { objectKey } of now.outputs) {
        expect(bench.files.get(objectKey)?.toString(), 'what is paid for is there').toBe(
          `film ${now.attempt}`,
        );
      }
    }
    this.#seen.set(id, now);
  }
}

async function dueAt(id: string): Promise<number> {
  const [row] = await bench.database.query<{ due_at: number | null }>(
    'select due_at from jobs where id = $1',
    [id],
  );
  return row?.due_at ?? Number.MAX_SAFE_INTEGER;
}

async function wipe(): Promise<void> {
  for (const table of ['jobs', 'job_leftovers', 'ledger', 'usage_days', 'test_events'])
    await bench.database.script(`delete from ${table}`);
  bench.files.clear();
  bench.models.set('vid-1', toModel('video', 'vid-1', { slots }));
}

describe('whatever happens to jobs, in whatever order', () => {
  it('[JOB-17] [JOB-18] [JOB-24] [JOB-25] [BILL-12] [BILL-13] [BILL-28] they keep to the table of states, are billed once when they complete and else never, lose no event and no paid output', {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        await wipe();
        await play(script);
      }),
      { numRuns: 60, interruptAfterTimeLimit: 60_000 },
    );
  });
});

async function play(script: readonly Step[]): Promise<void> {
  const gates = createGates();
  const onlooker = new Onlooker();
  const opened: BenchProcess[] = [];
  const open = () => {
    const process = bench.open({}, gates.pass);
    opened.push(process);
    return process;
  };
  const processes: [BenchProcess, BenchProcess] = [open(), open()];
  const ids: string[] = [];
  const asked: Promise<unknown>[] = [];

  function begin({ process: index, action, choice }: Step): void {
    const process = processes[index];
    const { jobs, renders } = process;
    const active = renders.filter(({ run }) => !run.signal.aborted);
    const render = active[choice % Math.max(1, active.length)];
    const id = ids[choice % Math.max(1, ids.length)];
    // Few of them, so that what happens happens to the same ones.
    if (action === 'create' && ids.length < 3) {
      const inputs = choice % 2 === 0 ? [Buffer.from('frame')] : [];
      const model = bench.models.get('vid-1') as NewJob['model'];
      void jobs.create(bench.newJob({ inputs, model })).then(
        (job) => ids.push(job.id),
        (error) => asked.push(Promise.resolve().then(() => expectNotMade(error))),
      );
    } else if (action === 'claim' || action === 'heartbeat' || action === 'sweep') void process.fire(action);
    else if (action === 'finish') void render?.finish();
    else if (action === 'fail') render?.fail(permanent);
    else if (action === 'retry') render?.fail(passing);
    else if (action === 'lose') gates.loseNext();
    else if (action === 'wait') bench.clock += waits[choice % waits.length] as number;
    else if (action === 'remove' || action === 'create') {
      if (id !== undefined) asked.push(jobs.remove('video', id, 'sub_1').then(undefined, expectConflict));
    } else {
      processes[index] = open();
      if (action === 'crash') process.kill();
      else void jobs.close();
    }
  }

  async function letThrough(pick: number): Promise<void> {
    await gates.letThrough(pick);
    await onlooker.look();
  }

  /** What was asked is answered, one thing after the other. */
  async function drain(): Promise<void> {
    await turn();
    while (gates.waiting.length > 0) await letThrough(0);
  }

  /** A process that works on alone brings every job to its end; when all their time is over nothing is left. */
  async function finishAll(): Promise<void> {
    for (const process of opened) process.kill();
    const last = open();
    for (let round = 0; ; round++) {
      expect(round, 'no job is stuck').toBeLessThan(50);
      bench.clock += 31_000;
      void last.fire('claim');
      await drain();
      for (const { run, finish } of last.renders) if (!run.signal.aborted) void finish();
      await drain();
      const jobs = await onlooker.look();
      if ([...jobs.values()].every(({ status }) => hasEnded(status))) break;
    }
    for (let day = 0; day < 3; day++) {
      bench.clock += 25 * 3_600_000;
      void last.fire('sweep');
      await drain();
    }
    expect(await bench.database.query('select id from jobs')).toEqual([]);
    expect([...bench.files.keys()]).toEqual([]);
    expect(await bench.database.query('select object_key from job_leftovers')).toEqual([]);
  }

  try {
    for (const step of [...prelude, ...script]) {
      begin(step);
      await turn();
      if (step.picks === 'all') await drain();
      else for (const pick of step.picks) await letThrough(pick);
    }
    await drain();
    await finishAll();
    // Those that were asked of a process that died are never answered.
    for (const answer of asked) await Promise.race([answer, turn()]);
  } finally {
    for (const process of opened) process.kill();
  }
}

/** A creation that the script interrupts for a day, or whose answer is lost. */
function expectNotMade(error: unknown): void {
  if (error instanceof GatewayError) expect(['timeout', 'overloaded']).toContain(error.kind);
  else expect(error).toBeInstanceOf(StoreUnavailable);
}

/** The state changed meanwhile, or the answer was lost. */
function expectConflict(error: unknown): void {
  expect(error).toBeInstanceOf(GatewayError);
  const { kind, permanent } = error as GatewayError;
  expect([kind, permanent]).toEqual(kind === 'conflict' ? ['conflict', true] : ['overloaded', false]);
}
