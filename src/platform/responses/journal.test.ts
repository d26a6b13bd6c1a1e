/** Stored responses that wait in files for the database, as they do on SQLite. */
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { migrationsFolder } from '../../compose.ts';
import { createId } from '../../lib/ids.ts';
import { createLog } from '../../lib/log.ts';
import { type Database, QueryFailed, StoreUnavailable } from '../../storage/database.ts';
import { migrate } from '../../storage/migrate.ts';
import { createItemIds, createResponses, type Responses, type StoredResponse } from './index.ts';

const page = { limit: 9, order: 'asc' } as const;
let test: TestDatabase;
let journalFolder: string;
let logged: Record<string, unknown>[];
const opened: Responses[] = [];

beforeEach(async () => {
  test = await createTestDatabase({ dialect: 'sqlite' });
  await migrate(test.database, { folder: migrationsFolder });
  journalFolder = join(test.folder, 'responses');
  logged = [];
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await test.close();
});

function open(database: Partial<Database> = {}): Responses {
  const made = createResponses({
    database: { ...test.database, ...database },
    now: Date.now,
    log: createLog('info', { write: (line) => void logged.push(JSON.parse(line)) }),
    retentionDays: () => 30,
    journalFolder,
  });
  opened.push(made);
  return made;
}

function make(text: string, previousId?: string): StoredResponse {
  const id = createId('resp');
  const itemId = createItemIds(id.slice('resp_'.length));
  const item = () => ({ id: itemId('msg'), json: JSON.stringify({ text }) });
  return {
    id,
    subscriptionId: 'sub_1',
    createdAt: Date.now(),
    previousId,
    before: '{"output":[',
    after: ']}',
    input: [item()],
    output: [item()],
  };
}

const files = async () => (existsSync(journalFolder) ? await readdir(journalFolder) : []);
const count = async () =>
  (await test.database.query<{ count: number }>('select count(*) as count from responses'))[0]?.count;
const isThere = async (from: Responses, { id }: StoredResponse) =>
  (await from.find('sub_1', id)) !== undefined;
const down: Database['eachOfFile'] = () => Promise.reject(new StoreUnavailable('down'));

/** Saves, and leaves the files as a process does that is killed. */
async function leave(...kept: StoredResponse[]): Promise<void> {
  const killed = open({ eachOfFile: down });
  for (const response of kept) expect(killed.save(response)).toBeUndefined();
  await killed.close();
  opened.splice(opened.indexOf(killed), 1);
}

it('[RESP-46] a response is kept at once, and is there for every question', async () => {
  const responses = open();
  const asks: ((saved: StoredResponse) => Promise<unknown>)[] = [
    async (saved) => expect(await responses.find('sub_1', saved.id)).toMatchObject({ id: saved.id }),
    async (saved) =>
      expect(await responses.history('sub_1', saved.id)).toEqual([...saved.input, ...saved.output]),
    async (saved) =>
      expect(await responses.inputItems('sub_1', saved.id, page)).toMatchObject({ items: saved.input }),
    async (saved) => expect((await responses.items('sub_1', [saved.output[0]!.id])).size, saved.id).toBe(1),
    async (saved) => expect(await responses.remove('sub_1', saved.id)).toBe(true),
  ];
  for (const ask of asks) {
    const saved = make('é ✓ 𝄞 \u0000 "q" $1\n');
    expect(responses.save(saved)).toBeUndefined();
    expect(await files()).toHaveLength(1);
    await ask(saved);
    expect(await files()).toEqual([]);
  }
});

it('what nobody asks for is moved to the table by itself, together', async () => {
  let moves = 0;
  const responses = open({
    eachOfFile: (...args) => {
      moves++;
      return test.database.eachOfFile(...args);
    },
  });
  for (let index = 0; index < 100; index++) expect(responses.save(make(`${index}`))).toBeUndefined();
  expect(await isThere(responses, make('never'))).toBe(false);
  expect(await count()).toBe(0);
  await expect.poll(count).toBe(100);
  expect(moves).toBe(1);
  await expect.poll(files).toEqual([]);
});

it('only its owner can read the files', async () => {
  const responses = open();
  responses.save(make('private'));
  const [name] = (await files()) as [string];
  expect((await stat(journalFolder)).mode & 0o777).toBe(0o700);
  expect((await stat(join(journalFolder, name))).mode & 0o777).toBe(0o600);
});

it('[RESP-46] what a killed process left is there after the next start, once', async () => {
  const first = make('first');
  const second = make('second', first.id);
  await leave(first);
  await leave(second);
  const copy = join(test.folder, 'copy');
  await cp(journalFolder, copy, { recursive: true });
  const next = open();
  expect(await next.history('sub_1', second.id)).toHaveLength(4);
  expect(await files()).toEqual([]);
  await next.close();
  // It may end between the commit and the removal of the file.
  await cp(copy, journalFolder, { recursive: true });
  const last = open();
  expect(await isThere(last, first)).toBe(true);
  expect(await count()).toBe(2);
});

it('what a killed process left is moved when nobody asks for it, and new files stand behind it', async () => {
  await leave(make('left'));
  const responses = open({ eachOfFile: down });
  responses.save(make('new'));
  expect(await files()).toEqual(['00000001.rows', '00000002.rows']);
  await responses.close();
  open();
  await expect.poll(count).toBe(2);
});

it('[RESP-53] a removed response does not come back with the next start', async () => {
  const saved = make('removed');
  await leave(saved);
  const responses = open();
  expect(await responses.remove('sub_1', saved.id)).toBe(true);
  expect(await files()).toEqual([]);
  await responses.close();
  expect(await isThere(open(), saved)).toBe(false);
});

it('a response that was half written when its process ended does not take the others along', async () => {
  const saved = make('whole');
  await leave(saved);
  const [name] = (await files()) as [string];
  await appendFile(join(journalFolder, name), '["29","5",176');
  expect(await isThere(open(), saved)).toBe(true);
  expect(logged.at(-1)).toMatchObject({ level: 40, unread: 13 });
});

it('a file that the database refuses for good is set aside, and the next ones are moved', async () => {
  await mkdir(journalFolder);
  await writeFile(join(journalFolder, '00000007.rows'), '["1",2]\na\n');
  const responses = open();
  const saved = make('next');
  responses.save(saved);
  expect(await isThere(responses, saved)).toBe(true);
  expect(logged).toMatchObject([{ level: 50, err: { type: QueryFailed.name } }]);
  expect(await files()).toEqual(['00000007.rows.set-aside']);
  await responses.close();
  // Its name is not given again.
  open().save(make('later'));
  expect(await files()).toEqual(['00000007.rows.set-aside', '00000008.rows']);
});

it('a file that somebody took away is told, and keeps nobody from keeping', async () => {
  const responses = open();
  const lost = make('lost');
  expect(responses.save(lost)).toBeUndefined();
  for (const name of await files()) await rm(join(journalFolder, name));
  expect(await isThere(responses, lost)).toBe(false);
  expect(logged.at(-1)).toMatchObject({ msg: 'a file of kept responses is gone' });
  const next = make('next');
  expect(responses.save(next)).toBeUndefined();
  expect(await isThere(responses, next)).toBe(true);
});

it('a file that cannot be read now is no refusal of its rows: it is moved later', async () => {
  const responses = open();
  const kept = make('kept');
  expect(responses.save(kept)).toBeUndefined();
  const [name] = await files();
  const path = join(journalFolder, name!);
  await rename(path, `${path}.away`);
  await mkdir(path);
  await expect(responses.find('sub_1', kept.id)).rejects.toMatchObject({ kind: 'overloaded' });
  // What comes meanwhile goes to the database by itself.
  const other = make('other');
  await responses.save(other);
  expect(await count()).toBe(1);
  await rmdir(path);
  await rename(`${path}.away`, path);
  expect(await isThere(responses, kept)).toBe(true);
});

it('with the store down nothing more is taken, and what was taken is moved when it is back', async () => {
  let isDown = true;
  const fails = <A extends unknown[], T>(ask: (...args: A) => Promise<T>) =>
    (async (...args: A) => {
      if (isDown) throw new StoreUnavailable('down');
      return ask(...args);
    }) as (...args: A) => Promise<T>;
  const responses = open({
    each: fails(test.database.each),
    eachOfFile: fails(test.database.eachOfFile),
  });
  const taken = make('taken');
  expect(responses.save(taken)).toBeUndefined();
  await expect(responses.find('sub_1', taken.id)).rejects.toMatchObject({ kind: 'overloaded' });
  await expect(responses.save(make('refused'))).rejects.toMatchObject({ kind: 'overloaded' });
  expect(logged).toMatchObject([{ level: 40, reason: 'down' }]);
  isDown = false;
  const direct = make('direct');
  await responses.save(direct);
  expect(await count()).toBe(2);
  expect(responses.save(make('taken again'))).toBeUndefined();
  expect(logged).toHaveLength(2);
});

it('where the files cannot be written a response goes straight to the database', async () => {
  const responses = open();
  await writeFile(journalFolder, 'in the way');
  const saved = [make('a'), make('b')];
  for (const response of saved) await responses.save(response);
  expect(await count()).toBe(2);
  expect(logged).toMatchObject([{ level: 40 }]);
});

it('a very long response goes straight to the database, behind those before it', async () => {
  const responses = open();
  const first = make('first');
  const long = { ...make('long', first.id), after: `],"x":"${'x'.repeat(300_000)}"}` };
  responses.save(first);
  await responses.save(long);
  expect(await count()).toBe(2);
  expect(await responses.history('sub_1', long.id)).toHaveLength(4);
});

it('as long as the database does not keep up, whoever has a response kept waits for it', async () => {
  const gate = Promise.withResolvers<void>();
  const responses = open({
    eachOfFile: async (...args) => {
      await gate.promise;
      return test.database.eachOfFile(...args);
    },
  });
  const text = { after: `],"x":"${'x'.repeat(200_000)}"}` };
  let taken = 0;
  let waiting: Promise<void> | undefined;
  while (waiting === undefined && taken < 100) {
    waiting = responses.save({ ...make(`${taken}`), ...text });
    taken++;
  }
  expect(taken).toBeLessThan(60);
  gate.resolve();
  await waiting;
  expect(await count()).toBe(taken);
});

it('closing moves what was taken, and takes no more', async () => {
  const responses = open();
  responses.save(make('last'));
  await responses.close();
  expect(await count()).toBe(1);
  expect(await files()).toEqual([]);
  await expect(responses.save(make('late'))).rejects.toMatchObject({ kind: 'overloaded' });
});
