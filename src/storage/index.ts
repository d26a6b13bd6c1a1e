/** The public face of storage: opens the database that the settings name. */
import type { Log } from '../lib/log.ts';
import type { Database } from './database.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

export {
  type Database,
  isUniqueViolation,
  QueryFailed,
  type Row,
  type Sql,
  type SqlValue,
  StoreUnavailable,
} from './database.ts';
export { FolderInUse } from './folder-lock.ts';
export { migrate } from './migrate.ts';

export interface DatabaseSettings {
  /** PostgreSQL when there is one, else SQLite in the folder. */
  databaseUrl: string | undefined;
  folder: string;
  log?: Log;
}

export function openDatabase({ databaseUrl, folder, log }: DatabaseSettings): Promise<Database> {
  if (databaseUrl === undefined) return openSqlite({ folder });
  return openPostgres({ url: databaseUrl, ...(log === undefined ? {} : { log }) });
}
