/** A studio for engines that are not asked to draw, film or play. */
import type { Studio } from '../../src/engines/contract/studio.ts';

export const noStudio: Studio = {
  // biome-ignore lint/correctness/useYield: there is nothing to yield before it throws
  async *render() {
    throw new Error('nothing is rendered in this test');
  },
};
