/**
 * A file in memory, opened with the one demuxer that its first bytes ask for. Playlists and their like are never
 * tried, and nothing that a file names can be opened: no protocol is allowed, whatever the demuxer.
 */
import {
  AV_DISPOSITION_ATTACHED_PIC,
  AVDISCARD_ALL,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
  AVSEEK_CUR,
  AVSEEK_SET,
  AVSEEK_SIZE,
} from 'node-av/constants';
import { Dictionary, FormatContext, InputFormat, IOContext, type Stream } from 'node-av/lib';
import { decoders } from './decoders.ts';
import { Problem } from './problem.ts';
import type { Container } from './protocol.ts';

export interface Input {
  readonly format: FormatContext;
  readonly audio: Stream | undefined;
  readonly video: Stream | undefined;
  /** Undefined when the file does not say it. */
  readonly claimedSeconds: number | undefined;
  close(): Promise<void>;
}

/** The containers as messages call them, and FFmpeg's names for their demuxers. */
const demuxers: Readonly<Record<Container, { called: string; name: string; aliases: string }>> = {
  wav: { called: 'wav', name: 'wav', aliases: 'wav' },
  mp3: { called: 'mp3', name: 'mp3', aliases: 'mp3' },
  flac: { called: 'flac', name: 'flac', aliases: 'flac' },
  mp4: { called: 'mp4', name: 'mov', aliases: 'mov,mp4,m4a,3gp,3g2,mj2' },
  mov: { called: 'mov', name: 'mov', aliases: 'mov,mp4,m4a,3gp,3g2,mj2' },
  ogg: { called: 'ogg', name: 'ogg', aliases: 'ogg' },
  matroska: { called: 'webm', name: 'matroska', aliases: 'matroska,webm' },
  aac: { called: 'aac', name: 'aac', aliases: 'aac' },
};

const readBytes = 64 * 1024;
const microseconds = 1e6;

/** With `allowed` other decoders than those of sound. */
export async function openInput(bytes: Buffer, container: Container, allowed = decoders): Promise<Input> {
  const { called, name, aliases } = demuxers[container];
  const demuxer = InputFormat.findInputFormat(name);
  if (demuxer === null) throw new Error(`this FFmpeg has no demuxer ${name}`);
  const memory = createMemory(bytes);
  const format = new FormatContext();
  format.allocContext();
  format.pb = memory;
  const options = Dictionary.fromObject({
    format_whitelist: aliases,
    codec_whitelist: [...allowed].join(','),
    // A name that no protocol has: an empty list would mean all of them in some places.
    protocol_whitelist: 'none',
    max_streams: 64,
    probesize: 4_000_000,
    analyzeduration: 10 * microseconds,
  });
  const close = async () => {
    format.pb = null;
    await format.closeInput();
    memory.freeContext();
  };
  try {
    const code = await format.openInput('', demuxer, options);
    if (code < 0) throw new Problem(`cannot be read as ${called}`);
    // Fails on streams that it does not know; the ones that we want are looked at below.
    await format.findStreamInfo(null);
    const { streams, duration } = format;
    const bestAudio = format.findBestStream(AVMEDIA_TYPE_AUDIO);
    const audio = streams.find(({ index }) => index === bestAudio);
    const video = streams.find(isMoving);
    return {
      format,
      audio,
      video,
      claimedSeconds: duration > 0n ? Number(duration) / microseconds : undefined,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  } finally {
    options.free();
  }
}

/** The packets of other streams are passed over, where the container allows it without looking at them. */
export function keepOnly(input: Input, kept: Stream): void {
  for (const stream of input.format.streams) if (stream.index !== kept.index) stream.discard = AVDISCARD_ALL;
}

/** A cover in a sound file stands as a film of one picture. */
function isMoving({ codecpar, disposition }: Stream): boolean {
  return codecpar.codecType === AVMEDIA_TYPE_VIDEO && (disposition & AV_DISPOSITION_ATTACHED_PIC) === 0;
}

function createMemory(bytes: Buffer): IOContext {
  let position = 0;
  const memory = new IOContext();
  memory.allocContextWithCallbacks(
    readBytes,
    0,
    (size) => {
      if (position >= bytes.length) return null;
      const chunk = bytes.subarray(position, position + size);
      position += chunk.length;
      return chunk;
    },
    null,
    (offset, whence) => {
      if (whence === AVSEEK_SIZE) return BigInt(bytes.length);
      const base = whence === AVSEEK_SET ? 0 : whence === AVSEEK_CUR ? position : bytes.length;
      const target = base + Number(offset);
      if (target < 0) return -1n;
      position = Math.min(target, bytes.length);
      return BigInt(position);
    },
  );
  return memory;
}
