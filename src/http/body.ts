/** Reads and checks a request's body as its route declares it: JSON, or a multipart form. */
import type { TSchema } from 'typebox';
import { GatewayError } from '../lib/errors.ts';
import type { BodySink, Break, ServerRequest } from '../lib/http1/server/request.ts';
import { quoted } from '../lib/quoted.ts';
import type { Validator } from '../lib/schema.ts';
import type { Platform } from '../platform/index.ts';
import { toBrokenBody } from './broken-body.ts';
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
export function readBody(request: ServerRequest, route: Route, platform: Platform, taker: BodyTaker): void {
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

function refuseEncoding(request: ServerRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new GatewayError('invalid_request', 'Content-Encoding is not supported: send the body as it is', {
      param: 'content-encoding',
    });
  }
}

/** Told from the header alone, before a byte is read: a client who waits for 100-continue then sends nothing. */
export function refuseTooLarge(request: ServerRequest, route: Route): void {
  const { maxBodyBytes, body, multipart } = route;
  if ((request.length ?? 0) <= maxBodyBytes) return;
  // A form of one large file can hardly be too large by anything else.
  const [only, another] = body === undefined ? Object.entries(multipart?.files ?? {}) : [];
  if (only === undefined || another !== undefined) throw tooLarge('The body', maxBodyBytes);
  throw tooLarge(only[0], only[1].maxBytes);
}

/** Read at once of one body: a socket alone would hand over 2 MB, and eight of them keep everybody waiting for 60 ms. */
const turnBytes = 256 * 1024;

function readJson(
  request: ServerRequest,
  route: Route,
  validator: Validator<TSchema>,
  taker: BodyTaker,
): void {
  request.read(new JsonReader(request, route, validator, taker));
}

class JsonReader implements BodySink {
  readonly #request: ServerRequest;
  readonly #route: Route;
  readonly #validator: Validator<TSchema>;
  readonly #taker: BodyTaker;
  readonly #bytes: ByteCollector;
  #turnEnd = turnBytes;
  #isOver = false;

  constructor(request: ServerRequest, route: Route, validator: Validator<TSchema>, taker: BodyTaker) {
    this.#request = request;
    this.#route = route;
    this.#validator = validator;
    this.#taker = taker;
    this.#bytes = new ByteCollector(request.length);
  }

  onData(piece: Buffer): void {
    if (this.#isOver) return;
    const bytes = this.#bytes;
    const { maxBodyBytes } = this.#route;
    bytes.add(piece);
    if (bytes.size > maxBodyBytes) this.#fail(tooLarge('The body', maxBodyBytes));
    else if (bytes.size >= this.#turnEnd) {
      this.#turnEnd = bytes.size + turnBytes;
      this.#request.pause();
      setImmediate(() => this.#request.resume());
    }
  }

  onEnd(): void {
    if (this.#isOver) return;
    let parsed: ParsedBody;
    try {
      parsed = toBody(this.#bytes.toBuffer(), this.#route, this.#validator);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#isOver = true;
    this.#taker.take(parsed);
  }

  onBroken(why: Break): void {
    this.#fail(toBrokenBody(why));
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#taker.fail(error);
  }
}
