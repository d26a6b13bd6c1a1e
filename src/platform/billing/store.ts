/**
 * The statements on `ledger` and `usage_days`. On PostgreSQL the rows of a batch travel as one JSON parameter; on
 * SQLite one prepared insert runs for each row in the database's own thread: 5 µs of CPU a row against 13.
 */
import type { Database, Row, Sql } from '../../storage/database.ts';
import { columns, parseLine } from './line.ts';
import type { DayRange, LedgerRow, UsageGroup, UsageSums } from './types.ts';
import type { UsageTotals } from './usage-totals.ts';

type Dialect = Database['dialect'];

/** A JSON array as rows with one column, `value`. */
const rowsOfJson: Readonly<Record<Dialect, string>> = {
  sqlite: 'json_each($1)',
  postgres: 'jsonb_array_elements(cast($1 as jsonb))',
};

const columnNames = columns.map(([name]) => name).join(', ');
const sumColumns = [
  ['requests', 'bigint'],
  ['prompt_tokens', 'bigint'],
  ['completion_tokens', 'bigint'],
  ['cached_tokens', 'bigint'],
  ['reasoning_tokens', 'bigint'],
  ['megapixels', 'double precision'],
  ['seconds', 'double precision'],
  ['cost_pico', 'bigint'],
] as const;
const usageKey = [
  ['subscription_id', 'text'],
  ['day', 'text'],
  ['model_id', 'text'],
  ['operation', 'text'],
] as const;
const usageColumns = [...usageKey, ...sumColumns];

function fieldsOfValue(all: readonly (readonly [name: string, type: string])[]): string {
  return all.map(([, type], index) => `cast(value->>${index} as ${type})`).join(', ');
}

/** Answers the lines that were not there before: the very list that it was given when all of them are new. */
export async function insertLines(
  tx: Sql,
  dialect: Dialect,
  lines: readonly string[],
): Promise<readonly string[]> {
  if (dialect === 'sqlite') {
    const changed = await tx.eachJson(insertRow, lines);
    return changed.every((count) => count === 1) ? lines : lines.filter((_, index) => changed[index] === 1);
  }
  const inserted = await tx.query<{ id: string }>(
    `insert into ledger (${columnNames}) select ${fieldsOfValue(columns)} from ${rowsOfJson[dialect]}
     on conflict (id) do nothing returning id`,
    [`[${lines.join(',')}]`],
  );
  return inserted.length === lines.length ? lines : linesOf(new Set(inserted.map(({ id }) => id)), lines);
}

/** Of lines that share an id, the first one is the one that the database took. */
function linesOf(ids: Set<string>, lines: readonly string[]): string[] {
  return lines.filter((line) => ids.delete(parseLine(line)?.id ?? ''));
}

const insertRow = `insert into ledger (${columnNames})
  values (${columns.map((_, index) => `$${index + 1}`).join(', ')}) on conflict (id) do nothing`;

/** Adds to the sums. In a fixed order, so that two processes cannot wait for each other's rows. */
export async function addUsage(tx: Sql, dialect: Dialect, totals: UsageTotals): Promise<void> {
  const lists = totals.toLists();
  if (lists.length === 0) return;
  const added = sumColumns.map(([name]) => `${name} = usage_days.${name} + excluded.${name}`).join(', ');
  await tx.query(
    `insert into usage_days (${usageColumns.map(([name]) => name).join(', ')})
     select ${fieldsOfValue(usageColumns)} from ${rowsOfJson[dialect]} where true
     on conflict (${usageKey.map(([name]) => name).join(', ')}) do update set ${added}`,
    [JSON.stringify(lists)],
  );
}

/** Read back as its own line. */
export async function findRow(sql: Sql, subscriptionId: string, id: string): Promise<LedgerRow | undefined> {
  const selected = columns.map(([name]) =>
    name === 'cost_pico' ? 'cast(cost_pico as text) as cost_pico' : name,
  );
  const [found] = await sql.query(
    `select ${selected.join(', ')} from ledger where id = $1 and subscription_id = $2`,
    [id, subscriptionId],
  );
  if (found === undefined) return undefined;
  return parseLine(JSON.stringify(columns.map(([name]) => found[name])));
}

/** Money passes 2^53, so it comes as text. */
const selectedSums = sumColumns
  .map(([name]) =>
    name === 'cost_pico'
      ? `cast(coalesce(sum(cost_pico), 0) as text) as cost_pico`
      : `coalesce(sum(${name}), 0) as ${name}`,
  )
  .join(', ');

export async function selectSpent(
  sql: Sql,
  subscriptionId: string,
  since: { day: string; week: string; month: string },
): Promise<{ total: bigint; day: bigint; week: bigint; month: bigint }> {
  const spentSince = (parameter: string) =>
    `cast(coalesce(sum(case when day >= ${parameter} then cost_pico else 0 end), 0) as text)`;
  const [sums] = await sql.query<Record<'total' | 'day' | 'week' | 'month', string>>(
    `select cast(coalesce(sum(cost_pico), 0) as text) as total, ${spentSince('$2')} as day,
       ${spentSince('$3')} as week, ${spentSince('$4')} as month
     from usage_days where subscription_id = $1`,
    [subscriptionId, since.day, since.week, since.month],
  );
  const { total = '0', day = '0', week = '0', month = '0' } = sums ?? {};
  return { total: BigInt(total), day: BigInt(day), week: BigInt(week), month: BigInt(month) };
}

export async function selectByDayAndModel(
  sql: Sql,
  subscriptionId: string,
  { from, to }: DayRange,
): Promise<(UsageSums & { day: string; modelId: string })[]> {
  const rows = await sql.query(
    `select day, model_id, ${selectedSums} from usage_days
     where subscription_id = $1 and day >= $2 and day <= $3
     group by day, model_id order by day desc, model_id`,
    [subscriptionId, from, to],
  );
  return rows.map((row) => ({
    ...toUsageSums(row),
    day: row['day'] as string,
    modelId: row['model_id'] as string,
  }));
}

const groupColumns: Readonly<Record<UsageGroup, { column: string; order: string }>> = {
  day: { column: 'day', order: 'day' },
  model: {
    column: 'model_id',
    order: 'sum(usage_days.cost_pico) desc, sum(usage_days.requests) desc, model_id',
  },
  subscription: {
    column: 'subscription_id',
    order: 'sum(usage_days.cost_pico) desc, sum(usage_days.requests) desc, subscription_id',
  },
};

const inRange = 'day >= $1 and day <= $2 and (cast($3 as text) is null or subscription_id = $3)';

export async function selectGroups(
  sql: Sql,
  {
    by,
    from,
    to,
    subscriptionId,
    limit,
  }: DayRange & {
    by: UsageGroup;
    subscriptionId?: string | undefined;
    limit: number;
  },
): Promise<(UsageSums & { name: string })[]> {
  const { column, order } = groupColumns[by];
  const rows = await sql.query(
    `select ${column} as name, ${selectedSums} from usage_days where ${inRange}
     group by ${column} order by ${order} limit $4`,
    [from, to, subscriptionId ?? null, limit],
  );
  return rows.map((row) => ({ ...toUsageSums(row), name: row['name'] as string }));
}

export async function selectTotal(
  sql: Sql,
  { from, to, subscriptionId }: DayRange & { subscriptionId?: string | undefined },
): Promise<UsageSums> {
  const [row = {}] = await sql.query(`select ${selectedSums} from usage_days where ${inRange}`, [
    from,
    to,
    subscriptionId ?? null,
  ]);
  return toUsageSums(row);
}

function toUsageSums(row: Row): UsageSums {
  return {
    requests: row['requests'] as number,
    promptTokens: row['prompt_tokens'] as number,
    completionTokens: row['completion_tokens'] as number,
    cachedTokens: row['cached_tokens'] as number,
    reasoningTokens: row['reasoning_tokens'] as number,
    megapixels: row['megapixels'] as number,
    seconds: row['seconds'] as number,
    costPicoUsd: BigInt(row['cost_pico'] as string),
  };
}
