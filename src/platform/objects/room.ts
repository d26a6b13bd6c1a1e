/** What a full disk is called, and what a client is told of it. */
import { GatewayError } from '../../lib/errors.ts';

/** The disk is full, or the share of it that this user has. */
export function isNoRoom(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** `what` follows "no room left for": `another file`. */
export function noRoomLeft(what: string, cause: unknown): GatewayError {
  return new GatewayError('internal', `There is no room left for ${what}`, { cause });
}
