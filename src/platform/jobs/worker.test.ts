import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BenchProcess,
  createJobsBench,
  type JobsBench,
  toModel,
  turn,
} from '../../../test/support/jobs-bench.ts';
import { RenderHandedOver } from '../../engines/contract/render.ts';
import { type ErrorKind, GatewayError } from '../../lib/errors.ts';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import type { Job, NewJob } from './types.ts';

let bench: JobsBench;
let one: BenchProcess;
let two: BenchProcess;

beforeEach(async () => {
  bench = await createJobsBench();
  // Deaf, so that a test says when each of them looks.
  const deaf: Partial<Database> = { listen: async () => async () => {} };
  one = bench.open({ workerId: 'one', database: { ...bench.database, ...deaf } });
  two = bench.open({ workerId: 'two', database: { ...bench.database, ...deaf } });
});
afterEach(() => bench.close());

const create = (more: Partial<NewJob> = {}) => one.jobs.create(bench.newJob(more));
const read = (id: string) => one.jobs.find('video', id, 'sub_1') as Promise<Job>;
const down = (kind: ErrorKind = 'unreachable') => new GatewayError(kind, 'The engine does not answer');

async function failOnce(process: BenchProcess, id: string, error: GatewayError): Promise<void> {
  await process.fire('claim');
  process.render(id).fail(error);
  await process.settled();
}

describe('slots', () => {
  it('[JOB-4] as many jobs of a model run at once, over all processes, as it has slots', async () => {
    bench.models.set('vid-1', toModel('video', 'vid-1', { slots: 3 }));
    const ids: string[] = [];
    for (let i = 0; i < 8; i++) ids.push((await create()).id);
    await Promise.all([one.fire('claim'), two.fire('claim')]);
    const running = [...one.renders, ...two.renders].map(({ run }) => run.job.id);
    expect(running.toSorted()).toEqual(ids.slice(0, 3).toSorted());
    const busy = one.renders.length > 0 ? one : two;
    const first = busy.renders[0]!;
    await first.finish();
    await busy.settled(first.run.job.id);
    await expect.poll(() => one.renders.length + two.renders.length).toBe(4);
    expect([...one.renders, ...two.renders].map(({ run }) => run.job.id)).toContain(ids[3]);
  });

  it('without a number of its own a model has two, first in, first out', async () => {
    const jobs = [await create(), await create(), await create()];
    await one.fire('claim');
    expect(one.renders.map(({ run }) => run.job.id)).toEqual(jobs.slice(0, 2).map(({ id }) => id));
  });

  it('a busy model holds up no other', async () => {
    for (let i = 0; i < 5; i++) await create();
    const other = await create({ model: bench.models.get('vid-2') as NewJob['model'] });
    await one.fire('claim');
    expect(one.render(other.id).run.model.id).toBe('vid-2');
  });

  it('a new job is started without waiting for a timer', async () => {
    const awake = bench.open();
    await awake.fire('claim');
    const { id } = await create();
    await expect.poll(() => awake.renders.map(({ run }) => run.job.id)).toEqual([id]);
  });
});

describe('a failed attempt', () => {
  it('[JOB-25] is followed by another: the job stays in_progress, its progress does not fall, another engine is asked', async () => {
    const { id } = await create();
    await one.fire('claim');
    bench.clock += 9_000;
    one.render(id).run.progress(0.7);
    await turn();
    one.render(id).fail(down());
    await one.settled();
    expect(await read(id)).toMatchObject({ status: 'in_progress', progress: 70, attempt: 1 });
    await one.fire('claim');
    expect(one.renders).toHaveLength(1);
    bench.clock += 2_000;
    await one.fire('claim');
    expect(await read(id)).toMatchObject({ status: 'in_progress', progress: 70, attempt: 2 });
    expect(one.renders.map(({ run }) => run.engine.kind)).toEqual(['a', 'b']);
    await one.render(id).finish();
    await one.settled();
    expect(await read(id)).toMatchObject({ status: 'completed', attempt: 2 });
    expect(bench.uses).toEqual(['a: unreachable', 'b: answered']);
    expect(await bench.events()).toHaveLength(1);
  });

  it.each<[ErrorKind, string]>([
    ['unreachable', 'provider_unavailable'],
    ['overloaded', 'provider_overloaded'],
    ['timeout', 'timeout'],
    ['internal', 'server'],
  ])('[JOB-6] [JOB-9] %s three times fails the job as %s', async (kind, code) => {
    const { id } = await create();
    for (let i = 0; i < 3; i++) {
      expect((await read(id)).status).not.toBe('failed');
      await failOnce(one, id, down(kind));
      bench.clock += 20_000;
    }
    expect(await read(id)).toMatchObject({ status: 'failed', errorCode: code, attempt: 3 });
    expect((await bench.ledger()).ids).toEqual([]);
    expect(bench.files.size).toBe(0);
  });

  it('of a model that is gone is told as such, in the end', async () => {
    const { id } = await create();
    bench.models.delete('vid-1');
    for (let i = 0; i < 3; i++) {
      await one.fire('claim');
      await one.settled();
      bench.clock += 20_000;
    }
    expect(await read(id)).toMatchObject({ status: 'failed', errorCode: 'provider_unavailable' });
  });

  it('what an engine remembers is for the same engine, while it may still be at work', async () => {
    const { id } = await create();
    await one.fire('claim');
    await one.render(id).run.remember('engine-job-7');
    one.kill();
    bench.clock += 31_000;
    await two.fire('claim');
    const { run } = two.render(id);
    expect([run.engine.kind, run.remembered]).toEqual(['a', 'engine-job-7']);
    two.render(id).fail(down('timeout'));
    await two.settled();
    bench.clock += 20_000;
    await two.fire('claim');
    expect(two.render(id).run.engine.kind).toBe('b');
    expect(two.render(id).run.remembered).toBeUndefined();
  });

  it('the database that is away for a moment costs no finished render', async () => {
    const { id } = await create();
    let refusals = 3;
    const shaky = bench.open({
      database: {
        ...bench.database,
        async transaction(work) {
          if (shaky.renders.length > 0 && refusals-- > 0) throw new StoreUnavailable('away');
          return bench.database.transaction(work);
        },
      },
    });
    await shaky.fire('claim');
    await shaky.render(id).finish();
    await shaky.settled();
    expect(refusals).toBe(-1);
    expect(await read(id)).toMatchObject({ status: 'completed', attempt: 1 });
  });

  it('[BILL-28] a commit whose answer was lost is neither repeated nor undone', async () => {
    const { id } = await create();
    let isLost = false;
    const shaky = bench.open({
      database: {
        ...bench.database,
        async transaction(work) {
          const result = await bench.database.transaction(work);
          if (shaky.renders.length > 0 && !isLost) {
            isLost = true;
            throw new StoreUnavailable('the answer was lost');
          }
          return result;
        },
      },
    });
    await shaky.fire('claim');
    await shaky.render(id).finish();
    await shaky.settled();
    const job = await read(id);
    expect(isLost).toBe(true);
    expect(job.status).toBe('completed');
    expect(bench.files.has(job.outputs[0]!.objectKey)).toBe(true);
    expect((await bench.ledger()).ids).toEqual([id]);
    expect(await bench.events()).toHaveLength(1);
  });
});

describe('a process that dies', () => {
  it('[JOB-25] loses its jobs to another after the lease: they stay in_progress, with one attempt more', async () => {
    const { id } = await create();
    await one.fire('claim');
    one.kill();
    bench.clock += 29_999;
    await two.fire('claim');
    expect(two.renders).toEqual([]);
    const before = (await two.jobs.find('video', id, 'sub_1')) as Job;
    bench.clock += 1;
    await two.fire('claim');
    const after = (await two.jobs.find('video', id, 'sub_1')) as Job;
    expect(after).toMatchObject({ status: 'in_progress', attempt: 2, startedAt: before.startedAt });
    expect(after.progress).toBeGreaterThanOrEqual(before.progress);
    await two.render(id).finish();
    await two.settled();
    expect(await bench.status(id)).toBe('completed');
    expect((await bench.ledger()).ids).toEqual([id]);
  });

  it('keeps them as long as it gives signs of life', async () => {
    const { id } = await create();
    await one.fire('claim');
    for (let i = 0; i < 10; i++) {
      bench.clock += 10_000;
      await one.fire('heartbeat');
      await two.fire('claim');
    }
    expect(two.renders).toEqual([]);
    expect(one.render(id).run.signal.aborted).toBe(false);
  });

  it('three times in a row fails the job as server', async () => {
    const { id } = await create();
    for (let i = 0; i < 3; i++) {
      const dying = bench.open({ workerId: `dying-${i}` });
      await dying.fire('claim');
      expect(dying.renders).toHaveLength(1);
      dying.kill();
      bench.clock += 30_000;
    }
    await two.fire('claim');
    expect(two.renders).toEqual([]);
    const job = (await two.jobs.find('video', id, 'sub_1')) as Job;
    expect(job).toMatchObject({
      status: 'failed',
      errorCode: 'server',
      error: 'The render was interrupted 3 times',
    });
    expect(await bench.events()).toMatchObject([{ ending: 'failed' }]);
  });

  it('and comes back too late changes nothing: the other one renders, and only its film is kept', async () => {
    const { id } = await create();
    await one.fire('claim');
    bench.clock += 30_000;
    await two.fire('claim');
    await one.render(id).finish();
    await one.settled();
    expect(await bench.status(id)).toBe('in_progress');
    expect(bench.files.size).toBe(0);
    await two.render(id).finish();
    await two.settled();
    const job = await read(id);
    expect(job.outputs[0]?.objectKey).toBe(`jobs/${id}/2/0.mp4`);
    expect([...bench.files]).toEqual([[`jobs/${id}/2/0.mp4`, Buffer.from('film 2')]]);
    expect((await bench.ledger()).ids).toEqual([id]);
  });

  it('hears by its heartbeat that it has lost a job, and stops', async () => {
    const { id } = await create();
    await one.fire('claim');
    bench.clock += 30_000;
    await two.fire('claim');
    await one.fire('heartbeat');
    expect(one.render(id).run.signal.aborted).toBe(true);
    expect(two.render(id).run.signal.aborted).toBe(false);
  });

  it("leaves the engine's own job to the other one, which asks for it", async () => {
    const { id } = await create();
    await one.fire('claim');
    await one.render(id).run.remember('engine job 7');
    bench.clock += 30_000;
    await two.fire('claim');
    await one.fire('heartbeat');
    expect(one.render(id).run.signal.reason).toBeInstanceOf(RenderHandedOver);
    expect(two.render(id).run.remembered).toBe('engine job 7');
  });

  it('a render that never ends is stopped after a while, tried again, and fails as timeout', async () => {
    const { id } = await create();
    for (let attempt = 1; attempt <= 3; attempt++) {
      await one.fire('claim');
      for (let minute = 0; minute < 40; minute++) {
        expect(one.render(id).run.signal.aborted).toBe(false);
        bench.clock += 20_000;
        await one.fire('heartbeat');
        bench.clock += 20_000;
        await one.fire('heartbeat');
        bench.clock += 20_000;
        await one.fire('heartbeat');
      }
      await one.settled();
      bench.clock += 60_000;
    }
    expect(await read(id)).toMatchObject({ status: 'failed', errorCode: 'timeout' });
  });

  it("hears by its heartbeat that a job was cancelled, and stops the engine's own", async () => {
    const { id } = await create();
    await one.fire('claim');
    await bench.database.query("update jobs set status = 'cancelled' where id = $1", [id]);
    await one.fire('heartbeat');
    const { signal } = one.render(id).run;
    expect(signal.aborted).toBe(true);
    expect(signal.reason).not.toBeInstanceOf(RenderHandedOver);
  });

  it('what its attempts have left is removed when the job ends', async () => {
    const { id } = await create();
    await one.fire('claim');
    bench.files.set(one.render(id).run.outputKey(0, 'mp4'), Buffer.from('half a film'));
    one.kill();
    bench.clock += 30_000;
    await two.fire('claim');
    await two.render(id).finish();
    await two.settled();
    expect([...bench.files.keys()]).toEqual([`jobs/${id}/2/0.mp4`]);
  });

  it('a machine that slept takes nothing over from itself', async () => {
    const { id } = await create();
    await one.fire('claim');
    bench.clock += 3_600_000;
    await one.fire('claim');
    expect(one.renders).toHaveLength(1);
    expect((await read(id)).attempt).toBe(1);
  });
});

describe('a process that closes', () => {
  it('gives its jobs back: another goes on at once, and the attempt has not failed', async () => {
    const { id } = await create();
    for (let i = 0; i < 5; i++) {
      const leaving = bench.open({ workerId: `leaving-${i}` });
      await leaving.fire('claim');
      expect(leaving.renders).toHaveLength(1);
      await leaving.jobs.close();
      expect(leaving.renders[0]?.run.signal.aborted).toBe(true);
      expect(leaving.jobs.runs.size).toBe(0);
    }
    await two.fire('claim');
    expect(await read(id)).toMatchObject({ status: 'in_progress', attempt: 6 });
    await two.render(id).finish();
    await two.settled();
    expect(await read(id)).toMatchObject({ status: 'completed' });
    expect(bench.uses.slice(0, 5)).toEqual(Array(5).fill('a: unproven'));
  });

  it("leaves the engine's own job running, and the next process asks for it", async () => {
    const { id } = await create();
    const leaving = bench.open({ workerId: 'leaving' });
    await leaving.fire('claim');
    await leaving.render(id).run.remember('engine job 7');
    await leaving.jobs.close();
    expect(leaving.render(id).run.signal.reason).toBeInstanceOf(RenderHandedOver);
    await two.fire('claim');
    expect(two.render(id).run.remembered).toBe('engine job 7');
  });

  it('leases nothing more', async () => {
    await one.fire('claim');
    await one.jobs.close();
    const { id } = await create();
    await turn();
    expect(await bench.status(id)).toBe('pending');
  });
});
