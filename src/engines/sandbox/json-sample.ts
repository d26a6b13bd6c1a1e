/**
 * Makes up a value that fits a JSON Schema: objects (properties, required, additionalProperties, min and
 * maxProperties), arrays (items, prefixItems, contains, min and maxItems, uniqueItems), strings (enum, lengths,
 * format, pattern), numbers (bounds, multipleOf), anyOf, oneOf, allOf and $ref, recursion included. `not`,
 * `if` and `patternProperties` are not looked at.
 */
import { mergeSchemas, type Schema, toNames, toSchema } from './json-schema.ts';
import { type Budget, samplePattern } from './pattern-sample.ts';
import type { Random } from './seed.ts';

/** What a value may speak of: the words and numbers of the conversation. */
export interface Hints {
  /** Names and topics for strings, the most fitting first. */
  readonly words: readonly string[];
  readonly numbers: readonly number[];
}

/** From here on optional fields and items are left out, so that recursion ends. */
const deep = 4;
/** A schema that demands endless depth gets null here; nothing fits it anyway. */
const deepest = 24;
const usualItems = 3;
/** A schema that demands more than this gets less: it must not cost the gateway its memory or its time. */
const mostValues = 5_000;
const mostCharacters = 50_000;
const mostAtoms = 50_000;

export function sampleJson(root: unknown, random: Random, hints: Hints): unknown {
  return new Sampler(toSchema(root), random, hints).value(toSchema(root), '', 0);
}

class Sampler {
  readonly #root: Schema;
  readonly #random: Random;
  readonly #hints: Hints;
  readonly #budget: Budget = { atoms: mostAtoms };
  #values = 0;
  #characters = 0;
  #words = 0;
  #numbers = 0;

  constructor(root: Schema, random: Random, hints: Hints) {
    this.#root = root;
    this.#random = random;
    this.#hints = hints;
  }

  /** `name` is the field that the value is for. */
  value(given: Schema, name: string, depth: number): unknown {
    this.#values += 1;
    if (depth > deepest || this.#values > mostValues) return null;
    const schema = this.#settle(given, depth);
    if ('const' in schema) return schema['const'];
    const { enum: values } = schema;
    if (Array.isArray(values) && values.length > 0) return values[this.#random.below(values.length)];
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, name, depth);
      case 'integer':
        return this.#number(schema, true);
      case 'number':
        return this.#number(schema, false);
      case 'boolean':
        return this.#random.below(2) === 0;
      case 'null':
        return null;
      default:
        return this.#string(schema, name);
    }
  }

  /** Follows references, joins `allOf` and picks a branch, until only plain keywords are left. */
  #settle(given: Schema, depth: number): Schema {
    let schema = given;
    for (let step = 0; step < deepest; step++) {
      const { $ref, allOf, anyOf, oneOf, ...rest } = schema;
      if (typeof $ref === 'string') {
        schema = mergeSchemas(this.#resolve($ref), { ...rest, ...defined({ allOf, anyOf, oneOf }) });
      } else if (Array.isArray(allOf)) {
        const joined = allOf.map(toSchema).reduce(mergeSchemas, {});
        schema = mergeSchemas(joined, { ...rest, ...defined({ anyOf, oneOf }) });
      } else if (Array.isArray(anyOf)) {
        schema = mergeSchemas(this.#branch(anyOf.map(toSchema), depth), { ...rest, ...defined({ oneOf }) });
      } else if (Array.isArray(oneOf)) {
        schema = mergeSchemas(this.#branch(oneOf.map(toSchema), depth), rest);
      } else return rest;
    }
    return {};
  }

  /** Rather something than null, and deep down rather a leaf than more depth. */
  #branch(branches: readonly Schema[], depth: number): Schema {
    const some = branches.filter((branch) => branch['type'] !== 'null');
    const leaves = branches.filter((branch) => isLeaf(branch));
    const wanted = depth >= deep && leaves.length > 0 ? leaves : some.length > 0 ? some : branches;
    return wanted[this.#random.below(wanted.length)] ?? {};
  }

  #resolve(reference: string): Schema {
    let found: unknown = this.#root;
    for (const raw of reference.replace(/^#\/?/, '').split('/')) {
      if (raw === '') continue;
      const key = decode(raw).replaceAll('~1', '/').replaceAll('~0', '~');
      found = typeof found === 'object' && found !== null ? (found as Schema)[key] : undefined;
    }
    return toSchema(found);
  }

  #object(schema: Schema, depth: number): Record<string, unknown> {
    const properties = toSchema(schema['properties']);
    const required = toNames(schema['required']);
    const most = toNumber(schema['maxProperties']) ?? Number.POSITIVE_INFINITY;
    const optional = depth >= deep ? [] : Object.keys(properties).filter((name) => !required.includes(name));
    const room = Math.max(0, most - required.length);
    const wanted = new Set([...required, ...optional.slice(0, room)]);
    // In the order of the schema: readers like fields where they expect them.
    const names = new Set([...Object.keys(properties), ...required]);
    const entries = new Map<string, unknown>();
    for (const name of names) {
      if (!wanted.has(name)) continue;
      const field = Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties'];
      entries.set(name, this.value(toSchema(field), name, depth + 1));
    }
    this.#addEntries(entries, schema, Object.keys(properties).length, depth);
    return Object.fromEntries(entries);
  }

  /** Fields of free choice: as many as are demanded, and two where the object is a map. */
  #addEntries(entries: Map<string, unknown>, schema: Schema, declared: number, depth: number): void {
    const additional = schema['additionalProperties'];
    const isMap = declared === 0 && typeof additional === 'object' && depth < deep;
    const least = Math.max(toNumber(schema['minProperties']) ?? 0, isMap ? 2 : 0);
    const most = toNumber(schema['maxProperties']) ?? Number.POSITIVE_INFINITY;
    const undemanded = Object.keys(toSchema(schema['properties'])).filter((name) => !entries.has(name));
    while (entries.size < Math.min(least, most) && this.#values <= mostValues) {
      const known = undemanded.shift();
      if (known === undefined && additional === false) return;
      const name = known ?? `key_${entries.size + 1}`;
      const field = known === undefined ? additional : toSchema(schema['properties'])[known];
      entries.set(name, this.value(toSchema(field), name, depth + 1));
    }
  }

  #array(schema: Schema, name: string, depth: number): unknown[] {
    const tuple = Array.isArray(schema['items']) ? schema['items'] : schema['prefixItems'];
    const first = Array.isArray(tuple) ? tuple : [];
    const rest = Array.isArray(schema['items']) ? schema['additionalItems'] : schema['items'];
    const least = toNumber(schema['minItems']) ?? 0;
    const most = toNumber(schema['maxItems']) ?? Math.max(least, first.length, usualItems);
    const usual = depth >= deep ? least : Math.max(least, first.length, 1 + this.#random.below(usualItems));
    const count = rest === false ? Math.min(first.length, most) : Math.min(usual, most);
    const items: unknown[] = [];
    const seen = new Set<string>();
    for (let index = 0; index < count && this.#values <= mostValues; index++) {
      const isOdd = index === first.length && 'contains' in schema;
      const item = toSchema(index < first.length ? first[index] : isOdd ? schema['contains'] : rest);
      const value = this.#item(item, name, depth, schema['uniqueItems'] === true ? seen : undefined);
      if (value === undefined) break;
      items.push(value);
    }
    return items;
  }

  /** Undefined when no further different value was found. */
  #item(schema: Schema, name: string, depth: number, seen: Set<string> | undefined): unknown {
    for (let attempt = 0; attempt < 40; attempt++) {
      const value = this.value(schema, name, depth + 1);
      const text = JSON.stringify(value);
      if (seen?.has(text) === true) continue;
      seen?.add(text);
      return value;
    }
    return undefined;
  }

  #number(schema: Schema, isInteger: boolean): number {
    const factor = toNumber(schema['multipleOf']);
    const step = isInteger ? (factor === undefined ? 1 : wholeMultiple(factor)) : (factor ?? 0.5);
    const low = toNumber(schema['minimum']) ?? Number.NEGATIVE_INFINITY;
    const high = toNumber(schema['maximum']) ?? Number.POSITIVE_INFINITY;
    const above = toNumber(schema['exclusiveMinimum']) ?? Number.NEGATIVE_INFINITY;
    const below = toNumber(schema['exclusiveMaximum']) ?? Number.POSITIVE_INFINITY;
    const fits = (value: number) => value >= low && value <= high && value > above && value < below;
    const isStep = (value: number) =>
      isInteger || factor !== undefined ? Number.isInteger(toPrecise(value / step)) : true;
    const mentioned = this.#hints.numbers.slice(this.#numbers).find((value) => fits(value) && isStep(value));
    if (mentioned !== undefined) {
      this.#numbers = this.#hints.numbers.indexOf(mentioned, this.#numbers) + 1;
      return mentioned;
    }
    const from = Math.max(low, above);
    const to = Math.min(high, below);
    const start = Number.isFinite(from) ? from : Number.isFinite(to) ? to - 100 * step : step;
    const end = Number.isFinite(to) ? to : start + 100 * step;
    const first = Math.ceil(toPrecise(start / step));
    const span = Math.max(0, Math.floor(toPrecise(end / step)) - first);
    for (let attempt = 0; attempt < 20; attempt++) {
      const value = toPrecise((first + this.#random.below(span + 1)) * step);
      if (fits(value)) return value;
    }
    // Bounds so close that no step fits between them.
    return fits(start) ? start : fits(end) ? end : (start + end) / 2;
  }

  #string(schema: Schema, name: string): string {
    const room = Math.max(0, mostCharacters - this.#characters);
    const least = Math.min(toNumber(schema['minLength']) ?? 0, room);
    const most = toNumber(schema['maxLength']) ?? Number.POSITIVE_INFINITY;
    const { format, pattern } = schema;
    let text: string | undefined;
    if (typeof pattern === 'string')
      text = samplePattern(pattern, this.#random, { least, most }, this.#budget);
    else if (typeof format === 'string') text = this.#formatted(format);
    text ??= fitLength(this.#word(name), least, most);
    this.#characters += text.length;
    return text;
  }

  /** The words of the conversation in turn; the name of the field when there is none. */
  #word(name: string): string {
    const { words } = this.#hints;
    const word = words[this.#words % Math.max(1, words.length)];
    this.#words += 1;
    const round = Math.floor((this.#words - 1) / Math.max(1, words.length));
    if (word === undefined) return name === '' ? `text ${this.#words}` : `${name} ${this.#words}`;
    return round === 0 ? word : `${word} ${round + 1}`;
  }

  #formatted(format: string): string | undefined {
    const digits = (count: number) =>
      Array.from({ length: count }, () => this.#random.below(16).toString(16)).join('');
    const two = (limit: number, from = 0) => String(from + this.#random.below(limit)).padStart(2, '0');
    const date = () => `${2020 + this.#random.below(10)}-${two(12, 1)}-${two(28, 1)}`;
    const time = () => `${two(24)}:${two(60)}:${two(60)}Z`;
    const host = () => `${this.#random.pick(['www', 'api', 'mail', 'docs'])}.example.com`;
    switch (format) {
      case 'date-time':
        return `${date()}T${time()}`;
      case 'date':
        return date();
      case 'time':
        return time();
      case 'duration':
        return `PT${1 + this.#random.below(59)}M`;
      case 'email':
      case 'idn-email':
        return `${this.#random.pick(['ada', 'grace', 'alan', 'edsger'])}@example.com`;
      case 'hostname':
      case 'idn-hostname':
        return host();
      case 'ipv4':
        return `192.0.2.${1 + this.#random.below(254)}`;
      case 'ipv6':
        return `2001:db8::${1 + this.#random.below(9)}`;
      case 'uuid':
        return `${digits(8)}-${digits(4)}-4${digits(3)}-a${digits(3)}-${digits(12)}`;
      case 'uri':
      case 'url':
      case 'iri':
      case 'uri-reference':
        return `https://${host()}/${digits(6)}`;
      case 'json-pointer':
        return '/items/0';
      case 'regex':
        return '^[a-z]+$';
      default:
        return undefined;
    }
  }
}

const typesByKeyword = {
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems', 'contains'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
} as const;

/** The type as declared, rather not null where there is a choice; else as the keywords suggest. */
function typeOf(schema: Schema): string {
  const { type } = schema;
  if (typeof type === 'string') return type;
  const types = toNames(type);
  if (types.length > 0) return types.find((name) => name !== 'null') ?? 'null';
  for (const [name, keywords] of Object.entries(typesByKeyword)) {
    if (keywords.some((keyword) => keyword in schema)) return name;
  }
  return 'string';
}

function isLeaf(schema: Schema): boolean {
  if ('$ref' in schema || 'allOf' in schema || 'anyOf' in schema || 'oneOf' in schema) return false;
  if ('const' in schema || 'enum' in schema) return true;
  const type = typeOf(schema);
  return type !== 'object' && type !== 'array';
}

/** The smallest whole number that is a multiple: 1 for 0.25, 3 for 1.5. */
function wholeMultiple(factor: number): number {
  for (let times = 1; times <= 1000; times++) {
    const value = toPrecise(factor * times);
    if (Number.isInteger(value)) return value;
  }
  return Math.ceil(factor);
}

/** Without the dust of binary fractions: 0.1 × 3 is 0.3. */
function toPrecise(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(12)) : value;
}

/** Lengths count characters, not UTF-16 units. */
function fitLength(text: string, least: number, most: number): string {
  const characters = [...text];
  if (characters.length > most) return characters.slice(0, most).join('').trimEnd().padEnd(least, '.');
  return characters.length >= least ? text : text + '.'.repeat(least - characters.length);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not an encoding but a percent sign.
    return text;
  }
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function defined(fields: Record<string, unknown>): Schema {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
