/** Our own samples through FFmpeg's filters: another speed at the same pitch, another rate or sample format. */
import { AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { Frame } from 'node-av/lib';
import { FilterChain, type FilterStep } from './filters.ts';
import type { Channels } from './protocol.ts';
import { bytesPerSample, channelLayouts } from './resample.ts';

export interface GraphOptions {
  /** Of the samples that are given: 16 bit. */
  readonly sampleRate: number;
  readonly channels?: Channels;
  readonly speed: number;
  readonly out: {
    readonly sampleRate: number;
    readonly sampleFormat: string;
    /** Frames of exactly so many samples, but for the last; 0: as they come. */
    readonly frameSize: number;
  };
}

/** The frames that come out, each valid until the next one. The samples go in by the second. */
export function* runGraph(samples: Buffer, options: GraphOptions): Generator<Frame> {
  const { sampleRate, channels = 1 } = options;
  const graph = new SoundGraph(options);
  try {
    const secondBytes = sampleRate * bytesPerSample * channels;
    for (let start = 0; start < samples.length; start += secondBytes)
      yield* graph.pass(samples.subarray(start, start + secondBytes));
    yield* graph.end();
  } finally {
    graph.close();
  }
}

/** The same for samples that are not all there yet. */
export class SoundGraph {
  readonly #chain: FilterChain;
  readonly #sampleRate: number;
  readonly #channels: Channels;
  #fed = 0;

  constructor({ sampleRate, channels = 1, speed, out }: GraphOptions) {
    this.#sampleRate = sampleRate;
    this.#channels = channels;
    const layout = channels === 1 ? 'mono' : 'stereo';
    const source = `sample_fmt=s16:sample_rate=${sampleRate}:channel_layout=${layout}:time_base=1/${sampleRate}`;
    const format = `sample_fmts=${out.sampleFormat}:sample_rates=${out.sampleRate}:channel_layouts=${layout}`;
    this.#chain = new FilterChain([
      ['abuffer', source],
      ...toTempos(speed).map((tempo): FilterStep => ['atempo', `tempo=${tempo}`]),
      ['aformat', format],
      ...(out.frameSize === 0 ? [] : [['asetnsamples', `n=${out.frameSize}:p=0`] as const]),
      ['abuffersink', ''],
    ]);
  }

  *pass(bytes: Buffer): Generator<Frame> {
    const nbSamples = bytes.length / bytesPerSample / this.#channels;
    const frame = Frame.fromAudioBuffer(bytes, {
      nbSamples,
      format: AV_SAMPLE_FMT_S16,
      sampleRate: this.#sampleRate,
      channelLayout: channelLayouts[this.#channels],
      timeBase: { num: 1, den: this.#sampleRate },
      pts: BigInt(this.#fed),
    });
    this.#fed += nbSamples;
    try {
      yield* this.#chain.pass(frame);
    } finally {
      frame.free();
    }
  }

  end(): Generator<Frame> {
    return this.#chain.pass(null);
  }

  close(): void {
    this.#chain.close();
  }
}

/** One filter goes down to half; above 2 it would leave samples out instead of blending them. */
function toTempos(speed: number): number[] {
  if (speed === 1) return [];
  return speed < 0.5 || speed > 2 ? [Math.sqrt(speed), Math.sqrt(speed)] : [speed];
}
