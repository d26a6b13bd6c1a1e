/** The words of a grammar (GBNF) that JSON is made of. */
import { GrammarError } from './grammar-error.ts';
import type { Schema } from './schema-shape.ts';

export const basics: Readonly<Record<string, string>> = {
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
const uuid = '[0-9a-f]{8} "-" [0-9a-f]{4} "-" [1-5] [0-9a-f]{3} "-" [89ab] [0-9a-f]{3} "-" [0-9a-f]{12}';
/** With their least and greatest length. The other formats are annotations, as JSON Schema has them. */
export const formats: ReadonlyMap<unknown, readonly [grammar: string, least: number, most: number]> = new Map(
  [
    ['date', [date, 10, 10]],
    ['time', [time, 9, 21]],
    ['date-time', [`${date} "T" ${time}`, 20, 32]],
    ['uuid', [uuid, 36, 36]],
  ],
);

/** Grammars repeat by copying: more than this the parser refuses. */
const mostRepetitions = 1_000;

/** A GBNF literal. */
export function literal(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t')}"`;
}

export function json(value: unknown): string {
  return literal(JSON.stringify(value));
}

export function listOf(item: string, schema: Schema, leastKey: string, mostKey: string): string {
  const [least, most] = toRange(schema, leastKey, mostKey);
  if (most === 0) return '';
  const rest = `("," ws ${item})${repeat(Math.max(0, least - 1), most === undefined ? undefined : most - 1)}`;
  return least === 0 ? `(${item} ${rest})?` : `${item} ${rest}`;
}

/** How many there may be; refused when that is no number at all. */
export function toRange(schema: Schema, leastKey: string, mostKey: string): [least: number, most?: number] {
  const least = (schema[leastKey] ?? 0) as number;
  const most = schema[mostKey] as number | undefined;
  if (most === undefined) return [least];
  if (least > most) throw new GrammarError(`${leastKey} (${least}) is more than ${mostKey} (${most})`);
  return [least, most];
}

export function repeat(least: number, most: number | undefined): string {
  if (least > mostRepetitions || (most ?? 0) > mostRepetitions) {
    throw new GrammarError(
      `A length or number of items over ${mostRepetitions} is not supported in a JSON schema`,
    );
  }
  return `{${least},${most ?? ''}}`;
}
