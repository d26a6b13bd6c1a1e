/**
 * The index on PostgreSQL: words by tsvector, vectors by pgvector where the server has it, and otherwise by a thread that
 * goes over all of them. The vectors stand as bytes in `vector_embeddings` in any case.
 */
import assert from 'node:assert';
import type { Log } from '../../lib/log.ts';
import { type Database, QueryFailed, type Sql } from '../../storage/database.ts';
import { realTimers, type Timers } from '../jobs/timers.ts';
import { isPart, toFileCondition } from './filter.ts';
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
  /** How many matches of words are ranked. ts_rank reads the words of each: some 300 a millisecond. */
  readonly maxMatches?: number;
  readonly timers?: Pick<Timers, 'pause'>;
}

type ShareOf = (word: string) => number;

const statisticsMs = 60_000;

export function createPostgresIndex({
  database,
  log,
  largeFrom = 10_000,
  maxMatches = 800,
  timers = realTimers,
}: PostgresIndexParts): ItemIndex {
  let chosen: VectorWay | undefined;
  let opening: Promise<void> | undefined;
  let statistics: { readonly at: number; readonly shareOf: ShareOf } | undefined;

  function way(): VectorWay {
    assert(chosen !== undefined, 'the index is opened before it is used');
    return chosen;
  }

  async function open(): Promise<void> {
    const extension = await findExtension(database);
    chosen =
      extension === undefined
        ? createScanWay({ database })
        : createPgvectorWay({ database, log, largeFrom, extension, timers });
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
    // The words alone, so that the server's parser finds no addresses and file names in them, which a question has not.
    await insertRows(tx, 'postgres', {
      into: 'vector_words (number, file_no, words)',
      values: `?, ?, setweight(to_tsvector('english', ?), 'B') || setweight(to_tsvector('english', ?), 'D')`,
      rows: items.map(({ number, fileNumber, description, text }) => [
        number,
        fileNumber,
        toWords(description).join(' '),
        toWords(text).join(' '),
      ]),
    });
    await way().add(tx, items);
  }

  async function remove(tx: Sql, numbers: readonly number[]): Promise<void> {
    for (const table of ['vector_embeddings', 'vector_words']) {
      await tx.query(`delete from ${table} where number in (${parametersOf(numbers)})`, numbers);
    }
    await way().remove(tx, numbers);
  }

  /**
   * What share of all items has a word, as the server has last counted it. It counts the common ones only: another one
   * is rarer than the rarest of these, mostly by far.
   */
  async function wordShares(): Promise<ShareOf> {
    const at = performance.now();
    if (statistics === undefined || at - statistics.at > statisticsMs) {
      const [row] = await database.query<{ words: string; shares: string }>(
        `select to_json(most_common_elems::text::text[])::text as words, to_json(most_common_elem_freqs)::text as shares
         from pg_stats where schemaname = current_schema() and tablename = 'vector_words' and attname = 'words'
           and most_common_elems is not null`,
      );
      const words = JSON.parse(row?.words ?? '[]') as string[];
      // After the words' own there are two more numbers: the lowest of them and the highest.
      const frequencies = JSON.parse(row?.shares ?? '[]') as number[];
      const shares = new Map(words.map((word, place) => [word, frequencies[place] ?? 0]));
      const least = frequencies[words.length] ?? 0;
      statistics = { at, shareOf: (word) => shares.get(word) ?? least / 4 };
    }
    return statistics.shareOf;
  }

  /**
   * Matches of the rarest terms, ranked as BM25 does it: a term that few items have counts for more, and
   * that an item has it for more than how often (hence the root). The counts that choose the terms are
   * estimates for all collections together, so each term gives so many matches and not more, the rarest first; in a small
   * collection all of them are ranked.
   */
  async function said(query: IndexQuery): Promise<number[]> {
    const terms = toTerms(query.text);
    if (terms.length === 0) return [];
    // As the server writes them: `'instal'`, or nothing for a word that it leaves out.
    const [lexemes, shareOf] = await Promise.all([
      database.query<{ lexeme: string; items: number }>(
        `select distinct plainto_tsquery('english', term)::text as lexeme,
           (select item_count from vector_collections where number = $1) as items
         from json_array_elements_text($2::json) as terms (term)`,
        [query.collectionNumber, JSON.stringify(terms)],
      ),
      wordShares(),
    ]);
    const counted = lexemes
      .filter(({ lexeme }) => lexeme !== '')
      .map(({ lexeme, items }) => ({ term: lexeme, count: 1 + shareOf(lexeme.slice(1, -1)) * items }));
    const picked = pickTerms(counted, maxMatches);
    if (picked.length === 0) return [];
    const items = lexemes[0]?.items ?? 0;
    const isSmall = items <= maxMatches;
    const { text, values } = toFileCondition('postgres', query, 8);
    const ofFiles = `file_no in (select f.number from vector_files f where ${text})`;
    const rows = await database.query<{ number: number }>(
      `with said as materialized (
         select looked.place, w.number, w.file_no, sqrt(ts_rank(w.words, looked.term::tsquery, 1)) as rank
         from json_array_elements_text($1::json) with ordinality as looked (term, place) cross join lateral (
           select v.number, v.file_no, v.words from vector_words v
           where v.words @@ looked.term::tsquery and v.number between $2 and $3 ${isPart(query) ? `and v.${ofFiles}` : ''}
           limit $4) w
         limit $5),
       weighed as (
         select number, file_no, rank * ln(1 + $6::double precision / count(*) over (partition by place)) as rank from said),
       best as materialized (
         select w.number, w.file_no, sum(w.rank) as rank from weighed w group by w.number, w.file_no
         order by rank desc, w.number limit $7 * 2)
       select b.number from best b where b.${ofFiles} order by b.rank desc, b.number limit $7`,
      [
        JSON.stringify(picked),
        ...rangeOf(query.collectionNumber),
        maxMatches,
        isSmall ? items * picked.length : maxMatches * 1.5,
        items,
        query.limit,
        ...values,
      ],
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
