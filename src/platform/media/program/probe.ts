/** What a file is and how long it plays, without decoding it. */
import { AV_NOPTS_VALUE } from 'node-av/constants';
import { avGetCodecName, Packet, type Stream } from 'node-av/lib';
import type { MediaInfo } from '../types.ts';
import { type Input, keepOnly, openInput } from './input.ts';
import { Problem } from './problem.ts';
import type { Job, JobKinds, JobOutput } from './protocol.ts';

export const probe: Job<JobKinds['probe']['options'], MediaInfo> = async (bytes, { container }, output) => {
  const input = await openInput(bytes, container);
  try {
    const { audio, video, claimedSeconds } = input;
    const main = audio ?? video;
    if (main === undefined) throw new Problem('has no audio or video in it');
    // Of these FFmpeg may only guess from the first frames: the guess counts if the packets bear it out.
    const isGuess = container === 'mp3' || container === 'aac' || claimedSeconds === undefined;
    const counted = isGuess ? await countSeconds(input, main, output) : claimedSeconds;
    const isBorneOut = Math.abs(counted - (claimedSeconds ?? 0)) <= Math.max(0.2, counted / 100);
    const durationSeconds = isBorneOut ? (claimedSeconds ?? counted) : counted;
    return { container, durationSeconds, audio: audio && toAudio(audio), video: video && toVideo(video) };
  } finally {
    await input.close();
  }
};

/** By its packets, to the last one. */
async function countSeconds(input: Input, stream: Stream, output: JobOutput): Promise<number> {
  keepOnly(input, stream);
  const { num, den } = stream.timeBase;
  const packet = new Packet();
  packet.alloc();
  let played = 0n;
  let end = 0n;
  try {
    while ((await input.format.readFrame(packet)) >= 0) {
      output.throwIfStopped();
      if (packet.streamIndex === stream.index) {
        played += packet.duration;
        if (packet.pts !== AV_NOPTS_VALUE && packet.pts + packet.duration > end)
          end = packet.pts + packet.duration;
      }
      packet.unref();
    }
  } finally {
    packet.free();
  }
  return (Number(played > 0n ? played : end) * num) / den;
}

function toAudio({ codecpar }: Stream): MediaInfo['audio'] {
  const { codecId, sampleRate, channels } = codecpar;
  return { codec: avGetCodecName(codecId) ?? 'unknown', sampleRate, channels };
}

function toVideo({ codecpar, avgFrameRate: { num, den } }: Stream): MediaInfo['video'] {
  const { codecId, width, height } = codecpar;
  return { codec: avGetCodecName(codecId) ?? 'unknown', width, height, fps: den === 0 ? 0 : num / den };
}
