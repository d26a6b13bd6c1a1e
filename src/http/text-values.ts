/**
 * Queries and form fields arrive as text. Here the declared type of a field says what its text means; a text
 * that does not fit is left as it is, and validation then names the field. JSON bodies are never touched:
 * there a number is a number.
 */
import type { TSchema } from 'typebox';
import { parseJson } from './json.ts';

interface LooseSchema {
  type?: string;
  anyOf?: LooseSchema[];
  properties?: Record<string, LooseSchema>;
  items?: LooseSchema;
}

const whole = /^(?:0|-?[1-9]\d*)$/;
const numeric = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

export function fromText(text: string, schema: TSchema | undefined): unknown {
  const types = typesOf(schema as LooseSchema | undefined);
  if (types.has('string')) return text;
  if (types.has('integer') && whole.test(text)) return Number(text);
  if (types.has('number') && numeric.test(text)) return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (types.has('object') || types.has('array')) return parseOr(text);
  return text;
}

/** The schema of a named property, looked for in every branch of a union. */
export function propertySchema(schema: TSchema | undefined, name: string): TSchema | undefined {
  for (const branch of branches(schema as LooseSchema | undefined)) {
    if (Object.hasOwn(branch.properties ?? {}, name)) return branch.properties?.[name] as TSchema;
  }
  return undefined;
}

export function itemSchema(schema: TSchema | undefined): TSchema | undefined {
  for (const branch of branches(schema as LooseSchema | undefined)) {
    if (branch.items !== undefined) return branch.items as TSchema;
  }
  return undefined;
}

function branches(schema: LooseSchema | undefined): LooseSchema[] {
  if (schema === undefined) return [];
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(branches);
}

function typesOf(schema: LooseSchema | undefined): Set<string> {
  return new Set(branches(schema).flatMap((branch) => branch.type ?? []));
}

/** With the bounds of a whole body: a field may be nearly as long. */
function parseOr(text: string): unknown {
  if (text === '') return text;
  try {
    return parseJson(Buffer.from(text));
  } catch {
    return text;
  }
}
