import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestPlace } from './support/database.ts';
import { startGatewayProcess } from './support/gateway-process.ts';

const key = 'sk-test-of-the-ledger-0001';
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
let folder: string;
let env: Record<string, string>;
let place: Awaited<ReturnType<typeof createTestPlace>>;

beforeEach(async () => {
  place = await createTestPlace();
  folder = place.folder;
  const config = join(folder, 'roundhouse.yaml');
  await writeFile(config, 'limits: { requestsPerMinute: 100000, concurrent: 64 }\n');
  env = { ...place.env, ROUNDHOUSE_API_KEY: key, ROUNDHOUSE_CONFIG: config };
});
afterEach(() => place.close());

/** Asks once, whole or streamed; answers the generation's id when the whole answer arrived. */
async function ask(url: string, n: number): Promise<string | undefined> {
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      model: 'sandbox-chat',
      messages: [{ role: 'user', content: `number ${n}` }],
      max_tokens: 8,
      stream: n % 2 === 1,
    }),
  });
  expect(response.status).toBe(200);
  const text = await response.text();
  const isWhole = n % 2 === 1 ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}');
  return isWhole ? (response.headers.get('x-generation-id') ?? undefined) : undefined;
}

it('[BILL-28] kill -9 under load: after the restart the ledger holds every answered request exactly once', async () => {
  const answered: string[] = [];
  await using first = await startGatewayProcess(folder, env);
  let next = 0;
  const killed = Promise.withResolvers<unknown>();
  async function load(): Promise<void> {
    for (;;) {
      // Cut off by the kill, or refused after it: not answered.
      const id = await ask(first.url, next++).catch((error) => {
        if (error instanceof TypeError) return undefined;
        throw error;
      });
      if (id === undefined) return;
      answered.push(id);
      if (answered.length === 300) killed.resolve(first.end('SIGKILL'));
    }
  }
  await Promise.all(Array.from({ length: 16 }, load));
  expect(await killed.promise).toBeNull();
  expect(answered.length).toBeGreaterThanOrEqual(300);
  expect(new Set(answered).size).toBe(answered.length);

  await using second = await startGatewayProcess(folder, env);
  for (const id of answered) {
    const response = await fetch(`${second.url}/generation?id=${id}`, { headers });
    expect(response.status, id).toBe(200);
    await response.body?.cancel();
  }
  const activity = (await (
    await fetch(`${second.url}/activity?date=${new Date().toISOString().slice(0, 10)}`, { headers })
  ).json()) as {
    data: { requests: number }[];
  };
  const counted = activity.data.reduce((sum, row) => sum + row.requests, 0);
  // A request whose answer was on its way when the process died may be there as well, but none is there twice.
  expect(counted).toBeGreaterThanOrEqual(answered.length);
  expect(counted).toBeLessThanOrEqual(next);
  expect(await second.end('SIGTERM')).toBe(0);

  await using third = await startGatewayProcess(folder, env);
  const again = (await (
    await fetch(`${third.url}/activity?date=${new Date().toISOString().slice(0, 10)}`, { headers })
  ).json()) as typeof activity;
  expect(again.data.reduce((sum, row) => sum + row.requests, 0)).toBe(counted);
}, 120_000);
