/** A film in memory: H.264 pictures and stereo AAC, exactly as many of both as the pictures last. */
import assert from 'node:assert';
import { availableParallelism } from 'node:os';
import {
  AV_CODEC_FLAG_BITEXACT,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_PIX_FMT_RGBA,
  AV_PIX_FMT_YUV420P,
  AV_PROFILE_H264_HIGH,
  AVCOL_PRI_BT709,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVCOL_TRC_BT709,
  AVFMT_FLAG_BITEXACT,
  type FFEncoderCodec,
} from 'node-av/constants';
import { avGetSampleFmtName, Codec, CodecContext, FormatContext, Frame, Rational } from 'node-av/lib';
import type { FilmOptions } from '../../../engines/contract/studio.ts';
import { check } from './codes.ts';
import { toFastStart } from './fast-start.ts';
import { FilterChain } from './filters.ts';
import { SoundGraph } from './graph.ts';
import { createMemoryFile } from './memory-file.ts';
import { channelLayouts } from './resample.ts';
import { Track } from './track.ts';

const channels = 2;
const bytesPerPixel = 4;
/** Constant quality: hardly to be told from the original. */
const quality = 20;
const soundBitRate = 160_000n;
/** More of them take more memory for less gain. */
const mostThreads = 4;
/** Players jump to whole pictures. */
const secondsBetweenWholePictures = 2;

/** Calls must not overlap. */
export class Film {
  readonly #options: FilmOptions;
  readonly #file = createMemoryFile();
  readonly #container = new FormatContext();
  readonly #pictures: PictureTrack;
  readonly #sound: SoundTrack | undefined;
  #isBegun = false;
  #isClosed = false;
  #frames = 0;

  constructor(options: FilmOptions) {
    this.#options = options;
    check(this.#container.allocOutputContext2(null, 'mp4', null), 'opening the container');
    this.#container.pb = this.#file.io;
    this.#container.setFlags(AVFMT_FLAG_BITEXACT);
    try {
      this.#pictures = new PictureTrack(this.#container, options);
      const { sampleRate } = options;
      this.#sound = sampleRate === undefined ? undefined : new SoundTrack(this.#container, sampleRate);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  async frame(pixels: Uint8Array): Promise<void> {
    await this.#begin();
    await this.#pictures.write(pixels, this.#frames);
    this.#frames += 1;
    await this.#sound?.write(this.#due);
  }

  async sound(samples: Int16Array): Promise<void> {
    assert(this.#sound !== undefined, 'a film without a sample rate is silent');
    assert(samples.length % channels === 0, 'a stretch of sound is whole pairs of samples');
    this.#sound.add(samples);
  }

  async finish(): Promise<Buffer> {
    assert(this.#frames > 0, 'a film has at least one picture');
    await this.#sound?.finish(this.#due);
    await this.#pictures.finish();
    check(await this.#container.writeTrailer(), 'writing the trailer');
    await this.#file.io.flush();
    return toFastStart(this.#file.toBytes());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pictures?.close();
    this.#sound?.close();
    // The container would free what it writes to, which is the file's own.
    this.#container.pb = null;
    this.#container.freeContext();
    this.#file.io.freeContext();
  }

  /** How many samples the pictures so far last. */
  get #due(): number {
    const { sampleRate = 0, fps } = this.#options;
    return Math.round((this.#frames * sampleRate) / fps);
  }

  async #begin(): Promise<void> {
    if (this.#isBegun) return;
    this.#isBegun = true;
    check(await this.#container.writeHeader(null), 'writing the header');
  }
}

class PictureTrack {
  readonly #context = new CodecContext();
  readonly #options: FilmOptions;
  readonly #timeBase: Rational;
  readonly #chain: FilterChain;
  readonly #track: Track;

  constructor(container: FormatContext, options: FilmOptions) {
    const { width, height, upscale, fps } = options;
    const [outWidth, outHeight] = [width * upscale, height * upscale];
    assert(outWidth % 2 === 0 && outHeight % 2 === 0, 'the sides of a film are even');
    this.#options = options;
    const rate = toRate(fps);
    this.#timeBase = new Rational(rate.den, rate.num);
    const threads = Math.min(availableParallelism(), mostThreads);
    const context = this.#context;
    try {
      this.#chain = new FilterChain(
        [
          ['buffer', `video_size=${width}x${height}:pix_fmt=rgba:time_base=${rate.den}/${rate.num}`],
          [
            'scale',
            `w=${outWidth}:h=${outHeight}:flags=lanczos+accurate_rnd:out_color_matrix=bt709:out_range=limited`,
          ],
          ['format', 'pix_fmts=yuv420p'],
          ['buffersink', ''],
        ],
        threads,
      );
      const codec = findEncoder('libx264');
      context.allocContext3(codec);
      context.width = outWidth;
      context.height = outHeight;
      context.pixelFormat = AV_PIX_FMT_YUV420P;
      context.timeBase = this.#timeBase;
      context.framerate = rate;
      context.gopSize = Math.round(fps * secondsBetweenWholePictures);
      context.profile = AV_PROFILE_H264_HIGH;
      context.colorSpace = AVCOL_SPC_BT709;
      context.colorPrimaries = AVCOL_PRI_BT709;
      context.colorTrc = AVCOL_TRC_BT709;
      context.colorRange = AVCOL_RANGE_MPEG;
      context.threadCount = threads;
      context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER, AV_CODEC_FLAG_BITEXACT);
      check(context.setOption('preset', 'veryfast'), 'choosing a speed');
      check(context.setOption('crf', quality), 'choosing a quality');
      // The same pictures shall be the same bytes: x264's weighing of blocks by what follows (with AVX-512, in node-av
      // 6.1.1) gave other sizes in three of eight runs. Without it a film is half as large again, and no worse.
      check(context.setOption('x264-params', 'mbtree=0'), 'making films repeatable');
      check(context.open2Sync(codec), 'opening the encoder of pictures');
      this.#track = new Track(container, context, 1n);
      this.#track.stream.avgFrameRate = rate;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  async write(pixels: Uint8Array, at: number): Promise<void> {
    const { width, height } = this.#options;
    assert(pixels.byteLength === width * height * bytesPerPixel, `a picture is ${width} × ${height} RGBA`);
    const frame = Frame.fromVideoBuffer(Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength), {
      width,
      height,
      format: AV_PIX_FMT_RGBA,
      timeBase: this.#timeBase,
      pts: BigInt(at),
    });
    try {
      for (const scaled of this.#chain.pass(frame)) await this.#track.write(scaled);
    } finally {
      frame.free();
    }
  }

  async finish(): Promise<void> {
    for (const scaled of this.#chain.pass(null)) await this.#track.write(scaled);
    await this.#track.write(null);
  }

  close(): void {
    this.#chain?.close();
    this.#track?.close();
    this.#context.freeContext();
  }
}

/** Sound is written no further than the pictures are: only they say how long the film is. */
class SoundTrack {
  readonly #context = new CodecContext();
  readonly #sampleRate: number;
  readonly #graph: SoundGraph;
  readonly #track: Track;
  #waiting: Int16Array[] = [];
  /** Of each channel. */
  #taken = 0;
  #written = 0;

  constructor(container: FormatContext, sampleRate: number) {
    this.#sampleRate = sampleRate;
    const context = this.#context;
    try {
      const codec = findEncoder('aac');
      context.allocContext3(codec);
      context.sampleRate = sampleRate;
      context.sampleFormat = codec.sampleFormats?.[0] ?? context.sampleFormat;
      context.channelLayout = channelLayouts[channels];
      context.timeBase = new Rational(1, sampleRate);
      context.bitRate = soundBitRate;
      context.threadCount = 1;
      context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER, AV_CODEC_FLAG_BITEXACT);
      check(context.open2Sync(codec), 'opening the encoder of sound');
      const sampleFormat = avGetSampleFmtName(context.sampleFormat) ?? 'fltp';
      const out = { sampleRate, sampleFormat, frameSize: context.frameSize };
      this.#graph = new SoundGraph({ sampleRate, channels, speed: 1, out });
      this.#track = new Track(container, context);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** A copy: the caller may use its memory again. */
  add(samples: Int16Array): void {
    if (samples.length > 0) this.#waiting.push(samples.slice());
  }

  /** Of what waits, up to so many samples from the start. */
  async write(until: number): Promise<void> {
    for (;;) {
      const [first] = this.#waiting;
      const room = (until - this.#taken) * channels;
      if (first === undefined || room <= 0) return;
      const part = first.subarray(0, room);
      if (part.length === first.length) this.#waiting.shift();
      else this.#waiting[0] = first.subarray(room);
      await this.#take(part);
    }
  }

  async finish(until: number): Promise<void> {
    await this.write(until);
    while (this.#taken < until) {
      const length = Math.min(until - this.#taken, this.#sampleRate);
      await this.#take(new Int16Array(length * channels));
    }
    await this.#writeFrames(this.#graph.end());
    await this.#track.write(null);
  }

  close(): void {
    this.#graph?.close();
    this.#track?.close();
    this.#context.freeContext();
  }

  async #take({ buffer, byteOffset, byteLength, length }: Int16Array): Promise<void> {
    this.#taken += length / channels;
    await this.#writeFrames(this.#graph.pass(Buffer.from(buffer, byteOffset, byteLength)));
  }

  async #writeFrames(frames: Generator<Frame>): Promise<void> {
    for (const frame of frames) {
      frame.timeBase = this.#context.timeBase;
      frame.pts = BigInt(this.#written);
      this.#written += frame.nbSamples;
      await this.#track.write(frame);
    }
  }
}

function findEncoder(name: string): Codec {
  const codec = Codec.findEncoderByName(name as FFEncoderCodec);
  if (codec === null) throw new Error(`this FFmpeg has no encoder ${name}`);
  return codec;
}

/** 23.976 and its like are written as thousandths. */
function toRate(fps: number): Rational {
  return Number.isInteger(fps) ? new Rational(fps, 1) : new Rational(Math.round(fps * 1000), 1000);
}
