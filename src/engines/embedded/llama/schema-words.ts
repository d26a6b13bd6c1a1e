/** What the keywords of a JSON Schema say, before it becomes a grammar. */
import { GrammarError, shorten } from './grammar-error.ts';
import { formats, json } from './grammar-text.ts';
import { isRecord, type Schema } from './schema-shape.ts';

/** Say nothing about which texts fit. */
export const annotations = new Set(
  '$schema $id $anchor $comment $defs definitions title description default examples deprecated readOnly writeOnly discriminator contentEncoding contentMediaType'.split(
    ' ',
  ),
);
export const keywords: Readonly<Record<string, readonly string[]>> = {
  object: [
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'minProperties',
    'maxProperties',
  ],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'format'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format'],
  boolean: [],
  null: [],
};
export const types = Object.keys(keywords);
export const known = new Set([
  ...annotations,
  ...Object.values(keywords).flat(),
  ...['$ref', 'type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf'],
]);

/** One of the values that the schema names. */
export function fixed(schema: Schema): string {
  for (const [key, value] of Object.entries(schema)) {
    const isHeld = ['const', 'enum', 'type'].includes(key) || annotations.has(key);
    if (isHeld || value === undefined || (key === 'format' && !formats.has(value))) continue;
    throw unsupported(`${key} beside ${schema['enum'] === undefined ? 'const' : 'enum'}`);
  }
  const { enum: several, const: only } = schema;
  if (several !== undefined && only !== undefined) throw unsupported('const beside enum');
  const types = schema['type'] === undefined ? undefined : toTypes(schema);
  const fitting = ((several ?? [only]) as unknown[]).filter((value) => types?.some(isOf(value)) ?? true);
  if (fitting.length === 0) throw impossible('type', several === undefined ? 'const' : 'enum');
  return [...new Set(fitting.map(json))].join(' | ');
}

export function isOf(value: unknown): (type: string) => boolean {
  const own = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return (type) => type === own || (type === 'integer' && Number.isInteger(value));
}

export function toTypes(schema: Schema): readonly string[] {
  const { type } = schema;
  if (type !== undefined) {
    const named = [type].flat();
    const stranger = named.find((each) => !types.includes(each as string));
    if (stranger !== undefined)
      throw new GrammarError(`A JSON schema has the unknown type ${shorten(String(stranger))}`);
    return named as string[];
  }
  // Without a type, a keyword that only means something for one is taken to mean that one.
  const meant = types.filter((each) => keywords[each]?.some((keyword) => schema[keyword] !== undefined));
  return meant.length === 0 ? ['value'] : meant.slice(0, 1);
}

/** `#/$defs/name` and other paths within the same schema. */
export function resolve(reference: unknown, root: unknown): unknown {
  if (typeof reference === 'string' && (reference === '#' || reference.startsWith('#/'))) {
    let found: unknown = root;
    for (const step of reference.slice(1).split('/').slice(1)) {
      const key = decode(step).replaceAll('~1', '/').replaceAll('~0', '~');
      const isThere = typeof found === 'object' && found !== null && Object.hasOwn(found, key);
      found = isThere ? (found as Schema)[key] : undefined;
    }
    if (found !== undefined) return found;
  }
  throw new GrammarError(`The reference ${shorten(String(reference))} in a JSON schema leads nowhere`);
}

export function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

export function isSilent(schema: unknown): boolean {
  return (
    isRecord(schema) &&
    Object.entries(schema).every(([key, value]) => value === undefined || annotations.has(key))
  );
}

export function unsupported(what: string): GrammarError {
  return new GrammarError(`This model cannot be held to ${shorten(what)} in a JSON schema`);
}

export function impossible(one: string, other: string): GrammarError {
  return new GrammarError(`Nothing fits both ${one} and ${other} in a JSON schema`);
}
