/** Reads what a video is made from, when the job is created: what cannot be used is refused then, not after a wait. */
import { refusal } from '../../lib/errors.ts';
import { tooLarge } from '../../lib/safe-fetch.ts';
import type { Platform } from '../../platform/index.ts';
import type { VideoRender } from './render.ts';
import { maxFilmBytes, maxImageBytes, maxSoundBytes } from './schema.ts';
import type { AskedMedium } from './translate.ts';

export interface ReadMedia {
  readonly inputs: VideoRender['inputs'];
  readonly bytes: readonly Buffer[];
}

const shortestSeconds = 2;
const longestSeconds = 15;
/** A frame more or less: containers round. */
const toleranceSeconds = 0.05;
const atOnce = 3;

type Tools = Pick<Platform, 'attachments' | 'pictures' | 'media'>;

export async function readMedia(
  media: readonly AskedMedium[],
  tools: Tools,
  signal: AbortSignal,
): Promise<ReadMedia> {
  const inputs: VideoRender['inputs'][number][] = [];
  const bytes: Buffer[] = [];
  // The first failure ends the others: their work is for nothing.
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  let next = 0;
  const work = async () => {
    while (next < media.length) {
      stop.throwIfAborted();
      const index = next++;
      const medium = media[index]!;
      const read = await readMedium(medium, tools, stop);
      inputs[index] = { use: medium.use, role: medium.role, mediaType: read.mediaType };
      bytes[index] = read.bytes;
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(atOnce, media.length) }, work));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
  return { inputs, bytes };
}

async function readMedium({ use, source, param }: AskedMedium, tools: Tools, signal: AbortSignal) {
  switch (use) {
    case 'first_frame':
    case 'last_frame':
    case 'image': {
      const bytes = await load(source, param, maxImageBytes, tools, signal);
      const kinds = ['jpeg', 'png', 'webp', 'heic', 'heif'] as const;
      const { content, mediaType } = await tools.pictures.accept(bytes, { param, kinds }, signal);
      return { bytes: await content.toBuffer(), mediaType };
    }
    case 'video': {
      const bytes = await load(source, param, maxFilmBytes, tools, signal);
      const { durationSeconds, container } = await tools.media.probeFilm(bytes, param, signal);
      checkLength(durationSeconds, param);
      return { bytes, mediaType: container === 'mov' ? 'video/quicktime' : 'video/mp4' };
    }
    case 'audio': {
      const bytes = await load(source, param, maxSoundBytes, tools, signal);
      const { durationSeconds, container } = await tools.media.probe(bytes, param, signal, ['wav', 'mp3']);
      checkLength(durationSeconds, param);
      return { bytes, mediaType: container === 'wav' ? 'audio/wav' : 'audio/mpeg' };
    }
  }
}

async function load(
  source: string | Buffer,
  param: string,
  maxBytes: number,
  { attachments }: Tools,
  signal: AbortSignal,
): Promise<Buffer> {
  if (typeof source === 'string') return attachments.read(source, { param, maxBytes }, signal);
  if (source.length > maxBytes) throw tooLarge(param, maxBytes);
  return source;
}

function checkLength(seconds: number, param: string): void {
  if (seconds >= shortestSeconds - toleranceSeconds && seconds <= longestSeconds + toleranceSeconds) return;
  const rounded = Math.round(seconds * 100) / 100;
  throw refusal(param, `must be ${shortestSeconds} to ${longestSeconds} s long, and is ${rounded} s`);
}
