import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BenchProcess, createJobsBench, type JobsBench } from '../../../test/support/jobs-bench.ts';
import { createShell, type Shell } from '../../../test/support/shell.ts';
import { createLog } from '../../lib/log.ts';
import { createValidator } from '../../lib/schema.ts';
import { type Accounts, createAccounts } from '../../platform/accounts/index.ts';
import type { NewJob } from '../../platform/jobs/types.ts';
import { adminRoutes } from './index.ts';

const adminToken = 'operator-token-of-the-test';
let bench: JobsBench;
let process: BenchProcess;
let accounts: Accounts;
let shell: Shell;

beforeEach(async () => {
  bench = await createJobsBench();
  process = bench.open();
  accounts = createAccounts({ database: bench.database, now: () => bench.clock, log: createLog('silent') });
  await accounts.start();
  shell = createShell(adminRoutes, { adminToken, platform: { accounts, jobs: process.jobs } });
});
afterEach(async () => {
  await shell.close();
  await accounts.close();
  await bench.close();
});

function ask(path: string, method: 'GET' | 'POST' = 'GET') {
  return shell.send({ method, url: `/v1/admin/jobs${path}`, key: adminToken });
}

const create = (more: Partial<NewJob> = {}) => process.jobs.create(bench.newJob(more));

describe('the operator reads jobs', () => {
  it('of all subscriptions, newest first, or only some of them', async () => {
    const { id: subscriptionId } = await accounts.createSubscription('Acme');
    const first = await create();
    const caller = { subscriptionId, keyId: 'key_2', keyName: 'two' };
    const model = bench.models.get('song-1') as NewJob['model'];
    const second = await create({ kind: 'music', model, caller });
    const ids = async (query: string) =>
      (await ask(query)).json().data.map(({ id }: { id: string }) => [first.id, second.id].indexOf(id));
    expect(await ids('')).toEqual([1, 0]);
    expect(await ids('?limit=1')).toEqual([1]);
    expect(await ids(`?after=${second.id}`)).toEqual([0]);
    expect(await ids('?subscription=Acme')).toEqual([1]);
    expect(await ids('?kind=video')).toEqual([0]);
    expect(await ids('?model=song-1')).toEqual([1]);
    expect(await ids('?status=completed')).toEqual([]);
    expect((await ask('?subscription=nobody')).status).toBe(404);
    expect((await ask('?status=lost')).json().error.param).toBe('status');
  });

  it('one by one, in the declared shape', async () => {
    const { id } = await create();
    await process.fire('claim');
    await process.render(id).finish();
    await process.settled();
    const answer = await ask(`/${id}`);
    expect(answer.json()).toEqual({
      object: 'job',
      id,
      kind: 'video',
      subscription_id: 'sub_1',
      key_id: 'key_1',
      model: 'vid-1',
      status: 'completed',
      created_at: bench.clock / 1000,
      started_at: bench.clock / 1000,
      completed_at: bench.clock / 1000,
      expires_at: bench.clock / 1000 + 24 * 3600,
      queue_position: null,
      progress: 100,
      attempt: 1,
      outputs: 1,
      billed_seconds: 6,
      cost: 0.3,
      callback_url: 'https://client.example/hook',
      error: null,
      error_code: null,
    });
    for (const [path, declared] of [
      ['', '/admin/jobs'],
      [`/${id}`, '/admin/jobs/{id}'],
    ] as const) {
      const { response } = adminRoutes.find((route) => route.path === declared)!;
      expect(createValidator(response!).check((await ask(path)).json())).toBe(true);
    }
    expect((await ask('/video_none')).status).toBe(404);
  });
});

describe('the operator cancels a job', () => {
  it('that has not ended: its owner is told, nothing is billed', async () => {
    const { id } = await create();
    const answer = await ask(`/${id}/cancel`, 'POST');
    expect([answer.status, answer.json().status]).toEqual([200, 'cancelled']);
    expect(await bench.events()).toMatchObject([{ job: id, ending: 'cancelled' }]);
    expect((await bench.ledger()).ids).toEqual([]);
  });

  it('but none that has ended, and none that is not there', async () => {
    const { id } = await create();
    await ask(`/${id}/cancel`, 'POST');
    const again = await ask(`/${id}/cancel`, 'POST');
    expect([again.status, again.json().error.message]).toEqual([
      409,
      `The job ${id} is cancelled: it cannot be cancelled`,
    ]);
    expect((await ask('/video_none/cancel', 'POST')).status).toBe(404);
  });
});
