/**
 * The statements on `responses` and `response_items`. On PostgreSQL the rows of a group travel in one statement;
 * on SQLite one prepared insert runs for each row in the database's own thread.
 */
import type { Database, Sql, SqlValue } from '../../storage/database.ts';
import type { StoredItem, StoredResponse } from './types.ts';

type Dialect = Database['dialect'];

const responseColumns = ['id', 'subscription_id', 'created_at', 'previous_id', 'item_chars', 'json'];
const itemColumns = ['response_id', 'position', 'is_output', 'subscription_id', 'id', 'json'];

/** All of them or none. */
export async function insertResponses(
  database: Database,
  responses: readonly StoredResponse[],
): Promise<void> {
  const rows: SqlValue[][] = [];
  const itemRows: SqlValue[][] = [];
  for (const { id, subscriptionId, createdAt, previousId, json, input, output } of responses) {
    let position = 0;
    let itemChars = 0;
    const addItems = (items: readonly StoredItem[], isOutput: number) => {
      for (const item of items) {
        itemRows.push([id, position++, isOutput, subscriptionId, item.id, item.json]);
        itemChars += item.json.length;
      }
    };
    addItems(input, 0);
    addItems(output, 1);
    rows.push([id, subscriptionId, createdAt, previousId ?? null, itemChars, json]);
  }
  const { dialect } = database;
  await database.transaction((tx) =>
    // Asked together, so that they travel together; they run in this order on either database.
    Promise.all([
      insertRows(tx, dialect, 'responses', responseColumns, rows),
      insertRows(tx, dialect, 'response_items', itemColumns, itemRows),
    ]),
  );
}

/** PostgreSQL takes 65,535 parameters. */
const maxRowsAtOnce = 2_000;

async function insertRows(
  tx: Sql,
  dialect: Dialect,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly SqlValue[])[],
): Promise<void> {
  const into = `insert into ${table} (${columns.join(', ')}) values `;
  if (dialect === 'sqlite') {
    if (rows.length > 0) await tx.each(into + toParameters(columns.length, 0), rows);
    return;
  }
  for (let start = 0; start < rows.length; start += maxRowsAtOnce) {
    const some = rows.slice(start, start + maxRowsAtOnce);
    const parameters = some.map((_, index) => toParameters(columns.length, index * columns.length));
    await tx.query(into + parameters.join(', '), some.flat());
  }
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
): Promise<StoredResponse | undefined> {
  // One statement, so that nobody removes it in between; the object stands in one row, not beside every item.
  const [found, ...items] = await sql.query<{
    json: string;
    item_id: string;
    is_output: number;
    created_at: number;
    previous_id: string | null;
  }>(
    `with found as (
       select id, json, created_at, previous_id from responses
       where id = $1 and subscription_id = $2 and created_at > $3
     )
     select -1 as position, 0 as is_output, id as item_id, json, created_at, previous_id from found
     union all
     select i.position, i.is_output, i.id, i.json, 0, null
     from found join response_items i on i.response_id = found.id
     order by position`,
    [id, subscriptionId, expiredAt],
  );
  if (found === undefined) return undefined;
  const toItems = (isOutput: number) =>
    items.filter((row) => row.is_output === isOutput).map((row) => ({ id: row.item_id, json: row.json }));
  return {
    id,
    subscriptionId,
    createdAt: found.created_at,
    previousId: found.previous_id ?? undefined,
    json: found.json,
    input: toItems(0),
    output: toItems(1),
  };
}

/** Follows the turns back; undefined when one is missing. Nothing is read of a chain beyond its bounds. */
export async function selectHistory(
  sql: Sql,
  { subscriptionId, id, expiredAt, maxTurns, maxChars }: Named & { maxTurns: number; maxChars: number },
): Promise<StoredItem[] | 'too long' | undefined> {
  const rows = await sql.query<{
    turn: number;
    previous_id: string | null;
    chars: number;
    id: string | null;
    json: string | null;
  }>(
    `with recursive chain (id, previous_id, turn, chars) as (
       select id, previous_id, 1, item_chars from responses
       where id = $1 and subscription_id = $2 and created_at > $3
       union all
       select r.id, r.previous_id, chain.turn + 1, chain.chars + r.item_chars
       from chain join responses r on r.id = chain.previous_id
       where r.subscription_id = $2 and r.created_at > $3 and chain.turn <= $4 and chain.chars <= $5
     ),
     oldest as (select turn, previous_id, chars from chain order by turn desc limit 1)
     select oldest.turn, oldest.previous_id, oldest.chars, i.id, i.json
     from oldest left join chain on oldest.previous_id is null and oldest.turn <= $4 and oldest.chars <= $5
       left join response_items i on i.response_id = chain.id
     order by chain.turn desc, i.position`,
    [id, subscriptionId, expiredAt, maxTurns, maxChars],
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  if (first.turn > maxTurns || first.chars > maxChars) return 'too long';
  if (first.previous_id !== null) return undefined;
  const items: StoredItem[] = [];
  // A turn without items stands there as a row without any.
  for (const { id, json } of rows) if (id !== null && json !== null) items.push({ id, json });
  return items;
}

/** A JSON array of texts as rows with one column, `value`. */
const textsOfJson: Readonly<Record<Dialect, string>> = {
  sqlite: 'select value from json_each($2)',
  postgres: 'select value from jsonb_array_elements_text(cast($2 as jsonb))',
};

export async function selectItems(
  database: Database,
  subscriptionId: string,
  ids: readonly string[],
  expiredAt: number,
): Promise<Map<string, StoredItem>> {
  const rows = await database.query<{ id: string; json: string }>(
    `select i.id, i.json from response_items i join responses r on r.id = i.response_id
     where i.subscription_id = $1 and i.id in (${textsOfJson[database.dialect]}) and r.created_at > $3
     order by r.created_at, i.position`,
    [subscriptionId, JSON.stringify(ids), expiredAt],
  );
  return new Map(rows.map(({ id, json }) => [id, { id, json }]));
}

/** Whether it was there. Its items go by `on delete cascade`. */
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
