/** Reads JSON from bytes: valid UTF-8, bounded nesting, and a message that says what is wrong. */
import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../lib/errors.ts';
import { cutLongTexts } from './long-texts.ts';

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** Smaller ones are parsed as they are. */
const largeBytes = 64 * 1024;
/** Deeper than any real request, and far from the depth at which recursive code runs out of stack. */
const maxDepth = 128;
/** More than any real request has; parsing and checking more would hold everybody else up. */
export const defaultMaxValues = 200_000;

export function parseJson(bytes: Buffer, maxValues = defaultMaxValues): unknown {
  // Some SDKs send a JSON content type with no body when every field is optional.
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'The body is not valid UTF-8');
  const cut = bytes.length < largeBytes ? undefined : cutLongTexts(bytes);
  const rest = cut?.rest ?? bytes;
  refuseExcess(rest, maxValues);
  const text =
    rest[0] === 0xef && rest[1] === 0xbb && rest[2] === 0xbf
      ? rest.toString('utf8', 3)
      : rest.toString('utf8');
  try {
    const value: unknown = JSON.parse(text);
    return cut === undefined ? value : cut.restore(value);
  } catch (cause) {
    throw new GatewayError('invalid_request', `The body is not valid JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/**
 * Nothing is deeper than it has opening brackets, and every value is a list or an object, the first in one, or
 * stands behind a comma. Counting those by `indexOf` costs nothing on a long string such as a base64 image; only
 * a body that has many of them, perhaps inside its texts, is walked byte by byte.
 */
function refuseExcess(bytes: Buffer, maxValues: number): void {
  const openings = countUpTo(bytes, openList, maxDepth) + countUpTo(bytes, openObject, maxDepth);
  // Each opening and each comma is a byte: most bodies have fewer of all bytes together than they may have values.
  if (openings <= maxDepth && bytes.length <= maxValues) return;
  if (openings <= maxDepth && openings + countUpTo(bytes, comma, maxValues) <= maxValues) return;
  const { depth, values } = walk(bytes, maxValues);
  if (depth > maxDepth)
    throw new GatewayError('invalid_request', `The body is nested deeper than ${maxDepth} levels`);
  if (values > maxValues)
    throw new GatewayError('invalid_request', `The body has more than ${maxValues} values`);
}

/** Texts included; stops when there are more than `most`. */
function countUpTo(bytes: Buffer, wanted: number, most: number): number {
  let count = 0;
  for (let at = bytes.indexOf(wanted); at !== -1 && count <= most; at = bytes.indexOf(wanted, at + 1))
    count++;
  return count;
}

/** What stands outside of texts, up to where there is too much of it. */
function walk(bytes: Buffer, maxValues: number): { depth: number; values: number } {
  let open = 0;
  let depth = 0;
  let values = 0;
  let inText = false;
  for (let i = 0; i < bytes.length && depth <= maxDepth && values <= maxValues; i++) {
    const byte = bytes[i];
    if (inText) {
      if (byte === backslash) i++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === comma) values++;
    else if (byte === openList || byte === openObject) {
      // 48 MB of lists in lists have few commas and take 1.6 GB.
      values++;
      depth = Math.max(depth, ++open);
    } else if (byte === closeList || byte === closeObject) open--;
  }
  return { depth, values };
}
