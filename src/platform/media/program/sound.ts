/** The decoder of a file's sound: its frames, one after the other, as far as they are of a kind that we take. */
import { AV_CHANNEL_ORDER_UNSPEC, AVERROR_EAGAIN } from 'node-av/constants';
import {
  avChannelLayoutDefault,
  avGetCodecName,
  Codec,
  CodecContext,
  Frame,
  type Packet,
  type Stream,
} from 'node-av/lib';
import { isDrained } from './codes.ts';
import { decoders } from './decoders.ts';
import { Problem } from './problem.ts';

const slowestRate = 4_000;
const fastestRate = 384_000;
const mostChannels = 8;
/** FLAC's largest block has 65,535. */
const mostSamplesPerFrame = 1 << 20;
/** So many failures may come before a sound is given up in the middle. */
const patience = 100;

export class SoundDecoder {
  readonly #context = new CodecContext();
  readonly #frame = new Frame();
  #frames = 0;
  #failures = 0;

  constructor(stream: Stream) {
    const { codecpar } = stream;
    // FFmpeg has several for some; the first is its own.
    const codec = Codec.findDecoder(codecpar.codecId);
    if (codec === null || !decoders.has(codec.name ?? '')) {
      const known = avGetCodecName(codecpar.codecId) ?? 'none';
      throw new Problem(`holds audio in a codec that is not read: ${known === 'none' ? 'unknown' : known}`);
    }
    if (codecpar.sampleRate > 0) checkSampleRate(codecpar.sampleRate);
    if (codecpar.channels > 0) checkChannels(codecpar.channels);
    this.#frame.alloc();
    this.#context.allocContext3(codec);
    try {
      const copied = this.#context.parametersToContext(codecpar);
      this.#context.pktTimebase = stream.timeBase;
      this.#context.threadCount = 1;
      // Not as a dictionary: the binding frees one that it opens a decoder with, and so do we.
      this.#context.setOption('max_samples', mostSamplesPerFrame);
      if (copied < 0 || this.#context.open2Sync(codec) < 0) throw damaged();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The frames of one packet, or with null the last ones. A frame is only valid until the next one. */
  *read(packet: Packet | null): Generator<Frame> {
    const sent = this.#context.sendPacketSync(packet);
    if (sent < 0 && sent !== AVERROR_EAGAIN) this.#fail();
    for (;;) {
      this.#frame.unref();
      const code = this.#context.receiveFrameSync(this.#frame);
      if (isDrained(code)) return;
      if (code < 0) {
        this.#fail();
        return;
      }
      if (this.#frame.nbSamples === 0) continue;
      this.#frames += 1;
      checkSampleRate(this.#frame.sampleRate);
      checkChannels(this.#frame.channels);
      if (this.#frame.channelLayout.order === AV_CHANNEL_ORDER_UNSPEC)
        this.#frame.channelLayout = avChannelLayoutDefault(this.#frame.channels);
      yield this.#frame;
    }
  }

  /** After the last frame: was there a sound at all? */
  finish(): void {
    if (this.#frames === 0 && this.#failures === 0) throw new Problem('has no audio in it');
    if (this.#failures >= this.#frames) throw damaged();
  }

  close(): void {
    this.#frame.free();
    this.#context.freeContext();
  }

  /** A scratch is passed over, as every player does; where there are more scratches than sound, it is none. */
  #fail(): void {
    this.#failures += 1;
    if (this.#failures > patience && this.#failures > this.#frames) throw damaged();
  }
}

function damaged(): Problem {
  return new Problem('cannot be decoded: its audio is damaged');
}

function checkSampleRate(rate: number): void {
  if (rate >= slowestRate && rate <= fastestRate) return;
  throw new Problem(`has a sample rate of ${rate} Hz: ${slowestRate} to ${fastestRate} Hz are read`);
}

function checkChannels(channels: number): void {
  if (channels >= 1 && channels <= mostChannels) return;
  throw new Problem(`has ${channels} channels: at most ${mostChannels} are read`);
}
