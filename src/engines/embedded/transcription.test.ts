/** The real packs: what a synthetic voice says is written down again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noStudio } from '../../../test/support/no-studio.ts';
import { type PackFolder, packFolder, pullTimeoutMs } from '../../../test/support/packs.ts';
import { toMono16k, wordErrors } from '../../../test/support/speech-clips.ts';
import { createLog } from '../../lib/log.ts';
import type { Engine } from '../contract/engine.ts';
import type { TranscriptionRequest, TranscriptionResult } from '../contract/transcription.ts';
import { embedded } from './index.ts';

const sentence =
  'Every member is asked to bring a written proposal, and the chairman will read the report from last summer.';

let folder: PackFolder;
let engine: Engine;
let clip: Int16Array;

beforeAll(async () => {
  folder = await packFolder('flite', 'whisper-base', 'moonshine-tiny');
  engine = embedded.create(
    { kind: 'embedded' },
    {
      name: 'local',
      log: createLog('silent'),
      secret: () => undefined,
      dataFolder: folder.dataFolder,
      studio: noStudio,
    },
  );
  clip = await say(sentence);
}, pullTimeoutMs);
afterAll(async () => {
  await engine?.close();
  await folder?.[Symbol.asyncDispose]();
});

/** Flite's best voice, at the rate that transcription takes. */
function say(input: string): Promise<Int16Array> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    engine.speech!.speak(
      { model: 'flite', input, voice: { type: 'builtin', id: 'slt' } },
      {
        audio: (pcm) => void parts.push(pcm),
        end: () => resolve(toMono16k(Buffer.concat(parts))),
        fail: reject,
      },
    );
  });
}

const { signal } = new AbortController();
const transcribe = (model: string, changes: Partial<TranscriptionRequest> = {}) =>
  engine.transcription!.transcribe({ model, samples: clip, ...changes }, signal);
const slow = 120_000;

describe.each(['whisper-base', 'moonshine-tiny'])('%s', (model) => {
  let written: TranscriptionResult;

  it('writes down what was said, with at most one wrong word', { timeout: slow }, async () => {
    written = await transcribe(model);
    const { text, language } = written;
    expect(wordErrors(sentence, text), text).toBeLessThanOrEqual(1);
    expect(language).toBe('en');
    expect(text).toBe(text.trim());
  });

  it('writes the same again', { timeout: slow }, async () => {
    expect(await transcribe(model, { temperature: 0 })).toEqual(written);
  });

  it('does not go in circles over noise', { timeout: slow }, async () => {
    let state = 1;
    const noise = Int16Array.from({ length: 5 * 16_000 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      return state >> 20;
    });
    const { text } = await transcribe(model, { samples: noise });
    expect(text.split(' ').length).toBeLessThan(20);
  });

  it('takes a moment of sound, or none', { timeout: slow }, async () => {
    for (const samples of [new Int16Array(0), clip.slice(0, 800)]) {
      expect(typeof (await transcribe(model, { samples })).text).toBe('string');
    }
  });

  it('stops when nobody waits any more, and serves the next', { timeout: slow }, async () => {
    const controller = new AbortController();
    const long = Int16Array.from({ length: 29 * 16_000 }, (_, i) => clip[i % clip.length]!);
    const done = engine.transcription!.transcribe({ model, samples: long }, controller.signal);
    setImmediate(() => controller.abort(new Error('left')));
    await expect(done).rejects.toThrow('left');
    expect(wordErrors(sentence, (await transcribe(model)).text)).toBeLessThanOrEqual(1);
  });
});

describe('whisper-base', () => {
  it('[STT-13] spells a name as it was told to', { timeout: slow }, async () => {
    const samples = await say('Please call Mister Meyer about the aluminum theater program.');
    const guidance = 'Mr Meier, aluminium, theatre, programme.';
    const plain = await transcribe('whisper-base', { samples });
    const guided = await transcribe('whisper-base', { samples, prompt: guidance });
    expect(plain.text).toContain('Mr. Meyer about');
    expect(guided.text).toContain('Mr Meier about');
  });

  it('[STT-12] writes in the language that it is told', { timeout: slow }, async () => {
    expect((await transcribe('whisper-base', { language: 'en' })).language).toBe('en');
    await expect(transcribe('whisper-base', { language: 'aa' })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'language',
    });
  });
});
