/** Remembers the answers of paid requests by the key that the client gave, so that a repeated one costs nothing. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type Claim =
  /** The first of its key: it is run, and then kept or let go exactly once. */
  | { readonly type: 'run'; keep(answer: KeptAnswer): Promise<void>; release(): Promise<void> }
  | { readonly type: 'replay'; readonly answer: KeptAnswer };

export interface Idempotency {
  /**
   * `fingerprint` stands for the route and the whole body. Throws `invalid_request` when the key was used for another
   * one, `conflict` while the first is still running. A process that dies lets go of its claims within a minute.
   */
  claim(subscriptionId: string, key: string, fingerprint: string): Promise<Claim>;
  close(): Promise<void>;
}
