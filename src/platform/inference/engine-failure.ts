/** Tells the log of an engine that could not answer. */
import type { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Model } from '../catalog/index.ts';

/**
 * A model's only engine that says when to come back is at work: it fetches the model, or is busy. The request's own
 * line tells so; a warning for each of them would bury the failures. Where another engine is asked instead,
 * nothing else tells.
 */
export function logEngineFailure(
  log: Log,
  { id, engines }: Model,
  engine: string | undefined,
  { kind, message, retryAfterSeconds }: GatewayError,
): void {
  const isAwaited = kind === 'overloaded' && retryAfterSeconds !== undefined && engines.length === 1;
  if (isAwaited) log.debug({ model: id, engine, error: message }, 'an engine is not ready');
  else log.warn({ model: id, engine, error: message }, 'an engine failed');
}
