/** Reads JSON from bytes: valid UTF-8, bounded nesting, and a message that says what is wrong. */
import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../lib/errors.ts';

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

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
 * Nothing is deeper than it has opening brackets, and every value but the first of its list or object stands
 * behind a comma. Counting those by `indexOf` costs nothing on a long string such as a base64 image; only a body
 * that has many of them, perhaps inside its texts, is walked byte by byte.
 */
function isTooDeep(bytes: Buffer): boolean {
  const openings = countUpTo(bytes, openList, maxDepth) + countUpTo(bytes, openObject, maxDepth);
  return openings > maxDepth && walk(bytes).depth > maxDepth;
}

function hasTooMany(bytes: Buffer, maxValues: number): boolean {
  return countUpTo(bytes, comma, maxValues) > maxValues && walk(bytes).commas > maxValues;
}

/** Texts included; stops when there are more than `most`. */
function countUpTo(bytes: Buffer, wanted: number, most: number): number {
  let count = 0;
  for (let at = bytes.indexOf(wanted); at !== -1 && count <= most; at = bytes.indexOf(wanted, at + 1))
    count++;
  return count;
}

/** What stands outside of texts. */
function walk(bytes: Buffer): { depth: number; commas: number } {
  let open = 0;
  let depth = 0;
  let commas = 0;
  let inText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (inText) {
      if (byte === backslash) i++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === comma) commas++;
    else if (byte === openList || byte === openObject) depth = Math.max(depth, ++open);
    else if (byte === closeList || byte === closeObject) open--;
  }
  return { depth, commas };
}
