/** Our own samples through FFmpeg's filters: another speed at the same pitch, another rate or sample format. */
import { AV_CHANNEL_LAYOUT_MONO, AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { Filter, type FilterContext, FilterGraph, Frame } from 'node-av/lib';
import { check, isDrained } from './codes.ts';
import { bytesPerSample } from './mono.ts';

export interface GraphOptions {
  /** Of the samples that are given: mono, 16 bit. */
  readonly sampleRate: number;
  readonly speed: number;
  readonly out: {
    readonly sampleRate: number;
    readonly sampleFormat: string;
    /** Frames of exactly so many samples, but for the last; 0: as they come. */
    readonly frameSize: number;
  };
}

type Step = readonly [filter: string, options: string];

/** The frames that come out, each valid until the next one. The samples go in by the second. */
export function* runGraph(samples: Buffer, options: GraphOptions): Generator<Frame> {
  const { sampleRate } = options;
  const graph = new FilterGraph();
  graph.alloc();
  graph.nbThreads = 1;
  const frame = new Frame();
  frame.alloc();
  try {
    const source = create(graph, 'abuffer', toSource(sampleRate));
    const sink = create(graph, 'abuffersink', '');
    const steps = toSteps(options).map(([filter, given]) => create(graph, filter, given));
    let last = source;
    for (const step of [...steps, sink]) {
      check(last.link(0, step, 0), 'linking filters');
      last = step;
    }
    check(graph.configSync(), 'configuring filters');
    const secondBytes = sampleRate * bytesPerSample;
    for (let start = 0; start < samples.length; start += secondBytes) {
      feed(source, samples.subarray(start, start + secondBytes), start / bytesPerSample, sampleRate);
      yield* drain(sink, frame);
    }
    check(source.buffersrcAddFrameSync(null), 'ending the samples');
    yield* drain(sink, frame);
  } finally {
    frame.free();
    graph.free();
  }
}

function create(graph: FilterGraph, name: string, options: string): FilterContext {
  const filter = Filter.getByName(name);
  const created = filter && graph.createFilter(filter, `${name}-${graph.nbFilters}`, options);
  if (created === null) throw new Error(`this FFmpeg has no filter ${name}`);
  return created;
}

function toSource(sampleRate: number): string {
  return `sample_fmt=s16:sample_rate=${sampleRate}:channel_layout=mono:time_base=1/${sampleRate}`;
}

function toSteps({ speed, out }: GraphOptions): Step[] {
  const format = `sample_fmts=${out.sampleFormat}:sample_rates=${out.sampleRate}:channel_layouts=mono`;
  return [
    ...toTempos(speed).map((tempo): Step => ['atempo', `tempo=${tempo}`]),
    ['aformat', format],
    ...(out.frameSize === 0 ? [] : [['asetnsamples', `n=${out.frameSize}:p=0`] as const]),
  ];
}

/** One filter goes down to half; above 2 it would leave samples out instead of blending them. */
function toTempos(speed: number): number[] {
  if (speed === 1) return [];
  return speed < 0.5 || speed > 2 ? [Math.sqrt(speed), Math.sqrt(speed)] : [speed];
}

function feed(source: FilterContext, bytes: Buffer, at: number, sampleRate: number): void {
  const frame = Frame.fromAudioBuffer(bytes, {
    nbSamples: bytes.length / bytesPerSample,
    format: AV_SAMPLE_FMT_S16,
    sampleRate,
    channelLayout: AV_CHANNEL_LAYOUT_MONO,
    timeBase: { num: 1, den: sampleRate },
    pts: BigInt(at),
  });
  try {
    check(source.buffersrcAddFrameSync(frame), 'feeding samples');
  } finally {
    frame.free();
  }
}

function* drain(sink: FilterContext, frame: Frame): Generator<Frame> {
  for (;;) {
    frame.unref();
    const code = sink.buffersinkGetFrameSync(frame);
    if (isDrained(code)) return;
    check(code, 'filtering');
    yield frame;
  }
}
