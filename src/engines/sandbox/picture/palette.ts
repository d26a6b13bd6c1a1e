/** The colours of a scene: the hour sets them, the land, the mood and named colours change them. */
import type { Random } from '../seed.ts';
import { type Colour, darken, hsl, lighten, luminance, mix, rgb } from './colour.ts';
import type { Wish } from './read-prompt.ts';
import type { Land, Time } from './words.ts';

export interface Palette {
  readonly skyHigh: Colour;
  readonly skyLow: Colour;
  readonly light: Colour;
  readonly ground: Colour;
  readonly far: Colour;
  readonly water: Colour;
  readonly cloud: Colour;
  /** How dark it is, from 0 to 1: windows are lit and stars are seen. */
  readonly dark: number;
  /** For things that bring no colour of their own. */
  readonly accents: readonly [Colour, ...Colour[]];
}

type Hour = Omit<Palette, 'ground' | 'far' | 'accents'>;

const hours: Readonly<Record<Time, Hour>> = {
  day: {
    skyHigh: rgb(0x3f8fe0),
    skyLow: rgb(0xcfe9fb),
    light: rgb(0xfff3c4),
    water: rgb(0x2e7fb8),
    cloud: rgb(0xffffff),
    dark: 0,
  },
  sunset: {
    skyHigh: rgb(0x43356f),
    skyLow: rgb(0xffa35c),
    light: rgb(0xffdf8e),
    water: rgb(0x5b4a80),
    cloud: rgb(0xff9f8a),
    dark: 0.35,
  },
  dawn: {
    skyHigh: rgb(0x6f8fd0),
    skyLow: rgb(0xffd9c8),
    light: rgb(0xfff0d0),
    water: rgb(0x6f95bd),
    cloud: rgb(0xffe6e6),
    dark: 0.1,
  },
  night: {
    skyHigh: rgb(0x070b22),
    skyLow: rgb(0x27356b),
    light: rgb(0xf3efd8),
    water: rgb(0x14254f),
    cloud: rgb(0x3b4778),
    dark: 0.85,
  },
  storm: {
    skyHigh: rgb(0x39424f),
    skyLow: rgb(0x8e99a3),
    light: rgb(0xdfe5ea),
    water: rgb(0x3c5363),
    cloud: rgb(0x5d6874),
    dark: 0.45,
  },
};

const grounds: Readonly<Record<Land, readonly [near: Colour, far: Colour]>> = {
  mountains: [rgb(0x4f8a4c), rgb(0x6c7896)],
  sea: [rgb(0xe6cf9a), rgb(0x6f8f9a)],
  beach: [rgb(0xecd7a4), rgb(0x6f8f9a)],
  hills: [rgb(0x6fae4a), rgb(0x7fa98a)],
  city: [rgb(0x50545e), rgb(0x66708a)],
  desert: [rgb(0xe2b066), rgb(0xcf8f58)],
  forest: [rgb(0x3f7f3f), rgb(0x4f7f68)],
  meadow: [rgb(0x7cc04f), rgb(0x8fb97f)],
  snow: [rgb(0xf1f6fb), rgb(0xa9bdd4)],
  space: [rgb(0x2b2350), rgb(0x3a2d63)],
  room: [rgb(0xa8764a), rgb(0xd8c3a5)],
};

interface PaletteParts {
  readonly time: Time;
  readonly land: Land;
  readonly wish: Wish;
  readonly random: Random;
}

export function toPalette({ time, land, wish, random }: PaletteParts): Palette {
  const hour = hours[time];
  const [near, far] =
    grounds[wish.isSnowy && land !== 'sea' && land !== 'beach' && land !== 'room' ? 'snow' : land];
  // The same sky is never quite the same.
  const shift = (colour: Colour) => mix(colour, hsl(random.next() * 360, 0.5, luminance(colour)), 0.08);
  // Snow keeps shining at night.
  const isSnow = near === grounds.snow[0];
  const depth = hour.dark * (isSnow ? 0.5 : 0.72);
  const night = (colour: Colour) =>
    mix(colour, isSnow ? rgb(0x1f2f66) : mix(hour.skyHigh, rgb(0x0a1026), 0.4), depth);
  const base: Palette = {
    ...hour,
    skyHigh: shift(land === 'room' ? rgb(0xcdb79b) : hour.skyHigh),
    skyLow: shift(land === 'room' ? rgb(0xf0e2cc) : hour.skyLow),
    ground: night(shift(near)),
    far: night(shift(far)),
    accents: toAccents(wish, random),
  };
  return [...wish.moods].reduce((palette, mood) => recolour(palette, moodChanges[mood]), tinted(base, wish));
}

function toAccents({ colours, moods }: Wish, random: Random): [Colour, ...Colour[]] {
  const [first, ...rest] = random.pick(harmonies);
  const soft = (colour: Colour) => (moods.has('pastel') ? lighten(colour, 0.4) : colour);
  const [one = rgb(first), ...others] = [...colours, ...[first, ...rest].map((hex) => soft(rgb(hex)))];
  return [one, ...others];
}

/** Colours that look well beside each other. */
const harmonies: readonly [readonly [number, ...number[]], ...(readonly [number, ...number[]])[]] = [
  [0xd9473f, 0xf2b134, 0x2f7f9e, 0xf4ead5, 0x5b8c5a],
  [0x2a9d8f, 0xe76f51, 0xe9c46a, 0x264653, 0xf4a261],
  [0x5f5aa2, 0xf2a65a, 0xe25d7a, 0x7fc8c2, 0xf5e1a4],
  [0x1d70a2, 0xf25f4c, 0xffd166, 0x7bb661, 0xfff1d6],
  [0xb5446e, 0xf0c987, 0x525174, 0x8fb996, 0xe36588],
  [0xee6c4d, 0x3d7ea6, 0x98c1d9, 0xf7d488, 0x5a7d5a],
];

/** A named colour of nothing in particular colours the air and what it falls on. */
function tinted(palette: Palette, { colours }: Wish): Palette {
  const [colour, second = colour] = colours;
  if (colour === undefined || second === undefined) return palette;
  return {
    ...palette,
    skyHigh: mix(palette.skyHigh, darken(colour, 0.25), 0.6),
    skyLow: mix(palette.skyLow, lighten(second, 0.35), 0.6),
    ground: mix(palette.ground, second, 0.3),
    far: mix(palette.far, colour, 0.45),
    water: mix(palette.water, colour, 0.45),
  };
}

type Change = (colour: Colour) => Colour;

const moodChanges: Readonly<Record<string, Change>> = {
  neon: (colour) => {
    const glow = luminance(colour) > 0.35 ? rgb(0xff3fb4) : rgb(0x2a0f5c);
    return mix(colour, glow, 0.55);
  },
  pastel: (colour) => mix(lighten(colour, 0.45), rgb(0xffeef4), 0.25),
  dark: (colour) => darken(colour, 0.5),
  warm: (colour) => mix(colour, rgb(0xf08a3c), 0.28),
  cold: (colour) => mix(colour, rgb(0x9cc4e8), 0.28),
  vintage: (colour) => mix(colour, rgb(0xb8925e), 0.5),
};

function recolour(palette: Palette, change: Change | undefined): Palette {
  if (change === undefined) return palette;
  const { skyHigh, skyLow, ground, far, water, cloud } = palette;
  return {
    ...palette,
    skyHigh: change(skyHigh),
    skyLow: change(skyLow),
    ground: change(ground),
    far: change(far),
    water: change(water),
    cloud: change(cloud),
  };
}
