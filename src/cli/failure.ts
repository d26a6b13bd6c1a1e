/** How a failure is told on a terminal. */
import { ConfigError } from '../config.ts';
import { GatewayError } from '../lib/errors.ts';
import { StoreUnavailable } from '../storage/database.ts';
import { FolderInUse } from '../storage/folder-lock.ts';
import { CommandFailed } from './errors.ts';

const expected = [CommandFailed, ConfigError, GatewayError, StoreUnavailable, FolderInUse];

/** What the world did in one sentence; a bug with its stack. */
export function toFailureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, syscall } = error as NodeJS.ErrnoException;
  const isExpected =
    expected.some((kind) => error instanceof kind) || (code !== undefined && syscall !== undefined);
  if (code === 'EADDRINUSE')
    return `${error.message}. Another program listens there: PORT=… chooses another port.`;
  return isExpected ? error.message : (error.stack ?? error.message);
}
