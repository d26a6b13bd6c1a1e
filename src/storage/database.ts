/**
 * The one interface to the database. SQLite (in a worker thread) and PostgreSQL implement it; platform code
 * writes one SQL text in the subset that both speak: `$1` parameters, `on conflict`, `returning`, integers
 * for times, text for JSON, booleans as 0 and 1. The few differences stand in `dialect.ts`.
 *
 * Integers come back as numbers. What can pass 2^53 (money) is selected with `cast(… as text)`.
 */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array;
export type Row = Record<string, string | number | null | Uint8Array>;

export interface Sql {
  /** Runs one statement and answers its rows (none for a statement without `returning`). */
  query<R = Row>(text: string, values?: readonly SqlValue[]): Promise<R[]>;
  /** Tells every listener of a channel, in every process, once the surrounding transaction commits. */
  notify(channel: string, payload: string): Promise<void>;
}

export interface Database extends Sql {
  readonly dialect: 'sqlite' | 'postgres';
  /** All or nothing. The work must use the `tx` it is given; what it throws rolls back and is thrown on. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /**
   * Hears notifications until the returned function is called. `onGap` is called when some may have been
   * missed (a lost connection to PostgreSQL): whoever caches must forget.
   */
  listen(channel: string, onMessage: (payload: string) => void, onGap: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** The database did not answer. The data is not at fault, so a client may try again. */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StoreUnavailable';
  }
}
