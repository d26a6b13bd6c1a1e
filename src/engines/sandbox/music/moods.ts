/** Moods, and what their words do to a style. */
import type { Mode } from './theory.ts';

export interface Mood {
  readonly words: readonly string[];
  readonly modes?: readonly [Mode, ...Mode[]];
  /** Of the tempo. */
  readonly factor: number;
  /** Added to how much is going on, which is 0 to 1. */
  readonly intensity: number;
  readonly reverb: number;
}

export const moods: readonly Mood[] = [
  {
    words: ['happy', 'cheerful', 'joyful', 'joyous', 'bright', 'playful', 'fun', 'sunny', 'merry', 'festive'],
    modes: ['major'],
    factor: 1.06,
    intensity: 0.1,
    reverb: 0,
  },
  {
    words: [
      'sad',
      'melancholic',
      'melancholy',
      'sorrowful',
      'mournful',
      'lonely',
      'tragic',
      'rainy',
      'tearful',
    ],
    modes: ['minor'],
    factor: 0.86,
    intensity: -0.2,
    reverb: 0.1,
  },
  {
    words: [
      'calm',
      'peaceful',
      'gentle',
      'soft',
      'quiet',
      'soothing',
      'serene',
      'tranquil',
      'tender',
      'sleep',
    ],
    factor: 0.88,
    intensity: -0.25,
    reverb: 0.1,
  },
  {
    words: [
      'dark',
      'scary',
      'horror',
      'ominous',
      'sinister',
      'tense',
      'mysterious',
      'spooky',
      'haunting',
      'gothic',
    ],
    modes: ['minor', 'phrygian'],
    factor: 0.95,
    intensity: 0,
    reverb: 0.15,
  },
  {
    words: ['epic', 'powerful', 'heroic', 'triumphant', 'majestic', 'dramatic', 'grand', 'victorious'],
    factor: 1,
    intensity: 0.25,
    reverb: 0.1,
  },
  {
    words: ['dreamy', 'floating', 'ethereal', 'hazy', 'magical', 'nostalgic', 'wistful'],
    modes: ['lydian', 'major'],
    factor: 0.92,
    intensity: -0.15,
    reverb: 0.25,
  },
  {
    words: ['energetic', 'driving', 'intense', 'aggressive', 'angry', 'wild', 'exciting', 'hype', 'workout'],
    factor: 1.1,
    intensity: 0.25,
    reverb: -0.1,
  },
  {
    words: ['romantic', 'love', 'warm', 'hopeful', 'inspiring', 'uplifting', 'beautiful'],
    modes: ['major'],
    factor: 0.97,
    intensity: 0,
    reverb: 0.1,
  },
];

/** Words that speak of the tempo alone; Italian ones name one. */
export const tempoWords: readonly (readonly [word: string, factor: number])[] = [
  ['very slow', 0.65],
  ['very fast', 1.4],
  ['slow', 0.78],
  ['slowly', 0.78],
  ['fast', 1.25],
  ['quick', 1.2],
  ['uptempo', 1.2],
  ['up-tempo', 1.2],
  ['mid-tempo', 1],
  ['downtempo', 0.8],
];

export const tempoNames: readonly (readonly [word: string, bpm: number])[] = [
  ['largo', 50],
  ['adagio', 66],
  ['andante', 84],
  ['moderato', 104],
  ['allegretto', 112],
  ['allegro', 132],
  ['vivace', 160],
  ['presto', 180],
];
