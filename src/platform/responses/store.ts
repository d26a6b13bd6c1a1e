/**
 * The statements on `responses`. On PostgreSQL the rows of a group travel in one statement; on SQLite one prepared
 * insert runs for each row in the database's own thread.
 */
import type { Database, Sql } from '../../storage/database.ts';
import type { FileValue } from '../../storage/row-file.ts';
import { parseItemsText, responseIdOf, toItemsText } from './items.ts';
import type { FoundResponse, StoredItem, StoredResponse } from './types.ts';

type Dialect = Database['dialect'];

const columns = [
  'id',
  'subscription_id',
  'created_at',
  'previous_id',
  'input_chars',
  'output_chars',
  'json',
  'output',
  'input',
];

/** What the ledger promises of a loss of power holds for a conversation too; see `docs/decisions/0009`. */
const durability = { waitsForDisk: false };

/** Where the output stands in the object's JSON, which has no line ends. An older row has it in there already. */
const outputMark = '\n';

export interface ResponseRow {
  /** As `columns` has them. */
  readonly values: readonly FileValue[];
  /** The length of its texts. */
  readonly chars: number;
}

export function toRow(response: StoredResponse): ResponseRow {
  const { id, subscriptionId, createdAt, previousId = null, before, after } = response;
  const json = before + outputMark + after;
  const output = toItemsText(response.output);
  const input = toItemsText(response.input);
  return {
    values: [id, subscriptionId, createdAt, previousId, input.length, output.length, json, output, input],
    chars: json.length + output.length + input.length,
  };
}

/** All of them or none. */
export async function insertRows(database: Database, rows: readonly ResponseRow['values'][]): Promise<void> {
  if (database.dialect === 'sqlite') await database.each(insertOne, rows, durability);
  else await database.transaction((tx) => insertTogether(tx, rows), durability);
}

const into = `insert into responses (${columns.join(', ')}) values `;
const insertOne = into + toParameters(columns.length, 0);

/** PostgreSQL takes 65,535 parameters. */
const maxRowsAtOnce = 2_000;

async function insertTogether(tx: Sql, rows: readonly ResponseRow['values'][]): Promise<void> {
  for (let start = 0; start < rows.length; start += maxRowsAtOnce) {
    const some = rows.slice(start, start + maxRowsAtOnce);
    const parameters = some.map((_, index) => toParameters(columns.length, index * columns.length));
    await tx.query(into + parameters.join(', '), some.flat());
  }
}

/**
 * The rows of a file that the journal wrote. Those that are there already stay as they are: a process may have ended
 * before it removed the file. Nobody waits for it but who reads what is in it, so the disk is waited for. Answers how
 * much of the file's end is no whole row.
 */
export async function insertFile(database: Database, path: string): Promise<number> {
  return (await database.eachOfFile(`${insertOne} on conflict (id) do nothing`, path)).unread;
}

/** `($1, $2)`; after others `($3, $4)`. */
function toParameters(count: number, after: number): string {
  return `(${Array.from({ length: count }, (_, index) => `$${after + index + 1}`).join(', ')})`;
}

export interface Named {
  subscriptionId: string;
  id: string;
  /** What was made then or before is not there. */
  expiredAt: number;
}

export async function findResponse(
  sql: Sql,
  { subscriptionId, id, expiredAt }: Named,
): Promise<FoundResponse | undefined> {
  const [found] = await sql.query<{
    json: string;
    output: string;
    created_at: number;
    previous_id: string | null;
  }>(
    `select json, output, created_at, previous_id from responses
     where id = $1 and subscription_id = $2 and created_at > $3`,
    [id, subscriptionId, expiredAt],
  );
  if (found === undefined) return undefined;
  const { created_at: createdAt, previous_id: previousId } = found;
  const output = parseItemsText(found.output).map((item) => item.json);
  const json = found.json.replace(outputMark, () => output.join());
  return { id, subscriptionId, createdAt, previousId: previousId ?? undefined, json };
}

/** Follows the turns back. Nothing is read of a chain beyond its bounds. */
export async function selectHistory(
  sql: Sql,
  { subscriptionId, id, expiredAt, maxTurns, maxChars }: Named & { maxTurns: number; maxChars: number },
): Promise<StoredItem[] | 'unknown' | 'broken' | 'too long'> {
  const rows = await sql.query<{
    turn: number;
    previous_id: string | null;
    chars: number;
    input: string | null;
    output: string | null;
  }>(
    `with recursive chain (id, previous_id, turn, chars) as (
       select id, previous_id, 1, input_chars + output_chars from responses
       where id = $1 and subscription_id = $2 and created_at > $3
       union all
       select r.id, r.previous_id, chain.turn + 1, chain.chars + r.input_chars + r.output_chars
       from chain join responses r on r.id = chain.previous_id
       where r.subscription_id = $2 and r.created_at > $3 and chain.turn <= $4 and chain.chars <= $5
     ),
     oldest as (select turn, previous_id, chars from chain order by turn desc limit 1)
     select oldest.turn, oldest.previous_id, oldest.chars, r.input, r.output
     from oldest left join chain on oldest.previous_id is null and oldest.turn <= $4 and oldest.chars <= $5
       left join responses r on r.id = chain.id
     order by chain.turn desc`,
    [id, subscriptionId, expiredAt, maxTurns, maxChars],
  );
  const [first] = rows;
  if (first === undefined) return 'unknown';
  if (first.turn > maxTurns || first.chars > maxChars) return 'too long';
  if (first.previous_id !== null) return 'broken';
  return rows.flatMap(({ input, output }) =>
    [input, output].flatMap((text) => (text === null ? [] : parseItemsText(text))),
  );
}

export interface Turn {
  id: string;
  /** The length of its items. */
  chars: number;
}

/**
 * The turns that a response was made from, and itself, newest first and without their items. Only itself when one
 * before it is gone, none when it is not there.
 */
export async function selectTurns(
  sql: Sql,
  { subscriptionId, id, expiredAt, maxTurns }: Named & { maxTurns: number },
): Promise<Turn[]> {
  const turns = await sql.query<Turn & { previous_id: string | null }>(
    `with recursive chain (id, previous_id, turn, chars) as (
       select id, previous_id, 1, input_chars from responses
       where id = $1 and subscription_id = $2 and created_at > $3
       union all
       select r.id, r.previous_id, chain.turn + 1, r.input_chars + r.output_chars
       from chain join responses r on r.id = chain.previous_id
       where r.subscription_id = $2 and r.created_at > $3 and chain.turn < $4
     )
     select id, previous_id, chars from chain order by turn`,
    [id, subscriptionId, expiredAt, maxTurns],
  );
  const isBroken = turns.length < maxTurns && turns.at(-1)?.previous_id != null;
  return isBroken ? turns.slice(0, 1) : turns;
}

/** A JSON array of texts as rows with one column, `value`. */
const textsOfJson: Readonly<Record<Dialect, string>> = {
  sqlite: 'select value from json_each($2)',
  postgres: 'select value from jsonb_array_elements_text(cast($2 as jsonb))',
};

/** The items of some turns by the turn's id; of the turn `inputOnly` what it brought. */
export async function selectItemsOfTurns(
  database: Database,
  ids: readonly string[],
  inputOnly: string,
): Promise<Map<string, StoredItem[]>> {
  const rows = await database.query<{ id: string; input: string; output: string | null }>(
    `select id, input, case when id = $1 then null else output end as output
     from responses where id in (${textsOfJson[database.dialect]})`,
    [inputOnly, JSON.stringify(ids)],
  );
  return new Map(
    rows.map(({ id, input, output }) => [
      id,
      [...parseItemsText(input), ...(output === null ? [] : parseItemsText(output))],
    ]),
  );
}

/**
 * Asked twice: clients refer mostly to what was answered, and what a turn brought (pictures, the whole
 * conversation) may be very much larger. Nothing is read when the texts to look into are longer than `maxChars`.
 */
export async function selectItems(
  database: Database,
  {
    subscriptionId,
    ids,
    expiredAt,
    maxChars,
  }: { subscriptionId: string; ids: readonly string[]; expiredAt: number; maxChars: number },
): Promise<Map<string, StoredItem> | 'too long'> {
  const missing = new Set(ids);
  const found = new Map<string, StoredItem>();
  for (const column of ['output', 'input'] as const) {
    if (missing.size === 0) break;
    const responseIds = [...new Set([...missing].map(responseIdOf))];
    const rows = await database.query<{ total: number | null; items: string | null }>(
      `with named as (
         select id, ${column}_chars as chars from responses
         where subscription_id = $1 and id in (${textsOfJson[database.dialect]}) and created_at > $3
       ),
       measured as (select cast(sum(chars) as bigint) as total from named)
       select measured.total, r.${column} as items
       from measured left join named on measured.total <= $4 left join responses r on r.id = named.id`,
      [subscriptionId, JSON.stringify(responseIds), expiredAt, maxChars],
    );
    if ((rows[0]?.total ?? 0) > maxChars) return 'too long';
    for (const { items } of rows) {
      if (items === null) continue;
      for (const item of parseItemsText(items)) if (missing.delete(item.id)) found.set(item.id, item);
    }
  }
  return found;
}

/** Whether it was there. */
export async function deleteResponse(sql: Sql, { subscriptionId, id, expiredAt }: Named): Promise<boolean> {
  const deleted = await sql.query(
    'delete from responses where id = $1 and subscription_id = $2 and created_at > $3 returning id',
    [id, subscriptionId, expiredAt],
  );
  return deleted.length > 0;
}

/** The oldest first, up to a limit; answers how many. */
export async function deleteExpired(sql: Sql, expiredAt: number, limit: number): Promise<number> {
  const deleted = await sql.query(
    `delete from responses where id in (
       select id from responses where created_at <= $1 order by created_at limit $2
     ) returning id`,
    [expiredAt, limit],
  );
  return deleted.length;
}
