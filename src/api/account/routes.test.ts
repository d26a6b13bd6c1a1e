import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AccountShell, createAccountShell, ledgerRow } from '../../../test/support/account-shell.ts';
import { createValidator } from '../../lib/schema.ts';
import { accountRoutes } from './index.ts';

const now = Date.UTC(2026, 10, 15, 3);
const dayMs = 24 * 3600 * 1000;
let shell: AccountShell;

beforeEach(async () => {
  shell = await createAccountShell(() => now);
});
afterEach(() => shell.close());

/** A 200 that fits the route's declaration. */
async function get(path: string) {
  const answer = await shell.send({ url: `/v1${path}` });
  expect(answer.status).toBe(200);
  const { response } = accountRoutes.find((route) => route.path === path.split('?', 1)[0])!;
  const validator = createValidator(response!);
  if (!validator.check(answer.json())) throw new Error(JSON.stringify(validator.problem(answer.json())));
  return answer.json();
}

describe('GET /key', () => {
  it('[ACCT-1] [ACCT-2] answers every key of the convention', async () => {
    expect(await get('/key')).toEqual({
      data: {
        label: 'test',
        limit: null,
        limit_remaining: null,
        limit_reset: null,
        usage: 0,
        usage_daily: 0,
        usage_weekly: 0,
        usage_monthly: 0,
        byok_usage: 0,
        byok_usage_daily: 0,
        byok_usage_weekly: 0,
        byok_usage_monthly: 0,
        include_byok_in_limit: false,
        is_free_tier: false,
        is_management_key: false,
        is_provisioning_key: false,
        creator_user_id: null,
        organization_id: null,
        workspace_id: null,
        allowed_data_regions: [],
        expires_at: null,
        free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
        rate_limit: { requests: 60, interval: '60s', note: expect.stringContaining('8 running at once') },
      },
    });
  });

  it('[ACCT-3] usage, daily, weekly and monthly too, grows by the cost of an operation', async () => {
    await shell.billing.record(ledgerRow('gen_1', now));
    expect((await get('/key')).data).toMatchObject({
      usage: 0.00010824,
      usage_daily: 0.00010824,
      usage_weekly: 0.00010824,
      usage_monthly: 0.00010824,
    });
    await shell.billing.record(ledgerRow('gen_2', now - 40 * dayMs));
    await shell.billing.record(ledgerRow('gen_3', now, { subscriptionId: 'sub_2' }));
    expect((await get('/key')).data).toMatchObject({ usage: 0.00021648, usage_monthly: 0.00010824 });
  });

  it('[AUTH-18] what another key of the subscription used counts as well', async () => {
    await shell.billing.record(ledgerRow('gen_1', now, { keyId: 'key_2' }));
    expect((await get('/key')).data.usage).toBe(0.00010824);
  });
});

describe('GET /credits', () => {
  it('[ACCT-4] answers what was used; nothing is bought in advance', async () => {
    await shell.billing.record(ledgerRow('gen_1', now, { costPicoUsd: 1_500_000_000_000n }));
    expect(await get('/credits')).toEqual({ data: { total_credits: 0, total_usage: 1.5 } });
  });
});

describe('GET /activity', () => {
  beforeEach(async () => {
    await shell.billing.record(ledgerRow('gen_1', now));
    await shell.billing.record(ledgerRow('gen_2', now, { operation: 'messages' }));
    await shell.billing.record(ledgerRow('gen_3', now - dayMs, { modelId: 'gone-model', costPicoUsd: 0n }));
    await shell.billing.record(ledgerRow('gen_4', now - 29 * dayMs));
    await shell.billing.record(ledgerRow('gen_5', now - 30 * dayMs));
    await shell.billing.record(ledgerRow('gen_6', now, { subscriptionId: 'sub_2' }));
  });

  it('[ACCT-5] answers a row per day and model over the last 30 days', async () => {
    const { data } = await get('/activity');
    expect(data.map(({ date, model }: Record<string, string>) => [date, model])).toEqual([
      ['2026-11-15', 'qwen3-8b'],
      ['2026-11-14', 'gone-model'],
      ['2026-10-17', 'qwen3-8b'],
    ]);
    expect(data[0]).toEqual({
      date: '2026-11-15',
      model: 'qwen3-8b',
      model_permaslug: 'qwen3-8b',
      endpoint_id: 'qwen3-8b',
      provider_name: 'qwen',
      usage: 0.00021648,
      byok_usage_inference: 0,
      requests: 2,
      prompt_tokens: 636,
      completion_tokens: 200,
      reasoning_tokens: 80,
    });
  });

  it('[ACCT-6] ?date= keeps that day, also an older one', async () => {
    expect((await get('/activity?date=2026-11-14')).data).toHaveLength(1);
    expect((await get('/activity?date=2026-10-16')).data).toMatchObject([{ requests: 1 }]);
    expect((await get('/activity?date=2025-01-01')).data).toEqual([]);
  });

  it.each(['yesterday', '2026-13-01', '2026-02-30', '15.11.2026', ''])(
    '[ACCT-6] ?date=%s is a 400 that names the field',
    async (date) => {
      const answer = await shell.send({ url: `/v1/activity?date=${date}` });
      expect(answer.status).toBe(400);
      expect(answer.json().error.param).toBe('date');
    },
  );
});

describe('GET /generation', () => {
  it('[ACCT-7] answers an operation as soon as it was answered', async () => {
    await shell.billing.record(ledgerRow('gen_0123', now));
    const { data } = await get('/generation?id=gen_0123');
    expect(data).toMatchObject({
      id: 'gen_0123',
      request_id: 'req_0123',
      model: 'qwen3-8b',
      provider_name: 'qwen',
      api_type: 'completions',
      created_at: '2026-11-15T03:00:00.000Z',
      streamed: true,
      cancelled: false,
      finish_reason: 'stop',
      generation_time: 1_250,
      tokens_prompt: 318,
      native_tokens_completion: 100,
      native_tokens_cached: 18,
      native_tokens_reasoning: 40,
      usage: 0.00010824,
      total_cost: 0.00010824,
    });
  });

  it('[ACCT-7] one that the client left says so', async () => {
    await shell.billing.record(ledgerRow('gen_1', now, { outcome: 'cancelled' }));
    expect((await get('/generation?id=gen_1')).data).toMatchObject({ cancelled: true, finish_reason: null });
  });

  it("[ACCT-8] an unknown id, or another subscription's, is a 404", async () => {
    await shell.billing.record(ledgerRow('gen_1', now, { subscriptionId: 'sub_2' }));
    for (const id of ['gen_1', 'gen_none']) {
      const answer = await shell.send({ url: `/v1/generation?id=${id}` });
      expect(answer.status, id).toBe(404);
    }
    expect((await shell.send({ url: '/v1/generation' })).status).toBe(400);
  });
});
