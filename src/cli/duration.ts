/** Reads a length of time as people write it: `90s`, `15m`, `12h`, `30d`, `2w`. */
import { UsageError } from './errors.ts';

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
/** A hundred years; whoever wants more wants no limit. */
const longestSeconds = 36_525 * 86_400;

export function parseDurationSeconds(text: string, option: string): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN);
  if (seconds >= 1 && seconds <= longestSeconds) return seconds;
  throw new UsageError(`${option} takes a time such as 12h or 30d (units s, m, h, d, w), not "${text}"`);
}
