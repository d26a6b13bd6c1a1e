import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.ts';
import { makePdf } from '../../../../test/support/documents.ts';
import { embedWords, toTestOperation } from '../../../../test/support/vector-house.ts';
import {
  createVectorPlatform,
  owner,
  type VectorPlatform,
  type VectorPlatformParts,
} from '../../../../test/support/vector-platform.ts';
import type { EmbeddingPort } from '../../../engines/contract/embedding.ts';
import { GatewayError } from '../../../lib/errors.ts';
import type { Timers } from '../../jobs/timers.ts';

let place: TestDatabase;
let open: VectorPlatform[] = [];
let clock = 1_800_000_000_000;
const rounds = new Map<string, () => Promise<void>>();
const timers: Timers = {
  every(name, _ms, work) {
    rounds.set(name, work);
    return () => rounds.delete(name);
  },
  pause: (_ms, signal) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('over')))),
};

beforeEach(async () => {
  place = await createTestDatabase();
});
afterEach(async () => {
  for (const platform of open) await platform.close();
  open = [];
  await place.close();
});

/** Embeds by words; `on` is asked before each batch and may fail it or hold it up. */
function engine(on: (texts: readonly string[], signal: AbortSignal) => void | Promise<void> = () => {}) {
  const port: EmbeddingPort = {
    async embed({ inputs }, signal) {
      const texts = inputs as readonly string[];
      await on(texts, signal);
      signal.throwIfAborted();
      return { vectors: texts.map((text) => embedWords(text)), promptTokens: texts.length };
    },
  };
  return port;
}

async function start(
  embedding: EmbeddingPort,
  limits: NonNullable<VectorPlatformParts['limits']> = {},
): Promise<VectorPlatform> {
  const { database, folder } = place;
  const platform = await createVectorPlatform({
    database,
    folder,
    embedding,
    limits,
    timers,
    now: () => clock,
  });
  open.push(platform);
  return platform;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries++) {
    if (tries > 12_000) throw new Error('it does not come to that');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const lines = (count: number, word: string) =>
  Buffer.from(Array.from({ length: count }, (_, n) => `${word} ${n} ${'word '.repeat(250)}.`).join('\n\n'));

async function ledger(): Promise<{ count: number; tokens: number }> {
  const [row] = await place.database.query<{ count: number; tokens: number }>(
    'select count(*) as count, coalesce(sum(prompt_tokens), 0) as tokens from ledger',
  );
  return { count: Number(row?.count), tokens: Number(row?.tokens) };
}

describe('a file that was added', () => {
  it('[VEC-15] is found by search, with its place in the file, and is billed to the key that added it', async () => {
    const platform = await start(engine());
    const collection = await platform.createCollection();
    const file = await platform.add(
      collection,
      'guide.md',
      Buffer.from('# Guide\n\n## Trains\n\nThe turntable turns.\n'),
    );
    expect(file.status).toBe('in_progress');
    expect(await platform.ended(file)).toMatchObject({
      status: 'completed',
      itemCount: 1,
      lastError: undefined,
    });
    const request = { text: 'turntable', limit: 5 };
    const answer = await platform.vectors.search(toTestOperation(owner), collection, request);
    expect(answer?.hits[0]?.item).toMatchObject({
      text: 'The turntable turns.',
      description: 'guide › Trains',
      filename: 'guide.md',
      index: 0,
    });
    const rows = await place.database.query(
      'select subscription_id, key_id, model_id, operation, prompt_tokens from ledger',
    );
    expect(rows).toEqual([
      {
        subscription_id: owner,
        key_id: 'key_1',
        model_id: 'embedder',
        operation: 'embeddings',
        prompt_tokens: 1,
      },
    ]);
  });

  it('is embedded in batches, each of which has its bill', async () => {
    const sizes: number[] = [];
    const platform = await start(
      engine((texts) => void sizes.push(texts.length)),
      { batchItems: 4 },
    );
    const file = await platform.add(await platform.createCollection(), 'a.txt', lines(10, 'x'));
    expect(await platform.ended(file)).toMatchObject({ status: 'completed', itemCount: 10 });
    expect(sizes).toEqual([4, 4, 2]);
    expect(await ledger()).toEqual({ count: 3, tokens: 10 });
  });

  it('fails with a sentence that says why when it cannot be read, and costs nothing', async () => {
    const platform = await start(engine());
    const collection = await platform.createCollection();
    const scanned = await platform.add(collection, 'scan.pdf', makePdf(['', '']));
    expect(await platform.ended(scanned)).toMatchObject({
      status: 'failed',
      itemCount: 0,
      lastError: {
        code: 'invalid_file',
        message:
          'The PDF has no text, only pictures of it: scanned pages are not read, so send one with text',
      },
    });
    const program = await platform.add(collection, 'a.exe', Buffer.from('\x7fELF\0\0'));
    expect(await platform.ended(program)).toMatchObject({
      status: 'failed',
      lastError: { code: 'unsupported_file' },
    });
    expect(await ledger()).toEqual({ count: 0, tokens: 0 });
  });

  it('fails when the model refuses its text', async () => {
    const platform = await start(
      engine(() => {
        throw new GatewayError('invalid_request', 'a text is too long');
      }),
    );
    const file = await platform.add(await platform.createCollection(), 'a.txt', Buffer.from('text'));
    expect(await platform.ended(file)).toMatchObject({
      status: 'failed',
      lastError: {
        code: 'server_error',
        message: "The embedding model did not take the file's text: a text is too long",
      },
    });
  });
});

describe('without embeddings', () => {
  it('a file waits, longer each time, and stays in progress; then it completes', async () => {
    let failures = 0;
    const platform = await start(
      engine(() => {
        if (failures++ < 3) throw new GatewayError('overloaded', 'the model is being fetched');
      }),
    );
    const file = await platform.add(await platform.createCollection(), 'a.txt', Buffer.from('text'));
    for (const [times, waitMs] of [2_000, 4_000, 8_000].entries()) {
      await until(async () => {
        const [row] = await place.database.query<{ lease_owner: string | null }>(
          'select lease_owner from vector_files',
        );
        return failures === times + 1 && row?.lease_owner === null;
      });
      clock += waitMs - 1;
      await rounds.get('claim')?.();
      expect(failures).toBe(times + 1);
      const current = await platform.vectors.findFile(owner, file.collectionId, file.id);
      expect(current).toMatchObject({ status: 'in_progress', lastError: undefined });
      clock += 1;
      await rounds.get('claim')?.();
    }
    expect(await platform.ended(file)).toMatchObject({ status: 'completed', itemCount: 1 });
    expect(await ledger()).toEqual({ count: 1, tokens: 1 });
  });
});

describe('many files', () => {
  it('a large one goes to the end of the line after its slice, so that a small one is not kept waiting', async () => {
    const order: string[] = [];
    const platform = await start(
      engine(([text = '']) => {
        order.push(text.includes('large') ? 'large' : 'small');
        clock += 1_000;
      }),
      { lanes: [{}], sliceMs: 2_000, batchItems: 2 },
    );
    const collection = await platform.createCollection();
    const large = await platform.add(collection, 'large.txt', lines(12, 'large'));
    const small = await platform.add(collection, 'small.txt', lines(1, 'small'));
    await platform.ended(large);
    await platform.ended(small);
    expect(order.slice(0, 3)).toEqual(['large', 'large', 'small']);
    expect(order).toHaveLength(7);
  });

  it('subscriptions take turns, however many files each has', async () => {
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const platform = await start(
      engine(async ([text = '']) => {
        order.push(/owner\d|other\d/.exec(text)?.[0] ?? '');
        await gate.promise;
      }),
      { lanes: [{}] },
    );
    const mine = await platform.createCollection();
    const theirs = await platform.createCollection('sub_other');
    const files = [];
    for (const n of [1, 2, 3, 4]) files.push(await platform.add(mine, 'a.txt', Buffer.from(`owner${n}`)));
    const theirFile = await platform.add(theirs, 'a.txt', Buffer.from('other1'), 'sub_other');
    gate.resolve();
    for (const file of files) await platform.ended(file);
    await platform.ended(theirFile, 'sub_other');
    expect(order).toEqual(['owner1', 'other1', 'owner2', 'owner3', 'owner4']);
  });

  it('a lane that is kept for small files takes no large one', async () => {
    const gate = Promise.withResolvers<void>();
    const platform = await start(
      engine(([text = '']) => (text.includes('large') ? gate.promise : undefined)),
      { lanes: [{ maxBytes: 10_000 }, {}] },
    );
    const collection = await platform.createCollection();
    const large = [];
    for (const name of ['a.txt', 'b.txt'])
      large.push(await platform.add(collection, name, lines(12, 'large')));
    const small = await platform.add(collection, 'c.txt', lines(1, 'small'));
    expect(await platform.ended(small)).toMatchObject({ status: 'completed' });
    gate.resolve();
    for (const file of large) await platform.ended(file);
  });
});

describe('a file that is worked at', () => {
  it('is left alone when it is removed meanwhile', async () => {
    const gate = Promise.withResolvers<void>();
    let batches = 0;
    const platform = await start(
      engine(() => {
        batches++;
        return gate.promise;
      }),
      { batchItems: 2 },
    );
    const collection = await platform.createCollection();
    const file = await platform.add(collection, 'a.txt', lines(8, 'x'));
    await until(() => batches === 1);
    expect(await platform.vectors.removeFile(owner, collection, file.id)).toBe(true);
    gate.resolve();
    const next = await platform.add(collection, 'b.txt', lines(1, 'y'));
    await platform.ended(next);
    expect(batches).toBe(2);
    expect(await platform.vectors.findCollection(owner, collection)).toMatchObject({ itemCount: 1 });
    // Neither was the batch of a file that is gone billed.
    expect(await ledger()).toEqual({ count: 1, tokens: 1 });
  });

  it('is stopped at the next heartbeat when its lease went to another', async () => {
    const stopped = Promise.withResolvers<unknown>();
    const platform = await start(
      engine((_, signal) => {
        const { promise, reject } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => {
          stopped.resolve(signal.reason);
          reject(signal.reason);
        });
        return promise;
      }),
    );
    await platform.add(await platform.createCollection(), 'a.txt', Buffer.from('text'));
    await until(async () => {
      const rows = await place.database.query('select 1 as one from vector_files where is_cut = 1');
      return rows.length === 1;
    });
    await rounds.get('heartbeat')?.();
    await place.database.query("update vector_files set lease_owner = 'another'");
    await rounds.get('heartbeat')?.();
    expect(await stopped.promise).toBe('lost');
  });

  it('is given back when the process stops, and another one goes on at once with what is left', async () => {
    let batches = 0;
    const first = await start(
      engine((_, signal) => {
        if (++batches < 3) return;
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }),
      { batchItems: 2 },
    );
    const file = await first.add(await first.createCollection(), 'a.txt', lines(6, 'x'));
    await until(() => batches === 3);
    await first.close();
    open = [];
    const texts: string[] = [];
    const second = await start(engine((batch) => void texts.push(...batch)));
    expect(await second.ended(file)).toMatchObject({ status: 'completed', itemCount: 6 });
    expect(texts).toHaveLength(2);
    const [row] = await place.database.query('select attempt from vector_files');
    expect(row).toEqual({ attempt: 1 });
  });

  it('is given up when its process died five times', async () => {
    const idle = await start(engine(), { lanes: [] });
    const file = await idle.add(await idle.createCollection(), 'a.txt', Buffer.from('text'));
    await idle.close();
    open = [];
    await place.database.query('update vector_files set attempt = 5');
    const platform = await start(engine());
    expect(await platform.ended(file)).toMatchObject({
      status: 'failed',
      lastError: {
        code: 'server_error',
        message: 'Reading the file was interrupted 5 times: send it again, or another one',
      },
    });
  });

  it('is tried again when its lease is over, after a failure that nobody can name', async () => {
    let calls = 0;
    const platform = await start(
      engine(() => {
        if (++calls === 1) throw new TypeError('a bug');
      }),
    );
    const file = await platform.add(await platform.createCollection(), 'a.txt', Buffer.from('text'));
    await until(() => calls === 1);
    clock += 29_999;
    await rounds.get('claim')?.();
    expect(calls).toBe(1);
    clock += 2;
    await rounds.get('claim')?.();
    expect(await platform.ended(file)).toMatchObject({ status: 'completed' });
  });
});
