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
  /**
   * Runs one statement, whose parameters stand in it once each and in order, for every list of values. Answers
   * how many rows each of them changed; outside of a transaction all of them or none. For bulk rows on SQLite, where one statement over many rows is slower
   * (13 against 5 µs a row); PostgreSQL asks once per list, so there it is the other way round.
   */
  each(text: string, lists: readonly (readonly SqlValue[])[]): Promise<number[]>;
  /**
   * The same for lists that are JSON texts already, of texts and numbers only; a number takes the form of its
   * column. On SQLite it is the cheapest way to bring in many rows: one text crosses to the database's thread.
   */
  eachJson(text: string, lists: readonly string[]): Promise<number[]>;
  /** Runs several statements without parameters, for migrations. */
  script(text: string): Promise<void>;
  /** Tells every listener of a channel, in every process, once the surrounding transaction commits. */
  notify(channel: string, payload: string): Promise<void>;
}

export interface WriteOptions {
  /**
   * False spares the wait for the disk, which is most of what a small transaction costs: what was committed
   * survives the end of the process, but a loss of power may take the last moments of it. True when left out.
   */
  readonly waitsForDisk?: boolean;
}

export interface TransactionOptions extends WriteOptions {
  /** What PostgreSQL's planner and extensions go by until it ends. SQLite has none of them. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** Where a database is, for a thread that opens it a second time. The URL has a password in it. */
export type DatabaseSource = { readonly folder: string } | { readonly url: string };

export interface Database extends Sql {
  readonly dialect: 'sqlite' | 'postgres';
  readonly source: DatabaseSource;
  /**
   * All or nothing. The work must use the `tx` it is given; what it throws rolls back and is thrown on. A
   * statement that fails, fails the transaction, caught or not. Work that asks nothing for 30 s is rolled
   * back. SQLite runs one transaction at a time and the rest waits, so never await a network inside one.
   * PostgreSQL runs many (read committed): guard an update by its `where`, not by an earlier select.
   */
  transaction<T>(work: (tx: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Outside of a transaction it is one of its own. */
  each(text: string, lists: readonly (readonly SqlValue[])[], options?: WriteOptions): Promise<number[]>;
  /**
   * The same for the rows of a file (`row-file.ts`), which on SQLite the database's own thread reads: nothing crosses
   * to it but the path. Answers how many rows changed, and how much of the file's end is no whole row.
   */
  eachOfFile(
    text: string,
    path: string,
    options?: WriteOptions,
  ): Promise<{ readonly changed: number; readonly unread: number }>;
  /**
   * Hears notifications until the returned function is called. `onGap` is called when some may have been
   * missed (a lost connection to PostgreSQL): whoever caches must forget.
   */
  listen(
    channel: string,
    onMessage: (payload: string) => void,
    onGap: () => void,
  ): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** The database did not answer. The data is not at fault, so a client may try again. */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StoreUnavailable';
  }
}

export type Constraint = 'unique' | 'foreign_key' | 'not_null' | 'check';

/** The database answered, and refused the statement. The text is kept for the log; values never are. */
export class QueryFailed extends Error {
  readonly statement: string;
  readonly constraint: Constraint | undefined;

  constructor(message: string, statement: string, constraint?: Constraint) {
    super(message);
    this.name = 'QueryFailed';
    this.statement = statement;
    this.constraint = constraint;
  }
}

/** Whether a row was refused because its key stands there already, on either database. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof QueryFailed && error.constraint === 'unique';
}
