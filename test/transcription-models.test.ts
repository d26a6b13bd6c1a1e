/** Transcription through the whole gateway by the models of a fresh machine, while they work. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toWav } from '../src/platform/media/wav.ts';
import { createTestGateway, type TestGateway } from './support/gateway.ts';
import { type PackFolder, packFolder, pullTimeoutMs } from './support/packs.ts';
import { toMono16k, wordErrors } from './support/speech-clips.ts';

/** A minute and more when it is read aloud. */
const speech = [
  'On Monday morning the committee will meet in the old library to discuss the budget for next year.',
  'Every member is asked to bring a written proposal, and the chairman will read the report from last summer.',
  'After lunch there will be a short walk along the river, where the new bridge is being built.',
  'They have promised to explain how the bridge will carry heavy trucks without shaking.',
  'In the evening we will have dinner at the hotel beside the station.',
  'The mayor has agreed to speak about the history of the town.',
  'Please remember to bring a warm coat, because the weather is expected to turn cold after sunset.',
  'Anyone who cannot attend should write a letter to the secretary before Friday.',
  'The minutes of the meeting will be printed in the local newspaper.',
  'Copies will be sent to every member by post, and further copies can be found at the town hall.',
  'We look forward to seeing all of you, and we hope that the discussion will be friendly and useful.',
  'If it rains, the walk will take place on the following day, and the dinner will begin an hour earlier.',
].join(' ');

describe('over the models of a fresh machine', () => {
  let packs: PackFolder;
  let gateway: TestGateway;
  let base: string;
  let clip: Buffer;

  beforeAll(async () => {
    packs = await packFolder('flite', 'whisper-base', 'moonshine-tiny');
    gateway = await createTestGateway({ env: { ROUNDHOUSE_DATA: packs.dataFolder } });
    base = await gateway.listen();
    const spoken = await gateway.inject({
      method: 'POST',
      url: '/v1/audio/speech',
      payload: { model: 'flite', input: speech, response_format: 'pcm' },
    });
    expect(spoken.status, spoken.body).toBe(200);
    clip = toWav(toMono16k(spoken.bytes), 16_000);
  }, pullTimeoutMs);
  afterAll(async () => {
    await gateway?.close();
    await packs?.[Symbol.asyncDispose]();
  });

  it.each([
    ['whisper-base', 8],
    ['moonshine-tiny', 16],
  ])(
    'streams a minute by %s, the first text before half of the work is done',
    {
      timeout: 300_000,
    },
    async (model, mostErrors) => {
      expect(clip.length / 32_000).toBeGreaterThan(58);
      const form = new FormData();
      form.append('model', model);
      form.append('stream', 'true');
      form.append('file', new Blob([new Uint8Array(clip)]), 'talk.wav');
      const startedAt = performance.now();
      const response = await fetch(`${base}/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: form,
      });
      expect(response.status).toBe(200);
      let body = '';
      let firstAt: number | undefined;
      for await (const chunk of response.body!) {
        firstAt ??= performance.now() - startedAt;
        body += Buffer.from(chunk).toString();
      }
      const total = performance.now() - startedAt;
      expect(firstAt).toBeLessThan(total / 2);
      const { text, usage } = JSON.parse(body.slice(body.lastIndexOf('data: ') + 6)) as {
        text: string;
        usage: { seconds: number };
      };
      expect(usage.seconds).toBe(Math.ceil((clip.length - 44) / 32_000));
      expect(wordErrors(speech, text), text).toBeLessThanOrEqual(mostErrors);
    },
  );
});
