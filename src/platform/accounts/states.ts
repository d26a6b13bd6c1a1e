/** The moves that a subscription and a key can make, as `types.ts` draws them. */
import { GatewayError } from '../../lib/errors.ts';
import type { KeyStatus, SubscriptionStatus } from './types.ts';

export type SubscriptionMove = 'suspend' | 'resume' | 'close';
export type KeyMove = 'suspend' | 'resume' | 'revoke';

interface Move<Status> {
  from: readonly Status[];
  to: Status;
}

export const subscriptionMoves: Readonly<Record<SubscriptionMove, Move<SubscriptionStatus>>> = {
  suspend: { from: ['active'], to: 'suspended' },
  resume: { from: ['suspended'], to: 'active' },
  close: { from: ['active', 'suspended'], to: 'closed' },
};

export const keyMoves: Readonly<Record<KeyMove, Move<KeyStatus>>> = {
  suspend: { from: ['active'], to: 'suspended' },
  resume: { from: ['suspended'], to: 'active' },
  revoke: { from: ['active', 'suspended'], to: 'revoked' },
};

/** Where a move leads from here; a `conflict` where the table has no such arrow. */
export function nextStatus<Status extends string>(
  noun: string,
  status: Status,
  name: string,
  move: Move<Status>,
): Status {
  if (move.from.includes(status)) return move.to;
  const wanted = move.from.join(' or ');
  throw new GatewayError(
    'conflict',
    `The ${noun} is ${status}; only one that is ${wanted} can ${verbs[name] ?? name}`,
  );
}

const verbs: Readonly<Record<string, string>> = {
  suspend: 'be suspended',
  resume: 'be resumed',
  close: 'be closed',
  revoke: 'be revoked',
};
