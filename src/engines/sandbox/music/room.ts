/** A little reverberation: four echoes each side that feed themselves, thinned out by two all-passes (Schroeder 1962). */
export interface Room {
  /** Adds what is heard of the sent sound to both sides. */
  add(sent: Float32Array, left: Float32Array, right: Float32Array, from: number, count: number): void;
}

const echoSeconds = [0.0297, 0.0371, 0.0411, 0.0437] as const;
const passSeconds = [0.005, 0.0017] as const;
/** The other side is a little larger: the same echoes on both would be heard in the middle. */
const spreadSeconds = 0.0006;
const feedback = 0.77;
const damping = 0.35;

export function createRoom(sampleRate: number): Room {
  const left = createSide(sampleRate, 0);
  const right = createSide(sampleRate, spreadSeconds);
  return {
    add(sent, toLeft, toRight, from, count) {
      for (let index = 0; index < count; index++) {
        const sample = sent[index] ?? 0;
        toLeft[from + index] = (toLeft[from + index] ?? 0) + left(sample);
        toRight[from + index] = (toRight[from + index] ?? 0) + right(sample);
      }
    },
  };
}

function createSide(sampleRate: number, moreSeconds: number): (sample: number) => number {
  const toLine = (seconds: number) => new Float32Array(Math.round((seconds + moreSeconds) * sampleRate));
  const echoes = echoSeconds.map((seconds) => ({ line: toLine(seconds), at: 0, dull: 0 }));
  const passes = passSeconds.map((seconds) => ({ line: toLine(seconds), at: 0 }));
  return (sample) => {
    let sum = 0;
    for (const echo of echoes) {
      const heard = echo.line[echo.at] ?? 0;
      echo.dull += (heard - echo.dull) * (1 - damping);
      echo.line[echo.at] = sample + echo.dull * feedback;
      echo.at = echo.at + 1 === echo.line.length ? 0 : echo.at + 1;
      sum += heard;
    }
    let out = sum * 0.25;
    for (const pass of passes) {
      const heard = pass.line[pass.at] ?? 0;
      const into = out + heard * 0.6;
      pass.line[pass.at] = into;
      out = heard - into * 0.6;
      pass.at = pass.at + 1 === pass.line.length ? 0 : pass.at + 1;
    }
    return out;
  };
}
