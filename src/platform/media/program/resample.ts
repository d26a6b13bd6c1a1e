/** Frames of any shape to samples of 16 bit in one shape. A sound may change its own on the way. */
import { AV_CHANNEL_LAYOUT_MONO, AV_CHANNEL_LAYOUT_STEREO, AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { Frame, SoftwareResampleContext } from 'node-av/lib';
import { check } from './codes.ts';
import { Problem } from './problem.ts';
import type { Channels } from './protocol.ts';

export const bytesPerSample = 2;

export const channelLayouts = { 1: AV_CHANNEL_LAYOUT_MONO, 2: AV_CHANNEL_LAYOUT_STEREO } as const;

export class Resampler {
  readonly #sampleRate: number;
  readonly #channels: Channels;
  readonly #out = new Frame();
  #swr: SoftwareResampleContext | undefined;
  #shape = '';

  constructor(sampleRate: number, channels: Channels) {
    this.#sampleRate = sampleRate;
    this.#channels = channels;
    this.#out.alloc();
  }

  /** Bytes that are only valid until the next call. */
  *convert(frame: Frame): Generator<Buffer> {
    const { channelLayout, format, sampleRate } = frame;
    const shape = `${format} ${sampleRate} ${channelLayout.order} ${channelLayout.nbChannels} ${channelLayout.mask}`;
    if (shape !== this.#shape) {
      yield* this.flush();
      this.#swr = this.#open(frame);
      this.#shape = shape;
    }
    yield* this.#take(frame);
  }

  /** What the resampler still holds. */
  *flush(): Generator<Buffer> {
    if (this.#swr === undefined) return;
    yield* this.#take(null);
    this.#swr.free();
    this.#swr = undefined;
    this.#shape = '';
  }

  close(): void {
    this.#swr?.free();
    this.#out.free();
  }

  #open({ channelLayout, format, sampleRate }: Frame): SoftwareResampleContext {
    const swr = new SoftwareResampleContext();
    const code = swr.allocSetOpts2(
      channelLayouts[this.#channels],
      AV_SAMPLE_FMT_S16,
      this.#sampleRate,
      channelLayout,
      format as typeof AV_SAMPLE_FMT_S16,
      sampleRate,
    );
    // By itself it shares one ear's loudness between two.
    if (this.#channels === 2 && channelLayout.nbChannels === 1)
      check(swr.setOption('rematrix_volume', Math.SQRT2), 'choosing a loudness');
    if (code < 0 || swr.init() < 0) {
      swr.free();
      throw new Problem('cannot be decoded: its channels are of a kind that is not read');
    }
    return swr;
  }

  *#take(frame: Frame | null): Generator<Buffer> {
    const out = this.#out;
    out.unref();
    out.format = AV_SAMPLE_FMT_S16;
    out.sampleRate = this.#sampleRate;
    out.channelLayout = channelLayouts[this.#channels];
    if (this.#swr === undefined) return;
    check(this.#swr.convertFrame(out, frame), 'resampling');
    if (out.nbSamples === 0) return;
    const bytes = out.data?.[0];
    if (bytes !== undefined) yield bytes.subarray(0, out.nbSamples * bytesPerSample * this.#channels);
  }
}
