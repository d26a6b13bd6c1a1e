/** Images by the SDKs that have them, over a socket, drawn by the sandbox and finished by the real codecs. */
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { OpenRouter } from '@openrouter/sdk';
import { generateImage } from 'ai';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { thrown } from '../support/chat-gateway.ts';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let base: string;
beforeAll(async () => {
  gateway = await createTestGateway({
    settings: {
      limits: { requestsPerMinute: 100_000, concurrent: 64, maxQueueWaitMs: 20_000 },
      defaults: { image: 'sandbox-image' },
      models: [
        {
          id: 'blank',
          type: 'image',
          engine: 'sandbox',
          maxPromptLength: 100,
          size: { multipleOf: 16, minArea: 256, maxArea: 65_536, maxRatio: 4, default: '64x64' },
          resolutions: { '64': { '1:1': '64x64' } },
          defaultResolution: '64',
          script: { withoutImages: true },
        },
      ],
    },
  });
  base = await gateway.listen();
});
afterAll(() => gateway.close());

const prompt = 'A red boat on the sea';
const size = '256x256';

/** What a picture is and how large, by its first bytes. */
function sizeOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes);
  expect(buffer.toString('latin1', 1, 4)).toBe('PNG');
  return `${buffer.readUInt32BE(16)}x${buffer.readUInt32BE(20)}`;
}

const fromBase64 = (text: string | undefined) => Buffer.from(text ?? '', 'base64');

describe('the OpenAI SDK', () => {
  const client = () => new OpenAI({ apiKey: gateway.key, baseURL: base, maxRetries: 0 });

  it('[ROUTE-28] [IMG-1] [IMG-2] generates, and its link leads to the picture', async () => {
    const { data, usage } = await client().images.generate({ prompt, size, n: 2 });
    expect(data).toHaveLength(2);
    expect(usage).toMatchObject({ total_tokens: 0, input_tokens: 0, output_tokens: 0 });
    for (const { url, b64_json } of data ?? []) {
      expect(b64_json).toBeUndefined();
      const answer = await fetch(url ?? '');
      expect(answer.headers.get('content-type')).toBe('image/png');
      expect(sizeOf(new Uint8Array(await answer.arrayBuffer()))).toBe(size);
    }
  });

  it('[ROUTE-28] [IMG-5] generates as base64', async () => {
    const { data } = await client().images.generate({ prompt, size, response_format: 'b64_json' });
    expect(sizeOf(fromBase64(data?.[0]?.b64_json))).toBe(size);
  });

  it('[ROUTE-28] [IMG-57] [IMG-60] streams one picture', async () => {
    const events = [];
    const stream = await client().images.generate({ prompt, size, stream: true });
    for await (const event of stream) events.push(event);
    expect(events).toHaveLength(1);
    const [event] = events;
    expect(event).toMatchObject({
      type: 'image_generation.completed',
      size,
      output_format: 'png',
      background: 'opaque',
      quality: 'auto',
    });
    expect(event).toHaveProperty('created_at');
    expect(sizeOf(fromBase64((event as { b64_json?: string }).b64_json))).toBe(size);
  });

  it('[ROUTE-28] [EDIT-6] [EDIT-7] [EDIT-10] edits one picture, several, and with a mask', async () => {
    const { data } = await client().images.generate({ prompt, size, response_format: 'b64_json' });
    const png = fromBase64(data?.[0]?.b64_json);
    const file = (name: string) => toFile(png, name, { type: 'image/png' });
    const edit = { model: 'sandbox-image-edit', prompt: 'Make it night', size } as const;
    const one = await client().images.edit({
      ...edit,
      image: await file('one.png'),
      response_format: 'b64_json',
    });
    expect(sizeOf(fromBase64(one.data?.[0]?.b64_json))).toBe(size);
    const several = await client().images.edit({
      ...edit,
      image: [await file('one.png'), await file('two.png')],
      mask: await file('mask.png'),
    });
    expect(several.data?.[0]?.url).toMatch(/^http/);
  });

  it('[ROUTE-28] [EDIT-23] streams an edit', async () => {
    const { data } = await client().images.generate({ prompt, size, response_format: 'b64_json' });
    const image = await toFile(fromBase64(data?.[0]?.b64_json), 'a.png', { type: 'image/png' });
    const stream = await client().images.edit({
      model: 'sandbox-image-edit',
      prompt: 'Make it night',
      image,
      size,
      stream: true,
    });
    const types = [];
    for await (const event of stream) types.push(event.type as string);
    expect(types).toEqual(['image_generation.completed']);
  });

  it('[ERR-47] [IMG-68] raises its typed classes', async () => {
    const images = client().images;
    expect(await thrown(() => images.generate({ prompt, size: '17x17' as '256x256' }))).toMatchObject({
      status: 400,
      param: 'size',
    });
    expect(await thrown(() => images.generate({ prompt, model: 'nobody' }))).toMatchObject({ status: 404 });
    expect(await thrown(() => images.generate({ prompt, model: 'blank' }))).toMatchObject({ status: 502 });
  });
});

describe('the OpenRouter SDK', () => {
  const client = () =>
    new OpenRouter({ apiKey: gateway.key, serverURL: base, retryConfig: { strategy: 'none' } });

  it('[ROUTE-30] [IMG-13] [IMG-15] parses pictures and their usage', async () => {
    const answer = await client().images.generate({
      imageGenerationRequest: { model: 'sandbox-image', prompt, n: 2, resolution: '512' },
    });
    if (!('data' in answer)) throw new Error('a stream was not asked for');
    expect(answer.data).toHaveLength(2);
    for (const { b64Json } of answer.data) expect(sizeOf(fromBase64(b64Json))).toBe('512x512');
    expect(answer.usage).toMatchObject({ promptTokens: 0, completionTokens: 0, totalTokens: 0 });
    expect(answer.usage?.cost).toBeCloseTo(0.004 * 2 * 0.262144, 9);
  });

  it('[ROUTE-30] [IMG-57] [IMG-60] parses the event of a stream', async () => {
    const stream = await client().images.generate({
      imageGenerationRequest: { model: 'sandbox-image', prompt, resolution: '512', stream: true },
    });
    const types: string[] = [];
    for await (const event of stream as AsyncIterable<{ type: string }>) types.push(event.type);
    expect(types).toEqual(['image_generation.completed']);
  });

  it('[ROUTE-30] [IMG-45] takes references', async () => {
    const { data } = await new OpenAI({ apiKey: gateway.key, baseURL: base }).images.generate({
      prompt,
      size,
      response_format: 'b64_json',
    });
    const url = `data:image/png;base64,${data?.[0]?.b64_json}`;
    const answer = await client().images.generate({
      imageGenerationRequest: {
        model: 'sandbox-image-edit',
        prompt: 'Make it night',
        resolution: '512',
        inputReferences: [{ type: 'image_url', imageUrl: { url } }],
      },
    });
    expect(answer).toHaveProperty('data');
  });

  it('[ROUTE-30] [IMG-69] [IMG-79] parses the models and the endpoint record', async () => {
    const { data } = await client().images.listModels();
    expect(data.map(({ id }) => id)).toContain('sandbox-image');
  });
});

describe('the AI SDK', () => {
  it('[ROUTE-28] draws through the OpenAI provider', async () => {
    const openai = createOpenAI({ apiKey: gateway.key, baseURL: base });
    const { image } = await generateImage({ model: openai.image('sandbox-image'), prompt, size });
    expect(sizeOf(image.uint8Array)).toBe(size);
  });

  it('[EDIT-3] edits through the OpenAI provider, which wants base64 without asking for it', async () => {
    const openai = createOpenAI({ apiKey: gateway.key, baseURL: base });
    const { image } = await generateImage({ model: openai.image('sandbox-image'), prompt, size });
    const edited = await generateImage({
      model: openai.image('sandbox-image-edit'),
      prompt: { text: 'Make it night', images: [image.uint8Array] },
      size,
      maxRetries: 0,
    });
    expect(sizeOf(edited.image.uint8Array)).toBe(size);
  });

  it('draws through the OpenAI-compatible provider, which follows the link', async () => {
    const provider = createOpenAICompatible({ name: 'roundhouse', apiKey: gateway.key, baseURL: base });
    const { image } = await generateImage({ model: provider.imageModel('sandbox-image'), prompt, size });
    expect(sizeOf(image.uint8Array)).toBe(size);
  });

  it('[ROUTE-30] draws through the OpenRouter provider', async () => {
    const openrouter = createOpenRouter({ apiKey: gateway.key, baseURL: base });
    const { image } = await generateImage({
      model: openrouter.imageModel('sandbox-image'),
      prompt,
      aspectRatio: '16:9',
      maxRetries: 0,
    });
    expect(image.uint8Array.length).toBeGreaterThan(1000);
  });
});
