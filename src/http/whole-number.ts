/** Whole numbers that clients also send as text: OpenAI's send `seconds: "6"`. Nothing else is read so. */
import Type from 'typebox';
import { GatewayError } from '../lib/errors.ts';

export const wholeNumber = Type.Union([Type.Integer(), Type.String({ pattern: '^-?\\d{1,16}$' })], {
  description: 'A whole number, also as text',
  told: 'must be a whole number',
});

/** What such a field holds, once its schema has let it in. */
export function toWhole(param: string, value: number | string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new GatewayError('invalid_request', `${param} must be a whole number`, { param });
}
