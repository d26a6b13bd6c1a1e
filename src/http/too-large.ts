/** A 413, whose message gives the limit. */
import { GatewayError } from '../lib/errors.ts';

export function tooLarge(what: string, limitBytes: number): GatewayError {
  return new GatewayError('too_large', `${what} is larger than the limit of ${inUnits(limitBytes)}`);
}

function inUnits(bytes: number): string {
  for (const [unit, size] of [
    ['MiB', 1024 * 1024],
    ['MB', 1e6],
    ['KiB', 1024],
  ] as const) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit} (${bytes} bytes)`;
  }
  return `${bytes} bytes`;
}
