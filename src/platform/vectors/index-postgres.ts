/**
 * The index on PostgreSQL: words by tsvector, vectors by pgvector where the server has it, and otherwise by a thread that
 * goes over all of them. The vectors stand as bytes in `vector_embeddings` in any case.
 */
import assert from 'node:assert';
import type { Log } from '../../lib/log.ts';
import { type Database, QueryFailed, type Sql } from '../../storage/database.ts';
import { toFileCondition } from './filter.ts';
import { toCandidates } from './fuse.ts';
import { createPgvectorWay } from './index-pgvector.ts';
import { createScanWay } from './index-scan.ts';
import type { Extension, VectorWay } from './index-way.ts';
import { pickTerms, toTerms, toWords } from './index-words.ts';
import type { IndexedItem, IndexQuery, ItemIndex } from './parts.ts';
import { insertRows, parametersOf, rangeOf, toBytes } from './store-rows.ts';

export interface PostgresIndexParts {
  readonly database: Database;
  readonly log: Log;
  /** From how many items on a collection gets an approximate index. */
  readonly largeFrom?: number;
}

/** ts_rank reads the words of each: some 200 a millisecond. */
const maxMatches = 2_000;
const statisticsMs = 60_000;

export function createPostgresIndex({ database, log, largeFrom = 10_000 }: PostgresIndexParts): ItemIndex {
  let chosen: VectorWay | undefined;
  let opening: Promise<void> | undefined;
  let statistics: { readonly at: number; readonly shares: ReadonlyMap<string, number> } | undefined;

  function way(): VectorWay {
    assert(chosen !== undefined, 'the index is opened before it is used');
    return chosen;
  }

  async function open(): Promise<void> {
    const extension = await findExtension(database);
    chosen =
      extension === undefined
        ? createScanWay({ database })
        : createPgvectorWay({ database, log, largeFrom, extension });
    log.debug({ pgvector: extension?.version ?? 'none' }, 'vectors are compared');
    await chosen.open();
  }

  async function add(tx: Sql, items: readonly IndexedItem[]): Promise<void> {
    await insertRows(tx, 'postgres', {
      into: 'vector_embeddings (number, file_no, version, embedding)',
      values: '?, ?, (select version from vector_collections where number = ?), ?',
      rows: items.map(({ number, fileNumber, collectionNumber, vector }) => [
        number,
        fileNumber,
        collectionNumber,
        toBytes(vector),
      ]),
    });
    await tellWords(tx, items);
    await way().add(tx, items);
  }

  async function remove(tx: Sql, numbers: readonly number[]): Promise<void> {
    await tx.query(`delete from vector_embeddings where number in (${parametersOf(numbers)})`, numbers);
    await way().remove(tx, numbers);
  }

  /** What share of all items has a word, as the server has last counted it; one that is rare is not there. */
  async function wordShares(): Promise<ReadonlyMap<string, number>> {
    const at = performance.now();
    if (statistics === undefined || at - statistics.at > statisticsMs) {
      const rows = await database.query<{ word: string; share: number }>(
        `select word, share from (
           select unnest(most_common_elems::text::text[]) as word, unnest(most_common_elem_freqs) as share from pg_stats
           where schemaname = current_schema() and tablename = 'vector_items' and attname = 'words') counted
         where word is not null`,
      );
      statistics = { at, shares: new Map(rows.map(({ word, share }) => [word, share])) };
    }
    return statistics.shares;
  }

  async function said(query: IndexQuery): Promise<number[]> {
    const terms = toTerms(query.text);
    if (terms.length === 0) return [];
    // As the server writes them: `'instal'`, or nothing for a word that it leaves out.
    const lexemes = await database.query<{ lexeme: string; items: number }>(
      `select distinct plainto_tsquery('english', term)::text as lexeme,
         (select item_count from vector_collections where number = $1) as items
       from json_array_elements_text($2::json) as terms (term)`,
      [query.collectionNumber, JSON.stringify(terms)],
    );
    const shares = await wordShares();
    const picked = pickTerms(
      lexemes
        .filter(({ lexeme }) => lexeme !== '')
        .map(({ lexeme, items }) => ({
          term: lexeme,
          count: 1 + (shares.get(lexeme.slice(1, -1)) ?? 0) * items,
        })),
      maxMatches,
    );
    if (picked.length === 0) return [];
    const { text, values } = toFileCondition('postgres', query, 5);
    const rows = await database.query<{ number: number }>(
      `select i.number from vector_items i where i.words @@ $1::tsquery and i.number between $2 and $3
         and i.file_no in (select f.number from vector_files f where ${text})
       order by ts_rank(i.words, $1::tsquery, 1) desc, i.number limit $4`,
      [picked.join(' | '), ...rangeOf(query.collectionNumber), query.limit, ...values],
    );
    return rows.map(({ number }) => number);
  }

  return {
    open() {
      opening ??= open().catch((error) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },

    add,
    remove,

    async change(tx, item) {
      await remove(tx, [item.number]);
      await add(tx, [item]);
    },

    async search(query) {
      const [near, words] = await Promise.all([way().nearest(query), said(query)]);
      return toCandidates(near, words);
    },

    grown: (collectionNumber) => way().grown(collectionNumber),
    forget: (collectionNumber) => way().forget(collectionNumber),

    async close() {
      await opening?.catch(() => {});
      await chosen?.close();
    },
  };
}

/** The words alone, so that the server's parser finds no addresses and file names in them, which a question has not. */
async function tellWords(tx: Sql, items: readonly IndexedItem[]): Promise<void> {
  const lists = items.map((_, place) => {
    const [number, description, text] = [1, 2, 3].map((offset) => `$${place * 3 + offset}`);
    return `(${number}::bigint, ${description}::text, ${text}::text)`;
  });
  await tx.query(
    `update vector_items i set words = setweight(to_tsvector('english', v.description), 'B')
       || setweight(to_tsvector('english', v.text), 'D')
     from (values ${lists.join(', ')}) as v (number, description, text) where i.number = v.number`,
    items.flatMap(({ number, description, text }) => [
      number,
      toWords(description).join(' '),
      toWords(text).join(' '),
    ]),
  );
}

async function findExtension(database: Database): Promise<Extension | undefined> {
  try {
    await database.query('create extension if not exists vector');
  } catch (error) {
    // Not on this server, no right to add it, or another process adds it now.
    if (!(error instanceof QueryFailed)) throw error;
  }
  const [row] = await database.query<{ version: string; schema: string }>(
    `select e.extversion as version, quote_ident(n.nspname) as schema from pg_extension e
       join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`,
  );
  return row;
}
