/**
 * Admission in the memory of one process: a gate per subscription and model, made when it is first needed and
 * forgotten after a minute of silence. There is no store that could be down; a restart forgets the minute.
 */
import { GatewayError } from '../../lib/errors.ts';
import { Gate } from './gate.ts';
import type { Admission } from './types.ts';

export interface AdmissionParts {
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

const sweepMs = 60_000;

export function createAdmission({ now = () => performance.now() }: AdmissionParts = {}): Admission {
  // Two lookups by strings that are known already: a joined key would be built and hashed for every request.
  const gates = new Map<string, Map<string, Gate>>();
  let sweepTimer: NodeJS.Timeout | undefined;

  function find(subscriptionId: string, modelId: string): Gate | undefined {
    return gates.get(subscriptionId)?.get(modelId);
  }

  function add(subscriptionId: string, modelId: string, gate: Gate): Gate {
    let ofSubscription = gates.get(subscriptionId);
    if (ofSubscription === undefined) {
      ofSubscription = new Map();
      gates.set(subscriptionId, ofSubscription);
    }
    ofSubscription.set(modelId, gate);
    sweepTimer ??= setTimeout(sweep, sweepMs).unref();
    return gate;
  }

  function sweep(): void {
    for (const [subscriptionId, ofSubscription] of gates) {
      for (const [modelId, gate] of ofSubscription) if (gate.isIdle) ofSubscription.delete(modelId);
      if (ofSubscription.size === 0) gates.delete(subscriptionId);
    }
    sweepTimer = gates.size === 0 ? undefined : setTimeout(sweep, sweepMs).unref();
  }

  return {
    enter(subscriptionId, modelId, limits, signal) {
      const gate = find(subscriptionId, modelId) ?? add(subscriptionId, modelId, new Gate(limits, now));
      return gate.enter(limits, signal);
    },

    rate(subscriptionId, modelId, limits) {
      const { requestsPerMinute } = limits;
      return (
        find(subscriptionId, modelId)?.rate(limits) ?? {
          limit: requestsPerMinute,
          remaining: requestsPerMinute,
          resetMs: 0,
        }
      );
    },

    async close() {
      clearTimeout(sweepTimer);
      const error = new GatewayError('overloaded', 'The gateway is shutting down; try again');
      for (const ofSubscription of gates.values()) {
        for (const gate of ofSubscription.values()) gate.refuseAll(error);
      }
      gates.clear();
    },
  };
}
