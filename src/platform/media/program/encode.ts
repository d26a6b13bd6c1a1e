/** Samples to a whole file in memory. */
import {
  AV_CODEC_FLAG_BITEXACT,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AVFMT_FLAG_BITEXACT,
  type FFEncoderCodec,
} from 'node-av/constants';
import { avGetSampleFmtName, Codec, CodecContext, Dictionary, FormatContext, Rational } from 'node-av/lib';
import { check } from './codes.ts';
import { emitAll } from './emit.ts';
import { runGraph } from './graph.ts';
import { createMemoryFile } from './memory-file.ts';
import type { Channels, Job, JobKinds } from './protocol.ts';
import { channelLayouts } from './resample.ts';
import { Track } from './track.ts';

type Options = JobKinds['encode']['options'];

interface Recipe {
  readonly encoder: string;
  readonly muxer: string;
  /** Ascending; absent: any. */
  readonly sampleRates?: readonly number[];
  /** For each channel. */
  readonly bitRate?: number;
  readonly muxerOptions?: Readonly<Record<string, string>>;
}

const recipes: Readonly<Record<Options['format'], Recipe>> = {
  mp3: {
    encoder: 'libmp3lame',
    muxer: 'mp3',
    sampleRates: [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000],
    bitRate: 96_000,
    // Some players take a tag in front of the sound for a part of it.
    muxerOptions: { id3v2_version: '0' },
  },
  opus: {
    encoder: 'libopus',
    muxer: 'ogg',
    sampleRates: [8_000, 12_000, 16_000, 24_000, 48_000],
    bitRate: 64_000,
  },
  flac: { encoder: 'flac', muxer: 'flac' },
};

/** For encoders that take frames of any length. */
const usualFrameSize = 4_096;

export const encode: Job<Options, undefined> = async (samples, options, output) => {
  const { format, sampleRate, channels, speed } = options;
  const recipe = recipes[format];
  const file = createMemoryFile();
  const container = new FormatContext();
  const context = new CodecContext();
  const muxerOptions = Dictionary.fromObject(recipe.muxerOptions ?? {});
  let track: Track | undefined;
  try {
    const outRate =
      recipe.sampleRates?.find((rate) => rate >= sampleRate) ?? recipe.sampleRates?.at(-1) ?? sampleRate;
    openEncoder(context, recipe, outRate, channels);
    check(container.allocOutputContext2(null, recipe.muxer, null), 'opening the container');
    container.pb = file.io;
    container.setFlags(AVFMT_FLAG_BITEXACT);
    track = new Track(container, context);
    check(await container.writeHeader(muxerOptions), 'writing the header');
    const out = {
      sampleRate: outRate,
      sampleFormat: avGetSampleFmtName(context.sampleFormat) ?? 's16',
      frameSize: context.frameSize === 0 ? usualFrameSize : context.frameSize,
    };
    let at = 0n;
    for (const frame of runGraph(samples, { sampleRate, channels, speed, out })) {
      output.throwIfStopped();
      frame.timeBase = context.timeBase;
      frame.pts = at;
      at += BigInt(frame.nbSamples);
      await track.write(frame);
    }
    await track.write(null);
    check(await container.writeTrailer(), 'writing the trailer');
    await file.io.flush();
    await emitAll(file.toBytes(), output);
    return undefined;
  } finally {
    muxerOptions.free();
    track?.close();
    context.freeContext();
    // The container would free what it writes to, which is the file's own.
    container.pb = null;
    container.freeContext();
    file.io.freeContext();
  }
};

function openEncoder(
  context: CodecContext,
  { encoder, bitRate }: Recipe,
  sampleRate: number,
  channels: Channels,
): void {
  const codec = Codec.findEncoderByName(encoder as FFEncoderCodec);
  const sampleFormat = codec?.sampleFormats?.[0];
  if (codec === null || sampleFormat === undefined) throw new Error(`this FFmpeg has no encoder ${encoder}`);
  context.allocContext3(codec);
  context.sampleRate = sampleRate;
  context.sampleFormat = sampleFormat;
  context.channelLayout = channelLayouts[channels];
  context.timeBase = new Rational(1, sampleRate);
  context.threadCount = 1;
  if (bitRate !== undefined) context.bitRate = BigInt(bitRate * channels);
  // The same samples give the same file.
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER, AV_CODEC_FLAG_BITEXACT);
  check(context.open2Sync(codec), 'opening the encoder');
}
