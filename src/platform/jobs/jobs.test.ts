import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BenchProcess, createJobsBench, type JobsBench } from '../../../test/support/jobs-bench.ts';
import { GatewayError } from '../../lib/errors.ts';
import { StoreUnavailable } from '../../storage/database.ts';
import type { Job, JobKindName, NewJob } from './types.ts';

let bench: JobsBench;
let one: BenchProcess;

beforeEach(async () => {
  bench = await createJobsBench();
  one = bench.open();
});
afterEach(() => bench.close());

const create = (more: Partial<NewJob> = {}) => one.jobs.create(bench.newJob(more));
const read = (id: string, kind: JobKindName = 'video') => one.jobs.find(kind, id, 'sub_1') as Promise<Job>;
const remove = (id: string) => one.jobs.remove('video', id, 'sub_1');

async function complete(id: string): Promise<void> {
  await one.fire('claim');
  await one.render(id).finish();
  await one.settled(id);
}

async function fail(id: string, error: GatewayError): Promise<void> {
  await one.fire('claim');
  one.render(id).fail(error);
  await one.settled(id);
}

const model = (id: string) => bench.models.get(id) as NewJob['model'];
const bad = new GatewayError('invalid_request', 'The first frame is no picture', {
  param: 'frame_images[0]',
});

describe('a new job', () => {
  it('[JOB-1] [JOB-13] is pending, and has what it was made with', async () => {
    const job = await create({ inputs: [Buffer.from('one'), Buffer.from('two')] });
    expect(job).toEqual({
      id: expect.stringMatching(/^video_[0-9a-f]{24}$/),
      kind: 'video',
      subscriptionId: 'sub_1',
      keyId: 'key_1',
      modelId: 'vid-1',
      status: 'pending',
      request: { prompt: 'a lake' },
      inputKeys: [`jobs/${job.id}/inputs/0`, `jobs/${job.id}/inputs/1`],
      callbackUrl: 'https://client.example/hook',
      baseUrl: 'https://ai.example/v1',
      createdAt: bench.clock,
      startedAt: undefined,
      completedAt: undefined,
      expiresAt: undefined,
      queuePosition: 0,
      progress: 0,
      attempt: 0,
      outputs: [],
      billedSeconds: 6,
      costPicoUsd: undefined,
      error: undefined,
      errorCode: undefined,
    });
    expect(await read(job.id)).toEqual(job);
    expect(job.inputKeys.map((key) => bench.files.get(key)?.toString())).toEqual(['one', 'two']);
    expect((await create({ kind: 'music', model: model('song-1') })).id).toMatch(/^music_[0-9a-f]{24}$/);
  });

  it('[JOB-2] [JOB-3] counts the pending jobs of the same model before it, and nothing once it is started', async () => {
    const jobs: Job[] = [];
    for (let i = 0; i < 4; i++) jobs.push(await create());
    const other = await create({ model: model('vid-2') });
    expect(jobs.map(({ queuePosition }) => queuePosition)).toEqual([0, 1, 2, 3]);
    expect(other.queuePosition).toBe(0);
    await one.fire('claim');
    const positions = await Promise.all(jobs.map(async ({ id }) => (await read(id)).queuePosition));
    expect(positions).toEqual([undefined, undefined, 0, 1]);
    await remove(jobs[2]!.id);
    expect((await read(jobs[3]!.id)).queuePosition).toBe(0);
    expect((await read(jobs[2]!.id)).queuePosition).toBeUndefined();
  });

  it('whose inputs cannot be kept is not made, and what was kept is removed in time', async () => {
    const full = bench.open({
      database: {
        ...bench.database,
        transaction: () => Promise.reject(new StoreUnavailable('away')),
        query: bench.database.query,
      },
    });
    const asked = full.jobs.create(bench.newJob({ inputs: [Buffer.from('x')] }));
    await expect(asked).rejects.toMatchObject({ kind: 'overloaded' });
    expect(bench.files.size).toBe(1);
    await one.fire('sweep');
    expect(bench.files.size).toBe(1);
    bench.clock += 600_001;
    await one.fire('sweep');
    expect(bench.files.size).toBe(0);
  });
});

describe('reading jobs', () => {
  it('is for their subscription, by their kind; a signed link names no subscription', async () => {
    const { id } = await create();
    expect(await one.jobs.find('video', id, 'sub_2')).toBeUndefined();
    expect(await one.jobs.find('music', id, 'sub_1')).toBeUndefined();
    expect(await one.jobs.find('video', 'video_none', 'sub_1')).toBeUndefined();
    expect((await one.jobs.find('video', id, undefined))?.id).toBe(id);
  });

  it('goes page by page in either order', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await create()).id);
    await create({ kind: 'music', model: model('song-1') });
    await create({ caller: { subscriptionId: 'sub_2', keyId: 'key_2', keyName: 'two' } });
    const page = async (order: 'asc' | 'desc', after?: string) => {
      const { jobs, hasMore } = await one.jobs.list('video', 'sub_1', { order, after, limit: 2 });
      return [jobs.map(({ id }) => ids.indexOf(id)), hasMore];
    };
    expect(await page('desc')).toEqual([[4, 3], true]);
    expect(await page('desc', ids[3])).toEqual([[2, 1], true]);
    expect(await page('desc', ids[1])).toEqual([[0], false]);
    expect(await page('asc')).toEqual([[0, 1], true]);
    expect(await page('asc', ids[3])).toEqual([[4], false]);
    expect(await page('asc', 'video_none')).toEqual([[], false]);
  });

  it('with the database away is refused for now', async () => {
    const away = () => Promise.reject(new StoreUnavailable('away'));
    const lost = bench.open({ database: { ...bench.database, query: away, transaction: away } });
    await expect(lost.jobs.find('video', 'video_x', 'sub_1')).rejects.toMatchObject({ kind: 'overloaded' });
    await expect(lost.jobs.create(bench.newJob())).rejects.toMatchObject({ kind: 'overloaded' });
  });
});

describe('a job that ends', () => {
  it('[JOB-4] [JOB-5] [BILL-12] [BILL-20] completes with its outputs, its bill and its event', async () => {
    const { id } = await create({ inputs: [Buffer.from('frame')] });
    const createdAt = bench.clock;
    bench.clock += 1_000;
    await one.fire('claim');
    expect(await read(id)).toMatchObject({ status: 'in_progress', startedAt: createdAt + 1_000, attempt: 1 });
    expect(await bench.ledger()).toMatchObject({ ids: [] });
    bench.clock += 9_000;
    expect((await read(id)).progress).toBe(54);
    await one.render(id).finish();
    await one.settled();
    const job = await read(id);
    expect(job).toMatchObject({
      status: 'completed',
      progress: 100,
      startedAt: createdAt + 1_000,
      completedAt: createdAt + 10_000,
      expiresAt: createdAt + 10_000 + 24 * 3_600_000,
      billedSeconds: 6,
      costPicoUsd: 300_000_000_000n,
      outputs: [{ index: 0, mediaType: 'video/mp4', durationSeconds: 6.4, details: { width: 640 } }],
      error: undefined,
      errorCode: undefined,
    });
    expect([...bench.files.keys()]).toEqual([job.outputs[0]?.objectKey]);
    expect(await bench.ledger()).toEqual({ ids: [id], seconds: 6, costPico: 300_000_000_000n });
    expect(await bench.events()).toEqual([
      { job: id, ending: 'completed', data: { id, status: 'completed', progress: 100, outputs: 1 } },
    ]);
    expect(bench.uses).toEqual(['a: answered']);
  });

  it('[BILL-11] bills the seconds that were asked for, not those that were made', async () => {
    const { id } = await create({ billedSeconds: 18 });
    await complete(id);
    expect((await read(id)).outputs[0]?.durationSeconds).toBe(6.4);
    expect(await bench.ledger()).toMatchObject({ seconds: 18, costPico: 900_000_000_000n });
  });

  it('[BILL-21] bills music by the second, and without a price says no cost', async () => {
    const { id } = await create({ kind: 'music', model: model('song-1'), billedSeconds: 30 });
    await complete(id);
    const job = await read(id, 'music');
    expect(job).toMatchObject({ status: 'completed', billedSeconds: 30, costPicoUsd: undefined });
    expect(await bench.ledger()).toEqual({ ids: [id], seconds: 30, costPico: 0n });
  });

  it('pays the price that held when it was made', async () => {
    const { id } = await create();
    bench.models.set('vid-1', { ...model('vid-1'), pricing: { completion: '9' } } as never);
    await complete(id);
    expect((await read(id)).costPicoUsd).toBe(300_000_000_000n);
  });

  it('[JOB-6] [JOB-8] [JOB-10] [BILL-13] fails with its error and code, unbilled, and nothing is left of it', async () => {
    const { id } = await create({ inputs: [Buffer.from('frame')] });
    await fail(id, bad);
    expect(await read(id)).toMatchObject({
      status: 'failed',
      error: 'The first frame is no picture',
      errorCode: 'invalid_image',
      completedAt: undefined,
      costPicoUsd: undefined,
      outputs: [],
    });
    expect(bench.files.size).toBe(0);
    expect((await bench.ledger()).ids).toEqual([]);
    expect(await bench.events()).toMatchObject([
      { job: id, ending: 'failed', data: { status: 'failed', errorCode: 'invalid_image' } },
    ]);
  });

  it('[JOB-7] fails from pending when an input cannot be fetched', async () => {
    const { id, inputKeys } = await create({ inputs: [Buffer.from('frame')] });
    const next = await create();
    bench.files.delete(inputKeys[0]!);
    await one.fire('claim');
    expect(await read(id)).toMatchObject({
      status: 'failed',
      errorCode: 'invalid_media',
      startedAt: undefined,
      attempt: 0,
    });
    expect((await read(next.id)).status).toBe('in_progress');
    expect(await bench.events()).toMatchObject([{ job: id, ending: 'failed' }]);
  });

  it('[JOB-8] has an error in no other state', async () => {
    const completed = await create();
    await complete(completed.id);
    const cancelled = await create();
    await remove(cancelled.id);
    for (const id of [completed.id, cancelled.id]) {
      expect(await read(id)).toMatchObject({ error: undefined, errorCode: undefined });
    }
  });

  it('tells nobody without a callback_url', async () => {
    const { id } = await create({ callbackUrl: undefined });
    await complete(id);
    expect(await bench.events()).toEqual([]);
  });
});

describe('DELETE', () => {
  it('[JOB-14] [BILL-13] cancels a pending job', async () => {
    const { id } = await create({ inputs: [Buffer.from('frame')] });
    const removal = await remove(id);
    expect(removal).toMatchObject({ outcome: 'cancelled', job: { id, status: 'cancelled', progress: 0 } });
    expect((await read(id)).status).toBe('cancelled');
    expect(bench.files.size).toBe(0);
    await one.fire('claim');
    expect(one.renders).toEqual([]);
    expect((await bench.ledger()).ids).toEqual([]);
    expect(await bench.events()).toMatchObject([
      { job: id, ending: 'cancelled', data: { status: 'cancelled' } },
    ]);
  });

  it('[JOB-15] [JOB-16] [BILL-13] cancels an in_progress job: its render is stopped at once, in another process too', async () => {
    const two = bench.open();
    await two.fire('claim');
    const { id } = await create();
    await two.fire('claim');
    expect(await remove(id)).toMatchObject({ outcome: 'cancelled', job: { status: 'cancelled' } });
    await expect.poll(() => two.render(id).run.signal.aborted).toBe(true);
    await two.settled();
    expect(bench.uses).toEqual(['a: unproven']);
    expect(await read(id)).toMatchObject({ status: 'cancelled', costPicoUsd: undefined });
    expect((await bench.ledger()).ids).toEqual([]);
  });

  it('[JOB-16] is heard by the next heartbeat where the message was lost', async () => {
    const deaf = bench.open({ database: { ...bench.database, listen: async () => async () => {} } });
    const { id } = await create();
    await deaf.fire('claim');
    await remove(id);
    expect(deaf.render(id).run.signal.aborted).toBe(false);
    await deaf.fire('heartbeat');
    expect(deaf.render(id).run.signal.aborted).toBe(true);
  });

  it('[JOB-16] what a cancelled render has stored is removed', async () => {
    const { id } = await create();
    const deaf = bench.open({ database: { ...bench.database, listen: async () => async () => {} } });
    await deaf.fire('claim');
    await remove(id);
    await deaf.render(id).finish();
    expect(bench.files.size).toBe(1);
    await deaf.settled();
    expect(bench.files.size).toBe(0);
    expect((await read(id)).status).toBe('cancelled');
    expect(await bench.ledger()).toMatchObject({ ids: [] });
    expect(await bench.events()).toMatchObject([{ ending: 'cancelled' }]);
  });

  it('[JOB-17] [JOB-18] of a job that completes meanwhile is a conflict that must not be retried, and deletes nothing', async () => {
    const { id } = await create();
    await one.fire('claim');
    // Between the read and the guarded update of the other process the render ends.
    const racing = bench.open({
      database: {
        ...bench.database,
        async transaction(work) {
          await one.render(id).finish();
          await one.settled();
          return bench.database.transaction(work);
        },
      },
    });
    const error = await racing.jobs.remove('video', id, 'sub_1').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ kind: 'conflict', permanent: true });
    const job = await read(id);
    expect(job.status).toBe('completed');
    expect(bench.files.has(job.outputs[0]!.objectKey)).toBe(true);
    expect((await bench.ledger()).ids).toEqual([id]);
    expect((await bench.events()).map(({ ending }) => ending)).toEqual(['completed']);
  });

  it('[JOB-19] [JOB-22] of a completed job deletes record and outputs', async () => {
    const { id } = await create();
    await complete(id);
    expect(bench.files.size).toBe(1);
    expect(await remove(id)).toEqual({ outcome: 'deleted' });
    expect(await one.jobs.find('video', id, 'sub_1')).toBeUndefined();
    expect(bench.files.size).toBe(0);
    expect(await remove(id)).toBeUndefined();
    expect((await bench.ledger()).ids, 'what was used stays billed').toEqual([id]);
  });

  it('[JOB-20] of a failed, a cancelled and an expired job deletes the record', async () => {
    const failed = await create();
    await fail(failed.id, bad);
    const expired = await create();
    await complete(expired.id);
    bench.clock += 25 * 3_600_000;
    await one.fire('sweep');
    const cancelled = await create();
    await remove(cancelled.id);
    expect(await bench.status(expired.id)).toBe('expired');
    for (const { id } of [expired, cancelled]) {
      expect(await remove(id)).toEqual({ outcome: 'deleted' });
      expect(await bench.status(id)).toBeUndefined();
    }
    const again = await create();
    await fail(again.id, bad);
    expect(await remove(again.id)).toEqual({ outcome: 'deleted' });
  });

  it("[JOB-22] of an unknown job, or another's, is not found", async () => {
    const { id } = await create();
    expect(await one.jobs.remove('video', 'video_none', 'sub_1')).toBeUndefined();
    expect(await one.jobs.remove('music', id, 'sub_1')).toBeUndefined();
    expect(await one.jobs.remove('video', id, 'sub_2')).toBeUndefined();
    expect(await bench.status(id)).toBe('pending');
  });
});

describe('the end of retention', () => {
  it('[JOB-23] expires a completed job: the sweep deletes its outputs and tells so', async () => {
    const { id } = await create();
    await complete(id);
    bench.clock += 24 * 3_600_000 - 1;
    await one.fire('sweep');
    expect(await bench.status(id)).toBe('completed');
    bench.clock += 1;
    await one.fire('sweep');
    expect(await read(id)).toMatchObject({ status: 'expired', progress: 100, billedSeconds: 6 });
    expect(bench.files.size).toBe(0);
    expect((await bench.events()).map(({ ending }) => ending).toSorted()).toEqual(['completed', 'expired']);
    await one.fire('sweep');
    expect(await bench.events()).toHaveLength(2);
  });

  it('[JOB-23] a job past its time is expired for whoever reads it, also before the sweep', async () => {
    const { id } = await create();
    await complete(id);
    bench.clock += 24 * 3_600_000;
    const { jobs } = await one.jobs.list('video', 'sub_1', { limit: 10, order: 'desc' });
    expect(jobs.map(({ status }) => status)).toEqual(['expired']);
    expect((await read(id)).status).toBe('expired');
    expect(bench.files.size).toBe(0);
    expect(await bench.events()).toHaveLength(2);
  });

  it('[JOB-24] expires nothing else', async () => {
    const [pending, failed] = [await create({ model: model('vid-2') }), await create()];
    await fail(failed.id, bad);
    const cancelled = await create();
    await remove(cancelled.id);
    bench.clock += 23 * 3_600_000;
    await one.fire('sweep');
    expect(await bench.status(failed.id)).toBe('failed');
    expect(await bench.status(cancelled.id)).toBe('cancelled');
    expect(await bench.status(pending.id)).toBe('in_progress');
  });

  it('[JOB-26] records of failed, cancelled and expired jobs stay readable until it ends, then they are gone', async () => {
    const failed = await create();
    await fail(failed.id, bad);
    const cancelled = await create();
    await remove(cancelled.id);
    const completed = await create();
    await complete(completed.id);
    bench.clock += 24 * 3_600_000 - 1;
    expect([(await read(failed.id)).status, (await read(cancelled.id)).status]).toEqual([
      'failed',
      'cancelled',
    ]);
    bench.clock += 1;
    expect(await read(failed.id)).toBeUndefined();
    expect(await read(cancelled.id)).toBeUndefined();
    await one.fire('sweep');
    expect(await bench.status(failed.id)).toBeUndefined();
    expect(await bench.status(completed.id)).toBe('expired');
    bench.clock += 24 * 3_600_000;
    expect(await read(completed.id)).toBeUndefined();
    await one.fire('sweep');
    expect(await bench.status(completed.id)).toBeUndefined();
  });

  it('files whose deletion failed are tried again', async () => {
    const { id } = await create();
    await complete(id);
    const stuck = bench.open({
      objects: { remove: () => Promise.reject(new Error('the disk is sulking')) } as never,
    });
    expect(await stuck.jobs.remove('video', id, 'sub_1')).toEqual({ outcome: 'deleted' });
    expect(bench.files.size).toBe(1);
    await stuck.fire('sweep');
    expect(bench.files.size).toBe(1);
    bench.clock += 60_000;
    await one.fire('sweep');
    expect(bench.files.size).toBe(0);
    const left = await bench.database.query('select object_key from job_leftovers');
    expect(left).toEqual([]);
  });
});
