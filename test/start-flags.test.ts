import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startFlags } from '../benchmarks/processes.ts';
import { startGatewayProcess } from './support/gateway-process.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-flags-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs in every thread before its own code. V8's limit of a heap has room for three halves of its nursery. */
const tell = `
  import { appendFileSync } from 'node:fs';
  import { getHeapStatistics } from 'node:v8';
  import { isMainThread } from 'node:worker_threads';
  const { heap_size_limit: limit } = getHeapStatistics();
  appendFileSync(process.env.LIMITS, (isMainThread ? 'main ' : 'worker ') + limit + '\\n');`;

it('by `npm start` the nursery has at most 32 MB a half, and the thread of the database the less that it asks for', async () => {
  const file = join(folder, 'limits');
  const flags = [...startFlags(), '--import', `data:text/javascript,${encodeURIComponent(tell)}`];
  await using gateway = await startGatewayProcess(folder, { LIMITS: file }, flags);
  await gateway.end('SIGTERM');
  const told = await readFile(file, 'utf8');
  const limit = (thread: string) => Number(new RegExp(`^${thread} (\\d+)$`, 'm').exec(told)?.[1]);
  const halves = (limit('main') - limit('worker')) / 3;
  expect(halves).toBeGreaterThan(0);
  expect(halves).toBeLessThanOrEqual(32 * 2 ** 20);
});
