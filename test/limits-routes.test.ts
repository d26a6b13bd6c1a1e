/** The limit on requests a minute, asked of every route that calls a model. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toWav } from '../src/platform/media/wav.ts';
import { createTestGateway, type TestGateway } from './support/gateway.ts';
import { makePicture } from './support/picture-files.ts';

let gateway: TestGateway;
let collection: string;
let picture: string;
beforeAll(async () => {
  gateway = await createTestGateway({
    settings: { limits: { requestsPerMinute: 1, concurrent: 8, maxQueueWaitMs: 100 } },
  });
  picture = `data:image/png;base64,${(await makePicture('png')).toString('base64')}`;
});
afterAll(() => gateway.close());

const messages = [{ role: 'user', content: 'Hello' }];
const sound = () => toWav(new Int16Array(16_000), 16_000).toString('base64');
const chat = { model: 'sandbox-chat', messages };
const image = { prompt: 'A boat', size: '256x256' };

const requests: readonly [path: string, body: () => object][] = [
  ['/chat/completions', () => chat],
  ['/chat/completions/RAG', () => ({ ...chat, collection })],
  ['/messages', () => ({ ...chat, max_tokens: 10 })],
  ['/responses', () => ({ model: 'sandbox-chat', input: 'Hello' })],
  ['/embeddings', () => ({ model: 'sandbox-embedding', input: 'Hello' })],
  ['/rerank', () => ({ model: 'sandbox-rerank', query: 'a', documents: ['a', 'b'] })],
  [
    '/systemone',
    () => ({ model: 'sandbox-decision', state: 'x', questions: { a: { type: 'noul', instructions: 'x?' } } }),
  ],
  ['/images', () => image],
  ['/images/generations', () => image],
  ['/images/edits', () => ({ ...image, model: 'sandbox-image-edit', images: [{ image_url: picture }] })],
  ['/videos', () => ({ model: 'sandbox-video', prompt: 'A boat' })],
  ['/music', () => ({ model: 'sandbox-music', prompt: 'A waltz', duration: 5 })],
  ['/audio/speech', () => ({ model: 'sandbox-speech', input: 'Hi', response_format: 'pcm' })],
  [
    '/audio/transcriptions',
    () => ({ model: 'sandbox-transcription', input_audio: { data: sound(), format: 'wav' } }),
  ],
  ['/vector_store/{id}/search', () => ({ input: 'Hello' })],
];

describe('a second request within the minute', () => {
  it.each(requests)('[LIMIT-12] is a 429 with Retry-After on %s', async (path, body) => {
    const { accounts } = gateway.house.platform;
    // Each has a subscription of its own, so that none is in another's minute.
    await accounts.createSubscription(path);
    const { secret: key } = await accounts.createKey({ subscription: path, name: 'k' });
    const post = (url: string, payload: object) =>
      gateway.inject({ method: 'POST', url: `/v1${url}`, payload, key });
    const made = await post('/vector_store', { model: 'sandbox-embedding' });
    collection = made.json().id;
    const url = path.replace('{id}', collection);
    const first = await post(url, body());
    expect([200, 202], first.body.slice(0, 300)).toContain(first.status);
    const second = await post(url, body());
    expect(second.status).toBe(429);
    expect(Number(second.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    // What nobody waits for need not be made.
    if (first.status === 202)
      await gateway.inject({ method: 'DELETE', url: `/v1${path}/${first.json().id}`, key });
  });
});
