/** Reads and checks a request's body as its route declares it: JSON, or a multipart form. */
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../lib/errors.ts';
import { quoted } from '../lib/quoted.ts';
import type { Platform } from '../platform/index.ts';
import { ByteCollector } from './bytes.ts';
import { parseJson } from './json.ts';
import { readMultipart } from './multipart.ts';
import type { ParsedBody, Route } from './route.ts';
import { tooLarge } from './too-large.ts';

const noUploads: readonly never[] = [];
export const noBody: ParsedBody = { body: undefined, uploads: noUploads, stored: noUploads };

export async function readBody(
  request: IncomingMessage,
  route: Route,
  platform: Platform,
): Promise<ParsedBody> {
  const type = mediaType(request.headers['content-type']);
  refuseEncoding(request);
  if (route.multipart !== undefined && type === 'multipart/form-data') {
    return readMultipart(request, { form: route.multipart, maxBodyBytes: route.maxBodyBytes, platform });
  }
  if (route.body === undefined) {
    refuseMissingForm(route);
    return noBody;
  }
  // A client that names no type sends JSON; one that names another type means something else by its bytes.
  if (type !== '' && type !== 'application/json') {
    const accepted =
      route.multipart === undefined ? 'application/json' : 'application/json or multipart/form-data';
    throw new GatewayError('invalid_request', `Content-Type must be ${accepted}, not ${quoted(type)}`, {
      param: 'content-type',
    });
  }
  const body = parseJson(await readBytes(request, route.maxBodyBytes), route.maxBodyValues);
  if (!route.body.check(body)) {
    const { path, message } = route.body.problem(body);
    throw new GatewayError(
      'invalid_request',
      `${path === '' ? 'The body' : path} ${message}`,
      path === '' ? {} : { param: path },
    );
  }
  return { body, uploads: noUploads, stored: noUploads };
}

/** A route that takes a form and nothing else was sent something else. */
function refuseMissingForm({ multipart }: Route): void {
  const [field] = Object.entries(multipart?.files ?? {}).find(([, { required }]) => required === true) ?? [];
  if (field === undefined) return;
  throw new GatewayError('invalid_request', `${field} is required, in a multipart/form-data body`, {
    param: field,
  });
}

/** `Application/JSON; charset=utf-8` as `application/json`; any charset but UTF-8 is refused. */
function mediaType(header: string | undefined): string {
  if (header === 'application/json') return header;
  const [type = '', ...parameters] = (header ?? '').split(';');
  for (const parameter of parameters) {
    const charset = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(parameter)?.[1]?.toLowerCase();
    if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii') {
      throw new GatewayError(
        'invalid_request',
        `Content-Type: charset must be utf-8, not ${quoted(charset)}`,
        {
          param: 'content-type',
        },
      );
    }
  }
  return type.trim().toLowerCase();
}

function refuseEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new GatewayError('invalid_request', 'Content-Encoding is not supported: send the body as it is', {
      param: 'content-encoding',
    });
  }
}

/** Told from the header alone, before a byte is read: a client who waits for 100-continue then sends nothing. */
export function refuseTooLarge(request: IncomingMessage, route: Route): void {
  const { maxBodyBytes, body, multipart } = route;
  if (Number(request.headers['content-length'] ?? 0) <= maxBodyBytes) return;
  // A form of one large file can hardly be too large by anything else.
  const [only, another] = body === undefined ? Object.entries(multipart?.files ?? {}) : [];
  if (only === undefined || another !== undefined) throw tooLarge('The body', maxBodyBytes);
  throw tooLarge(only[0], only[1].maxBytes);
}

/** Read at once of one body: a socket alone would hand over 2 MB, and eight of them keep everybody waiting for 60 ms. */
const turnBytes = 256 * 1024;

function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const bytes = new ByteCollector(Number(request.headers['content-length'] ?? 0));
    let turnEnd = turnBytes;
    const onData = (chunk: Buffer) => {
      bytes.add(chunk);
      if (bytes.size > limitBytes) {
        request.off('data', onData);
        reject(tooLarge('The body', limitBytes));
      } else if (bytes.size >= turnEnd) {
        turnEnd = bytes.size + turnBytes;
        request.pause();
        setImmediate(() => request.resume());
      }
    };
    request.on('data', onData);
    request.on('end', () => resolve(bytes.toBuffer()));
    request.on('error', (cause) =>
      reject(new GatewayError('invalid_request', 'The body broke off', { cause })),
    );
    // It always comes; an error object for nothing would be the dearest part of reading a body.
    request.on('close', () => {
      if (!request.complete) reject(new GatewayError('invalid_request', 'The client left'));
    });
  });
}
