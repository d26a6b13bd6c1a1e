/**
 * The sandbox's transcription port: made-up sentences, as many as a person says in the time, and the same ones for
 * the same sound.
 */
import { type TranscriptionPort, transcriptionSampleRate } from '../contract/transcription.ts';
import { systemTimers, type Timers } from './script.ts';
import { createScripts } from './scripts.ts';
import { createRandom, type Random, toSeed } from './seed.ts';

const wordsPerSecond = 2.5;

const subjects = ['the committee', 'my neighbour', 'a young engineer', 'the captain', 'nobody'] as const;
const verbs = ['remembers', 'repairs', 'describes', 'measures', 'forgets'] as const;
const objects = ['the old bridge', 'a letter', 'two bicycles', 'the weather', 'every window'] as const;
const times = ['on Monday', 'before breakfast', 'twice a year', 'by the river', 'without a word'] as const;

export function createSandboxTranscription(timers: Timers = systemTimers): TranscriptionPort {
  const scriptOf = createScripts(timers);
  return {
    async transcribe(request, signal) {
      const { model, samples, language = 'en' } = request;
      const { buffer, byteOffset, byteLength } = samples;
      const seed = toSeed([model, new Uint8Array(buffer, byteOffset, byteLength)]);
      const pace = await scriptOf(request).begin(seed, signal);
      const words = toWords(createRandom(seed), samples.length / transcriptionSampleRate);
      for (let index = 0; index < words.length; index++) await pace.token(index);
      return { text: words.join(' '), language };
    },
  };
}

function toWords(random: Random, seconds: number): string[] {
  const wanted = Math.max(1, Math.round(seconds * wordsPerSecond));
  const words: string[] = [];
  while (words.length < wanted) {
    const parts = [random.pick(subjects), random.pick(verbs), random.pick(objects), random.pick(times)];
    const sentence = `${parts.join(' ')}.`;
    words.push(...(sentence.slice(0, 1).toUpperCase() + sentence.slice(1)).split(' '));
  }
  return words;
}
