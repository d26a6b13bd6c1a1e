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
const byteOrderMark = 0xfeff;

/** Smaller ones are parsed as they are. */
const largeBytes = 64 * 1024;
/** Deeper than any real request, and far from the depth at which recursive code runs out of stack. */
const maxDepth = 128;
/** More than any real request has; parsing and checking more would hold everybody else up. */
export const defaultMaxValues = 200_000;

export function parseJson(bytes: Buffer, maxValues = defaultMaxValues): unknown {
  // Some SDKs send a JSON content type with no body when every field is optional.
  if (bytes.length === 0) return {};
  return bytes.length < largeBytes ? parseSmall(bytes, maxValues) : parseLarge(bytes, maxValues);
}

/** Looked at as the text that it becomes anyway: a search in a string costs a third of one in a buffer. */
function parseSmall(bytes: Buffer, maxValues: number): unknown {
  const text = bytes.toString('utf8');
  // Decoding puts it in the place of what is no UTF-8, but a client may have sent it as well.
  if (text.includes('\ufffd')) refuseNonUtf8(bytes);
  if (text.length > maxValues || countOpenings(text) > maxDepth) refuseExcess(bytes, maxValues);
  return parseText(text);
}

function parseLarge(bytes: Buffer, maxValues: number): unknown {
  refuseNonUtf8(bytes);
  const cut = cutLongTexts(bytes);
  const rest = cut?.rest ?? bytes;
  refuseExcess(rest, maxValues);
  const value = parseText(rest.toString('utf8'));
  return cut === undefined ? value : cut.restore(value);
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text);
  } catch (cause) {
    throw new GatewayError('invalid_request', `The body is not valid JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function refuseNonUtf8(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'The body is not valid UTF-8');
}

/** Texts included; stops when there are more than may be nested. */
function countOpenings(text: string): number {
  let count = 0;
  for (let at = text.indexOf('{'); at !== -1 && count <= maxDepth; at = text.indexOf('{', at + 1)) count++;
  for (let at = text.indexOf('['); at !== -1 && count <= maxDepth; at = text.indexOf('[', at + 1)) count++;
  return count;
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
