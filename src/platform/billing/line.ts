/**
 * A ledger row as one line of JSON. The same text is the line of the journal and the row that the database
 * reads, so it is made once. Fields are only ever added at the end: a newer version reads what an older one left.
 */
import type { LedgerRow, Quantities } from './types.ts';

/** The columns in the order of the line's fields, with the type that the database gives each. */
export const columns = [
  ['id', 'text'],
  ['subscription_id', 'text'],
  ['key_id', 'text'],
  ['model_id', 'text'],
  ['operation', 'text'],
  ['at', 'bigint'],
  ['duration_ms', 'bigint'],
  ['streamed', 'integer'],
  ['outcome', 'text'],
  ['prompt_tokens', 'bigint'],
  ['completion_tokens', 'bigint'],
  ['cached_tokens', 'bigint'],
  ['reasoning_tokens', 'bigint'],
  ['megapixels', 'double precision'],
  ['seconds', 'double precision'],
  ['cost_pico', 'bigint'],
] as const;

type Fields = [
  id: string,
  subscriptionId: string,
  keyId: string,
  modelId: string,
  operation: string,
  at: number,
  durationMs: number,
  streamed: number,
  outcome: string,
  promptTokens: number,
  completionTokens: number,
  cachedTokens: number,
  reasoningTokens: number,
  megapixels: number,
  seconds: number,
  costPicoUsd: string,
];

export function toLine(row: LedgerRow): string {
  return JSON.stringify(toFields(row));
}

/** In the order of `columns`. */
function toFields(row: LedgerRow): Fields {
  const { quantities } = row;
  return [
    row.id,
    row.subscriptionId,
    row.keyId,
    row.modelId,
    row.operation,
    Math.round(row.at),
    Math.round(row.durationMs),
    row.streamed ? 1 : 0,
    row.outcome,
    whole(quantities.promptTokens),
    whole(quantities.completionTokens),
    whole(quantities.cachedTokens),
    whole(quantities.reasoningTokens),
    amount(quantities.megapixels),
    amount(quantities.seconds),
    row.costPicoUsd.toString(),
  ];
}

/** Undefined for a line that is not whole. */
export function parseLine(line: string): LedgerRow | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isFields(fields) ? toRow(fields) : undefined;
}

function isFields(value: unknown): value is Fields {
  if (!Array.isArray(value) || value.length < columns.length) return false;
  const [last] = value.slice(columns.length - 1);
  return (
    columns.every(([, type], index) => {
      const isText = type === 'text' || index === columns.length - 1;
      return isText ? typeof value[index] === 'string' : Number.isFinite(value[index]);
    }) && /^-?\d+$/.test(last as string)
  );
}

function toRow(fields: Fields): LedgerRow {
  const [id, subscriptionId, keyId, modelId, operation, at, durationMs, streamed, outcome, ...rest] = fields;
  const [promptTokens, completionTokens, cachedTokens, reasoningTokens, megapixels, seconds, cost] = rest;
  const quantities: Quantities = {
    promptTokens,
    completionTokens,
    cachedTokens,
    reasoningTokens,
    megapixels,
    seconds,
  };
  return {
    id,
    subscriptionId,
    keyId,
    modelId,
    operation,
    at,
    durationMs,
    streamed: streamed === 1,
    outcome,
    quantities,
    costPicoUsd: BigInt(cost),
  };
}

/** Engines report what was used; a report that is not a number must not keep the row out of the ledger. */
export function amount(reported = 0): number {
  return Number.isFinite(reported) ? reported : 0;
}

export function whole(reported = 0): number {
  return Math.round(amount(reported));
}
