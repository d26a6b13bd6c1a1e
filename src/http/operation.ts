/** A call of a route as the operation that the platform counts, bills and cancels. */
import type { Caller } from '../platform/accounts/types.ts';
import type { RateState } from '../platform/admission/types.ts';
import type { Operation } from '../platform/inference/types.ts';
import { setRateHeaders } from './rate-headers.ts';
import type { Call } from './route.ts';

/** `name` is the capability, as the ledger calls it. The answer tells how the limits stand; `onRate` adds to that. */
export function toOperation(
  call: Call<unknown, unknown, unknown, Caller>,
  name: string,
  onRate?: (rate: RateState) => void,
): Operation {
  return {
    id: call.generationId,
    caller: call.caller,
    name,
    signal: call.presence,
    onRate(rate) {
      setRateHeaders(call, rate);
      onRate?.(rate);
    },
  };
}
