/** Stored responses on SQLite, and on PostgreSQL when DATABASE_URL is set. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { migrationsFolder } from '../../compose.ts';
import { createId } from '../../lib/ids.ts';
import { createLog } from '../../lib/log.ts';
import { type Database, type Row, StoreUnavailable } from '../../storage/database.ts';
import { migrate } from '../../storage/migrate.ts';
import {
  createItemIds,
  createResponses,
  type Responses,
  type ResponsesParts,
  type StoredResponse,
} from './index.ts';
import { toItemsText } from './items.ts';

const dialects = process.env.DATABASE_URL ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const);
const dayMs = 24 * 3600 * 1000;

describe.each(dialects)('stored responses: %s', (dialect) => {
  let test: TestDatabase;
  let now: number;
  let logged: Record<string, unknown>[];
  let responses: Responses;
  const opened: Responses[] = [];

  beforeEach(async () => {
    test = await createTestDatabase({ dialect });
    await migrate(test.database, { folder: migrationsFolder });
    now = Date.UTC(2026, 10, 15, 3);
    logged = [];
    responses = open();
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    await test.close();
  });

  function open(parts: Partial<ResponsesParts> = {}): Responses {
    const made = createResponses({
      database: test.database,
      now: () => now,
      log: createLog('info', { write: (line) => void logged.push(JSON.parse(line)) }),
      retentionDays: () => 30,
      ...parts,
    });
    opened.push(made);
    return made;
  }

  interface Said {
    input?: readonly string[];
    output?: readonly string[];
  }

  /** By default a question and an answer; the ids of the items are its own. */
  function make(
    text: string,
    {
      input = [`${text}?`],
      output = [`${text}!`],
      ...more
    }: Said & Partial<Omit<StoredResponse, keyof Said>> = {},
  ): StoredResponse {
    const id = createId('resp');
    const itemId = createItemIds(id.slice('resp_'.length));
    const item = (said: string) => ({ id: itemId('msg'), json: JSON.stringify({ text: said }) });
    return {
      id,
      subscriptionId: 'sub_1',
      createdAt: now,
      previousId: undefined,
      before: '{"output":[',
      after: `],"answer":${JSON.stringify(text.slice(0, 100))}}`,
      input: input.map(item),
      output: output.map(item),
      ...more,
    };
  }

  /** Saves turns that go on from each other. */
  async function saveChain(texts: readonly string[]): Promise<StoredResponse[]> {
    const chain: StoredResponse[] = [];
    for (const text of texts) chain.push(make(text, { previousId: chain.at(-1)?.id }));
    await Promise.all(chain.map((response) => responses.save(response)));
    return chain;
  }

  const told = async (id: string, from = responses) => {
    const history = await from.history('sub_1', id);
    return typeof history === 'string' ? history : history.map(({ json }) => JSON.parse(json).text);
  };
  /** Everything of it is there as it was saved. */
  async function expectKept(response: StoredResponse, from = responses): Promise<void> {
    const { before, after, input, output, ...found } = response;
    const json = before + output.map((item) => item.json).join() + after;
    expect(await from.find('sub_1', response.id)).toEqual({ ...found, json });
    const items = [...input, ...output];
    const ids = items.map(({ id }) => id);
    expect(await from.items('sub_1', ids)).toEqual(new Map(items.map((item) => [item.id, item])));
  }
  const count = async (table: string) =>
    (await test.database.query<{ count: number }>(`select count(*) as count from ${table}`))[0]?.count;

  describe('saving and finding', () => {
    it('[RESP-46] gives a response back as it was saved, its items in their order', async () => {
      const first = make('é ✓ 𝄞 \u0000 "q" $1', {
        input: ['one', 'two', 'three'],
        output: ['thought', 'said'],
      });
      const second = make('next', { previousId: first.id, input: [], output: [] });
      await responses.save(first);
      await responses.save(second);
      await expectKept(first);
      await expectKept(second);
      expect(await responses.history('sub_1', first.id)).toEqual([...first.input, ...first.output]);
    });

    it('[RESP-46] a response is there once its save has resolved, for every process, and after a restart', async () => {
      const saved = make('kept');
      await responses.save(saved);
      await expectKept(saved, open());
    });

    it('[RESP-46] a response of the version before, whose object was kept with its output in it, is there', async () => {
      const saved = make('a', { output: ['$& one', 'two'] });
      await responses.save(saved);
      const whole = saved.before + saved.output.map(({ json }) => json).join() + saved.after;
      await test.database.query('update responses set json = $1 where id = $2', [whole, saved.id]);
      await expectKept(saved);
    });

    it('[RESP-48] what was not saved is not there', async () => {
      const never = make('never');
      expect(await responses.find('sub_1', never.id)).toBeUndefined();
      expect(await responses.history('sub_1', never.id)).toBe('unknown');
      expect(await responses.items('sub_1', [never.output[0]!.id])).toEqual(new Map());
      expect(await responses.items('sub_1', [])).toEqual(new Map());
      expect(await responses.remove('sub_1', never.id)).toBe(false);
    });

    it('an id that cannot be there is not there', async () => {
      for (const id of ['', 'a\0b', '\ud800', "' or 1=1 --", 'x'.repeat(100_000)]) {
        expect(await responses.find('sub_1', id)).toBeUndefined();
        expect(await responses.history('sub_1', id)).toBe('unknown');
        expect(await responses.inputItems('sub_1', id, { limit: 1, order: 'asc' })).toBeUndefined();
        expect(await responses.remove('sub_1', id)).toBe(false);
        expect(await responses.items('sub_1', [id])).toEqual(new Map());
      }
    });

    it('[RESP-49] a response belongs to its subscription: another one neither reads nor removes it', async () => {
      const saved = make('mine');
      await responses.save(saved);
      const follower = make('stolen', { subscriptionId: 'sub_2', previousId: saved.id });
      await responses.save(follower);
      expect(await responses.find('sub_2', saved.id)).toBeUndefined();
      expect(await responses.history('sub_2', saved.id)).toBe('unknown');
      expect(await responses.history('sub_2', follower.id)).toBe('broken');
      const page = { limit: 9, order: 'asc' } as const;
      expect(await responses.inputItems('sub_2', saved.id, page)).toBeUndefined();
      expect(await responses.inputItems('sub_2', follower.id, page)).toMatchObject({ items: follower.input });
      expect(await responses.items('sub_2', [saved.input[0]!.id, saved.output[0]!.id])).toEqual(new Map());
      expect(await responses.remove('sub_2', saved.id)).toBe(false);
      await expectKept(saved);
    });

    it('items are found by their ids, those that are there', async () => {
      const [first, second] = (await saveChain(['a', 'b'])) as [StoredResponse, StoredResponse];
      const ids = [second.output[0]!.id, 'msg_unknown', first.input[0]!.id, first.input[0]!.id];
      expect(await responses.items('sub_1', ids)).toEqual(
        new Map([
          [first.input[0]!.id, first.input[0]],
          [second.output[0]!.id, second.output[0]],
        ]),
      );
    });

    it('a response may have very many items', async () => {
      const many = make('many', { input: Array.from({ length: 5_001 }, (_, index) => `${index}`) });
      await responses.save(many);
      await expectKept(many);
      expect(
        (
          await responses.items(
            'sub_1',
            many.input.map(({ id }) => id),
          )
        ).size,
      ).toBe(5_001);
    });
  });

  describe('history', () => {
    it('[RESP-50] is the input and output of every turn, oldest first', async () => {
      const chain = await saveChain(['a', 'b', 'c']);
      expect(await told(chain[2]!.id)).toEqual(['a?', 'a!', 'b?', 'b!', 'c?', 'c!']);
      expect(await told(chain[1]!.id)).toEqual(['a?', 'a!', 'b?', 'b!']);
      expect(await responses.history('sub_1', chain[0]!.id)).toEqual([
        ...chain[0]!.input,
        ...chain[0]!.output,
      ]);
    });

    it('forks where two turns go on from the same answer, and passes turns without items', async () => {
      const [root] = (await saveChain(['root'])) as [StoredResponse];
      const empty = make('', { previousId: root.id, input: [], output: [] });
      const left = make('left', { previousId: empty.id });
      const right = make('right', { previousId: root.id });
      for (const response of [empty, left, right]) await responses.save(response);
      expect(await told(left.id)).toEqual(['root?', 'root!', 'left?', 'left!']);
      expect(await told(right.id)).toEqual(['root?', 'root!', 'right?', 'right!']);
      expect(await told(empty.id)).toEqual(['root?', 'root!']);
      await responses.save(make('lone', { id: 'resp_lone', input: [], output: [] }));
      expect(await told('resp_lone')).toEqual([]);
    });

    it('is not there when a turn of it is gone', async () => {
      const chain = await saveChain(['a', 'b', 'c', 'd']);
      await responses.remove('sub_1', chain[1]!.id);
      expect(await told(chain[3]!.id)).toBe('broken');
      expect(await told(chain[2]!.id)).toBe('broken');
      expect(await told(chain[1]!.id)).toBe('unknown');
      expect(await told(chain[0]!.id)).toEqual(['a?', 'a!']);
    });

    it('may be thousands of turns long', async () => {
      const texts = Array.from({ length: 3_000 }, (_, index) => `${index}`);
      const chain = await saveChain(texts);
      expect(await told(chain.at(-1)!.id)).toEqual(texts.flatMap((text) => [`${text}?`, `${text}!`]));
    });

    it('has a bound of turns', async () => {
      const chain = await saveChain(['a', 'b', 'c', 'd']);
      const bounded = open({ maxTurns: 3 });
      expect(await told(chain[2]!.id, bounded)).toHaveLength(6);
      await expect(bounded.history('sub_1', chain[3]!.id)).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'previous_response_id',
        message: expect.stringContaining('3 turns'),
      });
    });

    it('has a bound of characters', async () => {
      const [first, second] = (await saveChain(['a', 'b'])) as [StoredResponse, StoredResponse];
      const chars = [first, second]
        .flatMap(({ input, output }) => [input, output])
        .reduce((sum, items) => sum + toItemsText(items).length, 0);
      expect(await told(second.id, open({ maxHistoryChars: chars }))).toHaveLength(4);
      const bounded = open({ maxHistoryChars: chars - 1 });
      await expect(bounded.history('sub_1', second.id)).rejects.toMatchObject({ kind: 'invalid_request' });
      expect(await told(first.id, bounded)).toHaveLength(2);
    });

    it('ends where turns go round in a circle', async () => {
      await responses.save(make('a', { id: 'resp_a', previousId: 'resp_b' }));
      await responses.save(make('b', { id: 'resp_b', previousId: 'resp_a' }));
      await responses.save(make('c', { id: 'resp_c', previousId: 'resp_c' }));
      for (const id of ['resp_a', 'resp_b', 'resp_c'])
        await expect(responses.history('sub_1', id)).rejects.toMatchObject({ kind: 'invalid_request' });
    });
  });

  /** Hears how many characters of items the database is asked for. */
  function createMeter() {
    const meter = {
      chars: 0,
      database: {
        ...test.database,
        async query<R = Row>(...args: Parameters<Database['query']>): Promise<R[]> {
          const rows = await test.database.query<R>(...args);
          meter.chars += JSON.stringify(rows).length;
          return rows;
        },
      } satisfies Database,
    };
    return meter;
  }
  const long = 'x'.repeat(10_000);

  describe('references', () => {
    it('the items that are referred to have a bound of characters together', async () => {
      const saved = make('a', { output: ['one', 'two'] });
      await responses.save(saved);
      const ids = saved.output.map(({ id }) => id);
      const chars = saved.output.reduce((sum, { json }) => sum + json.length, 0);
      expect((await open({ maxReferredChars: chars }).items('sub_1', ids)).size).toBe(2);
      const bounded = open({ maxReferredChars: chars - 1 });
      await expect(bounded.items('sub_1', ids)).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'input',
        message: expect.stringContaining(`${chars - 1} characters`),
      });
      expect((await bounded.items('sub_1', ids.slice(1))).size).toBe(1);
    });

    it('nothing is read of responses that are too long to be looked into', async () => {
      const saved = [make('a', { output: [long] }), make('b', { output: [long] })];
      for (const response of saved) await responses.save(response);
      const ids = saved.map(({ output }) => output[0]!.id);
      const chars = saved.reduce((sum, { output }) => sum + toItemsText(output).length, 0);
      expect((await open({ maxHistoryChars: chars }).items('sub_1', ids)).size).toBe(2);
      const meter = createMeter();
      const bounded = open({ maxHistoryChars: chars - 1, database: meter.database });
      await expect(bounded.items('sub_1', ids)).rejects.toMatchObject({ param: 'input' });
      expect(meter.chars).toBeLessThan(1_000);
    });

    it('what a turn brought is not read for what was answered', async () => {
      const saved = make('a', { input: [long] });
      await responses.save(saved);
      const meter = createMeter();
      const metered = open({ database: meter.database });
      expect((await metered.items('sub_1', [saved.output[0]!.id])).size).toBe(1);
      expect(meter.chars).toBeLessThan(1_000);
    });
  });

  describe('input items', () => {
    const page = async (
      id: string,
      limit: number,
      order: 'asc' | 'desc',
      after?: string,
      from = responses,
    ) => {
      const found = await from.inputItems('sub_1', id, { limit, order, after });
      return found && [found.items.map(({ json }) => JSON.parse(json).text).join(' '), found.hasMore];
    };

    it('[RESP-54] are those of the turns before and what the response itself brought, in pages', async () => {
      const [a, b, c] = (await saveChain(['a', 'b', 'c'])) as [
        StoredResponse,
        StoredResponse,
        StoredResponse,
      ];
      expect(await page(c.id, 100, 'asc')).toEqual(['a? a! b? b! c?', false]);
      expect(await page(c.id, 5, 'desc')).toEqual(['c? b! b? a! a?', false]);
      expect(await page(c.id, 4, 'asc')).toEqual(['a? a! b? b!', true]);
      expect(await page(c.id, 1, 'desc')).toEqual(['c?', true]);
      expect(await page(c.id, 2, 'asc', a.output[0]!.id)).toEqual(['b? b!', true]);
      expect(await page(c.id, 3, 'asc', a.output[0]!.id)).toEqual(['b? b! c?', false]);
      expect(await page(c.id, 2, 'desc', b.output[0]!.id)).toEqual(['b? a!', true]);
      expect(await page(c.id, 9, 'desc', a.input[0]!.id)).toEqual(['', false]);
      expect(await page(a.id, 9, 'asc')).toEqual(['a?', false]);
      for (const after of [c.output[0]!.id, 'msg_unknown', '', `${a.input[0]!.id}0`])
        await expect(page(c.id, 9, 'asc', after)).rejects.toMatchObject({ param: 'after' });
      await expect(page(a.id, 9, 'asc', b.input[0]!.id)).rejects.toMatchObject({ param: 'after' });
    });

    it('[RESP-54] every page after the other gives every item once, also past turns without items', async () => {
      const texts = Array.from({ length: 7 }, (_, index) => `${index}`);
      const chain = await saveChain(texts);
      const empty = make('', { previousId: chain.at(-1)!.id, input: [], output: [] });
      const last = make('last', { previousId: empty.id });
      for (const response of [empty, last]) await responses.save(response);
      const all = [...texts.flatMap((text) => [`${text}?`, `${text}!`]), 'last?'];
      for (const order of ['asc', 'desc'] as const) {
        const wanted = (order === 'asc' ? all : all.toReversed()).join(' ');
        for (const limit of [1, 2, 3, 14, 15]) {
          const read: string[] = [];
          for (let after: string | undefined, isMore = true; isMore; ) {
            const found = await responses.inputItems('sub_1', last.id, { limit, order, after });
            read.push(...found!.items.map(({ json }) => JSON.parse(json).text));
            after = found!.items.at(-1)?.id;
            isMore = found!.hasMore;
          }
          expect(read.join(' ')).toBe(wanted);
        }
      }
    });

    it('[RESP-54] are what the response itself brought where a turn before it is gone', async () => {
      const [a, b, c] = (await saveChain(['a', 'b', 'c'])) as [
        StoredResponse,
        StoredResponse,
        StoredResponse,
      ];
      await responses.remove('sub_1', a.id);
      expect(await page(c.id, 9, 'asc')).toEqual(['c?', false]);
      await expect(page(c.id, 9, 'asc', b.input[0]!.id)).rejects.toMatchObject({ param: 'after' });
      expect(await page(a.id, 9, 'asc')).toBeUndefined();
    });

    it('a page reads the turns that it shows, and not what the others said', async () => {
      const chain = await saveChain(Array.from({ length: 10 }, () => long));
      const last = make('last', { previousId: chain.at(-1)!.id });
      await responses.save(last);
      const meter = createMeter();
      const metered = open({ database: meter.database });
      const after = chain[4]!.input[0]!.id;
      expect(await page(last.id, 1, 'desc', undefined, metered)).toEqual(['last?', true]);
      expect((await page(last.id, 1, 'desc', after, metered))?.[1]).toBe(true);
      // The turn behind each of them tells that there is more; a turn has two long items.
      expect(meter.chars).toBeLessThan(4 * 20_000);
      meter.chars = 0;
      expect(await metered.find('sub_1', chain[0]!.id)).toBeDefined();
      expect(meter.chars).toBeLessThan(11_000);
    });

    it('a page of long items is shorter than it may be, and has at least one', async () => {
      const chain = await saveChain([long, long]);
      const first = `${long}?`;
      const itemChars = chain[0]!.input[0]!.json.length;
      for (const [maxPageChars, count] of [
        [1, 1],
        [2 * itemChars - 1, 1],
        [2 * itemChars, 2],
      ] as const) {
        const found = await page(chain[1]!.id, 9, 'asc', undefined, open({ maxPageChars }));
        expect(found).toEqual([count === 1 ? first : `${first} ${long}!`, true]);
      }
    });
  });

  describe('removing', () => {
    it('[RESP-53] a removed response is gone with its items, and only it', async () => {
      const [first, second] = (await saveChain(['a', 'b'])) as [StoredResponse, StoredResponse];
      expect(await responses.remove('sub_1', second.id)).toBe(true);
      expect(await responses.find('sub_1', second.id)).toBeUndefined();
      expect(await responses.items('sub_1', [second.input[0]!.id, second.output[0]!.id])).toEqual(new Map());
      expect(await responses.remove('sub_1', second.id)).toBe(false);
      await expectKept(first);
    });

    it('a subscription can be deleted while it has responses', async () => {
      await test.database.query(
        `insert into subscriptions (id, name, status, created_at) values ('sub_1', 'one', 'active', 1)`,
      );
      await responses.save(make('left over'));
      await test.database.query(`delete from subscriptions where id = 'sub_1'`);
      expect(await count('responses')).toBe(1);
    });
  });

  describe('expiry', () => {
    it('[RESP-49] a response is there until 30 days have passed, and not a moment longer', async () => {
      const saved = make('old');
      await responses.save(saved);
      const ids = [saved.input[0]!.id];
      now += 30 * dayMs - 1;
      const follower = make('new', { previousId: saved.id });
      await responses.save(follower);
      await expectKept(saved);
      expect((await responses.items('sub_1', ids)).size).toBe(1);
      expect(await told(follower.id)).toHaveLength(4);
      now += 1;
      expect(await responses.find('sub_1', saved.id)).toBeUndefined();
      expect(await responses.history('sub_1', saved.id)).toBe('unknown');
      expect(await responses.history('sub_1', follower.id)).toBe('broken');
      expect(await responses.items('sub_1', ids)).toEqual(new Map());
      expect(await responses.remove('sub_1', saved.id)).toBe(false);
      await expectKept(follower);
      expect(await count('responses')).toBe(2);
    });

    it('[RESP-49] the time is asked for anew each time', async () => {
      let days = 30;
      const changed = open({ retentionDays: () => days });
      const saved = make('old');
      await changed.save(saved);
      now += 7 * dayMs;
      await expectKept(saved, changed);
      days = 7;
      expect(await changed.find('sub_1', saved.id)).toBeUndefined();
    });

    it('[RESP-49] what has expired is swept away with its items, in batches, and nothing else', async () => {
      const old = Array.from({ length: 250 }, (_, index) => make(`${index}`));
      await Promise.all(old.map((response) => responses.save(response)));
      now += 1;
      const young = make('young');
      await responses.save(young);
      now += 30 * dayMs - 1;
      open({ firstSweepMs: 0 });
      await expect.poll(() => logged).toMatchObject([{ removed: 250 }]);
      expect(await count('responses')).toBe(1);
      await expectKept(young);
    });

    it('sweeps a minute after the start and then every hour, also after a failure, until it is closed', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        let sweeps = 0;
        const database: Database = {
          ...test.database,
          async query<R = Row>(): Promise<R[]> {
            sweeps++;
            throw new StoreUnavailable('down');
          },
        };
        const swept = open({ database });
        await vi.advanceTimersByTimeAsync(59_999);
        expect(sweeps).toBe(0);
        await vi.advanceTimersByTimeAsync(1);
        expect(sweeps).toBe(1);
        expect(logged).toMatchObject([{ level: 40, reason: 'down' }]);
        await vi.advanceTimersByTimeAsync(3_600_000);
        expect(sweeps).toBe(2);
        await swept.close();
        expect(vi.getTimerCount()).toBe(0);
      } finally {
        vi.useRealTimers();
      }
    });

    it('closing stops a sweep after the batch that is under way', async () => {
      await Promise.all(Array.from({ length: 250 }, (_, index) => responses.save(make(`${index}`))));
      now += 30 * dayMs;
      const asked = Promise.withResolvers<void>();
      const answer = Promise.withResolvers<void>();
      const database: Database = {
        ...test.database,
        async query<R = Row>(...args: Parameters<Database['query']>): Promise<R[]> {
          const rows = await test.database.query<R>(...args);
          asked.resolve();
          await answer.promise;
          return rows;
        },
      };
      const swept = open({ database, firstSweepMs: 0 });
      await asked.promise;
      const closed = swept.close();
      answer.resolve();
      await closed;
      expect(await count('responses')).toBe(150);
    });
  });

  describe('groups', () => {
    /** Counts writes, and holds them back until `open`. */
    function createHeld() {
      const gate = Promise.withResolvers<void>();
      const held = {
        writes: 0,
        open: gate.resolve,
        database: {
          ...test.database,
          async transaction<T>(work: Parameters<typeof test.database.transaction<T>>[0]): Promise<T> {
            held.writes++;
            await gate.promise;
            return test.database.transaction(work);
          },
          async each(text, lists) {
            held.writes++;
            await gate.promise;
            return test.database.each(text, lists);
          },
        } satisfies Database,
      };
      return held;
    }

    it('what comes while one write is under way is written together', async () => {
      const held = createHeld();
      const grouped = open({ database: held.database });
      const all = Array.from({ length: 100 }, (_, index) => make(`${index}`));
      const saves = all.map((response) => grouped.save(response));
      expect(held.writes).toBe(1);
      expect(await count('responses')).toBe(0);
      held.open();
      await Promise.all(saves);
      expect(held.writes).toBe(2);
      expect(await count('responses')).toBe(100);
      for (const response of all) await expectKept(response, grouped);
    });

    it('a group has a bound of responses and of characters', async () => {
      const held = createHeld();
      const grouped = open({ database: held.database });
      const saves = Array.from({ length: 402 }, (_, index) => grouped.save(make(`${index}`)));
      const large = JSON.stringify('x'.repeat(5_000_000));
      saves.push(...[1, 2].map((index) => grouped.save(make(`${index}`, { after: large }))));
      held.open();
      await Promise.all(saves);
      // 1 alone, 200, 200, 1 with the first large one, the second large one.
      expect(held.writes).toBe(5);
      expect(await count('responses')).toBe(404);
    });

    it('one that the database refuses does not take the others along', async () => {
      const first = make('first');
      const twice = make('twice', { id: first.id });
      const others = [make('a'), make('b')];
      const results = await Promise.allSettled(
        [first, others[0]!, twice, others[1]!].map((response) => responses.save(response)),
      );
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      await expectKept(first);
      for (const other of others) await expectKept(other);
    });

    it('closing waits for what was given to it, and takes no more', async () => {
      const held = createHeld();
      const grouped = open({ database: held.database });
      const saves = [grouped.save(make('a')), grouped.save(make('b')), grouped.save(make('c'))];
      const closed = grouped.close();
      await expect(grouped.save(make('late'))).rejects.toMatchObject({ kind: 'overloaded' });
      held.open();
      await closed;
      expect(await count('responses')).toBe(3);
      await Promise.all(saves);
    });
  });

  it('with the store down everything is a 503 that may be tried again', async () => {
    const fail = () => Promise.reject(new StoreUnavailable('down'));
    const down = open({ database: { ...test.database, query: fail, each: fail, transaction: fail } });
    const asked = [
      down.save(make('a')),
      down.save(make('b')),
      down.find('sub_1', 'resp_a'),
      down.history('sub_1', 'resp_a'),
      down.inputItems('sub_1', 'resp_a', { limit: 1, order: 'asc' }),
      down.items('sub_1', ['msg_a']),
      down.remove('sub_1', 'resp_a'),
    ];
    for (const result of await Promise.allSettled(asked))
      expect(result).toMatchObject({ reason: { kind: 'overloaded', retryAfterSeconds: 2 } });
  });
});
