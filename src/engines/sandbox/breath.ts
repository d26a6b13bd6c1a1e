/** Long work on the event loop in small pieces: after a few milliseconds others get their turn. */
import { setImmediate } from 'node:timers/promises';

const turnMs = 4;

/** A function to await between two pieces of work; it answers at once while the turn lasts. */
export function createBreath(signal: AbortSignal): () => Promise<void> | undefined {
  let until = performance.now() + turnMs;
  return () => {
    if (performance.now() < until) return undefined;
    return setImmediate().then(() => {
      signal.throwIfAborted();
      until = performance.now() + turnMs;
    });
  };
}
