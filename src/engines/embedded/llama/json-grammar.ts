/**
 * JSON Schemas as grammars (GBNF): every text that the grammar allows is an instance of the schema. It may allow
 * fewer (properties come in their order, extra ones only where they are asked for); where it would have to allow
 * more, the schema is refused.
 */
import { GrammarBudget, tooLarge } from './grammar-budget.ts';
import { GrammarError, shorten } from './grammar-error.ts';
import { basics, formats, listOf, literal, repeat, toRange } from './grammar-text.ts';
import { integersBetween, numbersBetween } from './number-grammar.ts';
import { toPatternGrammar } from './pattern-grammar.ts';
import { checkShape, isRecord, type Schema, within } from './schema-shape.ts';
import {
  annotations,
  fixed,
  impossible,
  isSilent,
  known,
  resolve,
  toTypes,
  unsupported,
} from './schema-words.ts';

/** Of one object: the sampler looks at all that may come next, for every token that there is. */
const mostProperties = 1_000;
/** llama.cpp walks all ways from a rule to its first character, also those that meet. */
const mostWays = 1_000;
const deepest = 64;

export class JsonGrammar {
  readonly #budget: GrammarBudget;
  readonly #rules = new Map<string, string>();
  /** Rules of schemas, which may refer to themselves. */
  readonly #ruleOf = new Map<unknown, string>();
  /** Which rules a rule may begin with, and where its schema stands. */
  readonly #starts = new Map<string, readonly string[]>();
  readonly #pathOf = new Map<string, string>();
  /** Rules by what they say, where that is long. */
  readonly #shared = new Map<string, string>();
  /** What two schemas say together: once for every two. */
  readonly #pairs = new Map<unknown, Map<unknown, Schema>>();
  readonly #checked = new Set<unknown>();
  #depth = 0;

  constructor(budget = new GrammarBudget()) {
    this.#budget = budget;
  }

  /** The name of the rule for a schema. References in it start at `root`, and it stands at `path`. */
  schema(schema: unknown, root: unknown = schema, path = ''): string {
    if (schema === true || schema === undefined) return 'value';
    if (schema === false) throw new GrammarError('false fits nothing in a JSON schema', path);
    checkShape(schema, path, this.#checked, this.#budget);
    const followed = this.#follow(schema, root);
    if (!isRecord(followed)) return this.schema(followed, root, path);
    const seen = this.#ruleOf.get(followed);
    if (seen !== undefined) return seen;
    const name = `s${this.#ruleOf.size}`;
    this.#ruleOf.set(followed, name);
    this.#pathOf.set(name, path);
    this.#depth += 1;
    if (this.#depth > deepest) throw new GrammarError(`The JSON schema is nested more than ${deepest} deep`);
    try {
      this.#add(name, this.#body(followed, root, path, name));
    } catch (error) {
      if (error instanceof GrammarError) error.path ??= path;
      throw error;
    }
    this.#depth -= 1;
    return name;
  }

  /** An object of exactly these, each given as the name of its rule. */
  record(fields: readonly (readonly [string, string])[]): string {
    const pairs = fields.map(([key, rule]) => `${literal(JSON.stringify(key))} ":" ws ${rule}`);
    return `"{" ws ${pairs.join(' "," ws ')} "}"`;
  }

  toText(root: string): string {
    this.#budget.rule(root);
    this.#checkStarts();
    const own = [...this.#rules].map(([name, body]) => `${name} ::= ${body}`);
    const shared = Object.entries(basics).map(([name, body]) => `${name} ::= ${body}`);
    return [`root ::= ${root}`, ...own, ...shared].join('\n');
  }

  #add(name: string, body: string): void {
    this.#budget.rule(body);
    this.#rules.set(name, body);
  }

  /** A rule for what many schemas say alike. */
  #share(body: string): string {
    const found = this.#shared.get(body);
    if (found !== undefined) return found;
    const name = `r${this.#shared.size}`;
    this.#shared.set(body, name);
    this.#add(name, body);
    return name;
  }

  /** A rule that may begin with itself, or in too many ways, the parser cannot read. */
  #checkStarts(): void {
    const ways = new Map<string, number>();
    const count = (name: string): number => {
      const starts = this.#starts.get(name);
      if (starts === undefined) return 1;
      const known = ways.get(name);
      if (known === 0)
        throw new GrammarError('A JSON schema refers to itself without a step', this.#pathOf.get(name));
      if (known !== undefined) return known;
      ways.set(name, 0);
      const all = starts.reduce((sum, each) => sum + count(each), 1);
      if (all > mostWays) throw tooLarge(`it has more than ${mostWays} alternatives in one place`);
      ways.set(name, all);
      return all;
    };
    for (const name of this.#starts.keys()) count(name);
  }

  #body(schema: Schema, root: unknown, path: string, name: string): string {
    for (const keyword of Object.keys(schema)) if (!known.has(keyword)) throw unsupported(keyword);
    if (schema['const'] !== undefined || schema['enum'] !== undefined) return fixed(schema);
    const { $ref, allOf, anyOf, oneOf, ...rest } = schema;
    const begin = (...names: string[]) => {
      this.#starts.set(name, names);
      return names.join(' | ');
    };
    if ($ref !== undefined) {
      const target = resolve($ref, root);
      return begin(this.#joined([target, { allOf, anyOf, oneOf, ...rest }], root, path));
    }
    if (Array.isArray(allOf)) {
      return begin(this.#joined([...allOf, { anyOf, oneOf, ...rest }], root, path));
    }
    const key = anyOf === undefined ? 'oneOf' : 'anyOf';
    const choices = anyOf ?? oneOf;
    if (Array.isArray(choices)) {
      if (anyOf !== undefined && oneOf !== undefined) throw unsupported('oneOf beside anyOf');
      const place = within(path, key);
      const names = choices.map((each, index) => this.#joined([each, rest], root, `${place}[${index}]`));
      return begin(...new Set(names));
    }
    return [...new Set(toTypes(rest))].map((type) => this.#typed(type, rest, root, path)).join(' | ');
  }

  /** One schema that says what all of them say. */
  #joined(schemas: readonly unknown[], root: unknown, path: string): string {
    if (schemas.includes(false)) throw new GrammarError('false fits nothing in a JSON schema', path);
    const saying = schemas.filter((each) => each !== true && !isSilent(each));
    const [only] = saying;
    if (saying.length <= 1) return this.schema(only ?? true, root, path);
    const merged = saying.map((each) => this.#inline(each, root)).reduce((a, b) => this.#merge(a, b, root));
    return this.schema(merged, root, path);
  }

  #typed(type: string, schema: Schema, root: unknown, path: string): string {
    switch (type) {
      case 'object':
        return this.#object(schema, root, path);
      case 'array':
        return this.#array(schema, root, path);
      case 'string':
        return this.#string(schema);
      case 'integer':
        if (schema['multipleOf'] !== undefined && schema['multipleOf'] !== 1) throw unsupported('multipleOf');
        return integersBetween(schema);
      case 'number':
        if (schema['multipleOf'] !== undefined) throw unsupported('multipleOf');
        return numbersBetween(schema);
      default:
        return type;
    }
  }

  #object(schema: Schema, root: unknown, path: string): string {
    if (Object.keys((schema['patternProperties'] ?? {}) as Schema).length > 0) {
      throw unsupported('patternProperties');
    }
    const properties = new Map(Object.entries((schema['properties'] ?? {}) as Schema));
    const required = new Set((schema['required'] ?? []) as string[]);
    for (const name of required) {
      if (properties.has(name)) continue;
      if (schema['additionalProperties'] === false) {
        throw new GrammarError(`required names ${shorten(name)}, which additionalProperties shuts out`);
      }
      properties.set(name, schema['additionalProperties'] ?? true);
    }
    if (properties.size > mostProperties) {
      throw tooLarge(`an object in it has more than ${mostProperties} properties`);
    }
    // Without a word about other properties, there are none beside those that are named.
    const extra = schema['additionalProperties'] ?? properties.size === 0;
    const place = within(path, 'additionalProperties');
    const additional = extra === false ? undefined : `string ":" ws ${this.schema(extra, root, place)}`;
    const [least, most = Number.POSITIVE_INFINITY] = toRange(schema, 'minProperties', 'maxProperties');
    if (properties.size === 0) {
      if (additional === undefined && least > 0) throw impossible('minProperties', 'additionalProperties');
      const pairs =
        additional === undefined ? '' : listOf(additional, schema, 'minProperties', 'maxProperties');
      return `"{" ws ${pairs} "}"`;
    }
    if (least > required.size) throw unsupported('minProperties');
    if (most < properties.size || (additional !== undefined && most < Number.POSITIVE_INFINITY)) {
      throw unsupported('maxProperties');
    }
    const name = `o${this.#rules.size}`;
    const end = properties.size;
    this.#add(`${name}t${end}`, additional === undefined ? '""' : `("," ws ${additional})*`);
    this.#add(`${name}h${end}`, additional === undefined ? '""' : `(${additional} ${name}t${end})?`);
    // `h`: nothing is written yet. `t`: a comma goes before the next.
    for (const [index, [key, property]] of [...properties].entries().toArray().reverse()) {
      const rule = this.schema(property, root, within(within(path, 'properties'), key));
      const pair = `${literal(JSON.stringify(key))} ":" ws ${rule}`;
      const tail = `${name}t${index + 1}`;
      const isRequired = required.has(key);
      this.#add(`${name}t${index}`, isRequired ? `"," ws ${pair} ${tail}` : `("," ws ${pair})? ${tail}`);
      this.#add(`${name}h${index}`, `${pair} ${tail}${isRequired ? '' : ` | ${name}h${index + 1}`}`);
    }
    return `"{" ws ${name}h0 "}"`;
  }

  #array(schema: Schema, root: unknown, path: string): string {
    const { items, additionalItems } = schema;
    const isTuple = Array.isArray(items);
    const first = (schema['prefixItems'] ?? (isTuple ? items : [])) as unknown[];
    const place = within(path, isTuple ? 'items' : 'prefixItems');
    const prefix = first.map((each, index) => this.schema(each, root, `${place}[${index}]`));
    const more = isTuple ? additionalItems : items;
    const [least, most] = toRange(schema, 'minItems', 'maxItems');
    if (prefix.length === 0) {
      if (more === false && least > 0) throw impossible('minItems', 'items');
      if (more === false || most === 0) return '"[" ws "]"';
      const item = this.schema(more ?? true, root, within(path, 'items'));
      return `"[" ws ${listOf(item, schema, 'minItems', 'maxItems')} "]"`;
    }
    if (least > prefix.length) throw unsupported('minItems beside prefixItems');
    if (most !== undefined && most < prefix.length) throw unsupported('maxItems beside prefixItems');
    return `"[" ws ${prefix.join(' "," ws ')} "]"`;
  }

  #string(schema: Schema): string {
    const { minLength, maxLength, pattern, format } = schema;
    const [least, most] = toRange(schema, 'minLength', 'maxLength');
    const isMeasured = minLength !== undefined || maxLength !== undefined;
    const known = formats.get(format);
    if (typeof pattern === 'string') {
      if (isMeasured) throw unsupported('a length beside pattern');
      if (known !== undefined) throw unsupported('format beside pattern');
      return this.#share(`"\\"" (${toPatternGrammar(pattern)}) "\\""`);
    }
    if (known !== undefined) {
      const [grammar, shortest, longest] = known;
      if (least > shortest || (most ?? longest) < longest) throw unsupported('a length beside format');
      return this.#share(`"\\"" ${grammar} "\\""`);
    }
    return isMeasured ? this.#share(`"\\"" char${repeat(least, most)} "\\""`) : 'string';
  }

  /** Where a reference that says nothing besides leads to. */
  #follow(schema: unknown, root: unknown): unknown {
    const passed = new Set<unknown>();
    let found = schema;
    while (isRecord(found) && found['$ref'] !== undefined) {
      this.#budget.step();
      const { $ref, ...rest } = found;
      if (!isSilent(rest)) return found;
      if (passed.has(found)) throw new GrammarError(`The reference ${shorten(String($ref))} leads to itself`);
      passed.add(found);
      found = resolve($ref, root);
      checkShape(found, String($ref), this.#checked, this.#budget);
    }
    return found;
  }

  /** Without references at its top, so that it can be merged. */
  #inline(schema: unknown, root: unknown, depth = 0): Schema {
    checkShape(schema, '', this.#checked, this.#budget);
    if (schema === false) throw new GrammarError('false fits nothing in a JSON schema');
    if (!isRecord(schema)) return {};
    const { $ref, ...rest } = schema;
    const own = Object.fromEntries(
      Object.entries(rest).filter(([key, value]) => {
        this.#budget.step();
        return value !== undefined && !annotations.has(key);
      }),
    );
    if ($ref === undefined) return own;
    if (depth > deepest) throw new GrammarError('A reference in a JSON schema leads back to itself');
    return this.#merge(this.#inline(resolve($ref, root), root, depth + 1), own, root);
  }

  #merge(a: Schema, b: Schema, root: unknown): Schema {
    const merged = new Map(Object.entries(a));
    for (const [key, value] of Object.entries(b)) {
      this.#budget.step();
      const before = merged.get(key);
      if (before === undefined || this.#isSame(before, value)) merged.set(key, value);
      else if (key === 'required') merged.set(key, [...new Set([...(before as []), ...(value as [])])]);
      else if (key === 'allOf') merged.set(key, [...(before as []), ...(value as [])]);
      else if (key === 'properties') {
        const properties = new Map(Object.entries(before as Schema));
        for (const [name, property] of Object.entries(value as Schema)) {
          this.#budget.step();
          properties.set(
            name,
            properties.has(name) ? this.#both(properties.get(name), property, root) : property,
          );
        }
        merged.set(key, Object.fromEntries(properties));
      } else throw unsupported(`${key} said twice`);
    }
    return Object.fromEntries(merged);
  }

  /** The same object for the same two, so that they have one rule however often they meet. */
  #both(a: unknown, b: unknown, root: unknown): unknown {
    const [one, other] = [this.#follow(a, root), this.#follow(b, root)];
    if (one === other) return one;
    let known = this.#pairs.get(one);
    if (known === undefined) {
      known = new Map();
      this.#pairs.set(one, known);
    }
    const found = known.get(other) ?? { allOf: [one, other] };
    known.set(other, found);
    return found;
  }

  #isSame(a: unknown, b: unknown, depth = 0): boolean {
    this.#budget.step();
    if (a === b) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (depth > deepest || Array.isArray(a) !== Array.isArray(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every(
      (key) => Object.hasOwn(b, key) && this.#isSame((a as Schema)[key], (b as Schema)[key], depth + 1),
    );
  }
}

export function toGrammar(schema: unknown): string {
  const grammar = new JsonGrammar();
  return grammar.toText(grammar.schema(schema));
}
