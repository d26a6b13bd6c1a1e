/** Whether a JSON schema is written as JSON Schema has it: each keyword with a value of its kind. */
import type { GrammarBudget } from './grammar-budget.ts';
import { GrammarError } from './grammar-error.ts';

export type Schema = Readonly<Record<string, unknown>>;

type Check = (value: unknown) => boolean;
type Shape = readonly [check: Check, expected: string];

const deepest = 64;

const isText: Check = (value) => typeof value === 'string';
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isBound: Check = (value) =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER && Number.isFinite(value);
const isSchema: Check = (value) => typeof value === 'boolean' || isRecord(value);
const isSchemas: Check = (value) => Array.isArray(value) && value.length > 0;

const count: Shape = [isCount, 'a whole number from 0 on'];
const bound: Shape = [isBound, `a number between ±${Number.MAX_SAFE_INTEGER}`];
const schema: Shape = [isSchema, 'a schema: an object, true or false'];
const schemas: Shape = [isSchemas, 'a list of schemas, not an empty one'];
const record: Shape = [isRecord, 'an object of schemas'];
const text: Shape = [isText, 'a string'];

const shapes = new Map<string, Shape>([
  ['$ref', text],
  ['type', [(value) => isText(value) || (isTexts(value) && (value as []).length > 0), 'a type or several']],
  ['enum', [(value) => Array.isArray(value) && value.length > 0, 'a list of values, not an empty one']],
  ['allOf', schemas],
  ['anyOf', schemas],
  ['oneOf', schemas],
  ['prefixItems', schemas],
  ['items', [(value) => isSchema(value) || Array.isArray(value), 'a schema or a list of them']],
  ['additionalItems', schema],
  ['additionalProperties', schema],
  ['properties', record],
  ['patternProperties', record],
  ['$defs', record],
  ['definitions', record],
  ['required', [isTexts, 'a list of names']],
  ['pattern', text],
  ['format', text],
  ['multipleOf', [(value) => isBound(value) && (value as number) > 0, 'a number above 0']],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((key) => [key, bound] as const),
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].map(
    (key) => [key, count] as const,
  ),
]);
const holdsSchemas = new Set([schema, schemas, record, shapes.get('items')]);

export function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Looks at a schema and at those within it, once each. */
export function checkShape(
  value: unknown,
  path: string,
  seen: Set<unknown>,
  budget: GrammarBudget,
  depth = 0,
): void {
  budget.step();
  if (!isSchema(value)) throw malformed(path, schema[1]);
  if (!isRecord(value) || seen.has(value)) return;
  if (depth > deepest) throw new GrammarError(`The JSON schema is nested more than ${deepest} deep`);
  seen.add(value);
  for (const [keyword, given] of Object.entries(value)) {
    budget.step();
    const shape = shapes.get(keyword);
    if (shape === undefined || given === undefined) continue;
    const place = within(path, keyword);
    if (!shape[0](given)) throw malformed(place, shape[1]);
    if (!holdsSchemas.has(shape)) continue;
    if (Array.isArray(given)) {
      for (const [index, each] of given.entries()) {
        checkShape(each, `${place}[${index}]`, seen, budget, depth + 1);
      }
    } else if (shape === record) {
      for (const [name, each] of Object.entries(given as Schema)) {
        checkShape(each, within(place, name), seen, budget, depth + 1);
      }
    } else checkShape(given, place, seen, budget, depth + 1);
  }
}

export function within(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function malformed(path: string, expected: string): GrammarError {
  const subject = path === '' ? 'A JSON schema' : (path.split('.').at(-1) ?? path);
  return new GrammarError(`${subject} has to be ${expected}`, path);
}
