/** The decoder of a film's pictures, one after the other, as far as they are of a kind and a size that we take. */
import { AVERROR_EAGAIN } from 'node-av/constants';
import { avGetCodecName, Codec, CodecContext, Frame, type Packet, type Stream } from 'node-av/lib';
import { check, isDrained } from './codes.ts';
import { filmDecoders } from './decoders.ts';
import { Problem } from './problem.ts';

const longestSide = 8_192;
/** 8K. */
const mostPixels = 7_680 * 4_320;
/** So many failures may come before a film is given up in the middle. */
const patience = 100;

export class FilmDecoder {
  readonly #context = new CodecContext();
  readonly #frame = new Frame();
  #frames = 0;
  #failures = 0;

  constructor(stream: Stream) {
    const { codecpar } = stream;
    const codec = Codec.findDecoder(codecpar.codecId);
    if (codec === null || !filmDecoders.has(codec.name ?? '')) {
      const known = avGetCodecName(codecpar.codecId) ?? 'none';
      throw new Problem(`holds video in a codec that is not read: ${known === 'none' ? 'unknown' : known}`);
    }
    checkSize(codecpar.width, codecpar.height);
    this.#frame.alloc();
    this.#context.allocContext3(codec);
    try {
      const copied = this.#context.parametersToContext(codecpar);
      this.#context.pktTimebase = stream.timeBase;
      this.#context.threadCount = 1;
      check(this.#context.setOption('max_pixels', mostPixels), 'limiting pictures');
      if (copied < 0 || this.#context.open2Sync(codec) < 0) throw damaged();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** There was no picture yet. */
  get isEmpty(): boolean {
    return this.#frames === 0;
  }

  /** The pictures of one packet, or with null the last ones. Each is only valid until the next one. */
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
      this.#frames += 1;
      checkSize(this.#frame.width, this.#frame.height);
      yield this.#frame;
    }
  }

  /** After the last one: was there a picture at all? */
  finish(): void {
    if (this.#frames === 0) throw damaged();
  }

  close(): void {
    this.#frame.free();
    this.#context.freeContext();
  }

  #fail(): void {
    this.#failures += 1;
    if (this.#failures > patience && this.#failures > this.#frames) throw damaged();
  }
}

function damaged(): Problem {
  return new Problem('cannot be decoded: its video is damaged');
}

function checkSize(width: number, height: number): void {
  if (width < 1 || height < 1) throw damaged();
  if (Math.max(width, height) <= longestSide && width * height <= mostPixels) return;
  throw new Problem(`is ${width} × ${height} pixels large: at most ${longestSide} on a side are read`);
}
