import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../../lib/errors.ts';
import { type SpeechRequest, type SpeechRun, speechSampleRate } from '../contract/speech.ts';
import { createSandboxSpeech } from './speech.ts';

const port = createSandboxSpeech();
const asked: SpeechRequest = {
  model: 'm',
  input: 'Hello small world.',
  voice: { type: 'builtin', id: 'aria' },
};

function start(changes: Partial<SpeechRequest> = {}, onAudio?: (run: SpeechRun, count: number) => void) {
  const pieces: Buffer[] = [];
  const over = Promise.withResolvers<GatewayError | undefined>();
  const run = port.speak(
    { ...asked, ...changes },
    {
      audio(pcm) {
        pieces.push(pcm);
        onAudio?.(run, pieces.length);
      },
      end: () => over.resolve(undefined),
      fail: (error) => over.resolve(error),
    },
  );
  return { pieces, run, over: over.promise };
}

async function say(changes: Partial<SpeechRequest> = {}): Promise<Int16Array> {
  const { pieces, over } = start(changes);
  expect(await over).toBeUndefined();
  const bytes = Buffer.concat(pieces);
  return new Int16Array(new Uint8Array(bytes).buffer);
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('the sandbox’s speech', () => {
  it('is the same for the same request, and another for another voice, text, seed, style or language', async () => {
    const first = await say();
    expect(await say()).toEqual(first);
    const others: Partial<SpeechRequest>[] = [
      { voice: { type: 'builtin', id: 'bruno' } },
      { voice: { type: 'design', description: 'old' } },
      { voice: { type: 'clone', clip: Buffer.from('a') } },
      { input: 'Goodbye small world.' },
      { seed: 7 },
      { instructions: 'whisper' },
      { language: 'de' },
    ];
    for (const changes of others) expect(await say(changes)).not.toEqual(first);
  });

  it('has a tone for every syllable, longer for longer words, neither silent nor too loud', async () => {
    const samples = await say();
    // hel-lo small world. = 4 tones of 0.16 s, and the gaps between.
    expect(samples.length / speechSampleRate).toBeCloseTo(4 * 0.16 + 0.06 * 2 + 0.3, 2);
    const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    expect(peak).toBeGreaterThan(5_000);
    expect(peak).toBeLessThan(16_000);
    expect((await say({ input: 'banana' })).length).toBeGreaterThan((await say({ input: 'fig' })).length);
  });

  it('speaks word by word, and any text is more than nothing', async () => {
    const { pieces, over } = start();
    await over;
    expect(pieces).toHaveLength(3);
    for (const input of ['…', '123', '你好']) expect((await say({ input })).length).toBeGreaterThan(0);
  });

  it('makes nothing more while it is paused, and goes on where it was', async () => {
    const { pieces, run, over } = start({}, (paused, count) => count === 1 && paused.pause());
    await turns(20);
    expect(pieces).toHaveLength(1);
    run.resume();
    expect(await over).toBeUndefined();
    expect(Buffer.concat(pieces)).toEqual(Buffer.from((await say()).buffer));
  });

  it('is silent after an abort, also when it was paused', async () => {
    const { pieces, run, over } = start({}, (paused, count) => count === 1 && paused.pause());
    await turns(5);
    run.abort();
    await turns(20);
    expect(pieces).toHaveLength(1);
    expect(await Promise.race([over, 'nothing'])).toBe('nothing');
  });

  it('fails as the model’s script says, before the first word or after some', async () => {
    const refused = start({ script: { failBefore: 'overload' } });
    expect((await refused.over)?.kind).toBe('overloaded');
    expect(refused.pieces).toHaveLength(0);
    const broken = start({ script: { failAfterTokens: 2 } });
    expect((await broken.over)?.kind).toBe('unreachable');
    expect(broken.pieces).toHaveLength(2);
  });
});
