import { describe, expect, it } from 'vitest';
import type { TranscriptionResult } from '../../engines/contract/transcription.ts';
import { type Heard, type Recording, transcribe } from './index.ts';

const second = (amplitude: number) =>
  Int16Array.from({ length: 16_000 }, (_, i) => amplitude * Math.sin((2 * Math.PI * 300 * i) / 16_000));
const voice = second(6_000);
const silence = new Int16Array(16_000);

/** `v` is a second of voice, `-` one of silence. */
async function* record(pattern: string) {
  for (const kind of pattern) yield kind === 'v' ? voice : silence;
}

async function run(
  pattern: string,
  answers: readonly TranscriptionResult[],
  options: Partial<Recording> = {},
) {
  const heard: Heard[] = [];
  const texts: [string, number][] = [];
  const transcript = await transcribe(
    { audio: record(pattern), isStreamed: false, ...options },
    {
      async hear(stretch) {
        heard.push(stretch);
        return answers[heard.length - 1] ?? { text: '' };
      },
      onText: (text, seconds) => void texts.push([text, seconds]),
    },
  );
  return { heard, texts, transcript };
}

describe('a transcript', () => {
  it('[STT-25] has the texts of all stretches, joined as they were told on the way', async () => {
    const { texts, transcript } = await run('vvvv---vvvv---', [{ text: ' One. ' }, { text: 'Two.' }]);
    expect(transcript).toEqual({ text: 'One. Two.', seconds: 14 });
    expect(texts.map(([text]) => text).join('')).toBe('One. Two.');
    expect(texts[0]?.[1]).toBeGreaterThan(4);
    expect(texts[0]?.[1]).toBeLessThan(8);
  });

  it('tells each stretch what was said before it, after the client’s guidance', async () => {
    const { heard } = await run('vvv---vvv---', [{ text: 'One.' }], { guidance: 'Roundhouse' });
    expect(heard.map(({ prompt }) => prompt)).toEqual(['Roundhouse', 'Roundhouse One.']);
  });

  it('of silence asks no engine, and has the seconds of the recording', async () => {
    const { heard, transcript } = await run('-----', []);
    expect([heard, transcript]).toEqual([[], { text: '', seconds: 5 }]);
  });

  it('[STT-12] has the language of its longest stretch, which shorter ones after it are told', async () => {
    const answers = [
      { text: 'Ja.', language: 'nl' },
      { text: 'Guten Tag zusammen.', language: 'de' },
      { text: 'Ja.', language: 'de' },
    ];
    const { heard, transcript } = await run('v---vvvvvv---vv---', answers);
    expect(heard.map(({ language }) => language)).toEqual([undefined, undefined, 'de']);
    expect(transcript.language).toBe('de');
  });

  it('keeps the language that the client named', async () => {
    const { heard, transcript } = await run('v---vvv---', [{ text: 'Oui', language: 'en' }], {
      language: 'fr',
    });
    expect(heard.map(({ language }) => language)).toEqual(['fr', 'fr']);
    expect(transcript.language).toBe('fr');
  });

  it('begins with less where somebody reads along', async () => {
    const pattern = 'v'.repeat(60);
    const whole = await run(pattern, []);
    const streamed = await run(pattern, [], { isStreamed: true });
    const first = ({ heard }: { heard: Heard[] }) => (heard[0]?.samples.length ?? 0) / 16_000;
    expect(first(whole)).toBeGreaterThan(15);
    expect(first(streamed)).toBeLessThanOrEqual(10);
  });
});
