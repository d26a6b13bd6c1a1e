/** Remembers the answers of paid requests by the key that the client gave, so that a repeated one costs nothing. */
import type { Readable } from 'node:stream';

export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Read from storage when it is sent: of many that are given again at once, none stands in memory whole. */
export interface StoredAnswer extends Omit<KeptAnswer, 'body'> {
  readonly bytes: number;
  /** The body; who opens it reads or destroys it. */
  open(): Promise<Readable>;
}

export type Claim =
  /** The first of its key: it is run, and then kept or let go exactly once. */
  | { readonly type: 'run'; keep(answer: KeptAnswer): Promise<void>; release(): Promise<void> }
  | { readonly type: 'replay'; readonly answer: StoredAnswer };

export interface Idempotency {
  /**
   * `fingerprint` stands for the route and the whole body. Throws `invalid_request` when the key was used for another
   * one, `conflict` while the first is still running. A process that dies lets go of its claims within a minute.
   */
  claim(subscriptionId: string, key: string, fingerprint: string): Promise<Claim>;
  close(): Promise<void>;
}
