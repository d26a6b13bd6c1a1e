/** Speech by the SDKs that have it, over a socket, against the sandbox's voices and the real codecs. */
import { createOpenAI } from '@ai-sdk/openai';
import { OpenRouter } from '@openrouter/sdk';
import { generateSpeech } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { thrown } from '../support/chat-gateway.ts';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let base: string;
beforeAll(async () => {
  gateway = await createTestGateway({
    settings: {
      limits: { requestsPerMinute: 100_000, concurrent: 64, maxQueueWaitMs: 20_000 },
      models: [
        {
          id: 'breaks',
          type: 'speech',
          engine: 'sandbox',
          maxPromptLength: 100,
          voices: [{ id: 'solo' }],
          defaultVoice: 'solo',
          script: { failAfterTokens: 2 },
        },
        {
          id: 'slow',
          type: 'speech',
          engine: 'sandbox',
          maxPromptLength: 100,
          voices: [{ id: 'solo' }],
          defaultVoice: 'solo',
          script: { stallAfterTokens: 2 },
        },
      ],
    },
  });
  base = await gateway.listen();
});
afterAll(() => gateway.close());

const model = 'sandbox-speech';
const input = 'Hello world. How are you today?';
/** Nine syllables of 0.16 s, four gaps of 0.06 s and two of 0.3 s. */
const seconds = 9 * 0.16 + 4 * 0.06 + 2 * 0.3;
const pcmBytes = Math.round(48_000 * seconds);

/** What a file is, by its first bytes. */
function kindOf(bytes: Uint8Array): string {
  const head = Buffer.from(bytes).toString('latin1', 0, 64);
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WAVE') return 'wav';
  if (head.startsWith('fLaC')) return 'flac';
  if (head.startsWith('OggS') && head.includes('OpusHead')) return 'opus';
  if (head.startsWith('ID3') || (bytes[0] === 0xff && (bytes[1]! & 0xe0) === 0xe0)) return 'mp3';
  return 'pcm';
}

describe('the OpenAI SDK', () => {
  const client = () => new OpenAI({ apiKey: gateway.key, baseURL: base, maxRetries: 0 });

  it.each(['mp3', 'opus', 'flac', 'wav', 'pcm'] as const)(
    '[SPEECH-16] [SPEECH-17] gets %s, and the file is what it is called',
    async (response_format) => {
      const answer = await client().audio.speech.create({ model, input, voice: 'aria', response_format });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      expect(kindOf(bytes)).toBe(response_format);
      if (response_format === 'pcm') expect(bytes).toHaveLength(pcmBytes);
      if (response_format === 'wav') expect(bytes.length).toBeGreaterThan(pcmBytes);
    },
  );

  it('[SPEECH-28] streams pcm piece by piece', async () => {
    const answer = await client().audio.speech.create({
      model,
      input,
      voice: 'aria',
      response_format: 'pcm',
    });
    expect(answer.headers.get('content-type')).toBe('audio/pcm;rate=24000;channels=1');
    expect(answer.headers.get('x-usage-seconds')).toBeNull();
    let length = 0;
    let pieces = 0;
    for await (const piece of answer.body!) {
      length += (piece as Uint8Array).length;
      pieces += 1;
    }
    expect(length).toBe(pcmBytes);
    expect(pieces).toBeGreaterThan(1);
  });

  it('[SPEECH-28] hears the beginning of what never ends, and can leave', async () => {
    const leaving = new AbortController();
    const answer = await client().audio.speech.create(
      { model: 'slow', input: 'One two three four.', voice: 'solo', response_format: 'pcm' },
      { signal: leaving.signal },
    );
    const { value } = await answer.body!.getReader().read();
    expect((value as Uint8Array).length).toBeGreaterThan(0);
    leaving.abort();
  });

  it('[SPEECH-29] [SPEECH-33] gets events', async () => {
    const answer = await client().audio.speech.create({
      model,
      input,
      voice: 'aria',
      response_format: 'pcm',
      stream_format: 'sse',
    });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const events = (await answer.text())
      .split('\n\n')
      .filter((block) => block.startsWith('event:'))
      .map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)));
    const done = events.pop();
    expect(done).toMatchObject({ type: 'speech.audio.done', usage: { seconds: Math.ceil(seconds) } });
    const audio = Buffer.concat(events.map(({ audio: delta }) => Buffer.from(delta, 'base64')));
    expect(audio).toHaveLength(pcmBytes);
  });

  it('[SPEECH-21] [SPEECH-36] at speed 2 gets half as much sound for the same price', async () => {
    const say = (speed: number) =>
      client().audio.speech.create({ model, input, voice: 'aria', response_format: 'wav', speed });
    const [plain, fast] = await Promise.all([say(1), say(2)]);
    const usage = ({ headers }: Response) => [headers.get('x-usage-seconds'), headers.get('x-usage-cost')];
    expect(usage(plain as Response)).toEqual(['3', '0.0009']);
    expect(usage(fast as Response)).toEqual(usage(plain as Response));
    const ratio = (await fast.arrayBuffer()).byteLength / (await plain.arrayBuffer()).byteLength;
    expect(ratio).toBeGreaterThan(0.45);
    expect(ratio).toBeLessThan(0.55);
  });

  it('[SPEECH-31] a stream that breaks has an error event; a raw one breaks off', async () => {
    const say = (stream_format: 'sse' | 'audio') =>
      client().audio.speech.create({
        model: 'breaks',
        input: 'One two three four.',
        voice: 'solo',
        response_format: 'pcm',
        stream_format,
      });
    expect(await (await say('sse')).text()).toContain('"type":"speech.audio.error","error":{"code":502');
    const raw = await say('audio');
    expect(await thrown(() => raw.arrayBuffer())).toBeInstanceOf(Error);
  });

  it('raises BadRequestError and NotFoundError', async () => {
    const wrong = await thrown(() => client().audio.speech.create({ model, input, voice: 'nobody' }));
    expect(wrong).toBeInstanceOf(OpenAI.BadRequestError);
    expect(wrong).toMatchObject({ param: 'voice' });
    const missing = await thrown(() =>
      client().audio.speech.create({ model: 'nobody', input, voice: 'aria' }),
    );
    expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
  });
});

describe('the OpenRouter SDK', () => {
  const client = () =>
    new OpenRouter({ apiKey: gateway.key, serverURL: base, retryConfig: { strategy: 'none' } });

  async function read(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  it.each(['mp3', 'pcm'] as const)(
    '[SPEECH-16] [SPEECH-28] gets %s as a stream, with the default voice',
    async (responseFormat) => {
      const stream = await client().tts.createSpeech({ speechRequest: { model, input, responseFormat } });
      const bytes = await read(stream);
      expect(kindOf(bytes)).toBe(responseFormat);
      if (responseFormat === 'pcm') expect(bytes).toHaveLength(pcmBytes);
    },
  );

  it('[SPEECH-6] [SPEECH-12] [SPEECH-14] clones the voice of a clip', async () => {
    const wav = await gateway.inject({
      method: 'POST',
      url: '/v1/audio/speech',
      payload: { model, input, response_format: 'wav' },
    });
    const clone = (text: string) =>
      client()
        .tts.createSpeech({
          speechRequest: {
            model,
            input,
            responseFormat: 'pcm',
            inputReferences: [
              { type: 'input_audio', inputAudio: { data: wav.bytes.toString('base64'), format: 'wav' } },
              { type: 'text', text },
            ],
          },
        })
        .then(read);
    const cloned = await clone(input);
    expect(cloned).toHaveLength(pcmBytes);
    expect(await clone('Another transcript')).not.toEqual(cloned);
  });
});

describe('the AI SDK', () => {
  const provider = () => createOpenAI({ apiKey: gateway.key, baseURL: base });

  it('[SPEECH-16] [SPEECH-20] generates speech in a format and at a speed', async () => {
    const { audio, warnings } = await generateSpeech({
      model: provider().speech(model),
      text: input,
      voice: 'bruno',
      outputFormat: 'wav',
      speed: 1.5,
      instructions: 'Calm',
      maxRetries: 0,
    });
    expect(warnings).toEqual([]);
    expect(kindOf(audio.uint8Array)).toBe('wav');
    expect(audio.uint8Array.length).toBeLessThan(pcmBytes);
    expect(audio.mediaType).toMatch(/^audio\//);
  });

  it('names a voice that the model has not: its own default is OpenAI’s', async () => {
    const wrong = await thrown(() =>
      generateSpeech({ model: provider().speech(model), text: input, maxRetries: 0 }),
    );
    expect(wrong).toMatchObject({ statusCode: 400 });
  });
});
