/** Transcription through the whole gateway: real codecs, what it costs, and what limits it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSound, soundFormats } from './support/audio-files.ts';
import { createTestGateway, type TestGateway } from './support/gateway.ts';
import { toneWav } from './support/speech-clips.ts';

const path = '/v1/audio/transcriptions';

describe('over the sandbox', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await createTestGateway({
      settings: {
        models: [
          {
            id: 'once-a-minute',
            type: 'transcription',
            engine: 'sandbox',
            limits: { requestsPerMinute: 1 },
          },
        ],
      },
    });
  });
  afterAll(() => gateway.close());

  const post = (bytes: Buffer, changes: object = {}) =>
    gateway.inject({
      method: 'POST',
      url: path,
      payload: {
        model: 'sandbox-transcription',
        input_audio: { data: bytes.toString('base64'), format: 'wav' },
        ...changes,
      },
    });

  it.each(soundFormats)(
    '[STT-7] [STT-20] hears %s, whatever it is called, and has its seconds',
    async (format) => {
      const { status, body, json } = await post(await makeSound(format, 4.5));
      expect(status, body).toBe(200);
      expect(json().usage.seconds).toBe(5);
      expect(json().duration).toBeCloseTo(4.5, 0);
      expect(json().text.split(' ').length).toBeGreaterThan(8);
    },
  );

  it('[STT-11] names the field of what is no sound', async () => {
    const { status, json } = await post(Buffer.from('this is no sound'));
    expect(status).toBe(400);
    expect(json().error.message).toContain('input_audio.data');
  });

  it('[BILL-23] is in the ledger with its seconds', async () => {
    const { headers, json } = await post(toneWav('vvv-'));
    expect(json().usage).toEqual({ type: 'duration', seconds: 4, cost: 0.0004 });
    const { usage, accounts } = gateway.house.platform;
    const caller = await accounts.authenticate(gateway.key);
    const row = await usage.generation(caller?.subscriptionId ?? '', String(headers['x-generation-id']));
    expect(row).toMatchObject({
      operation: 'transcription',
      quantities: { seconds: 4 },
      costPicoUsd: 400_000_000n,
    });
  });

  it('[LIMIT-12] has the limits of every model', async () => {
    expect((await post(toneWav('v'), { model: 'once-a-minute' })).status).toBe(200);
    const { status, headers } = await post(toneWav('v'), { model: 'once-a-minute' });
    expect([status, headers['x-ratelimit-remaining-requests']]).toEqual([429, '0']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  });
});
