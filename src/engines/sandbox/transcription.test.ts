import { describe, expect, it } from 'vitest';
import type { TranscriptionRequest } from '../contract/transcription.ts';
import { createSandboxTranscription } from './transcription.ts';

const port = createSandboxTranscription();
const { signal } = new AbortController();
const tone = (seconds: number, pitch = 0.1) =>
  Int16Array.from({ length: seconds * 16_000 }, (_, i) => 9_000 * Math.sin(i * pitch));
const transcribe = (samples: Int16Array, changes: Partial<TranscriptionRequest> = {}) =>
  port.transcribe({ model: 'm', samples, ...changes }, signal);

describe('the sandbox’s transcript', () => {
  it('is the same for the same sound and another for another', async () => {
    const once = await transcribe(tone(4));
    expect(await transcribe(tone(4))).toEqual(once);
    expect(await transcribe(tone(4, 0.2))).not.toEqual(once);
    expect(await transcribe(tone(4), { model: 'other' })).not.toEqual(once);
  });

  it('has as many words as a person says in the time, in whole sentences', async () => {
    const { text } = await transcribe(tone(20));
    const words = text.split(' ').length;
    expect(words).toBeGreaterThanOrEqual(50);
    expect(words).toBeLessThan(62);
    expect(text).toMatch(/^[A-Z].*\.$/);
    expect((await transcribe(tone(0))).text).not.toBe('');
  });

  it('is in the language that was named, and in English otherwise', async () => {
    expect((await transcribe(tone(1))).language).toBe('en');
    expect((await transcribe(tone(1), { language: 'fr' })).language).toBe('fr');
  });

  it('fails as the model’s script says', async () => {
    const failing = transcribe(tone(10), { script: { failAfterTokens: 3 } });
    await expect(failing).rejects.toMatchObject({ kind: 'unreachable' });
    expect((await transcribe(tone(0), { script: { failAfterTokens: 30 } })).text).not.toBe('');
  });
});
