/** Pictures of a film at even steps of time: at each the one that a viewer would see. */
import { AV_NOPTS_VALUE } from 'node-av/constants';
import { type Frame, Packet } from 'node-av/lib';
import type { Pixels } from '../../../engines/contract/picture.ts';
import { filmDecoders } from './decoders.ts';
import { FilmDecoder } from './film-decoder.ts';
import { type Input, keepOnly, openInput } from './input.ts';
import { Problem } from './problem.ts';
import type { Container, JobOutput } from './protocol.ts';
import { UprightPictures } from './upright.ts';

export interface FilmReading {
  readonly startSeconds: number;
  readonly fps: number;
  readonly maxFrames: number;
  readonly maxSide: number;
}

type Watch = Pick<JobOutput, 'throwIfStopped'>;

/** Times of pictures are rounded to ticks of the container. */
const tolerance = 1e-3;

export async function* readFilm(
  bytes: Buffer,
  container: Container,
  { startSeconds, fps, maxFrames, maxSide }: FilmReading,
  watch: Watch,
): AsyncGenerator<Pixels> {
  const input = await openInput(bytes, container, filmDecoders);
  let upright: UprightPictures | undefined;
  let shown: Frame | undefined;
  let pixels: Pixels | undefined;
  let made = 0;
  const dueAt = () => startSeconds + made / fps;
  try {
    const { video } = input;
    if (video === undefined) throw new Problem('has no video in it');
    upright = new UprightPictures(video, maxSide);
    let endSeconds = 0;
    for await (const { frame, atSeconds, lastsSeconds } of readFrames(input, watch)) {
      // Until this one comes the one before it is seen; the first is seen from the start.
      while (shown !== undefined && made < maxFrames && dueAt() < atSeconds - tolerance) {
        pixels ??= upright.convert(shown);
        made += 1;
        yield { ...pixels, data: Uint8Array.from(pixels.data) };
      }
      if (made >= maxFrames) {
        frame.free();
        return;
      }
      shown?.free();
      shown = frame;
      pixels = undefined;
      endSeconds = atSeconds + lastsSeconds;
    }
    while (shown !== undefined && made < maxFrames && dueAt() < endSeconds - tolerance) {
      pixels ??= upright.convert(shown);
      made += 1;
      yield { ...pixels, data: Uint8Array.from(pixels.data) };
    }
  } finally {
    shown?.free();
    upright?.close();
    await input.close();
  }
}

interface TimedFrame {
  /** The receiver's own. */
  readonly frame: Frame;
  readonly atSeconds: number;
  readonly lastsSeconds: number;
}

async function* readFrames(input: Input, watch: Watch): AsyncGenerator<TimedFrame> {
  const { video, format } = input;
  if (video === undefined) return;
  const decoder = new FilmDecoder(video);
  const packet = new Packet();
  packet.alloc();
  const { timeBase, avgFrameRate } = video;
  const tick = timeBase.num / timeBase.den;
  const usualSeconds = avgFrameRate.num > 0 ? avgFrameRate.den / avgFrameRate.num : 0.04;
  let first: number | undefined;
  let next = 0;

  function* take(frames: Iterable<Frame>): Generator<TimedFrame> {
    for (const frame of frames) {
      const { bestEffortTimestamp: stamp, duration } = frame;
      const stampSeconds = stamp === AV_NOPTS_VALUE ? (first ?? 0) + next : Number(stamp) * tick;
      first ??= stampSeconds;
      const atSeconds = stampSeconds - first;
      const lastsSeconds = duration > 0n ? Number(duration) * tick : usualSeconds;
      next = atSeconds + lastsSeconds;
      const own = frame.clone();
      if (own !== null) yield { frame: own, atSeconds, lastsSeconds };
    }
  }

  try {
    keepOnly(input, video);
    while ((await format.readFrame(packet)) >= 0) {
      watch.throwIfStopped();
      if (packet.streamIndex === video.index) yield* take(decoder.read(packet));
      packet.unref();
    }
    yield* take(decoder.read(null));
    decoder.finish();
  } finally {
    packet.free();
    decoder.close();
  }
}
