import { afterEach, describe, expect, it } from 'vitest';
import { createShell, type Shell } from '../../../test/support/shell.ts';
import { GatewayError } from '../../lib/errors.ts';
import { createValidator } from '../../lib/schema.ts';
import type { Catalog, Model } from '../../platform/catalog/index.ts';
import { createHealth, type Health } from '../../platform/health/index.ts';
import { healthRoutes } from './index.ts';
import { HealthAnswer } from './schema.ts';

const models = [
  { id: 'chat-large', engines: ['a', 'b'] },
  { id: 'chat-small', engines: ['b'] },
] as unknown as Model[];

let shell: Shell;
let health: Health;
afterEach(() => shell.close());

function setUp(parts: { answering?: string[]; isStorageUp?: boolean; listed?: () => readonly Model[] } = {}) {
  const { answering = ['a', 'b'], isStorageUp = true, listed = () => models } = parts;
  let time = 1_800_000_000_000;
  health = createHealth({
    catalog: { listed } as Catalog,
    database: { query: async () => (isStorageUp ? [] : Promise.reject(new Error('down'))) },
    engines: { check: async () => new Map(['a', 'b'].map((name) => [name, answering.includes(name)])) },
    now: () => {
      time += 1500;
      return time;
    },
  });
  shell = createShell(healthRoutes, { platform: { health } });
  return shell.send({ url: '/v1/health' });
}

describe('GET /health', () => {
  it('[ROUTE-34, ROUTE-35] is 200 with status, version 1.4.0, time, uptime_seconds and checks', async () => {
    const answer = await setUp();
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      status: 'ok',
      version: '1.4.0',
      time: 1_800_000_003,
      uptime_seconds: 3,
      checks: { catalog: 'ok', storage: 'ok', engines: { 'chat-large': 'ok', 'chat-small': 'ok' } },
    });
    expect(createValidator(HealthAnswer).check(answer.json())).toBe(true);
  });

  it('[ROUTE-36] a degraded service is still 200, with status degraded', async () => {
    const engineDown = await setUp({ answering: ['a'] });
    expect(engineDown.status).toBe(200);
    expect(engineDown.json()).toMatchObject({
      status: 'degraded',
      checks: { storage: 'ok', engines: { 'chat-large': 'ok', 'chat-small': 'failing' } },
    });
    await shell.close();
    const storageDown = await setUp({ isStorageUp: false });
    expect([storageDown.status, storageDown.json().status, storageDown.json().checks.storage]).toEqual([
      200,
      'degraded',
      'failing',
    ]);
  });

  it('[ROUTE-37] an unusable catalogue makes it a 503 with the error envelope', async () => {
    const answer = await setUp({
      listed: () => {
        throw new GatewayError('unreachable', 'gone');
      },
    });
    expect(answer.status).toBe(503);
    expect(answer.json().error).toMatchObject({ code: 503, metadata: { error_type: 'provider_overloaded' } });
  });

  it('a gateway that is shutting down turns load balancers away with a 503', async () => {
    await setUp();
    health.drain();
    const answer = await shell.send({ url: '/v1/health' });
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
  });
});
