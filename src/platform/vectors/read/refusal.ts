/** A file that cannot be taken, with a sentence for the person who sent it that says what to do. */
import { GatewayError } from '../../../lib/errors.ts';

export type RefusalCode = 'unsupported_file' | 'invalid_file';

export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
}

export const damagedFile = 'The file is damaged and cannot be read: save it anew and send it again';

/** Not of a kind that is read. */
export function unsupported(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { code: 'unsupported_file' });
}

/** Of a kind that is read, but this one cannot be. */
export function invalid(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', message, { code: 'invalid_file', cause });
}

export function toRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof GatewayError)) return undefined;
  const { code, message } = error;
  return code === 'unsupported_file' || code === 'invalid_file' ? { code, message } : undefined;
}
