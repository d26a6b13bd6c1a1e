/** How long a client may take. */
export interface Times {
  /** Until a head has come. */
  readonly headMs: number;
  /** Until a body has come. */
  readonly bodyMs: number;
  /** Unused between two requests. */
  readonly idleMs: number;
  /** To read why it was refused, while it still sends. */
  readonly lingerMs: number;
  /** Without taking a byte of what waits for it. */
  readonly stuckReaderMs: number;
}
