/** Answers with a stored object, whole or in the part that the client asks for (RFC 9110, section 14). */
import { Readable } from 'node:stream';
import { GatewayError } from '../lib/errors.ts';
import type { ByteRange, ObjectInfo, Objects } from '../platform/objects/types.ts';
import { Reply } from './reply.ts';
import type { Call } from './route.ts';

export interface StoredFile {
  readonly key: string;
  /** Exactly as it is sent. */
  readonly mediaType: string;
  /** What a browser calls it when it is saved: plain ASCII. */
  readonly filename: string;
  /** Whether a browser shows it or saves it. Default `inline`. */
  readonly disposition?: 'inline' | 'attachment';
  /** More headers, lower-case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Undefined: there is no such object. Throws `range_not_satisfiable` for a part that lies behind its end. */
export async function fileReply(
  call: Pick<Call, 'headers' | 'method' | 'setHeader'>,
  objects: Pick<Objects, 'find' | 'open'>,
  { key, mediaType, filename, disposition = 'inline', headers = {} }: StoredFile,
): Promise<Reply | undefined> {
  const info = await objects.find(key);
  if (info === undefined) return undefined;
  const etag = toEtag(info);
  const range = chooseRange(call, info.bytes, etag);
  if (range === 'unsatisfiable') {
    call.setHeader('content-range', `bytes */${info.bytes}`);
    throw new GatewayError(
      'range_not_satisfiable',
      `The range begins behind the ${info.bytes} bytes of the file`,
    );
  }
  const { start, end } = range ?? { start: 0, end: info.bytes - 1 };
  // An empty file has no part that could be opened, and the shell leaves out what follows a head.
  const body = info.bytes === 0 ? Readable.from([]) : await objects.open(key, { start, end });
  if (body === undefined) return undefined;
  return new Reply(body, {
    ...(range === undefined ? {} : { status: 206 }),
    headers: {
      'content-type': mediaType,
      'content-length': String(end - start + 1),
      'accept-ranges': 'bytes',
      etag,
      'content-disposition': `${disposition}; filename="${filename}"`,
      ...(range === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${info.bytes}` }),
      ...headers,
    },
  });
}

/** An object is replaced as a whole, so its time and its length tell one from the next. */
function toEtag({ writtenAt, bytes }: ObjectInfo): string {
  return `"${writtenAt.toString(16)}-${bytes.toString(16)}"`;
}

function chooseRange(
  { method, headers }: Pick<Call, 'headers' | 'method'>,
  size: number,
  etag: string,
): ByteRange | 'unsatisfiable' | undefined {
  const { range, 'if-range': condition } = headers;
  // Only GET has ranges. A condition that is a date never holds: dates are too coarse to tell objects apart.
  if (range === undefined || method === 'HEAD' || (condition !== undefined && condition !== etag))
    return undefined;
  return parseRange(range, size);
}

/** Undefined: the whole. That is the answer to several parts, and to what is no range at all. */
export function parseRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  if (first === '') {
    const count = Math.min(Number(last), size);
    return count === 0 ? 'unsatisfiable' : { start: size - count, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
