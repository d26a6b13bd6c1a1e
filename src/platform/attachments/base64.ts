/** Reads base64 and data URIs without walking megabytes in JavaScript. Pure. */
import { GatewayError } from '../../lib/errors.ts';

export interface Encoded {
  /** In the plain alphabet, padded: what engines take. */
  readonly base64: string;
  readonly bytes: Buffer;
}

export interface DataUri {
  /** What it says it is, in lower case; empty when it says nothing. */
  readonly mediaType: string;
  /** What stands after the comma. */
  readonly data: string;
  readonly isBase64: boolean;
}

/** A media type and its parameters are short: a comma later than this belongs to no header. */
const longestHeader = 1024;

export function isDataUri(text: string): boolean {
  return text.slice(0, 5).toLowerCase() === 'data:';
}

export function parseDataUri(uri: string, param: string): DataUri {
  const comma = uri.slice(0, longestHeader).indexOf(',');
  if (comma < 0) throw malformed(param, 'is not a whole data URI');
  const [mediaType = '', ...parameters] = uri.slice(5, comma).toLowerCase().split(';');
  return {
    mediaType: mediaType.trim(),
    data: uri.slice(comma + 1),
    isBase64: parameters.at(-1)?.trim() === 'base64',
  };
}

/**
 * Decodes and checks in one native pass: a foreign character is skipped by the decoder and shows as a missing
 * byte. 1.9 ms for 7 MB, where a regular expression takes 42 ms. Line breaks and the URL alphabet are put right.
 */
export function decodeBase64(text: string, param: string): Encoded {
  const bytes = Buffer.from(text, 'base64');
  const isPlain = text.length % 4 === 0 && !text.includes('-') && !text.includes('_');
  if (isPlain && bytes.length === decodedLength(text)) return { base64: text, bytes };
  const compact = text.replace(/\s+/g, '');
  if (bytes.length === 0 || bytes.length !== decodedLength(compact))
    throw malformed(param, 'is not valid base64');
  return { base64: bytes.toString('base64'), bytes };
}

/** How many bytes a base64 text stands for, padded or not. */
export function decodedLength(text: string): number {
  let end = text.length;
  while (end > 0 && text.length - end < 2 && text.charCodeAt(end - 1) === 0x3d) end--;
  return Math.floor((end * 3) / 4);
}

function malformed(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${param} ${problem}`, { param });
}
