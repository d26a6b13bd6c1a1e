/** What a handler may answer with besides a plain value, which becomes JSON with the route's status. */
import type { Readable } from 'node:stream';
import type { GatewayError } from '../lib/errors.ts';

export interface ReplyOptions {
  status?: number;
  /** Lower-case names. */
  headers?: Readonly<Record<string, string>>;
}

/** A whole answer that is not plain JSON, or that needs headers of its own. */
export class Reply {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | Readable | undefined;

  constructor(body: string | Buffer | Readable | undefined, options: ReplyOptions = {}) {
    this.body = body;
    this.status = options.status;
    this.headers = options.headers ?? {};
  }
}

/** A plain value that is JSON already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function toJsonText(value: unknown): string {
  return value instanceof JsonText ? value.text : JSON.stringify(value);
}

/** JSON with headers or a status of its own. */
export function json(value: unknown, options: ReplyOptions = {}): Reply {
  return new Reply(toJsonText(value), {
    ...options,
    headers: { 'content-type': 'application/json; charset=utf-8', ...options.headers },
  });
}

export function html(text: string): Reply {
  return new Reply(text, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}

export interface ServerEvent {
  /** The `event:` line; absent where a client expects `data:` alone. */
  event?: string;
  /** A string is sent as it stands (`[DONE]`), anything else as JSON. */
  data: unknown;
}

/**
 * An event stream. The first event is awaited before the status is sent, so that an early failure still has
 * its real status; a later one is told by `onFailure` inside the stream.
 */
export class EventReply {
  readonly events: AsyncIterable<ServerEvent>;
  readonly onFailure: (error: GatewayError) => readonly ServerEvent[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    events: AsyncIterable<ServerEvent>,
    onFailure: (error: GatewayError) => readonly ServerEvent[],
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.events = events;
    this.onFailure = onFailure;
    this.headers = headers;
  }
}

/** Where a pushed stream goes. Bytes are given as latin1 strings, so that nothing is encoded again. */
export interface StreamOut {
  /** False until the first bytes: up to then a failure still gets its real status. */
  readonly isStarted: boolean;
  /** The first call sends the status and the headers with it. */
  write(bytes: string): void;
  /** The last bytes. Nothing may follow. `failure` is what they tell, for the log. */
  end(bytes: string, failure?: GatewayError): void;
  /** Who produces the bytes is paused while the reader is slow. */
  onPressure(flow: { pause(): void; resume(): void }): void;
}

/**
 * An event stream whose bytes are pushed, for the hot path: no promise and no object per event. `start`
 * resolves when the stream has ended; what it throws before the first byte becomes an answer of its own.
 */
export class StreamReply {
  readonly start: (out: StreamOut) => Promise<void>;
  /** What is sent in a long silence. */
  readonly keepAlive: string;

  constructor(start: (out: StreamOut) => Promise<void>, keepAlive = ': keep-alive\n\n') {
    this.start = start;
    this.keepAlive = keepAlive;
  }
}
