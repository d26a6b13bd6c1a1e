/** Frames of any shape to mono samples of 16 bit at one rate. A sound may change its shape on the way. */
import { AV_CHANNEL_LAYOUT_MONO, AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { Frame, SoftwareResampleContext } from 'node-av/lib';
import { check } from './codes.ts';
import { Problem } from './problem.ts';

export const bytesPerSample = 2;

export class MonoConverter {
  readonly #sampleRate: number;
  readonly #out = new Frame();
  #resampler: SoftwareResampleContext | undefined;
  #shape = '';

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.#out.alloc();
  }

  /** Bytes that are only valid until the next call. */
  *convert(frame: Frame): Generator<Buffer> {
    const { channelLayout, format, sampleRate } = frame;
    const shape = `${format} ${sampleRate} ${channelLayout.order} ${channelLayout.nbChannels} ${channelLayout.mask}`;
    if (shape !== this.#shape) {
      yield* this.flush();
      this.#resampler = this.#open(frame);
      this.#shape = shape;
    }
    yield* this.#take(frame);
  }

  /** What the resampler still holds. */
  *flush(): Generator<Buffer> {
    if (this.#resampler === undefined) return;
    yield* this.#take(null);
    this.#resampler.free();
    this.#resampler = undefined;
    this.#shape = '';
  }

  close(): void {
    this.#resampler?.free();
    this.#out.free();
  }

  #open({ channelLayout, format, sampleRate }: Frame): SoftwareResampleContext {
    const resampler = new SoftwareResampleContext();
    const code = resampler.allocSetOpts2(
      AV_CHANNEL_LAYOUT_MONO,
      AV_SAMPLE_FMT_S16,
      this.#sampleRate,
      channelLayout,
      format as typeof AV_SAMPLE_FMT_S16,
      sampleRate,
    );
    if (code < 0 || resampler.init() < 0) {
      resampler.free();
      throw new Problem('cannot be decoded: its channels are of a kind that is not read');
    }
    return resampler;
  }

  *#take(frame: Frame | null): Generator<Buffer> {
    const out = this.#out;
    out.unref();
    out.format = AV_SAMPLE_FMT_S16;
    out.sampleRate = this.#sampleRate;
    out.channelLayout = AV_CHANNEL_LAYOUT_MONO;
    if (this.#resampler === undefined) return;
    check(this.#resampler.convertFrame(out, frame), 'resampling');
    if (out.nbSamples === 0) return;
    const bytes = out.data?.[0];
    if (bytes !== undefined) yield bytes.subarray(0, out.nbSamples * bytesPerSample);
  }
}
