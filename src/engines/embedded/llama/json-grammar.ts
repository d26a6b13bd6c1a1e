/**
 * JSON Schemas as grammars (GBNF): every text that the grammar allows is an instance of the schema. It may allow
 * fewer (properties come in their order, extra ones only where they are asked for); where it would have to allow
 * more, the schema is refused.
 */
import { isDeepStrictEqual } from 'node:util';
import { GrammarError } from './grammar-error.ts';
import { integersBetween, numbersBetween } from './number-grammar.ts';
import { toPatternGrammar } from './pattern-grammar.ts';

type Schema = Readonly<Record<string, unknown>>;

const basics: Readonly<Record<string, string>> = {
  ws: '" "?',
  char: String.raw`[^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})`,
  string: String.raw`"\"" char* "\""`,
  // Bounded, or a small model writes digits forever.
  digits: '"0" | [1-9] [0-9]{0,15}',
  integer: '"-"? digits',
  number: '"-"? digits ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?',
  boolean: '"true" | "false"',
  null: '"null"',
  pair: 'string ":" ws value',
  object: '"{" ws (pair ("," ws pair)*)? "}"',
  array: '"[" ws (value ("," ws value)*)? "]"',
  value: 'object | array | string | number | boolean | null',
};

const date = `[0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9])`;
const time = `([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,6})? ("Z" | [+-] ("0" [0-9] | "1" [0-3]) ":" [0-5] [0-9])`;
const formats: Readonly<Record<string, string>> = {
  date,
  time,
  'date-time': `${date} "T" ${time}`,
  uuid: '[0-9a-f]{8} "-" [0-9a-f]{4} "-" [1-5] [0-9a-f]{3} "-" [89ab] [0-9a-f]{3} "-" [0-9a-f]{12}',
};

/** Say nothing about which texts fit. */
const annotations = new Set(
  '$schema $id $anchor $comment $defs definitions title description default examples deprecated readOnly writeOnly discriminator contentEncoding contentMediaType'.split(
    ' ',
  ),
);
const keywords: Readonly<Record<string, readonly string[]>> = {
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
const types = Object.keys(keywords);
const known = new Set([
  ...annotations,
  ...Object.values(keywords).flat(),
  ...['$ref', 'type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf'],
]);

/** Grammars repeat by copying: more than this the parser refuses. */
const mostRepetitions = 1_000;
const deepest = 64;

export class JsonGrammar {
  readonly #rules = new Map<string, string>();
  /** Rules of schemas, which may refer to themselves. */
  readonly #ruleOf = new Map<unknown, string>();
  #depth = 0;

  /** The name of the rule for a schema. References in it start at `root`. */
  schema(schema: unknown, root: unknown = schema): string {
    if (schema === true || schema === undefined) return 'value';
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
      throw new GrammarError('A JSON schema is an object, and false fits nothing');
    }
    const seen = this.#ruleOf.get(schema);
    if (seen !== undefined) return seen;
    const name = `s${this.#ruleOf.size}`;
    this.#ruleOf.set(schema, name);
    this.#depth += 1;
    if (this.#depth > deepest) throw new GrammarError(`The JSON schema is nested more than ${deepest} deep`);
    this.#rules.set(name, this.#body(schema as Schema, root));
    this.#depth -= 1;
    return name;
  }

  /** An object of exactly these, each given as the name of its rule. */
  record(fields: readonly (readonly [string, string])[]): string {
    const pairs = fields.map(([key, rule]) => `${literal(JSON.stringify(key))} ":" ws ${rule}`);
    return `"{" ws ${pairs.join(' "," ws ')} "}"`;
  }

  toText(root: string): string {
    const own = [...this.#rules].map(([name, body]) => `${name} ::= ${body}`);
    const shared = Object.entries(basics).map(([name, body]) => `${name} ::= ${body}`);
    return [`root ::= ${root}`, ...own, ...shared].join('\n');
  }

  #body(schema: Schema, root: unknown): string {
    for (const keyword of Object.keys(schema)) if (!known.has(keyword)) throw unsupported(keyword);
    if (Object.hasOwn(schema, 'const')) return json(schema['const']);
    if (Array.isArray(schema['enum'])) return schema['enum'].map(json).join(' | ');
    const { $ref, allOf, anyOf, oneOf, ...rest } = schema;
    if ($ref !== undefined)
      return this.#joined([resolve($ref, root), { allOf, anyOf, oneOf, ...rest }], root);
    if (Array.isArray(allOf)) return this.#joined([...allOf, { anyOf, oneOf, ...rest }], root);
    const choices = anyOf ?? oneOf;
    if (Array.isArray(choices)) {
      if (anyOf !== undefined && oneOf !== undefined) throw unsupported('oneOf beside anyOf');
      return choices.map((each) => this.#joined([each, rest], root)).join(' | ');
    }
    return toTypes(rest)
      .map((type) => this.#typed(type, rest, root))
      .join(' | ');
  }

  /** One schema that says what all of them say. */
  #joined(schemas: readonly unknown[], root: unknown): string {
    const saying = schemas.filter((each) => each !== true && !isSilent(each));
    const [only] = saying;
    if (saying.length <= 1) return this.schema(only ?? true, root);
    return this.schema(
      saying.map((each) => inline(each, root)).reduce((a, b) => merge(a, b)),
      root,
    );
  }

  #typed(type: string, schema: Schema, root: unknown): string {
    switch (type) {
      case 'object':
        return this.#object(schema, root);
      case 'array':
        return this.#array(schema, root);
      case 'string':
        return string(schema);
      case 'integer':
        if (schema['multipleOf'] !== undefined && schema['multipleOf'] !== 1) throw unsupported('multipleOf');
        return integersBetween(schema);
      case 'number':
        return numbersBetween(schema);
      default:
        return type;
    }
  }

  #object(schema: Schema, root: unknown): string {
    const properties = Object.entries((schema['properties'] ?? {}) as Schema);
    const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as string[]) : []);
    for (const name of required) {
      if (!properties.some(([key]) => key === name)) properties.push([name, toAdditional(schema) ?? true]);
    }
    // Without a word about other properties, there are none beside those that are named.
    const extra = schema['additionalProperties'] ?? properties.length === 0;
    const additional = extra === false ? undefined : `string ":" ws ${this.schema(extra, root)}`;
    if (properties.length === 0) {
      const pairs =
        additional === undefined ? '' : listOf(additional, schema, 'minProperties', 'maxProperties');
      return `"{" ws ${pairs} "}"`;
    }
    const most = toNumber(schema['maxProperties'], Number.POSITIVE_INFINITY);
    if (toNumber(schema['minProperties'], 0) > required.size) throw unsupported('minProperties');
    if (most < properties.length || (additional !== undefined && most < Number.POSITIVE_INFINITY)) {
      throw unsupported('maxProperties');
    }
    const name = `o${this.#rules.size}`;
    const end = properties.length;
    this.#rules.set(`${name}t${end}`, additional === undefined ? '""' : `("," ws ${additional})*`);
    this.#rules.set(`${name}h${end}`, additional === undefined ? '""' : `(${additional} ${name}t${end})?`);
    // `h`: nothing is written yet. `t`: a comma goes before the next.
    for (const [index, [key, property]] of [...properties.entries()].reverse()) {
      const pair = `${literal(JSON.stringify(key))} ":" ws ${this.schema(property, root)}`;
      const tail = `${name}t${index + 1}`;
      const isRequired = required.has(key);
      this.#rules.set(
        `${name}t${index}`,
        isRequired ? `"," ws ${pair} ${tail}` : `("," ws ${pair})? ${tail}`,
      );
      this.#rules.set(`${name}h${index}`, `${pair} ${tail}${isRequired ? '' : ` | ${name}h${index + 1}`}`);
    }
    return `"{" ws ${name}h0 "}"`;
  }

  #array(schema: Schema, root: unknown): string {
    const { items, additionalItems } = schema;
    const first = schema['prefixItems'] ?? (Array.isArray(items) ? items : []);
    const prefix = (first as unknown[]).map((each) => this.schema(each, root));
    const more = Array.isArray(items) ? additionalItems : items;
    if (prefix.length === 0) {
      const list =
        more === false ? '' : listOf(this.schema(more ?? true, root), schema, 'minItems', 'maxItems');
      return `"[" ws ${list} "]"`;
    }
    const least = toNumber(schema['minItems'], 0);
    if (least > prefix.length) throw unsupported('minItems beside prefixItems');
    if (toNumber(schema['maxItems'], prefix.length) < prefix.length)
      throw unsupported('maxItems beside prefixItems');
    return `"[" ws ${prefix.join(' "," ws ')} "]"`;
  }
}

export function toGrammar(schema: unknown): string {
  const grammar = new JsonGrammar();
  return grammar.toText(grammar.schema(schema));
}

/** A GBNF literal. */
export function literal(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t')}"`;
}

function json(value: unknown): string {
  return literal(JSON.stringify(value));
}

function string(schema: Schema): string {
  const { minLength, maxLength, pattern, format } = schema;
  const isMeasured = minLength !== undefined || maxLength !== undefined;
  if (typeof pattern === 'string') {
    if (isMeasured) throw unsupported('a length beside pattern');
    return `"\\"" (${toPatternGrammar(pattern)}) "\\""`;
  }
  // The other formats are annotations, as JSON Schema has them.
  const known = typeof format === 'string' ? formats[format] : undefined;
  if (known !== undefined) return `"\\"" ${known} "\\""`;
  return isMeasured ? `"\\"" char${repeat(toNumber(minLength, 0), maxLength)} "\\""` : 'string';
}

function listOf(item: string, schema: Schema, leastKey: string, mostKey: string): string {
  const least = toNumber(schema[leastKey], 0);
  const most = schema[mostKey];
  if (most === 0) return '';
  const rest = `("," ws ${item})${repeat(Math.max(0, least - 1), typeof most === 'number' ? most - 1 : undefined)}`;
  return least === 0 ? `(${item} ${rest})?` : `${item} ${rest}`;
}

function repeat(least: number, most: unknown): string {
  const upper = typeof most === 'number' ? most : undefined;
  if (least > mostRepetitions || (upper ?? 0) > mostRepetitions) {
    throw new GrammarError(
      `A length or number of items over ${mostRepetitions} is not supported in a JSON schema`,
    );
  }
  return `{${least},${upper ?? ''}}`;
}

function toTypes(schema: Schema): readonly string[] {
  const { type } = schema;
  if (type !== undefined) {
    const named = [type].flat();
    const stranger = named.find((each) => !types.includes(each as string));
    if (stranger !== undefined)
      throw new GrammarError(`A JSON schema has the unknown type ${String(stranger)}`);
    return named as string[];
  }
  // Without a type, a keyword that only means something for one is taken to mean that one.
  const meant = types.filter((each) => keywords[each]?.some((keyword) => schema[keyword] !== undefined));
  return meant.length === 0 ? ['value'] : meant.slice(0, 1);
}

function toAdditional(schema: Schema): unknown {
  return schema['additionalProperties'] === false ? undefined : schema['additionalProperties'];
}

function toNumber(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** `#/$defs/name` and other paths within the same schema. */
function resolve(reference: unknown, root: unknown): unknown {
  if (typeof reference === 'string' && reference.startsWith('#')) {
    let found: unknown = root;
    for (const step of reference.slice(1).split('/').slice(1)) {
      const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
      found = typeof found === 'object' && found !== null ? (found as Schema)[key] : undefined;
    }
    if (found !== undefined) return found;
  }
  throw new GrammarError(`The reference ${String(reference)} in a JSON schema leads nowhere`);
}

function isSilent(schema: unknown): boolean {
  return Object.entries(schema as object).every(
    ([key, value]) => value === undefined || annotations.has(key),
  );
}

/** Without references at its top, so that it can be merged. */
function inline(schema: unknown, root: unknown, depth = 0): Schema {
  const { $ref, ...rest } = schema as Schema;
  const own = Object.fromEntries(
    Object.entries(rest).filter(([key, value]) => value !== undefined && !annotations.has(key)),
  );
  if ($ref === undefined) return own;
  if (depth > deepest) throw new GrammarError('A reference in a JSON schema leads back to itself');
  return merge(inline(resolve($ref, root), root, depth + 1), own);
}

function merge(a: Schema, b: Schema): Schema {
  const merged: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const before = merged[key];
    if (before === undefined || isDeepStrictEqual(before, value)) merged[key] = value;
    else if (key === 'required') merged[key] = [...new Set([...(before as []), ...(value as [])])];
    else if (key === 'allOf') merged[key] = [...(before as []), ...(value as [])];
    else if (key === 'properties') {
      const properties: Record<string, unknown> = { ...(before as Schema) };
      for (const [name, property] of Object.entries(value as Schema)) {
        const other = properties[name];
        properties[name] = other === undefined ? property : { allOf: [other, property] };
      }
      merged[key] = properties;
    } else throw unsupported(`${key} said twice`);
  }
  return merged;
}

function unsupported(what: string): GrammarError {
  return new GrammarError(`This model cannot be held to ${what} in a JSON schema`);
}
