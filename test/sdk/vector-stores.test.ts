/** Collections by the OpenAI SDK, and retrieval-augmented chat by every SDK that reads chat, over a socket. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { HTTPClient, OpenRouter } from '@openrouter/sdk';
import type { ChatResult, ChatStreamChunk } from '@openrouter/sdk/models';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { thrown } from '../support/chat-gateway.ts';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';
import { sendForm, untilRead } from '../support/vectors-gateway.ts';
import { fileForm } from '../support/vectors-shell.ts';

let gateway: TestGateway;
let base: string;
let client: OpenAI;
let collection: string;

beforeAll(async () => {
  gateway = await createTestGateway({
    settings: {
      limits: { requestsPerMinute: 100_000, concurrent: 64, maxQueueWaitMs: 20_000 },
      defaults: { embedding: 'sandbox-embedding' },
    },
  });
  base = await gateway.listen();
  client = new OpenAI({ baseURL: base, apiKey: gateway.key, maxRetries: 0 });
  collection = (await client.vectorStores.create({ name: 'house' })).id;
  const text = '# Lathe\n\nGrease the bearings of the lathe every Monday with the blue gun.';
  const form = fileForm(text, { filename: 'house.md', attributes: '{"year":2026}' });
  await sendForm(gateway, `/vector_store/${collection}/files`, form);
  await untilRead(gateway, collection);
});
afterAll(() => gateway.close());

describe('the OpenAI SDK', () => {
  it('[ROUTE-28] [VEC-23] [VEC-26] [VEC-31] creates, retrieves, updates and deletes a collection', async () => {
    const made = await client.vectorStores.create({
      name: 'Manuals',
      description: 'Of machines',
      metadata: { team: 'a' },
    });
    expect(made).toMatchObject({ object: 'vector_store', name: 'Manuals', status: 'completed' });
    expect(made.file_counts).toEqual({ in_progress: 0, completed: 0, failed: 0, cancelled: 0, total: 0 });
    expect(await client.vectorStores.retrieve(made.id)).toEqual(made);
    const changed = await client.vectorStores.update(made.id, { name: 'Books', metadata: null });
    expect(changed).toMatchObject({ id: made.id, name: 'Books', metadata: { team: 'a' } });
    expect(await client.vectorStores.delete(made.id)).toEqual({
      id: made.id,
      object: 'vector_store.deleted',
      deleted: true,
    });
    const gone = await thrown(() => client.vectorStores.retrieve(made.id));
    expect(gone).toBeInstanceOf(OpenAI.BadRequestError);
    expect(gone).toMatchObject({ param: 'id', message: expect.stringContaining(made.id) });
  });

  it('[ROUTE-28] [VEC-25] lists collections over several pages by itself', async () => {
    const ids = new Set<string>();
    for (let count = 0; count < 5; count++) ids.add((await client.vectorStores.create({})).id);
    const listed: string[] = [];
    for await (const store of client.vectorStores.list({ limit: 2 })) listed.push(store.id);
    expect(listed).toHaveLength(new Set(listed).size);
    expect(listed.filter((id) => ids.has(id))).toHaveLength(5);
    const page = await client.vectorStores.list({ limit: 1, order: 'asc' });
    expect([page.data[0]?.id, page.hasNextPage()]).toEqual([collection, true]);
  });

  it('[ROUTE-28] [VEC-3] [VEC-4] [VEC-6] searches by query, with its filters and options', async () => {
    const page = await client.vectorStores.search(collection, {
      query: 'When are the bearings greased?',
      max_num_results: 5,
      rewrite_query: true,
      ranking_options: { ranker: 'auto', score_threshold: 0 },
      filters: { type: 'and', filters: [{ type: 'gte', key: 'year', value: 2025 }] },
    });
    expect(page.data[0]).toMatchObject({ filename: 'house.md', attributes: { year: 2026 } });
    expect(page.data[0]?.content[0]).toMatchObject({
      type: 'text',
      text: expect.stringContaining('blue gun'),
    });
    expect(page.data[0]?.score).toBeGreaterThan(0);
    const all = [];
    for await (const hit of client.vectorStores.search(collection, { query: ['lathe'] })) all.push(hit);
    expect(all.length).toBeGreaterThan(0);
    const none = await client.vectorStores.search(collection, {
      query: 'lathe',
      filters: { type: 'eq', key: 'year', value: 1900 },
    });
    expect(none.data).toEqual([]);
  });

  it('[ROUTE-28] [VEC-28] [VEC-29] lists, retrieves and deletes files', async () => {
    const { id } = await client.vectorStores.create({});
    await sendForm(gateway, `/vector_store/${id}/files`, fileForm('Some text.'));
    const { data } = await client.vectorStores.files.list(id);
    const [file] = data;
    expect(file).toMatchObject({ object: 'vector_store.file', vector_store_id: id });
    const one = await client.vectorStores.files.retrieve(file?.id ?? '', { vector_store_id: id });
    expect(one.id).toBe(file?.id);
    const gone = await client.vectorStores.files.delete(file?.id ?? '', { vector_store_id: id });
    expect(gone).toMatchObject({ object: 'vector_store.file.deleted', deleted: true });
    // Files of OpenAI's own `/files` route are not to be had here, and that is said.
    const refused = await thrown(() => client.vectorStores.files.create(id, { file_id: 'file-1' }));
    expect(refused).toMatchObject({ status: 400, param: 'file' });
  });
});

const messages = [{ role: 'user' as const, content: 'When are the bearings of the lathe greased?' }];
const question = messages[0]?.content ?? '';
type WithSources = { sources?: { index: number; filename: string }[] };

/** Sends what an SDK sends to chat to the collection instead. */
const overCollection = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
  const request = new Request(input, init);
  const body = { ...((await request.json()) as object), collection };
  return fetch(`${base}/chat/completions/RAG`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
};

describe('[RAG-1] [RAG-7] retrieval-augmented chat', () => {
  it('[ROUTE-28] by the OpenAI SDK: the sources stand on the completion and on the first chunk', async () => {
    const rag = new OpenAI({ baseURL: base, apiKey: gateway.key, maxRetries: 0, fetch: overCollection });
    const completion = await rag.chat.completions.create({ model: 'sandbox-chat', messages });
    expect(completion.choices[0]?.message.content).not.toBe('');
    expect((completion as WithSources).sources?.[0]).toMatchObject({ index: 1, filename: 'house.md' });
    const runner = rag.chat.completions.stream({ model: 'sandbox-chat', messages });
    const chunks: WithSources[] = [];
    for await (const chunk of runner) chunks.push(chunk as WithSources);
    expect(chunks[0]?.sources?.[0]?.filename).toBe('house.md');
    const final = await runner.finalChatCompletion();
    expect((final as WithSources).sources?.[0]?.filename).toBe('house.md');
    // A plain call to the path itself.
    const plain = await client.post('/chat/completions/RAG', {
      body: { model: 'sandbox-chat', messages, collection },
    });
    expect((plain as WithSources).sources).toHaveLength(1);
  });

  it('[ROUTE-30] by the OpenRouter SDK, which checks every answer', async () => {
    const httpClient = new HTTPClient({ fetcher: overCollection });
    const router = new OpenRouter({
      serverURL: base,
      apiKey: gateway.key,
      httpClient,
      retryConfig: { strategy: 'none' },
    });
    const chatRequest = { model: 'sandbox-chat', messages };
    const whole = (await router.chat.send({ chatRequest: { ...chatRequest, stream: false } })) as ChatResult;
    expect(whole.choices[0]?.message.content).not.toBe('');
    const stream = await router.chat.send({ chatRequest: { ...chatRequest, stream: true } });
    let text = '';
    for await (const chunk of stream as AsyncIterable<ChatStreamChunk>)
      text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe(whole.choices[0]?.message.content);
  });

  it.each([
    [
      '@ai-sdk/openai-compatible',
      () =>
        createOpenAICompatible({
          name: 'roundhouse',
          baseURL: base,
          apiKey: gateway.key,
          fetch: overCollection,
        }).chatModel('sandbox-chat'),
    ],
    [
      '@openrouter/ai-sdk-provider',
      () =>
        createOpenRouter({ baseURL: base, apiKey: gateway.key, fetch: overCollection }).chat('sandbox-chat'),
    ],
  ])('[ROUTE-31] by the AI SDK with %s', async (_, model) => {
    const { text } = await generateText({ model: model(), prompt: question, maxRetries: 0 });
    expect(text).not.toBe('');
    const streamed = streamText({ model: model(), prompt: question, maxRetries: 0 });
    expect(await streamed.text).not.toBe('');
  });
});
