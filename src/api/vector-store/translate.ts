/** What the routes are asked, in the words of the platform, and the refusals that need more than one field. Pure. */
import { holdsNul } from '../../http/query.ts';
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import { toPath } from '../../lib/schema.ts';
import type { Filter, Listing } from '../../platform/vectors/types.ts';
import type { ListQuery, SearchBody } from './schema.ts';

const defaultLimit = 20;
const defaultResults = 10;
const maxFilterValues = 200;

export function toListing(
  { limit = defaultLimit, order, after, before }: ListQuery,
  usualOrder: Listing['order'] = 'desc',
): Listing {
  return { limit, order: order ?? usualOrder, after, before };
}

export interface AskedSearch {
  readonly text: string;
  readonly limit: number;
  readonly fileIds: readonly string[] | undefined;
  readonly filter: Filter | undefined;
  /** What is below it is not shown. */
  readonly minScore: number;
}

export function toSearch(body: SearchBody): AskedSearch {
  const { input, query, file_ids: fileIds } = body;
  const text = input ?? (Array.isArray(query) ? query[0] : query);
  if (text == null) throw invalid('input', 'is required');
  if (text.trim() === '') throw invalid(input == null ? 'query' : 'input', 'must not be empty');
  return {
    text,
    limit: body.max_num_results ?? defaultResults,
    fileIds: fileIds == null ? undefined : [...new Set(fileIds)],
    filter: toFilter(body.filters ?? undefined),
    minScore: body.ranking_options?.score_threshold ?? 0,
  };
}

/** The schema bounds its depth; all its comparisons together become one statement. */
function toFilter(sent: Filter | undefined): Filter | undefined {
  if (sent === undefined) return undefined;
  const filter = asTyped(sent);
  if (valuesOf(filter) > maxFilterValues)
    throw invalid('filters', `must have at most ${maxFilterValues} values to compare with`);
  return filter;
}

/** What its type asks for and nothing else: the fields of another type were never checked. */
function asTyped(filter: Filter): Filter {
  if (isCompound(filter)) return { type: filter.type, filters: filter.filters.map(asTyped) };
  const { type, key, value } = filter;
  return { type, key, value };
}

function isCompound(filter: Filter): filter is Extract<Filter, { filters: unknown }> {
  return filter.type === 'and' || filter.type === 'or';
}

function valuesOf(filter: Filter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, inner) => sum + valuesOf(inner), 0);
  return Array.isArray(filter.value) ? filter.value.length : 1;
}

/** Asked of OpenAI's own route and not to be had here: said, and not left out in silence. */
export function refuseUnsupported(body: { file_ids?: unknown; expires_after?: unknown }): void {
  const { file_ids: fileIds, expires_after: expiry } = body;
  if (fileIds != null && !(Array.isArray(fileIds) && fileIds.length === 0))
    throw invalid('file_ids', 'is not supported: upload each file to /vector_store/{id}/files');
  if (expiry != null) throw invalid('expires_after', 'is not supported: delete the collection instead');
}

/**
 * A body whose texts every database can hold: none has U+0000, which PostgreSQL cannot store, and none has half of a
 * surrogate pair, which it does not take inside JSON.
 */
export function toStorable<T>(value: T, path: readonly (string | number)[] = []): T {
  if (typeof value === 'string') return storableText(value, path) as T;
  if (Array.isArray(value)) return value.map((item, index) => toStorable(item, [...path, index])) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copied = Object.entries(value).map(([name, inner]) => {
    const at = [...path, name];
    return [storableText(name, at), toStorable(inner, at)];
  });
  return Object.fromEntries(copied);
}

function storableText(text: string, path: readonly (string | number)[]): string {
  if (text.includes('\0')) throw holdsNul(toPath(path));
  return text.toWellFormed();
}

/** `what` does not exist for who asks, which is a 400 on these routes. */
export function unknown(what: 'vector store' | 'file' | 'item', id: string, param: string): GatewayError {
  return new GatewayError('invalid_request', `There is no ${what} ${quoted(id)}`, { param });
}

export function invalid(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${param} ${problem}`, { param });
}
