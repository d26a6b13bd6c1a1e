/** The real program, from its pack. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PackFolder, packFolder, pullTimeoutMs } from '../../../../test/support/packs.ts';
import type { LoadedModel } from '../host/types.ts';
import { createFliteRuntime } from './flite.ts';

let folder: PackFolder;
let model: LoadedModel;
beforeAll(async () => {
  folder = await packFolder('flite');
  const path = join(folder.dataFolder, 'models', 'flite', 'flite.wasm');
  model = await createFliteRuntime().load({ name: 'flite', files: { model: path }, options: {} });
}, pullTimeoutMs);
afterAll(async () => {
  await model.dispose();
  await folder[Symbol.asyncDispose]();
});

const say = async (text: string, voice = 'slt') =>
  (await model.run(
    { kind: 'speak', input: { text, voice, ending: 'sentence' } },
    () => {},
    new AbortController().signal,
  )) as Int16Array;

describe('flite', () => {
  it.each(['slt', 'rms', 'awb', 'kal16'])(
    'speaks as %s: as long as speech is, neither silent nor clipped',
    async (voice) => {
      const samples = await say('Hello world, this is a test of 3 voices.', voice);
      const seconds = samples.length / 24_000;
      expect(seconds).toBeGreaterThan(2);
      expect(seconds).toBeLessThan(5);
      const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
      expect(peak).toBeGreaterThan(4_000);
      expect(peak).toBeLessThan(32_767);
    },
  );

  it('says the same every time, and each text anew', async () => {
    const first = await say('One.');
    expect(await say('Two hundred and twenty two.')).not.toEqual(first);
    expect(await say('One.')).toEqual(first);
  });

  it('takes any text for text: no options, no file names, no other scripts', async () => {
    for (const text of [
      '-o /etc/passwd',
      '--help',
      '/etc/passwd',
      'café “naïve”',
      '<speak>hi</speak>',
      'a\0b',
    ])
      expect((await say(text)).length).toBeGreaterThan(0);
    expect(await say('你好')).toHaveLength(0);
  });

  it('has no other voice than it says', async () => {
    for (const voice of ['kal', 'file.flitevox', ''])
      await expect(say('Hi.', voice)).rejects.toMatchObject({ kind: 'invalid_request', param: 'voice' });
  });
});
