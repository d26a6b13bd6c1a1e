/** The words that the sandbox's painter knows, and what they mean to it. Everything else becomes abstract art. */
import { type Colour, rgb } from './colour.ts';

export const subjectKinds = [
  'cat',
  'dog',
  'rabbit',
  'bird',
  'owl',
  'penguin',
  'fish',
  'butterfly',
  'tree',
  'pine',
  'palm',
  'cactus',
  'flower',
  'mushroom',
  'house',
  'castle',
  'lighthouse',
  'boat',
  'car',
  'train',
  'rocket',
  'balloon',
  'kite',
  'person',
  'robot',
  'snowman',
  'heart',
  'apple',
  'cup',
  'cake',
  'umbrella',
  'book',
  'star',
  'planet',
] as const;
export type SubjectKind = (typeof subjectKinds)[number];

export const times = ['day', 'sunset', 'dawn', 'night', 'storm'] as const;
export type Time = (typeof times)[number];

export const lands = [
  'mountains',
  'sea',
  'beach',
  'hills',
  'city',
  'desert',
  'forest',
  'meadow',
  'snow',
  'space',
  'room',
] as const;
export type Land = (typeof lands)[number];

export const skyThings = [
  'sun',
  'moon',
  'stars',
  'clouds',
  'rainbow',
  'rain',
  'snowfall',
  'aurora',
  'lightning',
] as const;
export type SkyThing = (typeof skyThings)[number];

export const styles = ['watercolour', 'pixel', 'lines', 'mosaic', 'noir', 'poster'] as const;
export type Style = (typeof styles)[number];

export const moods = ['neon', 'pastel', 'dark', 'warm', 'cold', 'vintage'] as const;
export type Mood = (typeof moods)[number];

/** Several words that are one, written as one before the words are looked up. */
export const phrases: readonly [RegExp, string][] = [
  [/\bhot[- ]air[- ]balloons?\b/g, 'balloon'],
  [/\b(?:pine|fir|spruce|christmas)[- ]trees?\b/g, 'pine'],
  [/\bpalm[- ]trees?\b/g, 'palm'],
  [/\bnorthern lights\b/g, 'aurora'],
  [/\bgolden hour\b/g, 'sunset'],
  [/\bshooting stars?\b/g, 'stars'],
  [/\b(?:line|ink|pencil)[- ](?:drawing|art|sketch)\b/g, 'lineart'],
  [/\bpixel(?:ated)?[- ]?art\b/g, 'pixelart'],
  [/\bstained[- ]glass\b/g, 'mosaic'],
  [/\bblack[- ]and[- ]white\b/g, 'monochrome'],
  [/\bfilm noir\b/g, 'noir'],
  [/\bliving room\b/g, 'room'],
  [/\bouter space\b/g, 'space'],
  [/\bpart(?:ly|ially) cloudy\b/g, 'clouds'],
  [/\blight house\b/g, 'lighthouse'],
  [/\bsail(?:ing)?[- ](?:boat|ship)\b/g, 'sailboat'],
  [/\bspace[- ]?ship\b/g, 'rocket'],
];

const subjectWords: Readonly<Record<SubjectKind, string>> = {
  cat: 'cat kitten kitty tabby tomcat lion tiger',
  dog: 'dog puppy hound terrier wolf fox',
  rabbit: 'rabbit bunny hare',
  bird: 'bird sparrow robin seagull gull eagle parrot dove swallow crow raven',
  owl: 'owl',
  penguin: 'penguin',
  fish: 'fish goldfish shark salmon tuna whale dolphin',
  butterfly: 'butterfly moth',
  tree: 'tree oak maple',
  pine: 'pine fir spruce',
  palm: 'palm',
  cactus: 'cactus cacti',
  flower: 'flower rose tulip daisy sunflower blossom poppy',
  mushroom: 'mushroom toadstool',
  house: 'house home cottage cabin hut barn',
  castle: 'castle fortress palace tower',
  lighthouse: 'lighthouse',
  boat: 'boat ship sailboat yacht ferry canoe',
  car: 'car taxi automobile truck van bus',
  train: 'train locomotive tram',
  rocket: 'rocket spaceship spacecraft shuttle',
  balloon: 'balloon',
  kite: 'kite',
  person: 'person man woman child girl boy people human astronaut wizard king queen farmer',
  robot: 'robot android',
  snowman: 'snowman',
  heart: 'heart love',
  apple: 'apple fruit cherry tomato',
  cup: 'cup mug coffee tea',
  cake: 'cake cupcake',
  umbrella: 'umbrella parasol',
  book: 'book',
  star: 'starfish',
  planet: 'planet earth mars saturn jupiter',
};

const timeWords: Readonly<Record<Time, string>> = {
  day: 'day daytime noon sunny daylight summer',
  sunset: 'sunset dusk evening twilight golden autumn',
  dawn: 'dawn sunrise morning spring',
  night: 'night midnight nocturnal moonlit moonlight starry',
  storm: 'storm stormy thunderstorm tempest gloomy overcast',
};

const landWords: Readonly<Record<Land, string>> = {
  mountains: 'mountain alps alpine peak summit himalaya volcano cliff',
  sea: 'sea ocean lake river wave harbour harbor underwater water',
  beach: 'beach coast shore island seaside lagoon',
  hills: 'hill valley countryside landscape vineyard',
  city: 'city skyline town street skyscraper downtown metropolis village cyberpunk',
  desert: 'desert dune sahara sand',
  forest: 'forest wood woods jungle woodland grove',
  meadow: 'meadow field garden grass park prairie farm lawn',
  snow: 'winter snow snowy ice arctic antarctic glacier frozen',
  space: 'space galaxy cosmos universe nebula orbit',
  room: 'room table kitchen studio indoors interior desk cafe',
};

const skyWords: Readonly<Record<SkyThing, string>> = {
  sun: 'sun sunshine sunlight sunbeam',
  moon: 'moon',
  stars: 'star constellation',
  clouds: 'cloud cloudy',
  rainbow: 'rainbow',
  rain: 'rain rainy drizzle shower',
  snowfall: 'snowfall snowflake blizzard snowing',
  aurora: 'aurora',
  lightning: 'lightning thunder',
};

const styleWords: Readonly<Record<Style, string>> = {
  watercolour: 'watercolour watercolor aquarelle',
  pixel: 'pixelart pixel pixelated 8-bit voxel retro',
  lines: 'lineart sketch drawing doodle engraving',
  mosaic: 'mosaic tessellated cubist',
  noir: 'noir monochrome grayscale greyscale',
  poster: 'poster flat minimalist minimal cartoon comic',
};

const moodWords: Readonly<Record<Mood, string>> = {
  neon: 'neon cyberpunk vaporwave synthwave glowing',
  pastel: 'pastel soft dreamy gentle',
  dark: 'dark moody scary spooky gothic',
  warm: 'warm cozy cosy autumn autumnal',
  cold: 'cold chilly icy winter',
  vintage: 'vintage sepia antique old',
};

export const numberWords: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  single: 1,
  two: 2,
  pair: 2,
  couple: 2,
  three: 3,
  few: 3,
  four: 4,
  five: 5,
  several: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  dozen: 12,
  many: 9,
};

export const sizeWords: Readonly<Record<string, number>> = {
  tiny: 0.45,
  little: 0.65,
  small: 0.65,
  big: 1.4,
  large: 1.4,
  huge: 1.75,
  giant: 1.9,
  enormous: 1.9,
};

export const colourNames: Readonly<Record<string, Colour>> = {
  red: rgb(0xd8322f),
  crimson: rgb(0xb3162e),
  scarlet: rgb(0xe0301e),
  orange: rgb(0xf2872b),
  amber: rgb(0xf5b02e),
  yellow: rgb(0xf6d13a),
  gold: rgb(0xdcae38),
  golden: rgb(0xe3b23c),
  green: rgb(0x3f9b4b),
  emerald: rgb(0x1fa36b),
  lime: rgb(0x9fd33c),
  olive: rgb(0x7d8440),
  teal: rgb(0x1f9a97),
  turquoise: rgb(0x37c2bd),
  cyan: rgb(0x35c5e0),
  blue: rgb(0x2f68c8),
  navy: rgb(0x1e2f66),
  indigo: rgb(0x3f3a9e),
  purple: rgb(0x7a3fa8),
  violet: rgb(0x8a52c9),
  lavender: rgb(0xb39ddb),
  magenta: rgb(0xd53a9d),
  pink: rgb(0xf08db1),
  brown: rgb(0x83552f),
  beige: rgb(0xe0cda8),
  black: rgb(0x25252b),
  gray: rgb(0x8b8f98),
  grey: rgb(0x8b8f98),
  silver: rgb(0xb9c0ca),
  white: rgb(0xf4f2ec),
};

/** Words that say nothing about what is to be seen. */
const emptyWords =
  'a an the of in on at by to with and or for from into over under above below behind beside near next between through up down some any this that these those is are be it its as very painting picture image photo photograph illustration render portrait scene view style art artwork color colour colored coloured bright beautiful pretty cute lovely high quality detailed realistic cinematic background standing sitting flying floating swimming sleeping running drifting sailing walking holding wearing growing shining flies floats sits stands looking playing full make made draw paint show add put change turn replace same keep';

export const silent: ReadonlySet<string> = new Set(emptyWords.split(' '));

type Table<T extends string> = ReadonlyMap<string, T>;

/** Plural forms are looked up as well as the words themselves. */
function toTable<T extends string>(words: Readonly<Record<T, string>>): Table<T> {
  const table = new Map<string, T>();
  for (const meaning of Object.keys(words) as T[]) {
    for (const word of words[meaning].split(' ')) table.set(word, meaning);
  }
  return table;
}

const tables = {
  subject: toTable(subjectWords),
  time: toTable(timeWords),
  land: toTable(landWords),
  sky: toTable(skyWords),
  style: toTable(styleWords),
  mood: toTable(moodWords),
} as const;

const irregular: Readonly<Record<string, string>> = {
  mice: 'mouse',
  men: 'man',
  women: 'woman',
  children: 'child',
  wolves: 'wolf',
  leaves: 'leaf',
  cacti: 'cactus',
  mountainous: 'mountain',
  wooded: 'wood',
  hilly: 'hill',
};

/** A word and what it could be the plural of. */
function formsOf(word: string): readonly string[] {
  const forms = [word, irregular[word]];
  if (word.endsWith('ies')) forms.push(`${word.slice(0, -3)}y`);
  if (word.endsWith('es')) forms.push(word.slice(0, -2));
  if (word.endsWith('s')) forms.push(word.slice(0, -1));
  return forms.filter((form) => form !== undefined);
}

/** Several meanings at once are possible: winter is a land and a mood. */
export interface Meaning {
  readonly subject: SubjectKind | undefined;
  readonly time: Time | undefined;
  readonly land: Land | undefined;
  readonly sky: SkyThing | undefined;
  readonly style: Style | undefined;
  readonly mood: Mood | undefined;
  readonly isPlural: boolean;
}

export function meaningOf(word: string): Meaning | undefined {
  for (const form of formsOf(word)) {
    const meaning = {
      subject: tables.subject.get(form),
      time: tables.time.get(form),
      land: tables.land.get(form),
      sky: tables.sky.get(form),
      style: tables.style.get(form),
      mood: tables.mood.get(form),
    };
    if (Object.values(meaning).some((found) => found !== undefined)) {
      return { ...meaning, isPlural: form !== word || word === 'people' };
    }
  }
  return undefined;
}
