/** JSON Schemas as plain values: reading what a client sent as one, and joining two into one that fits both. */
export type Schema = Readonly<Record<string, unknown>>;

/** `true`, nothing and nonsense are the schema that takes everything. */
export function toSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

/** The names in a keyword such as `required`. */
export function toNames(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

type Join = (a: unknown, b: unknown) => unknown;

/** Clients send schemas that are none: a keyword of the wrong type is not joined, the second one counts. */
const joinLists =
  (join: (a: unknown[], b: unknown[]) => unknown[]): Join =>
  (a, b) =>
    Array.isArray(a) && Array.isArray(b) ? join(a, b) : b;
const joinNumbers =
  (join: (a: number, b: number) => number): Join =>
  (a, b) =>
    typeof a === 'number' && typeof b === 'number' ? join(a, b) : b;

/** How a keyword that both have becomes one; any other is taken from the second. */
const joins: ReadonlyMap<string, Join> = new Map([
  ['properties', (a, b) => mergeFields(toSchema(a), toSchema(b))],
  ['items', (a, b) => (Array.isArray(a) || Array.isArray(b) ? b : mergeSchemas(toSchema(a), toSchema(b)))],
  ['type', commonTypes],
  ['required', joinLists((a, b) => [...new Set([...a, ...b])])],
  ['enum', joinLists((a, b) => a.filter((value) => b.some((other) => isEqual(value, other))))],
  ['allOf', joinLists((a, b) => [...a, ...b])],
  ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'].map(
    (keyword): [string, Join] => [keyword, joinNumbers(Math.max)],
  ),
  ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'].map(
    (keyword): [string, Join] => [keyword, joinNumbers(Math.min)],
  ),
]);

export function mergeSchemas(a: Schema, b: Schema): Schema {
  const merged: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const join = Object.hasOwn(a, key) ? joins.get(key) : undefined;
    merged[key] = join === undefined ? value : join(a[key], value);
  }
  return merged;
}

function mergeFields(a: Schema, b: Schema): Schema {
  const merged: Record<string, unknown> = { ...a };
  for (const [name, field] of Object.entries(b)) {
    merged[name] = Object.hasOwn(a, name) ? { allOf: [a[name], field] } : field;
  }
  return merged;
}

function commonTypes(a: unknown, b: unknown): unknown {
  const first = [a].flat();
  const second = [b].flat();
  const common = first.filter((type) => second.includes(type));
  // Whole numbers are numbers.
  if (common.length === 0 && [...first, ...second].includes('integer')) return 'integer';
  return common.length === 1 ? common[0] : common.length === 0 ? b : common;
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
