/** A chain of FFmpeg's filters, fed frame by frame: what comes in at its head comes out at its end. */
import { Filter, type FilterContext, FilterGraph, Frame } from 'node-av/lib';
import { check, isDrained } from './codes.ts';

export type FilterStep = readonly [filter: string, options: string];

export class FilterChain {
  readonly #graph = new FilterGraph();
  readonly #frame = new Frame();
  readonly #source: FilterContext;
  readonly #sink: FilterContext;

  /** The first step is the source, the last the sink. */
  constructor(steps: readonly FilterStep[], threads = 1) {
    this.#frame.alloc();
    this.#graph.alloc();
    this.#graph.nbThreads = threads;
    try {
      const filters = steps.map(([filter, options]) => this.#create(filter, options));
      filters.reduce((last, next) => {
        check(last.link(0, next, 0), 'linking filters');
        return next;
      });
      check(this.#graph.configSync(), 'configuring filters');
      [this.#source, this.#sink] = [filters[0], filters.at(-1)] as [FilterContext, FilterContext];
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The frames that come out for one that goes in, or with null the last ones. Each is valid until the next. */
  *pass(frame: Frame | null): Generator<Frame> {
    check(this.#source.buffersrcAddFrameSync(frame), 'feeding a frame');
    for (;;) {
      this.#frame.unref();
      const code = this.#sink.buffersinkGetFrameSync(this.#frame);
      if (isDrained(code)) return;
      check(code, 'filtering');
      yield this.#frame;
    }
  }

  close(): void {
    this.#frame.free();
    this.#graph.free();
  }

  #create(name: string, options: string): FilterContext {
    const filter = Filter.getByName(name);
    const created = filter && this.#graph.createFilter(filter, `${name}-${this.#graph.nbFilters}`, options);
    if (created === null) throw new Error(`this FFmpeg has no filter ${name}`);
    return created;
  }
}
