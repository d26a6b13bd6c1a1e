/** What billing keeps: one ledger row per operation, whose id is the request's or the job's own. */

/** What was used, in the units that the operation is billed by. Absent means none of it. */
export interface Quantities {
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  readonly cachedTokens?: number;
  readonly reasoningTokens?: number;
  readonly megapixels?: number;
  readonly seconds?: number;
}

export interface LedgerRow {
  /** `gen_…` or a job's id: a replay of the journal cannot bill twice. */
  readonly id: string;
  readonly subscriptionId: string;
  readonly keyId: string;
  readonly modelId: string;
  /** `chat`, `messages`, `embeddings`, …: the capability that was used. */
  readonly operation: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly durationMs: number;
  readonly streamed: boolean;
  /** How it ended: `stop`, `length`, …; `cancelled` when the client left; `error`. */
  readonly outcome: string;
  readonly quantities: Quantities;
  readonly costPicoUsd: bigint;
}

export interface Billing {
  /**
   * Takes a row. When it answers nothing, the row has been handed to the kernel and survives a killed process:
   * the answer may be sent. Only when the journal cannot be written it answers a promise, which resolves once
   * the row is in the database and rejects with `overloaded` when it is nowhere: then the answer must not be sent.
   */
  record(row: LedgerRow): void | Promise<void>;
  /** Waits until everything taken so far is in the database. Rejects when the database does not take it. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Sums of ledger rows. */
export interface UsageSums {
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  readonly megapixels: number;
  readonly seconds: number;
  readonly costPicoUsd: bigint;
}

export type UsageGroup = 'day' | 'model' | 'subscription';

/** Days in UTC as `2026-11-15`, both included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Reads what was used, always from the sums; only one generation is read from its row. */
export interface Usage {
  /** What a subscription spent ever, and in the current day, week (from Monday) and month, in UTC. */
  spent(subscriptionId: string): Promise<{ total: bigint; day: bigint; week: bigint; month: bigint }>;
  /** Newest day first. */
  byDayAndModel(
    subscriptionId: string,
    range: DayRange,
  ): Promise<(UsageSums & { day: string; modelId: string })[]>;
  /** One entry per day (oldest first), model or subscription (dearest first), and the sum of all of them. */
  grouped(
    request: DayRange & { by: UsageGroup; subscriptionId?: string | undefined; limit: number },
  ): Promise<{ groups: (UsageSums & { name: string })[]; total: UsageSums; hasMore: boolean }>;
  /** One operation of the subscription. */
  generation(subscriptionId: string, id: string): Promise<LedgerRow | undefined>;
  /** The day now, and the one that lies so many days before it. */
  today(daysBefore?: number): string;
}
