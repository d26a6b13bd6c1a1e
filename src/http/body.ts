/** Reads and checks a request's body as its route declares it: JSON, or a multipart form. */
import type { IncomingMessage } from 'node:http';
import type { TSchema } from 'typebox';
import { GatewayError } from '../lib/errors.ts';
import { quoted } from '../lib/quoted.ts';
import type { Validator } from '../lib/schema.ts';
import type { Platform } from '../platform/index.ts';
import { ByteCollector } from './bytes.ts';
import { parseJson } from './json.ts';
import { readMultipart } from './multipart.ts';
import type { ParsedBody, Route } from './route.ts';
import { tooLarge } from './too-large.ts';

const noUploads: readonly never[] = [];
const noBody: ParsedBody = { body: undefined, uploads: noUploads, stored: noUploads };

/** Told once: a body that fits its route, or why there is none. */
export interface BodyTaker {
  take(parsed: ParsedBody): void;
  fail(error: unknown): void;
}

/** Throws what can be told before anything is read. */
export function readBody(request: IncomingMessage, route: Route, platform: Platform, taker: BodyTaker): void {
  const type = mediaType(request.headers['content-type']);
  refuseEncoding(request);
  if (route.multipart !== undefined && type === 'multipart/form-data') {
    const { multipart: form, maxBodyBytes } = route;
    readMultipart(request, { form, maxBodyBytes, platform }).then(
      (parsed) => taker.take(parsed),
      (error) => taker.fail(error),
    );
    return;
  }
  const { body } = route;
  if (body === undefined) {
    refuseMissingForm(route);
    taker.take(noBody);
    return;
  }
  // A client that names no type sends JSON; one that names another type means something else by its bytes.
  if (type !== '' && type !== 'application/json') {
    const accepted =
      route.multipart === undefined ? 'application/json' : 'application/json or multipart/form-data';
    throw new GatewayError('invalid_request', `Content-Type must be ${accepted}, not ${quoted(type)}`, {
      param: 'content-type',
    });
  }
  readJson(request, route, body, taker);
}

function toBody(bytes: Buffer, { maxBodyValues }: Route, validator: Validator<TSchema>): ParsedBody {
  const body = parseJson(bytes, maxBodyValues);
  if (!validator.check(body)) {
    const { path, message } = validator.problem(body);
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

function readJson(
  request: IncomingMessage,
  route: Route,
  validator: Validator<TSchema>,
  taker: BodyTaker,
): void {
  const { maxBodyBytes } = route;
  const bytes = new ByteCollector(Number(request.headers['content-length'] ?? 0));
  let turnEnd = turnBytes;
  let isOver = false;
  const fail = (error: unknown) => {
    if (isOver) return;
    isOver = true;
    taker.fail(error);
  };
  const onData = (chunk: Buffer) => {
    bytes.add(chunk);
    if (bytes.size > maxBodyBytes) {
      request.off('data', onData);
      fail(tooLarge('The body', maxBodyBytes));
    } else if (bytes.size >= turnEnd) {
      turnEnd = bytes.size + turnBytes;
      request.pause();
      setImmediate(() => request.resume());
    }
  };
  request.on('data', onData);
  request.on('end', () => {
    if (isOver) return;
    let parsed: ParsedBody;
    try {
      parsed = toBody(bytes.toBuffer(), route, validator);
    } catch (error) {
      fail(error);
      return;
    }
    isOver = true;
    taker.take(parsed);
  });
  request.on('error', (cause) => fail(new GatewayError('invalid_request', 'The body broke off', { cause })));
  // It always comes; an error object for nothing would be the dearest part of reading a body.
  request.on('close', () => {
    if (!request.complete) fail(new GatewayError('invalid_request', 'The client left'));
  });
}
