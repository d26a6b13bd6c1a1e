/**
 * One request and its answer: what a handler sees of it, the headers that every answer carries, the ways of
 * sending one, the signal that tells when the client left, and the one log line at the end.
 *
 * A class with its getters on the prototype: a getter in an object literal per request made every call survive
 * the young generation, which took a quarter of the CPU of a JSON request.
 */
import { Readable } from 'node:stream';
import { GatewayError } from '../lib/errors.ts';
import type { AnswerWatcher, ServerAnswer } from '../lib/http1/server/answer.ts';
import { toField } from '../lib/http1/server/answer-head.ts';
import type { ServerRequest } from '../lib/http1/server/request.ts';
import type { RequestHeaders } from '../lib/http1/server/request-head.ts';
import type { Log } from '../lib/log.ts';
import { Presence } from '../lib/presence.ts';
import { RequestLine } from '../lib/request-line.ts';
import type { Caller } from '../platform/accounts/types.ts';
import { type ClientKind, clientKind } from './client.ts';
import { errorHeaders, toEnvelope, toGatewayError } from './errors.ts';
import { eventStreamFields, jsonField, toCommonFields, toFields } from './fields.ts';
import { EventReply, Reply, StreamReply, toJsonText } from './reply.ts';
import type { Call, Route, StoredUpload, Upload } from './route.ts';
import { sendStream } from './send-stream.ts';
import { sendEvents } from './sse.ts';
import { AnswerOut } from './stream-out.ts';

/** A request body that is left unread up to this size is read away, so that the connection can be kept. */
const smallBodyBytes = 256 * 1024;
const lingerMs = 2_000;

const noUploads: readonly never[] = [];

export class Exchange implements Call, AnswerWatcher {
  readonly id: string;
  readonly request: ServerRequest;
  readonly #answer: ServerAnswer;
  readonly log: Log;
  route: Route | undefined;
  caller: Caller | undefined;
  params: unknown;
  query: unknown;
  body: unknown;
  uploads: readonly Upload[] = noUploads;
  stored: readonly StoredUpload[] = noUploads;
  /** For whatever is answered. */
  #extraFields = '';
  #generationId: string | undefined;
  readonly #startedAt = performance.now();
  readonly #path: string;
  #client: ClientKind | undefined;
  /** Whether the client is still there. */
  readonly presence = new Presence();
  #hasLeft = false;
  #isLeavingConcealed = false;
  #failure: unknown;
  #out: AnswerOut | undefined;

  constructor(id: string, request: ServerRequest, answer: ServerAnswer, path: string, log: Log) {
    this.id = id;
    this.request = request;
    this.#answer = answer;
    this.#path = path;
    this.log = log;
    answer.watch(this);
  }

  get method(): string {
    return this.request.method;
  }

  get headers(): RequestHeaders {
    return this.request.headers;
  }

  setHeader(name: string, value: string): void {
    this.#extraFields += toField(name, value);
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
    if (result === undefined) this.#send(status, '', '');
    else this.#send(status, jsonField, toJsonText(result));
    return undefined;
  }

  /** Sends a failure in the route's dialect. Once the head is out there is nothing left to say but the end. */
  fail(thrown: unknown): void {
    const error = toGatewayError(thrown);
    this.#failure = thrown;
    if (this.#answer.isBegun) {
      this.#answer.destroy();
      return;
    }
    const { status, body } = toEnvelope(error, this.route?.dialect(this.client) ?? 'router', this.id);
    const fields = jsonField + toFields(errorHeaders(error));
    if (this.#hasLargeUnreadBody()) this.#sendAndLinger(status, fields, JSON.stringify(body));
    else this.#send(status, fields, JSON.stringify(body));
  }

  /** The answer to a browser that asks what it may send: headers echoed, since `*` leaves out Authorization. */
  preflight(methods: readonly string[]): void {
    const asked = this.request.headers['access-control-request-headers'];
    const fields =
      toField('access-control-allow-methods', methods.join(', ')) +
      (asked === undefined ? '' : toField('access-control-allow-headers', asked)) +
      toField('access-control-max-age', '86400') +
      toField('vary', 'access-control-request-headers');
    this.#send(204, fields, '');
  }

  async #sendEvents(reply: EventReply, status: number): Promise<void> {
    const answer = this.#answer;
    const begin = () => answer.begin(status, this.#fields() + eventStreamFields + toFields(reply.headers));
    await sendEvents(answer, reply, begin, (thrown) => {
      this.#failure = thrown;
    });
  }

  async #push({ start, keepAlive }: StreamReply, status: number): Promise<void> {
    const begin = () => this.#answer.begin(status, this.#fields() + eventStreamFields);
    const out = new AnswerOut(this.#answer, begin, keepAlive);
    this.#out = out;
    try {
      await start(out);
    } finally {
      out.stop();
    }
  }

  async #sendReply(status: number, { headers, body }: Reply): Promise<void> {
    if (body instanceof Readable) {
      const { 'content-length': length, ...others } = headers;
      const fields = this.#fields() + toFields(others);
      this.#answer.begin(status, fields, length === undefined ? undefined : Number(length));
      if (this.method === 'HEAD') {
        body.destroy();
        this.#answer.end();
      } else {
        await sendStream(this.#answer, body);
      }
    } else this.#send(status, toFields(headers), body ?? '');
  }

  #send(status: number, fields: string, body: string | Buffer): void {
    this.#answer.send(status, this.#fields() + fields, body);
  }

  /** What every answer carries. */
  #fields(): string {
    const { id } = this;
    let fields = toCommonFields(id);
    const isTypesafe = this.request.headers['x-typesafe-sdk'] !== undefined;
    if (isTypesafe && this.client === 'typesafe') fields += toField('x-typesafe-request-id', id);
    if (this.route?.generation === true) fields += toField('x-generation-id', this.generationId);
    fields += this.#extraFields;
    const deprecated = this.route?.deprecated;
    if (deprecated !== undefined) {
      const since = `@${Math.floor(deprecated.since.getTime() / 1000)}`;
      fields += toField('deprecation', since) + toField('sunset', deprecated.sunset.toUTCString());
    }
    return fields;
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
    const { isWhole, length } = this.request;
    return !isWhole && (length === undefined || length > smallBodyBytes);
  }

  /**
   * A client that is still sending would see a reset instead of the answer if the connection closed at once.
   * So the whole answer goes out, but it ends only when the client is done or has had a moment to read it; what
   * it still sends is read away (RFC 9112, section 9.6).
   */
  #sendAndLinger(status: number, fields: string, body: string): void {
    const answer = this.#answer;
    const bytes = Buffer.from(body);
    answer.isLast = true;
    answer.begin(status, this.#fields() + fields, bytes.length);
    answer.write(bytes);
    const end = () => {
      clearTimeout(timer);
      answer.end();
    };
    const timer = setTimeout(end, lingerMs).unref();
    this.request.discard(end);
  }

  /** The answer has gone out, or never will. */
  onClosed(): void {
    this.#hasLeft = !this.#answer.isOut;
    if (this.#hasLeft && !this.#isLeavingConcealed) this.presence.leave(clientLeft());
    const failure = this.#failure ?? this.#out?.failure;
    const told = new RequestLine({
      id: this.id,
      method: this.method,
      route: this.route?.path,
      status: this.#answer.isBegun ? this.#answer.status : 499,
      ms: Math.round(performance.now() - this.#startedAt),
      subscription: this.caller?.subscriptionId,
      key: this.caller?.keyId,
    });
    if (failure === undefined) this.log.info(told, 'request');
    else if (failure instanceof GatewayError) this.log.info({ ...told, error: failure.message }, 'request');
    else this.log.error({ ...told, err: failure }, 'request');
  }
}

/** Never seen by anybody but the log: there is nobody left to answer. */
function clientLeft(): GatewayError {
  return new GatewayError('request_timeout', 'The client left');
}
