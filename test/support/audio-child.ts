/**
 * Makes a sound file with FFmpeg and writes it to the standard output: a program of its own, because FFmpeg's
 * addon is only ever loaded in one. A stretch is encoded once and its packets repeated, so that ten minutes
 * are there in a moment.
 */
import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_LOG_QUIET,
  AVFMT_FLAG_BITEXACT,
  type FFEncoderCodec,
} from 'node-av/constants';
import { avGetSampleFmtName, Codec, CodecContext, FormatContext, Log, Packet, Rational } from 'node-av/lib';
import { check, isDrained } from '../../src/platform/media/program/codes.ts';
import { runGraph } from '../../src/platform/media/program/graph.ts';
import { createMemoryFile } from '../../src/platform/media/program/memory-file.ts';

const recipes: Record<string, { muxer: string; encoder: string }> = {
  wav: { muxer: 'wav', encoder: 'pcm_s16le' },
  mp3: { muxer: 'mp3', encoder: 'libmp3lame' },
  flac: { muxer: 'flac', encoder: 'flac' },
  m4a: { muxer: 'ipod', encoder: 'aac' },
  ogg: { muxer: 'ogg', encoder: 'libopus' },
  webm: { muxer: 'webm', encoder: 'libopus' },
  aac: { muxer: 'adts', encoder: 'aac' },
  vorbis: { muxer: 'ogg', encoder: 'libvorbis' },
  mov: { muxer: 'mov', encoder: 'pcm_s16be' },
  ac3: { muxer: 'matroska', encoder: 'ac3' },
};

const sampleRate = 24_000;

async function make(format: string, seconds: number, hertz: number, repeats: number): Promise<Buffer> {
  const recipe = recipes[format];
  const codec = recipe && Codec.findEncoderByName(recipe.encoder as FFEncoderCodec);
  if (recipe === undefined || !codec) throw new Error(`no recipe for ${format}`);
  const rate = format === 'ac3' ? 48_000 : sampleRate;
  const context = new CodecContext();
  context.allocContext3(codec);
  context.sampleRate = rate;
  context.channelLayout = AV_CHANNEL_LAYOUT_MONO;
  context.sampleFormat = codec.sampleFormats?.[0] ?? context.sampleFormat;
  context.timeBase = new Rational(1, rate);
  context.bitRate = 64_000n;
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  check(context.open2Sync(codec), 'opening');
  const file = createMemoryFile();
  const container = new FormatContext();
  check(container.allocOutputContext2(null, recipe.muxer, null), 'container');
  container.pb = file.io;
  container.setFlags(AVFMT_FLAG_BITEXACT);
  const stream = container.newStream();
  check(stream.codecpar.fromContext(context), 'stream');
  stream.timeBase = context.timeBase;
  check(await container.writeHeader(null), 'header');

  const packet = new Packet();
  packet.alloc();
  const packets: Packet[] = [];
  const collect = () => {
    for (;;) {
      const code = context.receivePacketSync(packet);
      if (isDrained(code)) return;
      check(code, 'encoding');
      const copy = packet.clone();
      if (copy !== null) packets.push(copy);
      packet.unref();
    }
  };
  const frameSize = context.frameSize === 0 ? 4_096 : context.frameSize;
  const out = {
    sampleRate: rate,
    sampleFormat: avGetSampleFmtName(context.sampleFormat) ?? 's16',
    frameSize,
  };
  let at = 0n;
  for (const frame of runGraph(toTone(seconds, hertz), { sampleRate, speed: 1, out })) {
    frame.timeBase = context.timeBase;
    frame.pts = at;
    at += BigInt(frame.nbSamples);
    check(context.sendFrameSync(frame), 'encoding');
    collect();
  }
  check(context.sendFrameSync(null), 'encoding');
  collect();

  // Encoders begin before the start and end behind it: one stretch follows the other without a gap.
  const period = (packets.at(-1)?.pts ?? 0n) + BigInt(frameSize) - (packets[0]?.pts ?? 0n);
  for (let repeat = 0; repeat < repeats; repeat++) {
    const offset = BigInt(repeat) * period;
    for (const made of packets) {
      const copy = made.clone();
      if (copy === null) continue;
      copy.pts += offset;
      copy.dts += offset;
      copy.streamIndex = 0;
      copy.rescaleTs(context.timeBase, stream.timeBase);
      check(await container.interleavedWriteFrame(copy), 'writing');
      copy.free();
    }
  }
  check(await container.writeTrailer(), 'trailer');
  await file.io.flush();
  container.pb = null;
  container.freeContext();
  file.io.freeContext();
  return file.toBytes();
}

function toTone(seconds: number, hertz: number): Buffer {
  const samples = new Int16Array(seconds * sampleRate);
  for (let i = 0; i < samples.length; i++)
    samples[i] = 8_000 * Math.sin((2 * Math.PI * hertz * i) / sampleRate);
  return Buffer.from(samples.buffer);
}

const [format = '', seconds, hertz, repeats] = process.argv.slice(2);
Log.setLevel(AV_LOG_QUIET);
process.stdout.write(await make(format, Number(seconds), Number(hertz), Number(repeats)));
