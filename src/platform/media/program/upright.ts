/** Pictures of a film as they are to be seen: turned as the camera was held, square pixels, no larger than asked. */
import { AV_PKT_DATA_DISPLAYMATRIX, type AVPixelFormat } from 'node-av/constants';
import { avGetPixFmtName, type Frame, type Stream } from 'node-av/lib';
import type { Pixels } from '../../../engines/contract/picture.ts';
import { FilterChain, type FilterStep } from './filters.ts';

/** Clockwise. */
export type Turn = 0 | 90 | 180 | 270;

const turns: Readonly<Record<Turn, readonly FilterStep[]>> = {
  0: [],
  90: [['transpose', 'dir=clock']],
  180: [
    ['hflip', ''],
    ['vflip', ''],
  ],
  270: [['transpose', 'dir=cclock']],
};

/** From the matrix that phones write; of others than quarter turns the nearest. */
export function toTurn({ codecpar }: Stream): Turn {
  const matrix = codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX);
  if (matrix === null || matrix.length < 8) return 0;
  const degrees = (Math.atan2(matrix.readInt32LE(4), matrix.readInt32LE(0)) * 180) / Math.PI;
  return ((((Math.round(degrees / 90) + 4) % 4) * 90) | 0) as Turn;
}

/** As the film is seen, before it is made smaller. */
export function toSeenSize(stream: Stream): { width: number; height: number } {
  const { width, height } = stream.codecpar;
  const { num, den } = stream.codecpar.sampleAspectRatio;
  const wide = num > 0 && den > 0 ? Math.max(1, Math.round((width * num) / den)) : width;
  return toTurn(stream) % 180 === 0 ? { width: wide, height } : { width: height, height: wide };
}

export class UprightPictures {
  readonly #turn: Turn;
  readonly #width: number;
  readonly #height: number;
  #chain: FilterChain | undefined;
  #shape = '';

  constructor(stream: Stream, maxSide: number) {
    this.#turn = toTurn(stream);
    const { width, height } = toSeenSize(stream);
    const factor = Math.min(1, maxSide / Math.max(width, height));
    this.#width = Math.max(1, Math.round(width * factor));
    this.#height = Math.max(1, Math.round(height * factor));
  }

  convert(frame: Frame): Pixels {
    for (const picture of this.#open(frame).pass(frame))
      return { width: this.#width, height: this.#height, data: picture.toBuffer() };
    throw new Error('a filter gave nothing for a picture');
  }

  close(): void {
    this.#chain?.close();
    this.#chain = undefined;
  }

  /** A film may change its shape on the way. */
  #open({ width, height, format }: Frame): FilterChain {
    const shape = `video_size=${width}x${height}:pix_fmt=${avGetPixFmtName(format as AVPixelFormat)}`;
    if (this.#chain !== undefined && shape === this.#shape) return this.#chain;
    this.close();
    this.#shape = shape;
    this.#chain = new FilterChain([
      ['buffer', `${shape}:time_base=1/1000`],
      ...turns[this.#turn],
      ['scale', `w=${this.#width}:h=${this.#height}:flags=bicubic+accurate_rnd`],
      ['format', 'pix_fmts=rgba'],
      ['buffersink', ''],
    ]);
    return this.#chain;
  }
}
