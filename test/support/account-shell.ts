/** The account routes over a real ledger, with one key, whose subscription is `sub_1`. */
import { accountRoutes } from '../../src/api/account/index.ts';
import { migrationsFolder } from '../../src/compose.ts';
import { createLog } from '../../src/lib/log.ts';
import { createBilling, type LedgerRow, type StartedBilling } from '../../src/platform/billing/index.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { createTestDatabase } from './database.ts';
import { createSampleCatalog } from './sample-models.ts';
import { createShell, type Shell } from './shell.ts';

export interface AccountShell extends Shell {
  readonly billing: StartedBilling;
}

export async function createAccountShell(now: () => number): Promise<AccountShell> {
  const test = await createTestDatabase();
  await migrate(test.database, { folder: migrationsFolder });
  const { database, folder } = test;
  const billing = createBilling({ database, folder, now, log: createLog('silent') });
  await billing.start();
  const shell = createShell(accountRoutes, {
    platform: {
      catalog: createSampleCatalog(),
      usage: billing.usage,
      limitsOf: () => ({ requestsPerMinute: 60, concurrent: 8, maxQueueWaitMs: 20_000 }),
    },
  });
  return {
    ...shell,
    billing,
    async close() {
      await shell.close();
      await billing.close();
      await test.close();
    },
  };
}

export function ledgerRow(id: string, at: number, more: Partial<LedgerRow> = {}): LedgerRow {
  return {
    id,
    subscriptionId: 'sub_1',
    keyId: 'key_1',
    modelId: 'qwen3-8b',
    operation: 'chat',
    at,
    durationMs: 1_250,
    streamed: true,
    outcome: 'stop',
    quantities: { promptTokens: 318, completionTokens: 100, cachedTokens: 18, reasoningTokens: 40 },
    costPicoUsd: 108_240_000n,
    ...more,
  };
}
