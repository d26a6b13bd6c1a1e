import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestPlace } from './support/database.ts';
import { startGatewayProcess } from './support/gateway-process.ts';

const token = 'operator-token-of-the-test';
const wanted = 200;
let folder: string;
let env: Record<string, string>;
let place: Awaited<ReturnType<typeof createTestPlace>>;

beforeEach(async () => {
  place = await createTestPlace();
  folder = place.folder;
  env = { ...place.env, ROUNDHOUSE_ADMIN_TOKEN: token };
});
afterEach(() => place.close());

async function createKey(url: string, n: number): Promise<string | undefined> {
  const response = await fetch(`${url}/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `key ${n}` }),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { secret: string }).secret;
}

it.each([1, 60, 140])(
  'kill -9 after %i of 200 keys: every key that was acknowledged works after the restart',
  async (killAfter) => {
    const acknowledged: string[] = [];
    await using first = await startGatewayProcess(folder, env);
    const killed = Promise.withResolvers<unknown>();
    let next = 0;
    async function createKeys(): Promise<void> {
      while (next < wanted) {
        // Cut off by the kill, or refused after it: not acknowledged.
        const secret = await createKey(first.url, next++).catch((error) => {
          if (error instanceof TypeError) return undefined;
          throw error;
        });
        if (secret === undefined) return;
        acknowledged.push(secret);
        if (acknowledged.length === killAfter) killed.resolve(first.end('SIGKILL'));
      }
    }
    await Promise.all(Array.from({ length: 16 }, createKeys));
    expect(await killed.promise).toBeNull();
    expect(acknowledged.length).toBeGreaterThanOrEqual(killAfter);
    expect(acknowledged.length).toBeLessThan(wanted);

    await using second = await startGatewayProcess(folder, env);
    expect(second.firstKey).toBeUndefined();
    for (const secret of [...acknowledged, first.firstKey ?? '']) {
      const response = await fetch(`${second.url}/models/sandbox-chat`, {
        headers: { authorization: `Bearer ${secret}` },
      });
      await response.body?.cancel();
      expect(response.status).toBe(200);
    }
    expect(await second.end('SIGTERM')).toBe(0);
  },
);
