/** All styles, and the figures of other metres for a style that is asked for in one. */
import type { MetreName } from '../types.ts';
import { celtic, classical, folk, lullaby, march, orchestral, piano, waltz } from './acoustic.ts';
import { blues, bossa, funk, jazz, metal, pop, reggae, rock } from './band.ts';
import { ambient, chiptune, hiphop, lofi, synthwave, techno } from './electronic.ts';
import type { Style } from './style.ts';

export const styles: readonly Style[] = [
  lullaby,
  waltz,
  march,
  classical,
  piano,
  folk,
  celtic,
  orchestral,
  pop,
  rock,
  metal,
  jazz,
  blues,
  bossa,
  reggae,
  funk,
  techno,
  synthwave,
  hiphop,
  lofi,
  ambient,
  chiptune,
];

/** For a prompt that names no style: what suits most words. */
export const unnamedStyles: readonly [Style, ...Style[]] = [pop, folk, piano, lofi, orchestral];

type Patterns = Required<Pick<Style, 'figures' | 'basslines' | 'grooves'>>;

const patternsOf: Readonly<Record<MetreName, Patterns>> = {
  '4/4': {
    figures: ['x---x---x---x---', 'x---x-x-x---x-x-'],
    basslines: ['r-------5-------', 'r---r-5-r---5-a-'],
    grooves: [
      { kick: 'x.......x.......', rim: '....x.......x...', hat: 'x.x.x.x.x.x.x.x.' },
      { kick: 'X.......X.x.....', snare: '....X.......X...', hat: 'x.x.x.x.x.x.x.x.' },
    ],
  },
  '3/4': {
    figures: ['....x-..x-..', 'x---x-x-x-x-'],
    basslines: ['r-----------', 'r-------5---'],
    grooves: [
      { kick: 'x...........', hat: '....x...x...' },
      { kick: 'X...........', snare: '....x...x...', hat: 'x.x.x.x.x.x.' },
    ],
  },
  '2/4': {
    figures: ['..x-..x-', '..x-..x-'],
    basslines: ['r---5---', 'r---5---'],
    grooves: [
      { kick: 'x...x...', hat: '..x...x.' },
      { kick: 'X...x...', snare: '..x...x.', hat: 'x.x.x.x.' },
    ],
  },
  '6/8': {
    figures: ['1-23-2', 'x-xx-x'],
    basslines: ['r--5--', 'r--5-3'],
    grooves: [
      { kick: 'x.....', hat: 'x..x..' },
      { kick: 'X.....', snare: '...X..', hat: 'x.xx.x' },
    ],
  },
  '12/8': {
    figures: ['1-23-21-23-2', 'x-xx-xx-xx-x'],
    basslines: ['r-----5-----', 'r--r--5--a--'],
    grooves: [
      { kick: 'x.....x.....', rim: '...x.....x..', hat: 'x.xx.xx.xx.x' },
      { kick: 'X.....X..x..', snare: '...X.....X..', hat: 'x.xx.xx.xx.x' },
    ],
  },
};

/** The style in this metre: with its own figures where it is at home in it. */
export function inMetre(style: Style, metre: MetreName): Style {
  if (style.metre === metre) return style;
  const { figures, basslines, grooves } = patternsOf[metre];
  return {
    ...style,
    metre,
    figures,
    basslines,
    ...(style.grooves === undefined ? {} : { grooves }),
    swing: metre.endsWith('/8') ? 0 : style.swing,
    phraseBars: 4,
    harmony: style.harmony === 'blues' ? 'jazz' : style.harmony,
  };
}
