/**
 * How many steps a video is rendered with, on which schedule, and what that bills. Pure.
 *
 *   quality                     steps              schedule  price
 *   turbo, auto, low, none      4, 8 with references  turbo  1 ×
 *   standard, medium            20                    base   3 ×
 *   max, high                   40                    base   5 ×
 *   num_inference_steps 4 to 9  as given              turbo  1 ×
 *   10 to 50                    as given              base   steps / 6 ×, at most the next tier's: 3 × up to 20,
 *                                                            5 × up to 40, above that there is none
 */
import { refusal } from '../../lib/errors.ts';

export type Tier = 'turbo' | 'standard' | 'max';

export interface Schedule {
  readonly tier: Tier;
  readonly steps: number;
  readonly schedule: 'turbo' | 'base';
  /** Sixths of the plain price: steps / 6 is no decimal number. */
  readonly priceSixths: number;
}

const tiers: Readonly<Record<string, Tier>> = {
  turbo: 'turbo',
  auto: 'turbo',
  low: 'turbo',
  standard: 'standard',
  medium: 'standard',
  max: 'max',
  high: 'max',
};
const baseSteps = { standard: 20, max: 40 } as const;
const factors: Readonly<Record<Tier, number>> = { turbo: 1, standard: 3, max: 5 };
const turboSteps = 4;
const turboStepsWithReferences = 8;
/** From here on the base model runs. */
const leastBaseSteps = 10;

export interface AskedSchedule {
  /** One of the names above. */
  readonly quality: string | undefined;
  readonly steps: number | undefined;
  readonly hasReferences: boolean;
  /** The resolution, where only the turbo schedule renders it. */
  readonly turboOnly: string | undefined;
  /** Where each came from, for refusals. */
  readonly paths: { readonly quality: string; readonly steps: string };
}

export function toSchedule({ quality, steps, hasReferences, turboOnly, paths }: AskedSchedule): Schedule {
  const usual = hasReferences ? turboStepsWithReferences : turboSteps;
  if (quality === undefined) {
    const schedule = ofSteps(steps ?? usual);
    if (turboOnly !== undefined && schedule.schedule === 'base')
      throw refusal(
        paths.steps,
        `must be below ${leastBaseSteps} at ${turboOnly}, which only the turbo schedule renders`,
      );
    return schedule;
  }
  const tier = tiers[quality] ?? 'turbo';
  const own = tier === 'turbo' ? usual : baseSteps[tier];
  if (turboOnly !== undefined && tier !== 'turbo')
    throw refusal(paths.quality, `must be turbo at ${turboOnly}, which only the turbo schedule renders`);
  if (steps !== undefined && steps !== own)
    throw refusal(paths.steps, `disagrees with the quality ${quality}, which takes ${own} steps`);
  return {
    tier,
    steps: own,
    schedule: tier === 'turbo' ? 'turbo' : 'base',
    priceSixths: factors[tier] * 6,
  };
}

function ofSteps(steps: number): Schedule {
  if (steps < leastBaseSteps) return { tier: 'turbo', steps, schedule: 'turbo', priceSixths: 6 };
  const tier = steps <= baseSteps.standard ? 'standard' : 'max';
  const dearest = steps <= baseSteps.max ? factors[tier] * 6 : steps;
  // Raw 20 and raw 40 are the tiers themselves.
  const isTier = steps === baseSteps[tier];
  return { tier, steps, schedule: 'base', priceSixths: isTier ? dearest : Math.min(steps, dearest) };
}

/** Whole seconds, rounded up. */
export function toBilledSeconds(durationSeconds: number, { priceSixths }: Schedule, factor: number): number {
  return Math.ceil((durationSeconds * priceSixths * factor) / 6);
}

/** About 3 s for a second of film, 5 with references, three times as long where it is enlarged. */
export function toExpectedMs(durationSeconds: number, hasReferences: boolean, isEnlarged: boolean): number {
  return durationSeconds * (hasReferences ? 5_000 : 3_000) * (isEnlarged ? 3 : 1);
}
