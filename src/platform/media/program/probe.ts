/** What a file is and how long it plays, without decoding more of it than the first picture of a film. */
import { AV_NOPTS_VALUE } from 'node-av/constants';
import { avGetCodecName, Packet, type Stream } from 'node-av/lib';
import type { MediaInfo } from '../types.ts';
import { decoders, filmDecoders } from './decoders.ts';
import { FilmDecoder } from './film-decoder.ts';
import { type Input, keepOnly, openInput } from './input.ts';
import { Problem } from './problem.ts';
import type { Container, Job, JobKinds, JobOutput } from './protocol.ts';
import { toSeenSize } from './upright.ts';

/**
 * The length that these claim is taken from their packets, or is the end of the last one: there is nothing to hold it
 * against. Of the others FFmpeg guesses from the first frames, or repeats a header that may lie.
 */
const measured: ReadonlySet<Container> = new Set(['ogg', 'matroska']);

export const probe: Job<JobKinds['probe']['options'], MediaInfo> = async (bytes, options, output) => {
  const { container, isFilm = false } = options;
  const input = await openInput(bytes, container, isFilm ? filmDecoders : decoders);
  try {
    return isFilm ? await probeFilm(input, container, output) : await probeSound(input, container, output);
  } finally {
    await input.close();
  }
};

async function probeSound(input: Input, container: Container, output: JobOutput): Promise<MediaInfo> {
  const { audio, video, claimedSeconds } = input;
  const main = audio ?? video;
  if (main === undefined) throw new Problem('has no audio or video in it');
  const isMeasured = measured.has(container) && claimedSeconds !== undefined;
  const counted = isMeasured ? claimedSeconds : (await countPackets(input, main, output)).seconds;
  // A claim that the packets bear out is finer: it knows what an encoder put in front.
  const isBorneOut = Math.abs(counted - (claimedSeconds ?? 0)) <= Math.max(0.2, counted / 100);
  const durationSeconds = isBorneOut ? (claimedSeconds ?? counted) : counted;
  return { container, durationSeconds, audio: audio && toAudio(audio), video: video && toVideo(video) };
}

async function probeFilm(input: Input, container: Container, output: JobOutput): Promise<MediaInfo> {
  const { audio, video } = input;
  if (video === undefined) throw new Problem('has no video in it');
  const decoder = new FilmDecoder(video);
  try {
    const { seconds, packets } = await countPackets(input, video, output, decoder);
    if (packets === 0) throw new Problem('has no video in it');
    decoder.finish();
    const { num, den } = video.avgFrameRate;
    const fps = num > 0 && den > 0 ? num / den : packets / seconds;
    return {
      container,
      durationSeconds: seconds,
      audio: audio && toAudio(audio),
      video: { ...toVideo(video), fps },
    };
  } finally {
    decoder.close();
  }
}

interface Count {
  readonly seconds: number;
  readonly packets: number;
}

/** By its packets, to the last one that is there. A decoder gets them until it has a picture. */
async function countPackets(
  input: Input,
  stream: Stream,
  output: JobOutput,
  decoder?: FilmDecoder,
): Promise<Count> {
  keepOnly(input, stream);
  const { num, den } = stream.timeBase;
  const packet = new Packet();
  packet.alloc();
  let packets = 0;
  let played = 0n;
  let start: bigint | undefined;
  let end = 0n;
  try {
    while ((await input.format.readFrame(packet)) >= 0) {
      output.throwIfStopped();
      if (packet.streamIndex === stream.index) {
        packets += 1;
        played += packet.duration;
        if (packet.pts !== AV_NOPTS_VALUE) {
          if (start === undefined || packet.pts < start) start = packet.pts;
          if (packet.pts + packet.duration > end) end = packet.pts + packet.duration;
        }
        if (decoder?.isEmpty) for (const _picture of decoder.read(packet)) break;
      }
      packet.unref();
    }
    if (decoder?.isEmpty) for (const _picture of decoder.read(null)) break;
  } finally {
    packet.free();
  }
  // Pictures have gaps, and are seen until the next one; of sound some containers tell only how long each packet is.
  const isFilm = decoder !== undefined && start !== undefined;
  const ticks = isFilm ? end - (start ?? 0n) : played > 0n ? played : end;
  return { seconds: (Number(ticks) * num) / den, packets };
}

function toAudio({ codecpar }: Stream): NonNullable<MediaInfo['audio']> {
  const { codecId, sampleRate, channels } = codecpar;
  return { codec: avGetCodecName(codecId) ?? 'unknown', sampleRate, channels };
}

function toVideo(stream: Stream): NonNullable<MediaInfo['video']> {
  const { codecpar, avgFrameRate } = stream;
  const { num, den } = avgFrameRate;
  const codec = avGetCodecName(codecpar.codecId) ?? 'unknown';
  return { codec, ...toSeenSize(stream), fps: den === 0 ? 0 : num / den };
}
