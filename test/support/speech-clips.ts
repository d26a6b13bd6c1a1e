/** Sound for transcription in tests: spoken clips, tones in place of speech, and how far apart two texts are. */
import { toWav } from '../../src/platform/media/wav.ts';

/** A WAV file of 16 kHz in which each letter is a second: `v` of a tone, which counts as speech, `-` of silence. */
export function toneWav(pattern: string): Buffer {
  const samples = new Int16Array(pattern.length * 16_000);
  for (let i = 0; i < samples.length; i++) {
    const isVoice = pattern[Math.floor(i / 16_000)] === 'v';
    samples[i] = isVoice ? 6_000 * Math.sin((2 * Math.PI * 300 * i) / 16_000) : 0;
  }
  return toWav(samples, 16_000);
}

/** 24 kHz, 16 bit, mono, as the speech port gives it, to 16 kHz: two of three samples, between which lines are drawn. */
export function toMono16k(pcm: Buffer): Int16Array {
  const samples = Int16Array.from({ length: pcm.length / 2 }, (_, i) => pcm.readInt16LE(2 * i));
  return Int16Array.from({ length: Math.floor((samples.length * 2) / 3) }, (_, i) => {
    const at = Math.floor((3 * i) / 2);
    return i % 2 === 0 ? samples[at]! : (samples[at]! + (samples[at + 1] ?? 0)) / 2;
  });
}

/** How many words have to be changed, added or left out to get from one text to the other. */
export function wordErrors(said: string, written: string): number {
  const from = toWords(said);
  const to = toWords(written);
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, word] of from.entries()) {
    const next = [i + 1];
    for (const [j, other] of to.entries()) {
      next.push(Math.min(row[j]! + (word === other ? 0 : 1), row[j + 1]! + 1, next[j]! + 1));
    }
    row = next;
  }
  return row.at(-1)!;
}

function toWords(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}' ]/gu, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
}
