import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestSchema } from './support/database.ts';
import { type GatewayProcess, startGatewayProcess } from './support/gateway-process.ts';

const token = 'operator-token-of-the-test';

/** Two replicas of the same gateway, on one PostgreSQL. */
describe.skipIf(!process.env['DATABASE_URL'])('two processes that share PostgreSQL', () => {
  let folder: string;
  let schema: Awaited<ReturnType<typeof createTestSchema>>;
  let one: GatewayProcess;
  let other: GatewayProcess;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roundhouse-revocation-'));
    schema = await createTestSchema();
    const env = { DATABASE_URL: schema.url, ROUNDHOUSE_ADMIN_TOKEN: token };
    [one, other] = await Promise.all([startGatewayProcess(folder, env), startGatewayProcess(folder, env)]);
  });
  afterAll(async () => {
    await one?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
    await schema?.drop();
    await rm(folder, { recursive: true });
  });

  async function operate(path: string, body: object = {}) {
    const response = await fetch(`${one.url}/admin${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.ok).toBe(true);
    return (await response.json()) as { id: string; secret: string };
  }

  async function status(gateway: GatewayProcess, secret: string): Promise<number> {
    const response = await fetch(`${gateway.url}/models/sandbox-chat`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    await response.body?.cancel();
    return response.status;
  }

  /** Milliseconds until the other process answers so. */
  async function lag(secret: string, wanted: number): Promise<number> {
    const from = performance.now();
    while ((await status(other, secret)) !== wanted) {
      expect(performance.now() - from).toBeLessThan(5000);
      await sleep(5);
    }
    return performance.now() - from;
  }

  it('start at once with one first key between them', () => {
    expect([one.firstKey, other.firstKey].filter((key) => key !== undefined)).toHaveLength(1);
  });

  it('[AUTH-10] a key that was revoked on one stops working on the other within a second', async () => {
    const { id, secret } = await operate('/keys');
    expect(await status(other, secret)).toBe(200);
    expect(await status(other, secret)).toBe(200);
    await operate(`/keys/${id}/revoke`);
    expect(await lag(secret, 401)).toBeLessThan(1000);
  });

  it('a suspended subscription is heard as fast, and so is its return', async () => {
    const { id } = await operate('/subscriptions', { name: 'acme' });
    const { secret } = await operate('/keys', { subscription: id });
    expect(await status(other, secret)).toBe(200);
    await operate(`/subscriptions/${id}/suspend`);
    expect(await lag(secret, 401)).toBeLessThan(1000);
    await operate(`/subscriptions/${id}/resume`);
    expect(await lag(secret, 200)).toBeLessThan(1000);
  });
});
