/** The instruments: their numbers in General MIDI, their ranges, and by which words a prompt names them. */
import type { Role } from './roles.ts';

/** How the plain synthesiser makes its sound. */
export type Timbre =
  | 'keys'
  | 'electric'
  | 'bell'
  | 'organ'
  | 'pluck'
  | 'distorted'
  | 'bass'
  | 'strings'
  | 'brass'
  | 'reed'
  | 'flute'
  | 'voice'
  | 'square'
  | 'saw'
  | 'pad';

export interface Instrument {
  readonly program: number;
  readonly low: number;
  readonly high: number;
  readonly timbre: Timbre;
  /** What it can play, best first. */
  readonly roles: readonly Role[];
  /** Beside its own name. */
  readonly words: readonly string[];
}

const define = (
  program: number,
  [low, high]: readonly [number, number],
  timbre: Timbre,
  roles: readonly Role[],
  words: readonly string[] = [],
): Instrument => ({ program, low, high, timbre, roles, words });

const keys = ['chords', 'lead', 'counter'] as const;
const sings = ['lead', 'counter'] as const;
const fills = ['pad', 'chords', 'counter', 'lead'] as const;

export const instruments = {
  piano: define(0, [33, 96], 'keys', keys, ['grand piano', 'pianos', 'keyboard']),
  'electric piano': define(4, [36, 91], 'electric', keys, ['rhodes', 'e-piano', 'wurlitzer']),
  harpsichord: define(6, [41, 84], 'pluck', keys, ['cembalo']),
  celesta: define(8, [60, 96], 'bell', ['lead', 'counter', 'chords']),
  glockenspiel: define(9, [67, 96], 'bell', sings, ['glocken']),
  'music box': define(10, [60, 96], 'bell', ['lead', 'chords', 'counter'], ['musicbox']),
  vibraphone: define(11, [53, 89], 'bell', ['counter', 'lead', 'chords'], ['vibes']),
  marimba: define(12, [45, 89], 'pluck', ['chords', 'lead', 'counter']),
  xylophone: define(13, [65, 96], 'pluck', sings),
  bells: define(14, [60, 84], 'bell', ['counter', 'lead'], ['tubular bells', 'chimes']),
  organ: define(16, [36, 91], 'organ', fills, ['hammond']),
  'church organ': define(19, [36, 91], 'organ', fills, ['pipe organ']),
  accordion: define(21, [53, 89], 'reed', ['chords', 'lead', 'counter'], ['concertina']),
  harmonica: define(22, [60, 88], 'reed', sings, ['mouth organ']),
  'nylon guitar': define(24, [40, 84], 'pluck', keys, ['classical guitar', 'spanish guitar', 'ukulele']),
  'acoustic guitar': define(25, [40, 84], 'pluck', keys, ['steel guitar', 'guitar', 'guitars']),
  'jazz guitar': define(26, [40, 86], 'pluck', keys),
  'clean guitar': define(27, [40, 86], 'pluck', keys, ['electric guitar', 'electric guitars']),
  'muted guitar': define(28, [40, 84], 'pluck', ['chords']),
  'overdriven guitar': define(29, [40, 86], 'distorted', ['chords', 'lead', 'counter']),
  'distorted guitar': define(
    30,
    [36, 86],
    'distorted',
    ['chords', 'lead', 'counter'],
    ['distortion guitar', 'heavy guitar', 'heavy guitars'],
  ),
  'double bass': define(32, [28, 55], 'bass', ['bass'], ['upright bass', 'acoustic bass', 'contrabass']),
  'bass guitar': define(33, [28, 55], 'bass', ['bass'], ['electric bass', 'bass']),
  'fretless bass': define(35, [28, 55], 'bass', ['bass']),
  'slap bass': define(36, [28, 60], 'bass', ['bass']),
  'synth bass': define(38, [24, 55], 'bass', ['bass'], ['808 bass', 'sub bass']),
  violin: define(40, [55, 96], 'strings', sings, ['violins', 'fiddle solo']),
  viola: define(41, [48, 84], 'strings', ['counter', 'lead'], ['violas']),
  cello: define(42, [36, 72], 'strings', ['counter', 'lead'], ['cellos', 'celli']),
  'pizzicato strings': define(45, [43, 84], 'pluck', ['chords', 'counter', 'lead'], ['pizzicato']),
  harp: define(46, [31, 96], 'pluck', keys, ['harps', 'lyre']),
  timpani: define(47, [36, 55], 'bass', ['bass'], ['kettledrum']),
  strings: define(48, [36, 91], 'strings', fills, ['string section', 'string ensemble', 'string orchestra']),
  'soft strings': define(49, [36, 91], 'strings', fills),
  'synth strings': define(50, [36, 91], 'saw', fills),
  choir: define(52, [48, 79], 'voice', ['pad', 'lead', 'counter', 'chords'], ['choral', 'choirs', 'chorale']),
  voice: define(53, [52, 81], 'voice', sings, [
    'vocal',
    'vocals',
    'singer',
    'singing',
    'sung',
    'voices',
    'vocalist',
  ]),
  trumpet: define(56, [55, 84], 'brass', sings, ['trumpets', 'bugle', 'fanfare']),
  trombone: define(57, [40, 72], 'brass', ['counter', 'lead'], ['trombones']),
  tuba: define(58, [29, 55], 'brass', ['bass']),
  'muted trumpet': define(59, [55, 84], 'brass', sings),
  horn: define(60, [41, 77], 'brass', ['counter', 'lead', 'pad'], ['french horn', 'horns']),
  brass: define(61, [41, 84], 'brass', ['chords', 'counter', 'lead', 'pad'], ['brass section']),
  'soprano sax': define(64, [56, 88], 'reed', sings),
  'alto sax': define(65, [49, 81], 'reed', sings, ['alto saxophone']),
  'tenor sax': define(66, [44, 76], 'reed', sings, ['sax', 'saxophone', 'saxophones', 'tenor saxophone']),
  oboe: define(68, [58, 91], 'reed', sings),
  bassoon: define(70, [34, 67], 'reed', ['counter', 'lead']),
  clarinet: define(71, [50, 91], 'reed', sings, ['clarinets']),
  piccolo: define(72, [74, 100], 'flute', sings),
  flute: define(73, [60, 96], 'flute', sings, ['flutes']),
  recorder: define(74, [60, 96], 'flute', sings),
  'pan flute': define(75, [60, 96], 'flute', sings, ['panpipes', 'pan pipes']),
  whistle: define(78, [60, 96], 'flute', sings, ['tin whistle', 'whistling']),
  'square lead': define(80, [48, 96], 'square', ['lead', 'counter', 'chords'], ['8-bit', '8bit']),
  'saw lead': define(
    81,
    [48, 96],
    'saw',
    ['lead', 'counter', 'chords'],
    ['synth', 'synths', 'synthesizer', 'synthesiser', 'synth lead'],
  ),
  'new age pad': define(88, [36, 91], 'pad', fills),
  'warm pad': define(89, [36, 91], 'pad', fills, ['pad', 'pads', 'synth pad', 'drone']),
  polysynth: define(90, [36, 91], 'saw', ['chords', 'pad', 'counter']),
  'halo pad': define(94, [36, 91], 'pad', fills),
  sitar: define(104, [48, 84], 'pluck', ['lead', 'counter', 'chords']),
  banjo: define(105, [48, 84], 'pluck', keys),
  koto: define(107, [48, 84], 'pluck', keys),
  kalimba: define(108, [55, 91], 'bell', ['lead', 'chords', 'counter'], ['mbira', 'thumb piano']),
  bagpipe: define(109, [55, 81], 'reed', sings, ['bagpipes', 'pipes']),
  fiddle: define(110, [55, 96], 'strings', sings),
  'steel drums': define(114, [52, 88], 'bell', ['lead', 'counter', 'chords'], ['steelpan', 'steel pan']),
  drums: define(
    0,
    [27, 87],
    'bell',
    ['drums'],
    ['drum', 'percussion', 'drumkit', 'drum kit', 'beat', 'beats', 'drummer'],
  ),
} as const satisfies Record<string, Instrument>;

export type InstrumentName = keyof typeof instruments;

export function instrumentOf(name: InstrumentName): Instrument {
  return instruments[name];
}

/** Longer words first, so that `bass guitar` is not heard as `guitar`. */
export function listInstrumentWords(): readonly (readonly [word: string, name: InstrumentName])[] {
  const words = Object.entries(instruments).flatMap(([name, { words: others }]) =>
    [name, ...others].map((word) => [word, name as InstrumentName] as const),
  );
  return words.sort(([a], [b]) => b.length - a.length || (a < b ? -1 : 1));
}
