/** A studio without a process of its own that hands over what it makes while it makes it: for tests of music. */
import type { Render, Stage, Studio, StudioOrder } from '../../src/engines/contract/studio.ts';
import { toContent } from '../../src/lib/content.ts';

export interface PlayStudio extends Studio {
  /** What was asked for, oldest first. */
  readonly orders: StudioOrder[];
  /** Pieces that were made so far. */
  readonly made: number;
}

export function createPlayStudio(): PlayStudio {
  const orders: StudioOrder[] = [];
  let made = 0;
  return {
    orders,
    get made() {
      return made;
    },
    async *render(order, signal) {
      orders.push(order);
      signal.throwIfAborted();
      const { render } = (await import(order.module.href)) as { render: Render };
      let isLeft = false;
      let piece = Promise.withResolvers<Uint8Array | undefined>();
      let wanted = Promise.withResolvers<void>();
      const stage: Stage = {
        tools: {} as Stage['tools'],
        async emit(bytes) {
          made += 1;
          piece.resolve(bytes);
          await wanted.promise;
          stage.throwIfStopped();
        },
        throwIfStopped() {
          signal.throwIfAborted();
          if (isLeft) throw new Error('nobody waits any more');
        },
      };
      let result: unknown;
      const work = async () => {
        // Nothing but what can be cloned reaches another process.
        result = await render(
          structuredClone(order.request),
          await Promise.all(order.inputs.map((each) => toContent(each).toBuffer())),
          stage,
        );
        piece.resolve(undefined);
      };
      const done = work();
      done.catch((error: unknown) => piece.reject(error));
      try {
        for (;;) {
          const bytes = await piece.promise;
          if (bytes === undefined) return result;
          piece = Promise.withResolvers();
          yield bytes;
          signal.throwIfAborted();
          const next = wanted;
          wanted = Promise.withResolvers();
          next.resolve();
        }
      } finally {
        isLeft = true;
        wanted.resolve();
        piece.promise.catch(() => {});
        await done.catch(() => {});
      }
    },
  };
}
