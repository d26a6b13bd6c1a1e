/**
 * Keeps peaks under a ceiling without clipping them. It looks some milliseconds ahead: the gain has come down, in a
 * straight line, by the time the peak is there, and goes up again slowly.
 */
export interface Limiter {
  /** In place. What comes out is late by the look-ahead. */
  process(left: Float32Array, right: Float32Array): void;
  readonly delayFrames: number;
}

const lookAheadSeconds = 0.005;
const releaseSeconds = 0.12;

export function createLimiter(sampleRate: number, ceiling: number): Limiter {
  const span = Math.max(2, Math.round(lookAheadSeconds * sampleRate));
  const rise = 1 - Math.exp(-1 / (releaseSeconds * sampleRate));
  const delayedLeft = new Float32Array(span);
  const delayedRight = new Float32Array(span);
  const lowest = createRunningMinimum(span + 1);
  /** What the last frames needed, let go slowly. Their mean is a line from one gain to the next. */
  const held = new Float64Array(span).fill(1);
  let slow = 1;
  let sum = span;
  let at = 0;
  return {
    delayFrames: span,
    process(left, right) {
      for (let frame = 0; frame < left.length; frame++) {
        const inLeft = left[frame] ?? 0;
        const inRight = right[frame] ?? 0;
        const peak = Math.max(Math.abs(inLeft), Math.abs(inRight));
        slow = Math.min(lowest(peak > ceiling ? ceiling / peak : 1), slow + (1 - slow) * rise);
        sum += slow - (held[at] ?? 1);
        held[at] = slow;
        const gain = Math.min(1, sum / span);
        left[frame] = (delayedLeft[at] ?? 0) * gain;
        right[frame] = (delayedRight[at] ?? 0) * gain;
        delayedLeft[at] = inLeft;
        delayedRight[at] = inRight;
        at = at + 1 === span ? 0 : at + 1;
      }
    },
  };
}

/** The least of the last `span` values, in constant time: only those that can still become the least are kept. */
function createRunningMinimum(span: number): (value: number) => number {
  const values = new Float64Array(span);
  const times = new Float64Array(span);
  let first = 0;
  let count = 0;
  let time = 0;
  return (value) => {
    if (count > 0 && (times[first] ?? 0) <= time - span) {
      first = (first + 1) % span;
      count -= 1;
    }
    while (count > 0 && (values[(first + count - 1) % span] ?? 0) >= value) count -= 1;
    const place = (first + count) % span;
    values[place] = value;
    times[place] = time;
    count += 1;
    time += 1;
    return values[first] ?? 1;
  };
}
