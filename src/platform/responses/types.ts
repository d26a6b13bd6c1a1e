/** Answers that are kept for later turns: what `/responses` stores, per subscription, for a limited time. */

/** An item of a conversation as its client sees it, in JSON. */
export interface StoredItem {
  /** `msg_…`, `rs_…`, `fc_…`, `fco_…`: never used twice. */
  readonly id: string;
  readonly json: string;
}

export interface StoredResponse {
  /** `resp_…` */
  readonly id: string;
  readonly subscriptionId: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** The answer that this one goes on from. */
  readonly previousId: string | undefined;
  /** The whole response object, in JSON. */
  readonly json: string;
  /** What this turn brought; earlier turns stand with their own answers. */
  readonly input: readonly StoredItem[];
  readonly output: readonly StoredItem[];
}

export interface Responses {
  /** Resolves when it cannot be lost any more. Those that come together are written together. */
  save(response: StoredResponse): Promise<void>;
  find(subscriptionId: string, id: string): Promise<StoredResponse | undefined>;
  /** What was said up to and with this answer, oldest first. Undefined when it, or a turn before it, is gone. */
  history(subscriptionId: string, id: string): Promise<readonly StoredItem[] | undefined>;
  /** Those of the items that are there, by id. */
  items(subscriptionId: string, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>>;
  /** False when there is none. Its items go with it. */
  remove(subscriptionId: string, id: string): Promise<boolean>;
  close(): Promise<void>;
}
