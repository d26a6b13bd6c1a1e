/** Wakes those in this process who wait for something to happen to a job's recordings. */
export interface Bell {
  ring(jobId: string): void;
  listen(jobId: string): Ear;
}

export interface Ear {
  /**
   * Resolves at the next ring, when the signal aborts, or after `timeoutMs`; at once when it rang since the last wait,
   * so that nothing is missed between a look and the wait. Never rejects.
   */
  wait(timeoutMs: number, signal: AbortSignal): Promise<'rung' | 'timeout'>;
  close(): void;
}

export function createBell(): Bell {
  const ears = new Map<string, Set<() => void>>();
  return {
    ring(jobId) {
      for (const hear of [...(ears.get(jobId) ?? [])]) hear();
    },

    listen(jobId) {
      let isRung = false;
      let wake: (() => void) | undefined;
      const hear = () => {
        isRung = true;
        wake?.();
      };
      const others = ears.get(jobId) ?? new Set();
      ears.set(jobId, others.add(hear));
      return {
        async wait(timeoutMs, signal) {
          if (!isRung && !signal.aborted) {
            await new Promise<void>((resolve) => {
              const timer = setTimeout(resolve, timeoutMs);
              wake = () => {
                clearTimeout(timer);
                resolve();
              };
              signal.addEventListener('abort', wake, { once: true });
            });
            if (wake !== undefined) signal.removeEventListener('abort', wake);
            wake = undefined;
          }
          const how = isRung || signal.aborted ? 'rung' : 'timeout';
          isRung = false;
          return how;
        },

        close() {
          others.delete(hear);
          if (others.size === 0 && ears.get(jobId) === others) ears.delete(jobId);
        },
      };
    },
  };
}
