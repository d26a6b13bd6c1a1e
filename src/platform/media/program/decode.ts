/** A file's sound as samples, a second at a time: what is not taken yet is not decoded yet. */
import { openInput } from './input.ts';
import { Problem } from './problem.ts';
import type { Container, Job, JobKinds } from './protocol.ts';
import { bytesPerSample } from './resample.ts';
import { readSamples } from './samples.ts';

/** Of these a length is only guessed from the first frames: nobody is refused for a guess. */
const guessed: ReadonlySet<Container> = new Set(['mp3', 'aac']);

export const decode: Job<JobKinds['decode']['options'], undefined> = async (bytes, options, output) => {
  const { container, sampleRate, maxSeconds, channels = 1 } = options;
  const { startSeconds, endSeconds } = options.stretch ?? { startSeconds: 0, endSeconds: Infinity };
  const input = await openInput(bytes, container);
  const frameBytes = bytesPerSample * channels;
  const pieceBytes = sampleRate * frameBytes;
  const mostBytes = maxSeconds * pieceBytes;
  const [startByte, endByte] = [startSeconds, endSeconds].map(
    (seconds) => Math.round(seconds * sampleRate) * frameBytes,
  ) as [number, number];
  let piece = Buffer.allocUnsafeSlow(pieceBytes);
  let filled = 0;
  let total = 0;

  async function take(samples: Buffer): Promise<void> {
    for (let taken = 0; taken < samples.length; ) {
      const copied = samples.copy(piece, filled, taken);
      taken += copied;
      filled += copied;
      if (filled < pieceBytes) continue;
      await output.emit(piece);
      piece = Buffer.allocUnsafeSlow(pieceBytes);
      filled = 0;
    }
  }

  try {
    const { claimedSeconds = 0 } = input;
    if (claimedSeconds > maxSeconds && !guessed.has(container)) throw tooLong(maxSeconds);
    for await (const samples of readSamples(input, { sampleRate, channels }, output)) {
      const from = Math.max(startByte - total, 0);
      const to = Math.min(endByte - total, samples.length);
      total += samples.length;
      if (total > mostBytes) throw tooLong(maxSeconds);
      if (from < to) await take(samples.subarray(from, to));
      if (total >= endByte) break;
    }
    if (filled > 0) await output.emit(piece.subarray(0, filled));
    return undefined;
  } finally {
    await input.close();
  }
};

function tooLong(maxSeconds: number): Problem {
  return new Problem(`is longer than the limit of ${toDuration(maxSeconds)}`);
}

function toDuration(seconds: number): string {
  const [count, unit] =
    seconds % 3600 === 0
      ? [seconds / 3600, 'hour']
      : seconds % 60 === 0
        ? [seconds / 60, 'minute']
        : [seconds, 'second'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
