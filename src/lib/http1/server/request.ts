/** A request whose head has come: its body flows to whoever reads it, and waits until somebody does. */
import type { RequestHead, RequestHeaders } from './request-head.ts';

/** Why a body does not come to its end. */
export type Break = 'left' | 'malformed' | 'late';

/** Hears of a body: its pieces, and then one of `onEnd` and `onBroken`. */
export interface BodySink {
  /** The piece is the sink's: nobody else keeps it. */
  onData(piece: Buffer): void;
  onEnd(): void;
  onBroken(why: Break): void;
}

/** Where the bytes come from. */
export interface BodySource {
  pauseBody(): void;
  resumeBody(): void;
  /** Tells the client, who waits for it, to send its body. */
  inviteBody(): void;
}

export class ServerRequest {
  readonly #head: RequestHead;
  readonly #source: BodySource;
  #sink: BodySink | undefined;
  #why: Break | undefined;
  /** There is more to come, but its reader wants none now. */
  isPaused = false;
  /** Its body has come to its end. */
  isWhole = false;

  constructor(head: RequestHead, source: BodySource) {
    this.#head = head;
    this.#source = source;
  }

  get method(): string {
    return this.#head.method;
  }

  /** As it was sent: a path with its query, or another form. */
  get target(): string {
    return this.#head.target;
  }

  get headers(): RequestHeaders {
    return this.#head.headers;
  }

  get repeated(): ReadonlySet<string> | undefined {
    return this.#head.repeated;
  }

  get isHttp10(): boolean {
    return this.#head.isHttp10;
  }

  /** How long the body is; undefined where its sender does not say. */
  get length(): number | undefined {
    return this.#head.framing === 'length' ? this.#head.length : undefined;
  }

  get isFlowing(): boolean {
    return this.#sink !== undefined && !this.isPaused;
  }

  /** From now on the body goes there, beginning with what has come of it. A client who waits is told to send it. */
  read(sink: BodySink): void {
    this.#sink = sink;
    if (this.#why !== undefined) sink.onBroken(this.#why);
    else if (this.isWhole) sink.onEnd();
    else {
      if (this.#head.isWaitingToSend) this.#source.inviteBody();
      this.#source.resumeBody();
    }
  }

  /** What is left of the body is of no use to anybody. Told when it is over, whichever way. */
  discard(onOver: () => void = () => {}): void {
    this.#sink = undefined;
    this.isPaused = false;
    if (this.isWhole || this.#why !== undefined) {
      onOver();
      return;
    }
    this.#sink = { onData() {}, onEnd: onOver, onBroken: onOver };
    this.#source.resumeBody();
  }

  /** Nothing more is handed over, beyond what one read has brought. */
  pause(): void {
    if (this.isWhole || this.isPaused) return;
    this.isPaused = true;
    this.#source.pauseBody();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.#source.resumeBody();
  }

  /** A piece of the body has come. Like what follows, for the connection. */
  take(piece: Buffer): void {
    this.#sink?.onData(piece);
  }

  finish(): void {
    this.isWhole = true;
    this.isPaused = false;
    this.#sink?.onEnd();
  }

  break(why: Break): void {
    if (this.isWhole || this.#why !== undefined) return;
    this.#why = why;
    this.#sink?.onBroken(why);
  }
}
