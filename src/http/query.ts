/** The query string as the route's schema declares it. Names that the route does not know are ignored. */

import type { TSchema } from 'typebox';
import { GatewayError } from '../lib/errors.ts';
import type { Validator } from '../lib/schema.ts';
import { fromText, propertySchema } from './text-values.ts';

export function parseQuery(search: string, validator: Validator<TSchema>): unknown {
  const query: Record<string, unknown> = {};
  for (const [name, text] of new URLSearchParams(search)) {
    const schema = propertySchema(validator.schema, name);
    if (schema === undefined) continue;
    if (text.includes('\0')) throw holdsNul(name);
    const earlier = query[name];
    const value = fromText(text, schema);
    // A list may be sent as `a=x,y` and as `a=x&a=y`; of a number there can be only one.
    query[name] = earlier === undefined ? value : `${earlier},${text}`;
  }
  if (!validator.check(query)) {
    const { path, message } = validator.problem(query);
    throw new GatewayError('invalid_request', `${path} ${message}`, { param: path });
  }
  return query;
}

/** No name, id or text has one, and PostgreSQL cannot hold it. */
export function holdsNul(field: string): GatewayError {
  return new GatewayError('invalid_request', `${field} must not contain the character U+0000`, {
    param: field,
  });
}
