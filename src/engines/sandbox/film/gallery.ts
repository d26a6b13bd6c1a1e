/** References in the scene: pictures as prints and films as screens, which come in one after the other and sway. */
import type { Pixels } from '../../contract/picture.ts';
import { Canvas } from '../picture/canvas.ts';
import { fade, rgb, white } from '../picture/colour.ts';
import { Pen } from '../picture/pen.ts';
import { scaled } from '../picture/scale.ts';
import { smooth } from './direction.ts';
import { Layer } from './layer.ts';
import type { Raster } from './raster.ts';

/** Something that is shown: a picture that stays, or the frames of a film. */
export interface Exhibit {
  /** Undefined once there is nothing more: the last one stays. */
  next(seconds: number): Promise<Pixels | undefined>;
  close(): Promise<void>;
}

export interface Gallery {
  draw(raster: Raster, seconds: number): Promise<void>;
  close(): Promise<void>;
}

interface Hung {
  readonly exhibit: Exhibit;
  /** Of what is shown, in pixels of the frame; its longer side at most. */
  readonly side: number;
  readonly x: number;
  readonly y: number;
  readonly index: number;
  print: Print | undefined;
}

interface Print {
  readonly canvas: Canvas;
  readonly layer: Layer;
  readonly border: number;
  readonly width: number;
  readonly height: number;
}

export function createGallery(exhibits: readonly Exhibit[], width: number, height: number): Gallery {
  const hung = hang(exhibits, width, height);
  return {
    async draw(raster, seconds) {
      for (const place of hung) {
        const shown = await place.exhibit.next(seconds);
        if (shown !== undefined) place.print = show(place, shown);
        if (place.print !== undefined) drawPrint(raster, place, place.print, seconds);
      }
    },
    async close() {
      for (const { exhibit } of hung) await exhibit.close();
    },
  };
}

/** In one row, or in two where there are many. */
function hang(exhibits: readonly Exhibit[], width: number, height: number): Hung[] {
  const rows = exhibits.length > (width > height ? 4 : 2) ? 2 : 1;
  const columns = Math.ceil(exhibits.length / rows);
  const side = Math.min(
    (width * 0.92) / columns - width * 0.02,
    (height * 0.8) / rows - height * 0.03,
    height * 0.52,
  );
  return exhibits.map((exhibit, index) => {
    const row = Math.floor(index / columns);
    const inRow = Math.min(columns, exhibits.length - row * columns);
    return {
      exhibit,
      index,
      side: Math.floor(side),
      x: width * ((index - row * columns + 0.5) / inRow),
      y: height * (rows === 1 ? 0.5 : 0.28 + 0.44 * row),
      print: undefined,
    };
  });
}

function show({ side, print }: Hung, shown: Pixels): Print {
  const zoom = side / Math.max(shown.width, shown.height);
  const width = Math.max(2, Math.round(shown.width * zoom));
  const height = Math.max(2, Math.round(shown.height * zoom));
  const made = print?.width === width && print.height === height ? print : mount(width, height);
  const { canvas, border, layer } = made;
  const picture = scaled(shown, width, height).data;
  for (let y = 0; y < height; y++) {
    const to = ((y + border) * canvas.width + border) * 4;
    for (let at = 0; at < width * 4; at += 4) {
      const from = y * width * 4 + at;
      const share = picture[from + 3]! / 255;
      for (let part = 0; part < 3; part++) {
        canvas.data[to + at + part] = 252 + (picture[from + part]! - 252) * share + 0.5;
      }
    }
  }
  layer.load(canvas.data);
  return made;
}

function mount(width: number, height: number): Print {
  const border = Math.max(4, Math.round(Math.min(width, height) * 0.045)) + 3;
  const canvas = new Canvas(width + border * 2, height + border * 2);
  const pen = Pen.on(canvas);
  pen.rect(2, 3, canvas.width - 4, canvas.height - 5, fade(rgb(0x101018), 0.35), 4);
  pen.rect(3, 2, canvas.width - 6, canvas.height - 6, white, 2);
  return { canvas, layer: new Layer(canvas.width, canvas.height), border, width, height };
}

const [enterSeconds, betweenSeconds] = [0.5, 0.22];

function drawPrint(raster: Raster, { x, y, index }: Hung, { layer }: Print, seconds: number): void {
  const come = smooth((seconds - index * betweenSeconds) / enterSeconds);
  if (come <= 0) return;
  const turn = 0.03 * Math.sin(seconds * 1.1 + index * 2.1);
  const size = 0.86 + 0.14 * come + 0.012 * Math.sin(seconds * 0.9 + index);
  const [cos, sin] = [Math.cos(turn) * size, Math.sin(turn) * size];
  const down =
    (1 - come) * raster.height * 0.12 + Math.sin(seconds * 1.3 + index * 1.7) * raster.height * 0.012;
  const [halfX, halfY] = [layer.width / 2, layer.height / 2];
  raster.sprite(
    layer,
    {
      a: cos,
      b: sin,
      c: -sin,
      d: cos,
      e: x - cos * halfX + sin * halfY,
      f: y + down - sin * halfX - cos * halfY,
    },
    come,
  );
}
