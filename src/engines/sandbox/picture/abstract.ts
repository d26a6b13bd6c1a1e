/** Art for words that mean nothing to the painter: each word brings its own forms and colours. */
import { createRandom, type Random, toSeed } from '../seed.ts';
import type { Canvas } from './canvas.ts';
import { type Colour, fade, hsl, mix } from './colour.ts';
import { createNoise, type Noise } from './noise.ts';
import { Pen, type Point } from './pen.ts';
import type { Wish } from './read-prompt.ts';

interface Motif {
  readonly pen: Pen;
  readonly random: Random;
  readonly noise: Noise;
  readonly colours: readonly [Colour, ...Colour[]];
  readonly cover: number;
  readonly width: number;
  readonly height: number;
  readonly unit: number;
}

const motifs: readonly [(motif: Motif) => void, ...((motif: Motif) => void)[]] = [
  paintCircles,
  paintRibbons,
  paintShards,
  paintFlow,
  paintRings,
  paintTiles,
  paintBranches,
];
const mostMotifs = 3;

export function paintAbstract(canvas: Canvas, wish: Wish, random: Random): void {
  paintGround(canvas, toColours(wish, toWords(wish)), createNoise(random), random);
  paintMotifs(canvas, wish, random);
}

/** The forms alone, covering what is there by `cover`. */
export function paintMotifs(canvas: Canvas, wish: Wish, random: Random, cover = 1): void {
  const words = toWords(wish);
  const { width, height } = canvas;
  const [first, ...rest] = toColours(wish, words).map((colour) => fade(colour, cover));
  if (first === undefined) return;
  const noise = createNoise(random);
  for (const word of words.slice(0, mostMotifs)) {
    // The word alone chooses the form; chance lays it out.
    const paint = createRandom(toSeed(['motif', word])).pick(motifs);
    const unit = Math.min(width, height);
    paint({ pen: Pen.on(canvas), random, noise, colours: [first, ...rest], cover, width, height, unit });
  }
}

const toWords = ({ unknown }: Wish): readonly string[] => (unknown.length > 0 ? unknown : ['silence']);

/** Five colours in a harmony that all the words choose together. */
function toColours({ colours, moods }: Wish, words: readonly string[]): [Colour, ...Colour[]] {
  const chooser = createRandom(toSeed(['colours', words]));
  const start = chooser.next() * 360;
  const steps = chooser.pick<readonly number[]>([
    [0, 25, 50, 180, 205],
    [0, 120, 240, 30, 150],
    [0, 15, 35, 55, 200],
    [0, 180, 20, 200, 90],
  ]);
  const saturation = moods.has('pastel') ? 0.5 : 0.42 + 0.28 * chooser.next();
  const lightness = moods.has('pastel') ? 0.78 : moods.has('dark') ? 0.3 : 0.5 + 0.12 * chooser.next();
  const own = steps.map((step, index) => hsl(start + step, saturation, lightness + ((index % 3) - 1) * 0.12));
  const [first = hsl(start, saturation, lightness), ...rest] = [...colours, ...own];
  return [first, ...rest];
}

function paintGround(
  { data, width, height }: Canvas,
  colours: Motif['colours'],
  noise: Noise,
  random: Random,
): void {
  const isLight = random.next() < 0.6;
  const paper = mix(colours[0], isLight ? hsl(45, 0.4, 0.94) : hsl(230, 0.35, 0.1), 0.86);
  const veil = mix(colours[1] ?? colours[0], paper, 0.45);
  const scale = 2.4 / Math.min(width, height);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      const share = noise.layered(x * scale, y * scale, 3) ** 2;
      data[at] = paper.r + (veil.r - paper.r) * share;
      data[at + 1] = paper.g + (veil.g - paper.g) * share;
      data[at + 2] = paper.b + (veil.b - paper.b) * share;
      data[at + 3] = 255;
    }
  }
}

/** Of what covers so much by itself, what the picture leaves of it. */
const thin = ({ cover }: Motif, colour: Colour, share: number): Colour => fade(colour, share * cover);

const some = ({ colours, random }: Motif): Colour => colours[random.below(colours.length)] ?? colours[0];

function paintCircles(motif: Motif): void {
  const { pen, random, width, height, unit } = motif;
  for (let index = 0; index < 26; index++) {
    const radius = unit * (0.02 + 0.16 * random.next() ** 2.2);
    const [x, y] = [random.next() * width, random.next() * height];
    const colour = some(motif);
    pen.circle(x, y, radius, {
      from: thin(motif, mix(colour, hsl(0, 0, 1), 0.3), 0.85),
      to: thin(motif, colour, 0.75),
      centre: [x - radius * 0.3, y - radius * 0.3],
      radius: radius * 1.5,
    });
    if (random.next() < 0.4) pen.ring(x, y, radius * 1.25, unit * 0.004, some(motif));
  }
}

function paintRibbons(motif: Motif): void {
  const { pen, random, noise, width, height, unit } = motif;
  const count = 9;
  for (let ribbon = 0; ribbon < count; ribbon++) {
    const base = height * ((ribbon + 0.5) / count);
    const offset = random.next() * 90;
    const swing = unit * (0.12 + 0.14 * random.next());
    const upper: Point[] = [];
    const lower: Point[] = [];
    for (let step = 0; step <= 80; step++) {
      const share = step / 80;
      const y = base + (noise.layered(share * 2.2 + offset, ribbon, 2) - 0.5) * swing * 2;
      const thick = unit * (0.012 + 0.06 * noise.at(share * 3 + offset, ribbon + 20));
      upper.push([share * width, y - thick]);
      lower.push([share * width, y + thick]);
    }
    pen.polygon([...upper, ...lower.reverse()], {
      from: thin(motif, some(motif), 0.85),
      to: thin(motif, some(motif), 0.7),
      line: [0, 0, width, 0],
    });
  }
}

function paintShards(motif: Motif): void {
  const { pen, random, width, height, unit } = motif;
  for (let index = 0; index < 34; index++) {
    const [x, y] = [random.next() * width, random.next() * height];
    const turn = random.next() * 2 * Math.PI;
    const long = unit * (0.06 + 0.26 * random.next() ** 1.6);
    const corner = (angle: number, far: number): Point => [
      x + Math.cos(turn + angle) * far,
      y + Math.sin(turn + angle) * far,
    ];
    const colour = some(motif);
    pen.polygon([corner(0, long), corner(2.2, long * 0.5), corner(3.6, long * 0.35)], {
      from: thin(motif, colour, 0.9),
      to: thin(motif, mix(colour, hsl(0, 0, 1), 0.35), 0.6),
      line: [...corner(0, long), ...corner(3, long * 0.4)],
    });
  }
}

/** Lines that follow the slope of the noise. */
function paintFlow(motif: Motif): void {
  const { pen, random, noise, width, height, unit } = motif;
  for (let line = 0; line < 150; line++) {
    let [x, y] = [random.next() * width, random.next() * height];
    const points: Point[] = [[x, y]];
    for (let step = 0; step < 34; step++) {
      const angle = noise.layered((x / unit) * 1.6, (y / unit) * 1.6, 2) * 4 * Math.PI;
      x += Math.cos(angle) * unit * 0.012;
      y += Math.sin(angle) * unit * 0.012;
      points.push([x, y]);
    }
    pen.stroke(points, unit * (0.002 + 0.007 * random.next()), thin(motif, some(motif), 0.75));
  }
}

function paintRings(motif: Motif): void {
  const { pen, random, width, height, unit } = motif;
  for (let centre = 0; centre < 3; centre++) {
    const [x, y] = [width * (0.15 + 0.7 * random.next()), height * (0.15 + 0.7 * random.next())];
    const gap = unit * (0.016 + 0.02 * random.next());
    const rings = 5 + random.below(8);
    for (let ring = rings; ring > 0; ring--)
      pen.ring(x, y, ring * gap, gap * (0.35 + 0.4 * random.next()), thin(motif, some(motif), 0.85));
    pen.circle(x, y, gap * 0.5, some(motif));
  }
}

function paintTiles(motif: Motif): void {
  const { pen, random, width, height, unit } = motif;
  const cell = unit / (5 + random.below(4));
  const [left, top] = [(width % cell) / 2, (height % cell) / 2];
  for (let y = top; y + cell <= height + 1; y += cell) {
    for (let x = left; x + cell <= width + 1; x += cell) {
      if (random.next() < 0.35) continue;
      const gap = cell * 0.06;
      const [a, b] = [some(motif), some(motif)];
      const tile = pen.at({ x: x + cell / 2, y: y + cell / 2, turn: random.below(4) / 4 });
      const half = cell / 2 - gap;
      const shape = random.below(3);
      if (shape === 0)
        tile.polygon(
          [
            [-half, -half],
            [half, -half],
            [-half, half],
          ],
          thin(motif, a, 0.9),
        );
      else if (shape === 1) tile.circle(0, 0, half, thin(motif, a, 0.9));
      else tile.rect(-half, -half, half * 2, half * 2, thin(motif, a, 0.85), gap);
      if (random.next() < 0.5) tile.circle(0, 0, half * 0.4, b);
    }
  }
}

function paintBranches(motif: Motif): void {
  const { pen, random, width, height, unit } = motif;
  const grow = (x: number, y: number, angle: number, length: number, left: number): void => {
    if (left === 0) {
      pen.circle(x, y, unit * (0.006 + 0.014 * random.next()), thin(motif, some(motif), 0.9));
      return;
    }
    const [toX, toY] = [x + Math.cos(angle) * length, y + Math.sin(angle) * length];
    pen.stroke(
      [
        [x, y],
        [toX, toY],
      ],
      unit * 0.003 * left,
      thin(motif, motif.colours[left % motif.colours.length] ?? some(motif), 0.9),
    );
    const forks = left > 3 ? 2 : 2 + random.below(2);
    for (let fork = 0; fork < forks; fork++) {
      const turn = (fork - (forks - 1) / 2) * 0.75 + (random.next() - 0.5) * 0.5;
      grow(toX, toY, angle + turn, length * (0.68 + 0.14 * random.next()), left - 1);
    }
  };
  for (let root = 0; root < 3; root++) {
    grow(width * (0.2 + 0.3 * root + 0.1 * (random.next() - 0.5)), height, -Math.PI / 2, unit * 0.2, 6);
  }
}
