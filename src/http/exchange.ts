/**
 * One request and its answer: what a handler sees of it, the headers that every answer carries, the ways of
 * sending one, the signal that tells when the client left, and the one log line at the end.
 *
 * A class with its getters on the prototype: a getter in an object literal per request made every call survive
 * the young generation, which took a quarter of the CPU of a JSON request.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { Presence } from '../lib/presence.ts';
import type { Caller } from '../platform/accounts/types.ts';
import { type ClientKind, clientKind } from './client.ts';
import { errorHeaders, toEnvelope, toGatewayError } from './errors.ts';
import { expectReader } from './reader.ts';
import { EventReply, Reply, StreamReply } from './reply.ts';
import type { Call, Route, StoredUpload, Upload } from './route.ts';
import { eventStreamHeaders, sendEvents } from './sse.ts';
import { SocketOut } from './stream-out.ts';

const exposedHeaders =
  'x-request-id, request-id, x-generation-id, retry-after, x-ratelimit-limit-requests, ' +
  'x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-usage-seconds, x-usage-cost, idempotent-replayed, ' +
  'accept-ranges, content-range, etag, content-disposition';

/** A request body that is left unread up to this size is read away, so that the connection can be kept. */
const smallBodyBytes = 256 * 1024;
const lingerMs = 2_000;
/** What the system's own buffers take is nobody's burden, whether it is read or not. */
const smallAnswerBytes = 64 * 1024;

const noUploads: readonly never[] = [];
const jsonType = ['content-type', 'application/json; charset=utf-8'] as const;

/** Counts the answers that are under way on it. Told by the exchange, so that one listener on a response is enough. */
export interface AnsweredConnection {
  answered(): void;
}

export class Exchange implements Call {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly log: Log;
  route: Route | undefined;
  caller: Caller | undefined;
  params: unknown;
  query: unknown;
  body: unknown;
  uploads: readonly Upload[] = noUploads;
  stored: readonly StoredUpload[] = noUploads;
  /** Names and values in turn, for whatever is answered. */
  readonly #extraHeaders: string[] = [];
  #generationId: string | undefined;
  readonly #startedAt = performance.now();
  readonly #path: string;
  readonly #connection: AnsweredConnection | undefined;
  #client: ClientKind | undefined;
  /** Whether the client is still there. */
  readonly presence = new Presence();
  #hasLeft = false;
  #isLeavingConcealed = false;
  #failure: unknown;

  constructor(
    id: string,
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    log: Log,
    connection?: AnsweredConnection,
  ) {
    this.id = id;
    this.request = request;
    this.response = response;
    this.#path = path;
    this.log = log;
    this.#connection = connection;
    response.on('close', () => this.#closed());
  }

  get method(): string {
    return this.request.method ?? '';
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  setHeader(name: string, value: string): void {
    this.#extraHeaders.push(name, value);
  }

  /** Told only when somebody asks: most handlers never do. */
  get client(): ClientKind {
    this.#client ??= clientKind(this.request.headers, this.#path);
    return this.#client;
  }

  get signal(): AbortSignal {
    return this.presence.signal;
  }

  /** Sends what a handler answered; at once when all of it is there. */
  answer(result: unknown): Promise<void> | undefined {
    const status = this.route?.success ?? 200;
    if (result instanceof EventReply) return this.#sendEvents(result, status);
    if (result instanceof StreamReply) return this.#push(result, status);
    if (result instanceof Reply) return this.#sendReply(result.status ?? status, result);
    if (result === undefined) this.#send(status, [], '');
    else this.#send(status, jsonType, JSON.stringify(result));
    return undefined;
  }

  /** Sends a failure in the route's dialect. Once the head is out there is nothing left to say but the end. */
  fail(thrown: unknown): void {
    const error = toGatewayError(thrown);
    this.#failure = thrown;
    if (this.response.headersSent) {
      this.response.destroy();
      return;
    }
    const { status, body } = toEnvelope(error, this.route?.dialect(this.client) ?? 'router', this.id);
    const headers = [...jsonType, ...errorHeaders(error)];
    // No RFC has it, so Node would call it "unknown".
    if (status === 529) this.response.statusMessage = 'Overloaded';
    if (this.#hasLargeUnreadBody()) this.#sendAndLinger(status, headers, JSON.stringify(body));
    else this.#send(status, headers, JSON.stringify(body));
  }

  /** The answer to a browser that asks what it may send: headers echoed, since `*` leaves out Authorization. */
  preflight(methods: readonly string[]): void {
    const asked = this.request.headers['access-control-request-headers'];
    this.#send(
      204,
      [
        'access-control-allow-methods',
        methods.join(', '),
        ...(asked === undefined ? [] : ['access-control-allow-headers', asked]),
        'access-control-max-age',
        '86400',
        'vary',
        'access-control-request-headers',
      ],
      '',
    );
  }

  async #sendEvents(reply: EventReply, status: number): Promise<void> {
    expectReader(this.response);
    this.#failure = await sendEvents(this.response, reply, () => {
      this.response.writeHead(status, [...this.#head(), ...eventStreamHeaders, ...flat(reply.headers)]);
    });
  }

  async #push({ start, keepAlive }: StreamReply, status: number): Promise<void> {
    const sendHead = () => {
      this.response.writeHead(status, [...this.#head(), ...eventStreamHeaders]);
    };
    const out = new SocketOut(this.response, sendHead, keepAlive);
    try {
      await start(out);
    } finally {
      out.stop();
      this.#failure = out.failure;
    }
  }

  async #sendReply(status: number, { headers, body }: Reply): Promise<void> {
    if (body instanceof Readable) {
      this.response.writeHead(status, [...this.#head(), ...flat(headers)]);
      if (this.method === 'HEAD') {
        body.destroy();
        this.response.end();
      } else {
        expectReader(this.response);
        await pipeline(body, this.response);
      }
    } else this.#send(status, flat(headers), body ?? '');
  }

  #send(status: number, headers: readonly string[], body: string | Buffer): void {
    const head = this.#head();
    for (const item of headers) head.push(item);
    const length = Buffer.byteLength(body);
    if (status !== 204) head.push('content-length', String(length));
    if (length > smallAnswerBytes) expectReader(this.response);
    this.response.writeHead(status, head);
    if (this.method === 'HEAD') this.response.end();
    // As many bytes as characters: ASCII, which need not be looked through again to be encoded.
    else if (typeof body === 'string') this.response.end(body, length === body.length ? 'latin1' : 'utf8');
    else this.response.end(body);
  }

  #head(): string[] {
    const head = [
      'x-request-id',
      this.id,
      'request-id',
      this.id,
      'access-control-allow-origin',
      '*',
      'access-control-expose-headers',
      exposedHeaders,
    ];
    const isTypesafe = this.request.headers['x-typesafe-sdk'] !== undefined;
    if (isTypesafe && this.client === 'typesafe') head.push('x-typesafe-request-id', this.id);
    if (this.route?.generation === true) head.push('x-generation-id', this.generationId);
    for (const item of this.#extraHeaders) head.push(item);
    const deprecated = this.route?.deprecated;
    if (deprecated !== undefined) {
      head.push(
        'deprecation',
        `@${Math.floor(deprecated.since.getTime() / 1000)}`,
        'sunset',
        deprecated.sunset.toUTCString(),
      );
    }
    return head;
  }

  get generationId(): string {
    this.#generationId ??= `gen_${this.id.slice('req_'.length)}`;
    return this.#generationId;
  }

  /** An answer that is repeated names what made it the first time. */
  set generationId(id: string) {
    this.#generationId = id;
  }

  /** From now on nobody is told that the client leaves, until `announceLeaving`. */
  concealLeaving(): void {
    this.#isLeavingConcealed = true;
  }

  announceLeaving(): void {
    this.#isLeavingConcealed = false;
    if (this.#hasLeft) this.presence.leave(clientLeft());
  }

  #hasLargeUnreadBody(): boolean {
    const { headers, readableEnded } = this.request;
    if (readableEnded) return false;
    return (
      headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > smallBodyBytes
    );
  }

  /**
   * A client that is still sending would see a reset instead of the answer if the connection closed at once.
   * So the whole answer goes out, but it ends only when the client is done or has had a moment to read it; what
   * it still sends is read away (RFC 9112, section 9.6).
   */
  #sendAndLinger(status: number, headers: readonly string[], body: string): void {
    const { request, response } = this;
    const length = ['content-length', String(Buffer.byteLength(body)), 'connection', 'close'];
    response.writeHead(status, [...this.#head(), ...headers, ...length]);
    response.write(body);
    request.removeAllListeners('data');
    request.on('error', () => {});
    request.resume();
    const end = () => response.end();
    const timer = setTimeout(end, lingerMs).unref();
    request.once('close', end);
    request.once('end', end);
    response.once('close', () => clearTimeout(timer));
  }

  /** Tells a client who waits before it sends its body (`Expect: 100-continue`) to go on. */
  inviteBody(): void {
    if (/^100-continue$/i.test(this.request.headers.expect ?? '')) this.response.writeContinue();
  }

  #closed(): void {
    this.#connection?.answered();
    this.#hasLeft = !this.response.writableFinished;
    if (this.#hasLeft && !this.#isLeavingConcealed) this.presence.leave(clientLeft());
    const failure = this.#failure;
    const told = {
      id: this.id,
      method: this.request.method,
      route: this.route?.path,
      status: this.#hasLeft && !this.response.headersSent ? 499 : this.response.statusCode,
      ms: Math.round(performance.now() - this.#startedAt),
      subscription: this.caller?.subscriptionId,
      key: this.caller?.keyId,
    };
    if (failure === undefined) this.log.info(told, 'request');
    else if (failure instanceof GatewayError) this.log.info({ ...told, error: failure.message }, 'request');
    else this.log.error({ ...told, err: failure }, 'request');
  }
}

/** Never seen by anybody but the log: there is nobody left to answer. */
function clientLeft(): GatewayError {
  return new GatewayError('request_timeout', 'The client left');
}

function flat(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat();
}
