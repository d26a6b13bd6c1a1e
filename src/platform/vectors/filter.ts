/** Filters on the attributes of files, as the condition of a statement that both databases can run. */
import { GatewayError } from '../../lib/errors.ts';
import type { Database, SqlValue } from '../../storage/database.ts';
import type { IndexQuery } from './parts.ts';
import type { Filter, FilterValue } from './types.ts';

export interface Condition {
  /** Of a file `f`. */
  readonly text: string;
  readonly values: readonly SqlValue[];
}

type Scalar = string | number | boolean;
type Comparison = Extract<Filter, { key: string }>;

/** More of them together than a person writes would only be work for the database. */
const maxParts = 200;

/**
 * An attribute equals a value of its own type only, and is greater or less only among numbers or among texts (by code
 * points, so that dates as `2026-11-15` compare). A file without the attribute is not equal to anything: `ne` and `nin`
 * hold, all others do not.
 *
 * `from` is the number of the first parameter.
 */
export function toCondition(dialect: Database['dialect'], filter: Filter, from: number): Condition {
  const values: SqlValue[] = [];
  let parts = 0;
  const bind = (value: SqlValue) => {
    values.push(value);
    return `$${from + values.length - 1}`;
  };

  function compare({ key, value, type }: Comparison): string {
    if (type === 'in' || type === 'nin') {
      if (!Array.isArray(value)) throw refuse(`needs a list with ${type}`);
      const any = value.length === 0 ? '1 = 0' : value.map((one) => holds(key, '=', one)).join(' or ');
      return type === 'in' ? `(${any})` : `not (${any})`;
    }
    if (!isScalar(value)) throw refuse(`needs a text, a number or a boolean with ${type}`);
    if (type === 'eq') return holds(key, '=', value);
    if (type === 'ne') return `not (${holds(key, '=', value)})`;
    if (typeof value === 'boolean') throw refuse(`needs a text or a number with ${type}`);
    return holds(key, { gt: '>', gte: '>=', lt: '<', lte: '<=' }[type], value);
  }

  /** Never null: `not` must turn a missing attribute into a yes. */
  function holds(key: string, operator: string, value: Scalar): string {
    parts++;
    if (parts > maxParts) throw refuse(`may compare at most ${maxParts} values`);
    return dialect === 'sqlite' ? holdsInSqlite(key, operator, value) : holdsInPostgres(key, operator, value);
  }

  function holdsInSqlite(key: string, operator: string, value: Scalar): string {
    const of = `select 1 from json_each(f.attributes) a where a.key = ${bind(key)}`;
    if (typeof value === 'boolean') return `exists (${of} and a.type = '${value}')`;
    const types = typeof value === 'number' ? `('integer', 'real')` : `('text')`;
    return `exists (${of} and a.type in ${types} and a.value ${operator} ${bind(value)})`;
  }

  function holdsInPostgres(key: string, operator: string, value: Scalar): string {
    const name = bind(key);
    const attribute = `f.attributes -> ${name}::text`;
    if (typeof value === 'boolean') return `coalesce(${attribute} = '${value}'::jsonb, false)`;
    const [type, text] =
      typeof value === 'number'
        ? ['number', `(f.attributes ->> ${name}::text)::numeric ${operator} ${bind(value)}::numeric`]
        : ['string', `(f.attributes ->> ${name}::text) collate "C" ${operator} ${bind(value)}::text`];
    // A case looks at one branch only: a text must not be read as a number.
    return `(case when jsonb_typeof(${attribute}) = '${type}' then ${text} else false end)`;
  }

  function render(one: Filter): string {
    if ('key' in one) return compare(one);
    if (one.filters.length === 0) return one.type === 'and' ? '1 = 1' : '1 = 0';
    return `(${one.filters.map(render).join(` ${one.type} `)})`;
  }

  const text = render(filter);
  return { text, values };
}

/** The files that a search looks into: those of the collection that have not failed, and what the query says of them. */
export function toFileCondition(
  dialect: Database['dialect'],
  { collectionNumber, fileIds, filter }: Pick<IndexQuery, 'collectionNumber' | 'fileIds' | 'filter'>,
  from: number,
): Condition {
  let text = `f.collection_no = $${from} and f.status <> 'failed'`;
  const values: SqlValue[] = [collectionNumber];
  if (fileIds !== undefined) {
    const list = fileIds.map((_, place) => `$${from + values.length + place}`).join(', ');
    text += fileIds.length === 0 ? ' and 1 = 0' : ` and f.id in (${list})`;
    values.push(...fileIds);
  }
  if (filter !== undefined) {
    const condition = toCondition(dialect, filter, from + values.length);
    text += ` and ${condition.text}`;
    values.push(...condition.values);
  }
  return { text, values };
}

/** Whether it asks for some of the collection's files. */
export function isPart({ fileIds, filter }: Pick<IndexQuery, 'fileIds' | 'filter'>): boolean {
  return fileIds !== undefined || filter !== undefined;
}

function isScalar(value: FilterValue): value is Scalar {
  return typeof value !== 'object';
}

function refuse(problem: string): GatewayError {
  return new GatewayError('invalid_request', `filters ${problem}`, { param: 'filters' });
}
