/** What a client is told when a model's process or its line is in the way: without a word of processes. */
import { GatewayError } from '../../../lib/errors.ts';

/** How long tasks of a model took lately. */
interface Busy {
  readonly averageMs: number;
}

export function interrupted(model: string, backOffMs: number): GatewayError {
  return new GatewayError(
    'overloaded',
    `The model ${model} was interrupted before its answer was complete: try again`,
    { retryAfterSeconds: Math.max(1, backOffMs / 1_000) },
  );
}

export function stopping(): GatewayError {
  return new GatewayError('unreachable', 'The models are being stopped');
}

export function failsToStart(model: string, waitMs: number): GatewayError {
  return new GatewayError('overloaded', `The model ${model} is not available at the moment: try again soon`, {
    retryAfterSeconds: waitMs / 1_000,
  });
}

export function tooMany(model: string, { averageMs }: Busy): GatewayError {
  return new GatewayError('overloaded', `Too many requests wait for the model ${model}`, {
    retryAfterSeconds: averageMs / 1_000,
  });
}

export function tooBusy(model: string, { averageMs }: Busy): GatewayError {
  return new GatewayError('overloaded', `The model ${model} is too busy to answer this in time`, {
    retryAfterSeconds: Math.max(1, averageMs / 1_000),
  });
}

export function tooLarge(model: string, megabytes: number, memoryMb: number): GatewayError {
  const message =
    `The model ${model} needs ${megabytes} MB of memory, and its engine may use ${memoryMb}: ` +
    'the option memoryMb of the engine allows more';
  return new GatewayError('internal', message, { permanent: true });
}
