import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { GatewayError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import { type Database, type Row, StoreUnavailable } from '../../storage/database.ts';
import { migrate } from '../../storage/migrate.ts';
import { type Accounts, createAccounts } from './index.ts';
import type { Caller } from './types.ts';

let test: TestDatabase;
let clock: number;
let logged: Record<string, unknown>[];
let opened: Accounts[];

beforeEach(async () => {
  test = await createTestDatabase();
  await migrate(test.database, { folder: fileURLToPath(new URL('../../../migrations', import.meta.url)) });
  clock = 1_700_000_000_000;
  logged = [];
  opened = [];
});

afterEach(async () => {
  for (const accounts of opened) await accounts.close();
  await test.close();
});

async function start(database: Database = test.database): Promise<Accounts> {
  const log = createLog('info', { write: (line) => void logged.push(JSON.parse(line)) });
  const accounts = createAccounts({ database, now: () => clock, log });
  await accounts.start();
  opened.push(accounts);
  return accounts;
}

async function startWithKey(database: Database = test.database) {
  const accounts = await start(database);
  const { subscription, secret } = await accounts.ensureDefault();
  const { data } = await accounts.listKeys({ limit: 10 });
  await quiet();
  return { accounts, subscription, secret: secret ?? '', key: data[0]! };
}

/** Waits until everybody has heard of the changes so far: notifications arrive in the order of their commits. */
async function quiet(): Promise<void> {
  const heard = Promise.withResolvers<void>();
  const mark = JSON.stringify({ keyId: 'mark' });
  const stop = await test.database.listen(
    'accounts',
    (payload) => payload === mark && heard.resolve(),
    heard.reject,
  );
  await test.database.notify('accounts', mark);
  await heard.promise;
  await stop();
}

/** Gates and failures in front of a real database. */
function createFlaky(database: Database) {
  let gate: Promise<unknown> | undefined;
  let entered = () => {};
  let onGap = () => {};
  const flaky = {
    down: false,
    queries: 0,
    /** Holds the answers of queries back: resolved once one waits, continued by `open`. */
    hold() {
      const opening = Promise.withResolvers<void>();
      const waiting = Promise.withResolvers<void>();
      gate = opening.promise;
      entered = waiting.resolve;
      const open = () => {
        gate = undefined;
        opening.resolve();
      };
      return { waiting: waiting.promise, open };
    },
    gap: () => onGap(),
    database: {
      ...database,
      async query<R = Row>(...[text, values]: Parameters<Database['query']>): Promise<R[]> {
        flaky.queries++;
        if (flaky.down) throw new StoreUnavailable('down');
        const rows = await database.query<R>(text, values);
        if (gate !== undefined) {
          entered();
          await gate;
          if (flaky.down) throw new StoreUnavailable('down');
        }
        return rows;
      },
      async transaction<T>(work: Parameters<typeof database.transaction<T>>[0]): Promise<T> {
        if (flaky.down) throw new StoreUnavailable('down');
        return database.transaction(work);
      },
      listen(channel: string, onMessage: (payload: string) => void, heardGap: () => void) {
        onGap = heardGap;
        return database.listen(channel, onMessage, heardGap);
      },
    } satisfies Database,
  };
  return flaky;
}

async function failure(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(GatewayError);
  return error as GatewayError;
}

describe('the first start', () => {
  it('makes the subscription default with one key and answers its secret; a later start answers none', async () => {
    const accounts = await start();
    const first = await accounts.ensureDefault();
    expect(first.subscription).toMatchObject({ name: 'default', status: 'active' });
    expect((await accounts.authenticate(first.secret ?? ''))?.subscriptionId).toBe(first.subscription.id);
    const second = await accounts.ensureDefault();
    expect(second).toEqual({ subscription: first.subscription, secret: undefined });
    expect((await accounts.listKeys({ limit: 10 })).data).toHaveLength(1);
  });

  it('makes one key although two processes start at once', async () => {
    const [a, b] = [await start(), await start()];
    const made = await Promise.all([a.ensureDefault(), b.ensureDefault()]);
    expect(made.filter(({ secret }) => secret !== undefined)).toHaveLength(1);
    expect(made[0].subscription).toEqual(made[1].subscription);
    expect((await a.listKeys({ limit: 10 })).data).toHaveLength(1);
  });

  it('makes no key where one is seeded', async () => {
    const accounts = await start();
    const { subscription, secret } = await accounts.ensureDefault({ withKey: false });
    expect(secret).toBeUndefined();
    await accounts.seedKey(subscription.id, 'sk-chosen-by-the-operator', 'seed');
    expect((await accounts.listKeys({ limit: 10 })).data).toMatchObject([
      { name: 'seed', prefix: 'sk-chose' },
    ]);
  });
});

describe('authentication', () => {
  it('[AUTH-6] keys match exactly: another case, a cut key or an added character is no key', async () => {
    const { accounts, secret } = await startWithKey();
    const swapped = [...secret]
      .map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()))
      .join('');
    for (const wrong of [
      swapped,
      secret.slice(0, -1),
      `${secret}x`,
      ` ${secret}`,
      `${secret} `,
      secret.slice(0, 10),
    ]) {
      expect(await accounts.authenticate(wrong)).toBeUndefined();
    }
    expect(await accounts.authenticate(secret)).toBeDefined();
  });

  it('[AUTH-8] a key that does not exist is nobody', async () => {
    const { accounts } = await startWithKey();
    for (const wrong of ['', 'nope', "' or 1=1 --", '%', 'x'.repeat(100_000), '\u0000']) {
      expect(await accounts.authenticate(wrong)).toBeUndefined();
    }
  });

  it('the hash of a key is not a key', async () => {
    const { accounts } = await startWithKey();
    const [row] = await test.database.query<{ hash: string }>('select hash from keys');
    expect(await accounts.authenticate(row?.hash ?? '')).toBeUndefined();
  });

  it('stores nothing that contains the secret', async () => {
    const { secret } = await startWithKey();
    const rows = [
      ...(await test.database.query('select * from keys')),
      ...(await test.database.query('select * from subscriptions')),
    ];
    expect(JSON.stringify(rows)).not.toContain(secret.slice(0, 12));
    expect(JSON.stringify(logged)).not.toContain(secret.slice(0, 12));
  });

  it('answers a known key at once and without the database', async () => {
    const flaky = createFlaky(test.database);
    const { accounts, secret, key } = await startWithKey(flaky.database);
    const caller = await accounts.authenticate(secret);
    expect(caller).toEqual({ subscriptionId: key.subscriptionId, keyId: key.id, keyName: 'default' });
    const before = flaky.queries;
    expect(accounts.authenticate(secret)).toEqual(caller);
    expect(flaky.queries).toBe(before);
  });

  it('asks once for an unknown key, and again when any account has changed', async () => {
    const flaky = createFlaky(test.database);
    const { accounts } = await startWithKey(flaky.database);
    await accounts.authenticate('unknown');
    const before = flaky.queries;
    expect(accounts.authenticate('unknown')).toBeUndefined();
    expect(flaky.queries).toBe(before);
    await accounts.createSubscription('another');
    await accounts.authenticate('unknown');
    expect(flaky.queries).toBe(before + 1);
  });

  it('joins lookups of the same key', async () => {
    const flaky = createFlaky(test.database);
    const { accounts, secret } = await startWithKey(flaky.database);
    const before = flaky.queries;
    const callers = await Promise.all(Array.from({ length: 50 }, () => accounts.authenticate(secret)));
    expect(callers.every((caller) => caller !== undefined)).toBe(true);
    expect(flaky.queries).toBe(before + 1);
  });

  it('remembers nothing before it hears of changes', async () => {
    const flaky = createFlaky(test.database);
    const { secret } = await startWithKey();
    const deaf = createAccounts({ database: flaky.database, now: () => clock, log: createLog('silent') });
    await deaf.authenticate(secret);
    await deaf.authenticate(secret);
    expect(flaky.queries).toBe(2);
  });
});

describe('the states of a key', () => {
  it('[AUTH-9] a suspended key is nobody until it is resumed', async () => {
    const { accounts, secret, key } = await startWithKey();
    await accounts.authenticate(secret);
    await accounts.moveKey(key.id, 'suspend');
    expect(await accounts.authenticate(secret)).toBeUndefined();
    await accounts.moveKey(key.id, 'resume');
    expect(await accounts.authenticate(secret)).toBeDefined();
  });

  it('[AUTH-10] a revoked key is nobody, at once and for good', async () => {
    const { accounts, secret, key } = await startWithKey();
    await accounts.authenticate(secret);
    expect(await accounts.moveKey(key.id, 'revoke')).toMatchObject({ status: 'revoked', revokedAt: clock });
    expect(await accounts.authenticate(secret)).toBeUndefined();
  });

  it('a key expires by the clock, also while it is remembered, and the time can be moved', async () => {
    const { accounts } = await startWithKey();
    const { secret, key } = await accounts.createKey({
      subscription: 'default',
      name: 'guest',
      expiresAt: clock + 1000,
    });
    await quiet();
    expect(await accounts.authenticate(secret)).toBeDefined();
    clock += 999;
    expect(accounts.authenticate(secret)).toBeDefined();
    clock += 1;
    expect(accounts.authenticate(secret)).toBeUndefined();
    await accounts.expireKey(key.id, clock + 5000);
    expect(await accounts.authenticate(secret)).toBeDefined();
    await accounts.expireKey(key.id);
    expect(await accounts.authenticate(secret)).toBeUndefined();
    await accounts.expireKey(key.id, null);
    expect(await accounts.authenticate(secret)).toBeDefined();
  });

  it('a new key cannot have expired already', async () => {
    const { accounts } = await startWithKey();
    const error = await failure(
      accounts.createKey({ subscription: 'default', name: 'late', expiresAt: clock }),
    );
    expect(error).toMatchObject({ kind: 'invalid_request', param: 'expires_at' });
  });

  it.each([
    [['suspend', 'suspend'], 'suspended'],
    [['resume'], 'active'],
    [['revoke', 'revoke'], 'revoked'],
    [['revoke', 'resume'], 'revoked'],
    [['revoke', 'suspend'], 'revoked'],
    [['suspend', 'revoke', 'resume'], 'revoked'],
  ] as const)('the last of the moves %j is a conflict and changes nothing', async (moves, status) => {
    const { accounts, key } = await startWithKey();
    for (const move of moves.slice(0, -1)) await accounts.moveKey(key.id, move);
    expect(await failure(accounts.moveKey(key.id, moves.at(-1)!))).toMatchObject({ kind: 'conflict' });
    expect((await accounts.listKeys({ limit: 10 })).data).toMatchObject([{ status }]);
  });

  it('a revoked key can be given no other time', async () => {
    const { accounts, key } = await startWithKey();
    await accounts.moveKey(key.id, 'revoke');
    expect(await failure(accounts.expireKey(key.id, null))).toMatchObject({ kind: 'conflict' });
  });

  it('of two moves at the same moment one wins', async () => {
    const { accounts, key } = await startWithKey();
    const other = await start();
    const results = await Promise.allSettled([
      accounts.moveKey(key.id, 'suspend'),
      other.moveKey(key.id, 'suspend'),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('is named by its id or its prefix; an unknown one is not found, and a pasted secret is not repeated', async () => {
    const { accounts, key, secret } = await startWithKey();
    expect(await accounts.moveKey(key.prefix, 'suspend')).toMatchObject({ id: key.id });
    expect(await failure(accounts.moveKey('key_none', 'revoke'))).toMatchObject({ kind: 'not_found' });
    expect(await failure(accounts.moveKey('%', 'revoke'))).toMatchObject({ kind: 'not_found' });
    const error = await failure(accounts.moveKey(secret, 'revoke'));
    expect(error.kind).toBe('not_found');
    expect(error.message).not.toContain(secret.slice(0, 12));
  });

  it('a prefix that two keys share names neither', async () => {
    const { accounts, subscription } = await startWithKey();
    for (const end of ['one', 'two'])
      await accounts.seedKey(subscription.id, `a-long-prefix-that-is-shared-${end}`, end);
    expect(await failure(accounts.moveKey('a-long-pre', 'revoke'))).toMatchObject({ kind: 'conflict' });
  });
});

describe('the states of a subscription', () => {
  it('one that is suspended or closed silences all its keys, whatever their own state', async () => {
    const { accounts, secret } = await startWithKey();
    await accounts.createSubscription('acme');
    const acme = await accounts.createKey({ subscription: 'acme', name: 'a' });
    await accounts.authenticate(acme.secret);
    await accounts.moveSubscription('acme', 'suspend');
    expect(await accounts.authenticate(acme.secret)).toBeUndefined();
    await accounts.moveSubscription('acme', 'resume');
    expect(await accounts.authenticate(acme.secret)).toBeDefined();
    expect(await accounts.moveSubscription('acme', 'close')).toMatchObject({
      status: 'closed',
      closedAt: clock,
    });
    expect(await accounts.authenticate(acme.secret)).toBeUndefined();
    expect(await accounts.authenticate(secret)).toBeDefined();
  });

  it('a closed one stays closed and gets no new key', async () => {
    const { accounts } = await startWithKey();
    await accounts.createSubscription('acme');
    await accounts.moveSubscription('acme', 'close');
    for (const move of ['suspend', 'resume', 'close'] as const) {
      expect(await failure(accounts.moveSubscription('acme', move))).toMatchObject({ kind: 'conflict' });
    }
    expect(await failure(accounts.createKey({ subscription: 'acme', name: 'late' }))).toMatchObject({
      kind: 'conflict',
    });
  });

  it('a name is taken once, and looks like no id', async () => {
    const { accounts, subscription } = await startWithKey();
    expect(await failure(accounts.createSubscription('default'))).toMatchObject({ kind: 'conflict' });
    expect(await failure(accounts.createSubscription(subscription.id))).toMatchObject({
      kind: 'invalid_request',
    });
    expect(await failure(accounts.getSubscription('nobody'))).toMatchObject({ kind: 'not_found' });
    expect(await accounts.getSubscription(subscription.id)).toEqual(
      await accounts.getSubscription('default'),
    );
  });
});

describe('a seeded key', () => {
  const seed = 'sk-chosen-by-the-operator';

  it('is made once however often the gateway starts, and works', async () => {
    const { accounts, subscription } = await startWithKey();
    const first = await accounts.seedKey(subscription.id, seed, 'seed');
    expect(await accounts.seedKey(subscription.id, seed, 'seed')).toEqual(first);
    expect(await accounts.authenticate(seed)).toMatchObject({ keyId: first.id });
    expect(logged.filter(({ level }) => level === 40)).toEqual([]);
  });

  it('stays revoked, and the log says so', async () => {
    const { accounts, subscription } = await startWithKey();
    const { id } = await accounts.seedKey(subscription.id, seed, 'seed');
    await accounts.moveKey(id, 'revoke');
    await accounts.seedKey(subscription.id, seed, 'seed');
    expect(await accounts.authenticate(seed)).toBeUndefined();
    expect(logged).toContainEqual(
      expect.objectContaining({ level: 40, key: id, msg: 'the seeded key is revoked and stays so' }),
    );
  });

  it('must be visible ASCII, and a short one is warned of', async () => {
    const { accounts, subscription } = await startWithKey();
    expect(await failure(accounts.seedKey(subscription.id, 'two words', 'seed'))).toMatchObject({
      kind: 'invalid_request',
    });
    await accounts.seedKey(subscription.id, 'short', 'seed');
    expect(logged).toContainEqual(
      expect.objectContaining({ level: 40, msg: expect.stringContaining('guessed') }),
    );
  });
});

describe('several processes on one database', () => {
  it('a revocation in one is heard in the other', async () => {
    const { accounts, secret, key } = await startWithKey();
    const other = await start();
    await other.authenticate(secret);
    expect(other.authenticate(secret)).not.toBeInstanceOf(Promise);
    await accounts.moveKey(key.id, 'revoke');
    await expect
      .poll(async () => await other.authenticate(secret), { interval: 5, timeout: 1000 })
      .toBeUndefined();
  });

  it('a key made in one works in the other that had refused it', async () => {
    const { accounts, subscription } = await startWithKey();
    const other = await start();
    expect(await other.authenticate('sk-made-a-moment-later')).toBeUndefined();
    await accounts.seedKey(subscription.id, 'sk-made-a-moment-later', 'seed');
    await expect
      .poll(async () => await other.authenticate('sk-made-a-moment-later'), { interval: 5, timeout: 1000 })
      .toBeDefined();
  });

  it('a change counts at once in the process that made it, before its notification arrives', async () => {
    const accounts = await start({ ...test.database, listen: async () => async () => {} });
    const { secret } = await accounts.ensureDefault();
    expect(await accounts.authenticate('sk-made-a-moment-later')).toBeUndefined();
    const caller = await accounts.authenticate(secret ?? '');
    await accounts.seedKey(caller?.subscriptionId ?? '', 'sk-made-a-moment-later', 'seed');
    expect(await accounts.authenticate('sk-made-a-moment-later')).toBeDefined();
    await accounts.moveKey(caller?.keyId ?? '', 'revoke');
    expect(await accounts.authenticate(secret ?? '')).toBeUndefined();
  });

  it('a lookup that was under way when a revocation was heard is not remembered', async () => {
    const flaky = createFlaky(test.database);
    const { secret, key } = await startWithKey();
    const slow = await start(flaky.database);
    const held = flaky.hold();
    const early = slow.authenticate(secret);
    await held.waiting;
    await slow.moveKey(key.id, 'revoke');
    held.open();
    expect(await early).toBeDefined();
    expect(await slow.authenticate(secret)).toBeUndefined();
  });

  it('a request after the revocation does not join a lookup that began before it', async () => {
    const flaky = createFlaky(test.database);
    const { accounts, secret, key } = await startWithKey();
    const slow = await start(flaky.database);
    const held = flaky.hold();
    const early = slow.authenticate(secret);
    await held.waiting;
    await slow.moveKey(key.id, 'revoke');
    const late = slow.authenticate(secret);
    held.open();
    await early;
    expect(await late).toBeUndefined();
    expect(await accounts.authenticate(secret)).toBeUndefined();
  });

  it('after a gap a key is read again before it is used, and a missed revocation counts', async () => {
    const flaky = createFlaky({ ...test.database, listen: async () => async () => {} });
    const { accounts, secret, key } = await startWithKey();
    const deaf = await start(flaky.database);
    await deaf.authenticate(secret);
    await accounts.moveKey(key.id, 'revoke');
    expect(deaf.authenticate(secret)).toBeDefined();
    flaky.gap();
    expect(await deaf.authenticate(secret)).toBeUndefined();
  });

  it('a notification that this version does not understand makes everything be read again', async () => {
    const flaky = createFlaky(test.database);
    const { accounts, secret } = await startWithKey(flaky.database);
    await accounts.authenticate(secret);
    await test.database.notify('accounts', 'something new');
    await expect
      .poll(() => accounts.authenticate(secret) instanceof Promise, { interval: 1, timeout: 1000 })
      .toBe(true);
  });
});

describe('while the store is down', () => {
  it('a known key keeps working and an unknown one is a 503, never a 401', async () => {
    const flaky = createFlaky(test.database);
    const { accounts, secret } = await startWithKey(flaky.database);
    await accounts.authenticate(secret);
    flaky.down = true;
    expect(accounts.authenticate(secret)).toBeDefined();
    const error = await failure(Promise.resolve(accounts.authenticate('not seen before')));
    expect(error).toMatchObject({ kind: 'overloaded', retryAfterSeconds: 2 });
  });

  it('a known key keeps working after a gap, without waiting for the store each time, and is read again later', async () => {
    const flaky = createFlaky(test.database);
    const { accounts, secret } = await startWithKey(flaky.database);
    await accounts.authenticate(secret);
    flaky.down = true;
    flaky.gap();
    expect(await accounts.authenticate(secret)).toBeDefined();
    const before = flaky.queries;
    expect(accounts.authenticate(secret)).not.toBeInstanceOf(Promise);
    expect(flaky.queries).toBe(before);
    // Revoked by another process while this one could not hear.
    await test.database.query(`update keys set status = 'revoked'`);
    flaky.down = false;
    clock += 1000;
    expect(await accounts.authenticate(secret)).toBeUndefined();
  });

  it('of the requests that come when the wait is over, one asks and the others are answered at once', async () => {
    const flaky = createFlaky(test.database);
    const { accounts, secret } = await startWithKey(flaky.database);
    await accounts.authenticate(secret);
    flaky.down = true;
    flaky.gap();
    await accounts.authenticate(secret);
    clock += 1000;
    const first = accounts.authenticate(secret);
    expect(first).toBeInstanceOf(Promise);
    expect(accounts.authenticate(secret)).not.toBeInstanceOf(Promise);
    expect(await first).toBeDefined();
  });

  it('an expired key is refused although it is stale and cannot be read', async () => {
    const flaky = createFlaky(test.database);
    const { accounts } = await startWithKey(flaky.database);
    const { secret } = await accounts.createKey({
      subscription: 'default',
      name: 'guest',
      expiresAt: clock + 10,
    });
    await quiet();
    await accounts.authenticate(secret);
    flaky.down = true;
    flaky.gap();
    clock += 10;
    expect(await accounts.authenticate(secret)).toBeUndefined();
  });

  it('a revocation that was heard while a stale key was being read is not undone by the failed reading', async () => {
    const flaky = createFlaky(test.database);
    const { accounts, secret, key } = await startWithKey(flaky.database);
    await accounts.authenticate(secret);
    flaky.gap();
    const held = flaky.hold();
    const reading = accounts.authenticate(secret) as Promise<Caller | undefined>;
    await held.waiting;
    await accounts.moveKey(key.id, 'revoke');
    flaky.down = true;
    held.open();
    expect(await failure(reading)).toMatchObject({ kind: 'overloaded' });
  });

  it('changes and lists are a 503', async () => {
    const flaky = createFlaky(test.database);
    const { accounts, key } = await startWithKey(flaky.database);
    flaky.down = true;
    expect(await failure(accounts.moveKey(key.id, 'revoke'))).toMatchObject({ kind: 'overloaded' });
    expect(await failure(accounts.listKeys({ limit: 1 }))).toMatchObject({ kind: 'overloaded' });
  });
});

describe('lists', () => {
  it('go page by page, oldest first, without losing records of the same millisecond', async () => {
    const { accounts } = await startWithKey();
    for (let n = 0; n < 6; n++) await accounts.createKey({ subscription: 'default', name: `n${n}` });
    const seen: string[] = [];
    let after: string | undefined;
    for (let page = 0; page < 4; page++) {
      const { data, hasMore } = await accounts.listKeys({ subscription: 'default', after, limit: 2 });
      seen.push(...data.map(({ id }) => id));
      after = data.at(-1)?.id;
      expect(hasMore).toBe(page < 3);
    }
    expect(new Set(seen).size).toBe(7);
  });

  it('show the keys of one subscription or of all', async () => {
    const { accounts } = await startWithKey();
    await accounts.createSubscription('acme');
    await accounts.createKey({ subscription: 'acme', name: 'a' });
    expect((await accounts.listKeys({ limit: 10 })).data).toHaveLength(2);
    expect((await accounts.listKeys({ subscription: 'acme', limit: 10 })).data).toMatchObject([
      { name: 'a' },
    ]);
    expect(await failure(accounts.listKeys({ subscription: 'nobody', limit: 10 }))).toMatchObject({
      kind: 'not_found',
    });
    expect((await accounts.listSubscriptions({ limit: 1 })).hasMore).toBe(true);
  });
});
