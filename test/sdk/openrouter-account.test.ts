import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccountShell, createAccountShell, ledgerRow } from '../support/account-shell.ts';
import { shellKey } from '../support/shell.ts';

const now = Date.UTC(2026, 10, 15, 3);
let shell: AccountShell;
let client: OpenRouter;

beforeAll(async () => {
  shell = await createAccountShell(() => now);
  const serverURL = `${await shell.listen()}/v1`;
  client = new OpenRouter({ serverURL, apiKey: shellKey, retryConfig: { strategy: 'none' } });
  await shell.billing.record(ledgerRow('gen_1', now));
  await shell.billing.record(
    ledgerRow('gen_2', now, { operation: 'music', outcome: 'cancelled', quantities: {} }),
  );
});
afterAll(() => shell.close());

test('[ACCT-1] [ACCT-2] the OpenRouter SDK parses the key', async () => {
  const { data } = await client.apiKeys.getCurrentKeyMetadata();
  expect(data).toMatchObject({
    label: 'test',
    usage: 0.00021648,
    usageDaily: 0.00021648,
    limit: null,
    rateLimit: { requests: 60, interval: '60s' },
  });
});

test('[ACCT-4] the OpenRouter SDK parses the credits', async () => {
  expect((await client.credits.getCredits()).data).toEqual({ totalCredits: 0, totalUsage: 0.00021648 });
});

test('[ACCT-5] [ACCT-6] the OpenRouter SDK parses the activity', async () => {
  const { data } = await client.analytics.getUserActivity();
  expect(data).toMatchObject([{ date: '2026-11-15', model: 'qwen3-8b', requests: 2, promptTokens: 318 }]);
  expect((await client.analytics.getUserActivity({ date: '2026-11-14' })).data).toEqual([]);
  await expect(client.analytics.getUserActivity({ date: 'soon' })).rejects.toMatchObject({ statusCode: 400 });
});

test('[ACCT-7] the OpenRouter SDK parses every generation', async () => {
  const { data } = await client.generations.getGeneration({ id: 'gen_1' });
  expect(data).toMatchObject({ id: 'gen_1', model: 'qwen3-8b', totalCost: 0.00010824, finishReason: 'stop' });
  const cancelled = await client.generations.getGeneration({ id: 'gen_2' });
  expect(cancelled.data).toMatchObject({ cancelled: true, apiType: null, tokensPrompt: 0 });
});

test('[ACCT-8] the OpenRouter SDK raises its not-found error', async () => {
  await expect(client.generations.getGeneration({ id: 'gen_none' })).rejects.toBeInstanceOf(
    errors.NotFoundResponseError,
  );
});
