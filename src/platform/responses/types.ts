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
  /** The response object in JSON around its output, which is kept once: what stands before it, and what behind. */
  readonly before: string;
  readonly after: string;
  /** What this turn brought; earlier turns stand with their own answers. */
  readonly input: readonly StoredItem[];
  readonly output: readonly StoredItem[];
}

/** A response without what its turn brought, which may be much larger than itself. */
export interface FoundResponse
  extends Pick<StoredResponse, 'id' | 'subscriptionId' | 'createdAt' | 'previousId'> {
  /** The whole object, in JSON. */
  readonly json: string;
}

export interface PageQuery {
  /** At most as many; fewer where they are very long. */
  readonly limit: number;
  /** `asc`: the oldest first. */
  readonly order: 'asc' | 'desc';
  /** The id of the last item of the page before. */
  readonly after?: string | undefined;
}

export interface ItemPage {
  readonly items: readonly StoredItem[];
  readonly hasMore: boolean;
}

export interface Responses {
  /**
   * Resolves when it cannot be lost any more, and is there for whoever asks; undefined when that is so at once. Those
   * that come together are written together.
   */
  save(response: StoredResponse): Promise<void> | undefined;
  find(subscriptionId: string, id: string): Promise<FoundResponse | undefined>;
  /**
   * What was said up to and with this answer, oldest first. `unknown` when the answer is not there, `broken` when
   * a turn before it is gone.
   */
  history(subscriptionId: string, id: string): Promise<readonly StoredItem[] | 'unknown' | 'broken'>;
  /**
   * What this answer was made from: all that was said before it, and what its own turn brought. Only the latter
   * where a turn before it is gone; undefined when the answer is not there.
   */
  inputItems(subscriptionId: string, id: string, query: PageQuery): Promise<ItemPage | undefined>;
  /** Those of the items that are there, by id. Too many characters together are the client's mistake. */
  items(subscriptionId: string, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>>;
  /** False when there is none. Its items go with it. */
  remove(subscriptionId: string, id: string): Promise<boolean>;
  close(): Promise<void>;
}
