import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createShell, type Shell } from '../../../test/support/shell.ts';
import { createWebhookBench, type WebhookBench } from '../../../test/support/webhook-bench.ts';
import { createLog } from '../../lib/log.ts';
import { createValidator } from '../../lib/schema.ts';
import { type Accounts, createAccounts } from '../../platform/accounts/index.ts';
import { webhookRoutes } from './index.ts';

let bench: WebhookBench;
let accounts: Accounts;
let shell: Shell;
/** Two of one subscription, and one of another. */
let keys: { first: string; second: string; stranger: string };

beforeEach(async () => {
  bench = await createWebhookBench();
  bench.clock.advance(999);
  accounts = createAccounts({ database: bench.database, now: bench.clock.now, log: createLog('silent') });
  await accounts.start();
  await accounts.createSubscription('one');
  await accounts.createSubscription('two');
  const make = async (subscription: string) => (await accounts.createKey({ subscription, name: 'k' })).secret;
  keys = { first: await make('one'), second: await make('one'), stranger: await make('two') };
  shell = createShell(webhookRoutes, { platform: { accounts, webhooks: await bench.open() } });
});
afterEach(async () => {
  await shell.close();
  await accounts.close();
  await bench.close();
});

const get = (key: string | null = keys.first) => shell.send({ url: '/v1/webhooks/secret', key });
const rotate = (key: string | null = keys.first) =>
  shell.send({ method: 'POST', url: '/v1/webhooks/secret/rotate', key });
const seconds = () => Math.floor(bench.clock.now() / 1000);

describe('GET /webhooks/secret', () => {
  it('[HOOK-7] [HOOK-8] makes the secret on the first call and answers the same one later', async () => {
    const answer = await get();
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      object: 'webhook.secret',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9_-]{43}$/),
      created_at: seconds(),
      previous_secret_expires_at: null,
    });
    bench.clock.advance(60_000);
    expect((await get()).json()).toEqual(answer.json());
  });

  it('[AUTH-21] two keys of one subscription get the same secret, a key of another its own', async () => {
    const { secret } = (await get(keys.first)).json();
    expect((await get(keys.second)).json().secret).toBe(secret);
    expect((await get(keys.stranger)).json().secret).not.toBe(secret);
    const rotated = (await rotate(keys.second)).json().secret;
    expect((await get(keys.first)).json().secret).toBe(rotated);
  });
});

describe('POST /webhooks/secret/rotate', () => {
  it('[HOOK-9] [HOOK-10] answers a new secret, and when the one before it stops signing', async () => {
    const old = (await get()).json();
    bench.clock.advance(5_000);
    const answer = await rotate();
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      object: 'webhook.secret',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9_-]{43}$/),
      created_at: seconds(),
      previous_secret_expires_at: seconds() + 86_400,
    });
    expect(answer.json().secret).not.toBe(old.secret);
    expect((await get()).json()).toEqual(answer.json());
    bench.clock.advance(86_400_000);
    expect((await get()).json()).toEqual({ ...answer.json(), previous_secret_expires_at: null });
  });

  it('[HOOK-10] also where nobody has asked for a secret before', async () => {
    expect((await rotate()).json().previous_secret_expires_at).toBe(seconds() + 86_400);
  });
});

describe('both', () => {
  it('[HOOK-11] no cache may keep what they answer', async () => {
    expect((await get()).headers['cache-control']).toBe('no-store');
    expect((await rotate()).headers['cache-control']).toBe('no-store');
  });

  it('need a key', async () => {
    for (const ask of [get, rotate]) {
      expect((await ask(null)).status).toBe(401);
      expect((await ask('rh_wrong')).status).toBe(401);
    }
  });

  it('answer what they declare', async () => {
    for (const [index, ask] of [get, rotate].entries())
      expect(createValidator(webhookRoutes[index]!.response!).check((await ask()).json())).toBe(true);
  });
});
