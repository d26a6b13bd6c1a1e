/** The bounds of collections in earnest: an upload over 100 MB by socket, and ten thousand files in one collection. */
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { vectorStoreRoutes } from '../src/api/vector-store/index.ts';
import { createLog } from '../src/lib/log.ts';
import { createObjects } from '../src/platform/objects/index.ts';
import { createVectors, type VectorsParts } from '../src/platform/vectors/index.ts';
import { insertFile } from '../src/platform/vectors/store-files.ts';
import { migrate } from '../src/storage/migrate.ts';
import { createTestDatabase } from './support/database.ts';
import { createShell, shellKey } from './support/shell.ts';
import { migrationsFolder } from './support/vector-house.ts';

/** Files are stored and listed here, and never read. */
async function setUp() {
  const { database, folder, close } = await createTestDatabase();
  await migrate(database, { folder: migrationsFolder });
  const log = createLog('silent');
  const objects = createObjects({ folder: `${folder}/objects`, log, now: Date.now });
  const parts = { database, objects, log, now: Date.now } as unknown as VectorsParts;
  const vectors = createVectors(parts);
  const shell = createShell(vectorStoreRoutes, { platform: { vectors, objects } });
  const about = { name: '', description: '', metadata: {}, modelId: 'm' };
  const { id } = await vectors.createCollection('sub_1', about);
  return {
    shell,
    database,
    id,
    async files() {
      const entries = await readdir(`${folder}/objects`, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).length;
    },
    async close() {
      await shell.close();
      await vectors.close();
      await objects.close();
      await close();
    },
  };
}

describe('sizes', () => {
  it('[VEC-13] an upload over 100 MB is a 413 while it is being sent; one of 100 MB is a 201', async () => {
    const { shell, id, files, close } = await setUp();
    try {
      const address = await shell.listen();
      const send = async (bytes: number) => {
        const headers = {
          authorization: `Bearer ${shellKey}`,
          'content-type': 'multipart/form-data; boundary=B',
        };
        const sent = request(`${address}/v1/vector_store/${id}/files`, { method: 'POST', headers });
        sent.on('error', () => {});
        const answered = once(sent, 'response');
        let isAnswered = false;
        void answered.then(() => {
          isAnswered = true;
        });
        sent.write('--B\r\ncontent-disposition: form-data; name="file"; filename="big.txt"\r\n\r\n');
        const piece = Buffer.alloc(1_000_000, 'x');
        for (let left = bytes; left > 0 && !isAnswered; left -= piece.length) {
          const taken = sent.write(piece.subarray(0, Math.min(left, piece.length)));
          if (!taken) await Promise.race([once(sent, 'drain'), answered]);
        }
        sent.end('\r\n--B--\r\n');
        const [answer] = await answered;
        return [answer.statusCode, JSON.parse(await text(answer))];
      };
      const [refused, { error }] = await send(100_000_001);
      expect([refused, error.message]).toEqual([
        413,
        'file is larger than the limit of 100 MB (100000000 bytes)',
      ]);
      expect(await files()).toBe(0);
      const [taken, file] = await send(100_000_000);
      expect([taken, file.bytes, file.status]).toEqual([201, 100_000_000, 'in_progress']);
      expect(await files()).toBe(1);
    } finally {
      await close();
    }
  }, 60_000);

  it('10,000 files in one collection are listed page by page, each page in a few milliseconds of work', async () => {
    const { shell, database, id, close } = await setUp();
    try {
      const count = 10_000;
      const file = {
        filename: '0.txt',
        attributes: { number: 0 },
        objectKey: 'none',
        bytes: 1,
        keyId: 'key_1',
      };
      await database.transaction((tx) => insertFile(tx, 'sub_1', id, file, Date.now()));
      // The others by one statement: one by one they are tens of thousands.
      await database.query(
        `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n + 1 < cast($1 as integer))
         insert into vector_files (id, collection_no, subscription_id, status, created_at, bytes, lease_until, key_id,
           object_key, filename, attributes)
         select 'file_00000000000000' || cast(1000000000 + n as text), collection_no, subscription_id, status, created_at, bytes,
           lease_until, key_id, object_key || cast(n as text), cast(n as text) || '.txt', attributes
         from numbers cross join vector_files`,
        [count],
      );
      await database.query('update vector_collections set files_in_progress = $1', [count]);
      let most = 0;
      const list = async (query: string) => {
        const before = process.threadCpuUsage();
        const answer = await shell.send({ url: `/v1/vector_store/${id}/files?limit=100${query}` });
        const { user, system } = process.threadCpuUsage(before);
        most = Math.max(most, user + system);
        expect(answer.status).toBe(200);
        return answer.json();
      };
      await list('');
      most = 0;
      const seen = new Set<string>();
      let page = await list('');
      for (;;) {
        for (const file of page.data) seen.add(file.filename);
        if (page.has_more === false) break;
        page = await list(`&after=${page.last_id}`);
      }
      expect(seen.size).toBe(count);
      // Of this thread alone, in microseconds: what others do on the machine does not count.
      expect(most).toBeLessThan(50_000);
      const record = await shell.send({ url: `/v1/vector_store/${id}` });
      expect(record.json().file_counts).toMatchObject({ in_progress: count, total: count });
    } finally {
      await close();
    }
  }, 60_000);
});
