/** Which index a database offers. */
import type { Log } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import { createPostgresIndex } from './index-postgres.ts';
import { createSqliteIndex } from './index-sqlite.ts';
import type { ItemIndex } from './parts.ts';

export function createItemIndex({ database, log }: { database: Database; log: Log }): ItemIndex {
  return database.dialect === 'sqlite'
    ? createSqliteIndex({ database, log })
    : createPostgresIndex({ database, log });
}
