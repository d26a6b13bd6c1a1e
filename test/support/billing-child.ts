/** A process of its own that records ledger rows until it is killed, and says of each that it was acknowledged. */
import { setImmediate as turn } from 'node:timers/promises';
import { migrationsFolder } from '../../src/compose.ts';
import { createLog } from '../../src/lib/log.ts';
import { createBilling } from '../../src/platform/billing/index.ts';
import { migrate, openDatabase } from '../../src/storage/index.ts';

const [folder, databaseUrl] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: billing-child.ts <folder> [database url]');
const log = createLog('silent');
const database = await openDatabase({ databaseUrl, folder });
await migrate(database, { folder: migrationsFolder });
const billing = createBilling({ database, folder, now: Date.now, log, journal: { segmentBytes: 20_000 } });
await billing.start();
for (let i = 0; ; i++) {
  const id = `gen_${process.pid}_${i}`;
  await billing.record({
    id,
    subscriptionId: `sub_${i % 3}`,
    keyId: 'key_1',
    modelId: `model-${i % 2}`,
    operation: 'chat',
    at: Date.now(),
    durationMs: 5,
    streamed: false,
    outcome: 'stop',
    quantities: { promptTokens: 10, completionTokens: i % 7 },
    costPicoUsd: BigInt(i + 1),
  });
  // In the pipe before the next row is recorded: at most one row is unacknowledged when the kill comes.
  await new Promise((written) => process.stdout.write(`${id}\n`, written));
  if (i % 10 === 0) await turn();
}
