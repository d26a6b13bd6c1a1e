/** Where everything stands: a wish, laid out on a canvas of a size by chance. Pure but for the chance. */
import type { Random } from '../seed.ts';
import { type Colour, mix } from './colour.ts';
import { type Palette, toPalette } from './palette.ts';
import type { Wish } from './read-prompt.ts';
import type { Land, SkyThing, SubjectKind, Time } from './words.ts';

export interface Placed {
  readonly kind: SubjectKind;
  /** The middle of what it stands on, in pixels. */
  readonly x: number;
  readonly y: number;
  /** Its height in pixels. */
  readonly height: number;
  readonly isMirrored: boolean;
  readonly colour: Colour | undefined;
  /** Whether it stands on something, and throws a shadow. */
  readonly isGrounded: boolean;
}

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly time: Time;
  readonly land: Land;
  readonly isSnowy: boolean;
  readonly sky: ReadonlySet<SkyThing>;
  readonly palette: Palette;
  /** Where sun or moon stand, in pixels from the left. */
  readonly lightX: number;
  /** Where the sky ends, in pixels from above. */
  readonly horizon: number;
  /** Farthest first. */
  readonly subjects: readonly Placed[];
}

const onWater: ReadonlySet<SubjectKind> = new Set(['boat']);
const inWater: ReadonlySet<SubjectKind> = new Set(['fish', 'star']);
const inAir: ReadonlySet<SubjectKind> = new Set([
  'bird',
  'butterfly',
  'rocket',
  'balloon',
  'kite',
  'heart',
  'planet',
]);
const onTable: ReadonlySet<SubjectKind> = new Set(['apple', 'cup', 'cake', 'book']);

const swims = (kind: SubjectKind) =>
  onWater.has(kind) || inWater.has(kind) || inAir.has(kind) || kind === 'lighthouse';

/** Heights in parts of the shorter side, as they please the eye rather than as they are. */
const heights: Partial<Record<SubjectKind, number>> = {
  bird: 0.2,
  butterfly: 0.24,
  fish: 0.24,
  mushroom: 0.3,
  apple: 0.34,
  cup: 0.36,
  book: 0.3,
  car: 0.3,
  train: 0.3,
  tree: 0.55,
  pine: 0.55,
  palm: 0.6,
  castle: 0.58,
  lighthouse: 0.66,
  house: 0.44,
  rocket: 0.56,
  boat: 0.42,
  star: 0.2,
  kite: 0.3,
};

export function composeScene(wish: Wish, width: number, height: number, random: Random): Scene {
  const wanted = wish.land ?? guessLand(wish, random);
  // What cannot swim stands on the shore.
  const land = wanted === 'sea' && wish.subjects.some(({ kind }) => !swims(kind)) ? 'beach' : wanted;
  const time = wish.time ?? guessTime(wish, land);
  const sky = new Set(wish.sky);
  if (time === 'night' && land !== 'room') {
    sky.add('stars');
    if (!sky.has('aurora')) sky.add('moon');
  } else if (land === 'space') {
    sky.add('stars');
  } else if (time === 'storm') {
    sky.add('clouds');
  } else if (!sky.has('moon') && land !== 'room') {
    sky.add('sun');
    if (random.next() < 0.6) sky.add('clouds');
  }
  for (const thing of wish.skyWithout) sky.delete(thing);
  const horizon = height * (land === 'room' ? 0.6 : land === 'space' ? 1.1 : 0.52 + random.next() * 0.14);
  return {
    width,
    height,
    time,
    land,
    isSnowy: wish.isSnowy,
    sky,
    palette: toPalette({ time, land, wish, random }),
    lightX: width * (0.18 + 0.64 * random.next()),
    horizon,
    subjects: place(wish, { land, horizon, width, height }, random),
  };
}

/** Widths of what is wider than high, in parts of the height. */
const widths: Partial<Record<SubjectKind, number>> = {
  car: 1.9,
  train: 2.1,
  fish: 1.5,
  bird: 1.3,
  boat: 1.15,
  book: 1.3,
  castle: 1.15,
  planet: 1.25,
};

/** The subjects alone, as large as they can be beside each other. */
export function composeCutOut(wish: Wish, width: number, height: number, random: Random): Scene {
  const scene = composeScene(wish, width, height, random);
  const count = scene.subjects.length;
  const columns = Math.ceil(Math.sqrt((count * width) / height));
  const rows = Math.ceil(count / columns);
  const [cellWidth, cellHeight] = [width / columns, height / rows];
  const subjects = scene.subjects.map((placed, index) => {
    const tall = Math.min(cellHeight * 0.76, (cellWidth * 0.84) / (widths[placed.kind] ?? 1));
    return {
      ...placed,
      x: ((index % columns) + 0.5) * cellWidth,
      y: (Math.floor(index / columns) + 0.5) * cellHeight + tall / 2,
      height: tall,
    };
  });
  return { ...scene, subjects };
}

/** Where nothing is said, where such things are found. */
function guessLand({ subjects, sky, isSnowy }: Wish, random: Random): Land {
  if (isSnowy) return 'snow';
  const kinds = new Set(subjects.map(({ kind }) => kind));
  const some = (choices: ReadonlySet<SubjectKind>) => [...kinds].some((kind) => choices.has(kind));
  if (kinds.has('planet') || kinds.has('rocket')) return 'space';
  if (some(onWater) || some(inWater) || kinds.has('lighthouse')) return 'sea';
  if (kinds.has('cactus')) return 'desert';
  if (kinds.has('palm')) return 'beach';
  if (kinds.has('penguin') || kinds.has('snowman')) return 'snow';
  if (some(onTable)) return 'room';
  if (sky.has('aurora')) return 'mountains';
  return random.pick(['hills', 'meadow', 'hills']);
}

function guessTime({ moods, sky }: Wish, land: Land): Time {
  if (land === 'space' || moods.has('neon') || moods.has('dark')) return 'night';
  if (sky.has('stars') || sky.has('moon') || sky.has('aurora')) return 'night';
  return sky.has('lightning') || sky.has('rain') ? 'storm' : 'day';
}

interface Ground {
  readonly land: Land;
  readonly horizon: number;
  readonly width: number;
  readonly height: number;
}

function place({ subjects }: Wish, ground: Ground, random: Random): readonly Placed[] {
  const { width, height } = ground;
  const short = Math.min(width, height);
  const all = subjects
    .flatMap(({ count, ...subject }) => Array.from({ length: count }, () => subject))
    .slice(0, 24);
  // Many things are smaller, so that they have room beside each other.
  const crowd = all.length <= 1 ? 1.25 : Math.max(0.42, 1.1 / Math.sqrt(all.length) + 0.2);
  const order = shuffled(all.length, random);
  const placed = all.map(({ kind, colour, size }, index): Placed => {
    const slot = ((order[index] ?? 0) + 0.5) / all.length;
    const wobble =
      all.length === 1 ? (random.next() - 0.5) * 0.16 : ((random.next() - 0.5) * 0.5) / all.length;
    const tall = Math.min((heights[kind] ?? 0.42) * short * crowd * size, height * 0.9);
    // Not over the edge, where it can be helped.
    const half = Math.min(width / 2, (tall * (widths[kind] ?? 0.9)) / 2);
    const x = Math.max(half, Math.min(width - half, width * (slot + wobble)));
    const { y, share, isGrounded } = standing(kind, ground, random);
    return {
      kind,
      x,
      y: isGrounded ? y : Math.min(height * 0.97, Math.max(y, tall * 1.05)),
      height: tall * (isGrounded ? 0.75 + 0.5 * share : 1),
      isMirrored: random.next() < 0.5,
      colour,
      isGrounded,
    };
  });
  return placed.sort((a, b) => a.y - b.y);
}

/** `share`: how near it is, from 0 to 1. */
function standing(kind: SubjectKind, { land, horizon, height }: Ground, random: Random) {
  const share = random.next();
  const floor = height - horizon;
  if (land === 'space') return { y: height * (0.55 + 0.35 * share), share, isGrounded: false };
  if (inAir.has(kind)) return { y: horizon * (0.45 + 0.5 * share), share, isGrounded: false };
  if (inWater.has(kind)) return { y: horizon + floor * (0.5 + 0.42 * share), share, isGrounded: false };
  if (onWater.has(kind) && (land === 'sea' || land === 'beach')) {
    return { y: horizon + floor * (0.18 + 0.45 * share), share, isGrounded: false };
  }
  if (kind === 'lighthouse' && land === 'sea') {
    return { y: horizon + floor * (0.2 + 0.3 * share), share, isGrounded: false };
  }
  const nearest = land === 'beach' ? 0.7 : 0.42;
  return { y: horizon + floor * (nearest + (0.92 - nearest) * share), share, isGrounded: true };
}

function shuffled(count: number, random: Random): readonly number[] {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
  }
  return order;
}

/** What is far away takes the colour of the air. */
export function haze(colour: Colour, palette: Palette, share: number): Colour {
  return mix(colour, palette.skyLow, share);
}
