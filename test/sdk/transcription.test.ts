/** Transcription by the SDKs that have it, over a socket, against the sandbox's ear and the real codecs. */
import { createOpenAI } from '@ai-sdk/openai';
import { OpenRouter } from '@openrouter/sdk';
import { transcribe } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinEngines } from '../../src/config/builtin-models.ts';
import { thrown } from '../support/chat-gateway.ts';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';
import { toneWav } from '../support/speech-clips.ts';

let gateway: TestGateway;
let base: string;
beforeAll(async () => {
  const declared = { type: 'transcription', pricing: { prompt: '0.0001' } } as const;
  gateway = await createTestGateway({
    settings: {
      limits: { requestsPerMinute: 100_000, concurrent: 64, maxQueueWaitMs: 20_000 },
      engines: { ...builtinEngines, breaking: { kind: 'sandbox' }, refusing: { kind: 'sandbox' } },
      models: [
        // Its second stretch finds the engine full.
        { ...declared, id: 'breaks', engine: 'breaking', script: { overload: { every: 2 } } },
        { ...declared, id: 'refuses', engine: 'refusing', script: { failBefore: 'refuse' } },
      ],
    },
  });
  base = await gateway.listen();
});
afterAll(() => gateway.close());

const model = 'sandbox-transcription';
const clip = toneWav('vvvv---vvv--');
const usage = { type: 'duration', seconds: 12, cost: 0.0012 };
const file = () => new File([new Uint8Array(clip)], 'talk.wav', { type: 'audio/wav' });

describe('the OpenAI SDK', () => {
  const client = () => new OpenAI({ apiKey: gateway.key, baseURL: base, maxRetries: 0 });

  it('[ROUTE-28] [STT-2] [STT-22] gets a transcript', async () => {
    const answer = await client().audio.transcriptions.create({ model, file: file(), temperature: 0 });
    expect(answer.text).toMatch(/^[A-Z].*\.$/);
    expect(answer.usage).toEqual(usage);
  });

  it('[STT-16] gets the bare text', async () => {
    const whole = await client().audio.transcriptions.create({ model, file: file() });
    const text = await client().audio.transcriptions.create({ model, file: file(), response_format: 'text' });
    expect(text).toBe(whole.text);
  });

  it('[STT-24] [STT-25] streams a transcript', async () => {
    const stream = await client().audio.transcriptions.create({ model, file: file(), stream: true });
    let text = '';
    const types: string[] = [];
    let last: unknown;
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === 'transcript.text.delta') text += event.delta;
      last = event;
    }
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.delta', 'transcript.text.done']);
    expect(last).toEqual({ type: 'transcript.text.done', text, usage });
  });

  it('[STT-26] throws when a stream fails after its start', async () => {
    const stream = await client().audio.transcriptions.create({
      model: 'breaks',
      file: file(),
      stream: true,
    });
    const types: string[] = [];
    const error = await thrown(async () => {
      for await (const event of stream) types.push(event.type);
    });
    expect(types).toEqual(['transcript.text.delta']);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(String(error)).toContain('overloaded');
  });

  it('gets the failures by their classes', async () => {
    const create = (changes: object) => () =>
      client().audio.transcriptions.create({ model, file: file(), ...changes } as never);
    const noAudio = new File(['this is no sound'], 'talk.wav');
    expect(await thrown(create({ file: noAudio }))).toBeInstanceOf(OpenAI.BadRequestError);
    expect(await thrown(create({ response_format: 'verbose_json' }))).toBeInstanceOf(OpenAI.BadRequestError);
    expect(await thrown(create({ timestamp_granularities: ['word'] }))).toBeInstanceOf(
      OpenAI.BadRequestError,
    );
    expect(await thrown(create({ model: 'nobody' }))).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await thrown(create({ model: 'refuses' }))).toMatchObject({ status: 502 });
  });

  it('[STT-9] gets a 413 for what is too large', async () => {
    const large = new File([new Uint8Array(26 * 1024 * 1024)], 'talk.wav');
    const create = () => client().audio.transcriptions.create({ model, file: large });
    expect(await thrown(create)).toMatchObject({ status: 413 });
  });
});

describe('the OpenRouter SDK', () => {
  const client = () =>
    new OpenRouter({ apiKey: gateway.key, serverURL: base, retryConfig: { strategy: 'none' } });

  it('[STT-1] [STT-21] gets a transcript by JSON', async () => {
    const inputAudio = { data: clip.toString('base64'), format: 'wav' };
    const answer = await client().stt.createTranscription({
      sttRequest: { model, inputAudio, language: 'en', temperature: 0.2, user: 'u', sessionId: 's' },
    });
    expect(answer).toMatchObject({
      language: 'en',
      duration: 12,
      task: 'transcribe',
      usage: { seconds: 12, cost: 0.0012 },
    });
    expect(answer.text).toMatch(/^[A-Z].*\.$/);
  });

  it('[STT-2] [STT-19] gets a transcript by a form', async () => {
    const answer = await client().stt.createTranscriptionMultipart({
      requestBody: { model, file: file(), language: 'de', temperature: 0.2 },
    });
    expect(answer).toMatchObject({ language: 'de', usage: { seconds: 12 } });
  });

  it('gets a failure by its class', async () => {
    const inputAudio = { data: 'bm8gc291bmQ=', format: 'wav' };
    const error = await thrown(() => client().stt.createTranscription({ sttRequest: { model, inputAudio } }));
    expect(error).toMatchObject({ statusCode: 400, name: 'BadRequestResponseError' });
  });
});

describe('the AI SDK', () => {
  const provider = () => createOpenAI({ apiKey: gateway.key, baseURL: base });

  it('gets a transcript', async () => {
    const answer = await transcribe({ model: provider().transcription(model), audio: clip });
    expect(answer.text).toMatch(/^[A-Z].*\.$/);
    expect([answer.language, answer.durationInSeconds]).toEqual(['en', 12]);
  });

  it('gets a failure', async () => {
    const call = () => transcribe({ model: provider().transcription('nobody'), audio: clip, maxRetries: 0 });
    expect(await thrown(call)).toMatchObject({ statusCode: 404 });
  });
});
