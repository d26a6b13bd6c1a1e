/** A prompt as the painter understands it. Pure. */
import type { Colour } from './colour.ts';
import {
  colourNames,
  type Land,
  type Meaning,
  type Mood,
  meaningOf,
  numberWords,
  phrases,
  type SkyThing,
  type Style,
  type SubjectKind,
  silent,
  sizeWords,
  type Time,
} from './words.ts';

export interface SubjectWish {
  readonly kind: SubjectKind;
  readonly count: number;
  readonly colour?: Colour;
  readonly size: number;
}

export interface Wish {
  readonly time?: Time;
  readonly land?: Land;
  readonly isSnowy: boolean;
  readonly sky: ReadonlySet<SkyThing>;
  /** What is not in the sky either, though it would fit. */
  readonly skyWithout: ReadonlySet<SkyThing>;
  readonly subjects: readonly SubjectWish[];
  /** Colours that belong to nothing in particular: they tint everything. */
  readonly colours: readonly Colour[];
  readonly moods: ReadonlySet<Mood>;
  readonly style?: Style;
  /** Words that mean nothing to it: forms and colours are made of them. */
  readonly unknown: readonly string[];
  /** Not a single word was understood, or the prompt asks for it. */
  readonly isAbstract: boolean;
}

const mostOfAKind = 12;
const mostWords = 400;
/** Said of several without a number. */
const severalCount = 4;

/** Words of `negativePrompt` are taken out of the scene. */
export function readPrompt(prompt: string, negativePrompt = ''): Wish {
  const unwanted = new Set(toWords(negativePrompt).map(toKey));
  const words = toWords(prompt).filter((word) => !unwanted.has(toKey(word)));
  const reader = new PromptReader();
  for (const word of toWords(negativePrompt)) reader.deny(word);
  for (const word of words) reader.take(word);
  return reader.wish();
}

function toWords(text: string): string[] {
  let read = text.toLowerCase().normalize('NFC');
  for (const [pattern, replacement] of phrases) read = read.replace(pattern, replacement);
  const words = read.match(/[\p{L}\p{M}\p{N}]+(?:[-'’][\p{L}\p{N}]+)*/gu) ?? [];
  return words.slice(0, mostWords);
}

/** Words with the same meaning are the same: `boats` in a negative prompt takes out a `ship`. */
function toKey(word: string): string {
  const meaning = meaningOf(word);
  if (meaning === undefined) return word;
  const { subject, time, land, sky, style, mood } = meaning;
  return `${subject}|${time}|${land}|${sky}|${style}|${mood}`;
}

class PromptReader {
  #time: Time | undefined;
  #land: Land | undefined;
  #style: Style | undefined;
  #isAbstractAsked = false;
  #isSnowy = false;
  readonly #sky = new Set<SkyThing>();
  readonly #skyWithout = new Set<SkyThing>();
  readonly #moods = new Set<Mood>();
  readonly #subjects: SubjectWish[] = [];
  readonly #colours: Colour[] = [];
  readonly #unknown: string[] = [];
  /** Said, and waiting for the noun that it belongs to. */
  #count: number | undefined;
  #colour: Colour | undefined;
  #size = 1;
  #isDenied = false;
  #last = '';

  take(word: string): void {
    this.#read(word);
    this.#last = word;
  }

  deny(word: string): void {
    const sky = meaningOf(word)?.sky;
    if (sky !== undefined) this.#skyWithout.add(sky);
  }

  #read(word: string): void {
    if (word === 'no' || word === 'without') this.#isDenied = true;
    else if (word === 'abstract' || word === 'generative') this.#isAbstractAsked = true;
    else if (colourNames[word] !== undefined) this.#colour = colourNames[word];
    else if (sizeWords[word] !== undefined) this.#size = sizeWords[word];
    else if (numberWords[word] !== undefined) this.#count = numberWords[word];
    else if (/^\d{1,3}$/.test(word)) this.#count = Number(word);
    else this.#takeNoun(word);
  }

  #takeNoun(word: string): void {
    const meaning = meaningOf(word);
    if (meaning === undefined) {
      if (!silent.has(word)) this.#unknown.push(word);
      return;
    }
    if (this.#isDenied) this.deny(word);
    else this.#mean(meaning);
    this.#isDenied = false;
    this.#count = undefined;
    this.#size = 1;
  }

  #mean({ subject, time, land, sky, style, mood, isPlural }: Meaning): void {
    this.#time ??= time;
    this.#land = preferred(this.#land, land);
    if (land === 'snow' || sky === 'snowfall') this.#isSnowy = true;
    this.#style ??= style;
    if (sky !== undefined) this.#sky.add(sky);
    if (mood !== undefined) this.#moods.add(mood);
    const colour = this.#colour;
    this.#colour = undefined;
    if (subject === undefined) {
      if (colour !== undefined) this.#colours.push(colour);
      return;
    }
    // A cup of coffee is one thing.
    if (this.#last === 'of' && this.#subjects.at(-1)?.kind === subject) return;
    const count = this.#count ?? 1;
    this.#subjects.push({
      kind: subject,
      count: Math.max(1, Math.min(mostOfAKind, isPlural && count === 1 ? severalCount : count)),
      size: this.#size,
      ...(colour === undefined ? {} : { colour }),
    });
  }

  wish(): Wish {
    if (this.#colour !== undefined) this.#colours.push(this.#colour);
    const isUnderstood =
      this.#time !== undefined || this.#land !== undefined || this.#sky.size > 0 || this.#subjects.length > 0;
    return {
      ...(this.#time === undefined ? {} : { time: this.#time }),
      ...(this.#land === undefined ? {} : { land: this.#land }),
      ...(this.#style === undefined ? {} : { style: this.#style }),
      isSnowy: this.#isSnowy,
      sky: this.#sky,
      skyWithout: this.#skyWithout,
      subjects: this.#subjects,
      colours: this.#colours,
      moods: this.#moods,
      unknown: this.#unknown,
      isAbstract: this.#isAbstractAsked || !isUnderstood,
    };
  }
}

/** Snow lies on whatever land there is, and a room is only where nothing else is said. */
function preferred(known: Land | undefined, land: Land | undefined): Land | undefined {
  if (known === undefined || known === 'room') return land ?? known;
  return known === 'snow' && land !== undefined && land !== 'room' ? land : known;
}
