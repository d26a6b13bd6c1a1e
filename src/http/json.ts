/** Reads JSON from bytes: valid UTF-8, bounded nesting, and a message that says what is wrong. */
import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../lib/errors.ts';

/** Deeper than any real request, and far from the depth at which recursive code runs out of stack. */
const maxDepth = 128;
/** More than any real request has; parsing and checking more would hold everybody else up. */
export const defaultMaxValues = 200_000;

export function parseJson(bytes: Buffer, maxValues = defaultMaxValues): unknown {
  // Some SDKs send a JSON content type with no body when every field is optional (wire 19).
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'The body is not valid UTF-8');
  if (isTooDeep(bytes))
    throw new GatewayError('invalid_request', `The body is nested deeper than ${maxDepth} levels`);
  if (hasTooMany(bytes, maxValues))
    throw new GatewayError('invalid_request', `The body has more than ${maxValues} values`);
  const text =
    bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
      ? bytes.toString('utf8', 3)
      : bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new GatewayError('invalid_request', `The body is not valid JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/**
 * A value cannot be deeper than it has opening brackets, and counting those by `indexOf` costs nothing on a
 * long string such as a base64 image. Only a body with many brackets is walked byte by byte.
 */
function isTooDeep(bytes: Buffer): boolean {
  return openings(bytes, 0x5b) + openings(bytes, 0x7b) > maxDepth && deepest(bytes) > maxDepth;
}

/** Every value but the first of its list or object stands behind a comma. Those inside texts do not count. */
function hasTooMany(bytes: Buffer, maxValues: number): boolean {
  let commas = 0;
  for (let at = bytes.indexOf(0x2c); at !== -1 && commas <= maxValues; at = bytes.indexOf(0x2c, at + 1))
    commas++;
  return commas > maxValues && countOutsideText(bytes, 0x2c) > maxValues;
}

function countOutsideText(bytes: Buffer, wanted: number): number {
  let count = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (inString) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === wanted) count++;
  }
  return count;
}

function openings(bytes: Buffer, bracket: number): number {
  let count = 0;
  for (let at = bytes.indexOf(bracket); at !== -1 && count <= maxDepth; at = bytes.indexOf(bracket, at + 1))
    count++;
  return count;
}

function deepest(bytes: Buffer): number {
  let depth = 0;
  let most = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (inString) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x5b || byte === 0x7b) most = Math.max(most, ++depth);
    else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return most;
}
