/** Collections of a composed gateway: files that are sent, read, embedded and found, by those whom they belong to. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestGateway, type TestGateway } from './support/gateway.ts';
import { sendForm, untilRead } from './support/vectors-gateway.ts';
import { fileForm } from './support/vectors-shell.ts';

let gateway: TestGateway;
/** Another key of the same subscription, and a key of another one. */
let second: string;
let stranger: string;

const embedding = { type: 'embedding', contextLength: 8192, dimensions: 384 } as const;

beforeAll(async () => {
  gateway = await createTestGateway({
    settings: {
      limits: { requestsPerMinute: 100_000, concurrent: 64, maxQueueWaitMs: 20_000 },
      engines: {
        sandbox: { kind: 'sandbox' },
        refusing: { kind: 'sandbox' },
        busy: { kind: 'sandbox' },
      },
      defaults: { embedding: 'words' },
      builtins: { models: [], defaults: {} },
      models: [
        { ...embedding, id: 'words', engine: 'sandbox', pricing: { prompt: '0.000001' } },
        { ...embedding, id: 'twice', engine: 'sandbox', limits: { requestsPerMinute: 2 } },
        { ...embedding, id: 'refusing', engine: 'refusing', script: { failBefore: 'refuse' } },
        { ...embedding, id: 'busy', engine: 'busy', script: { failBefore: 'overload' } },
      ],
    },
  });
  const { accounts } = gateway.house.platform;
  second = (await accounts.createKey({ subscription: 'default', name: 'second' })).secret;
  await accounts.createSubscription('others');
  stranger = (await accounts.createKey({ subscription: 'others', name: 'stranger' })).secret;
});
afterAll(() => gateway.close());

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
const call = (method: Method, path: string, payload?: unknown, key = gateway.key) =>
  gateway.inject({ method, url: `/v1/vector_store${path}`, payload, key });
const create = async (body: object = {}) => (await call('POST', '', body)).json().id as string;

async function add(id: string, text: string | Buffer, fields: Record<string, string> = {}) {
  const added = await sendForm(gateway, `/vector_store/${id}/files`, fileForm(text, fields));
  expect(added.status, added.body).toBe(201);
  await untilRead(gateway, id);
  return (await call('GET', `/${id}/files/${added.json().id}`)).json();
}

async function found(id: string, input: string, more: object = {}) {
  const answer = await call('POST', `/${id}/search`, { input, ...more });
  expect(answer.status, answer.body).toBe(200);
  return answer.json().data as {
    item_id: string;
    filename: string;
    score: number;
    content: [{ text: string }];
  }[];
}

const ships = '# Ships\n\nThe schooner Albatross carries salted herring from Bergen to Lisbon.';
const trains = '# Trains\n\nThe night train to Vienna leaves from platform nine.';

describe('a collection', () => {
  it('[VEC-1, VEC-5, VEC-15] finds the text of an uploaded file, the best first, with scores from 0 to 1', async () => {
    const id = await create();
    const file = await add(id, ships, { filename: 'ships.md', attributes: '{"year":2026}' });
    expect(file).toMatchObject({ status: 'completed', last_error: null, attributes: { year: 2026 } });
    expect(file.item_count).toBeGreaterThan(0);
    await add(id, trains, { filename: 'trains.md' });
    const hits = await found(id, 'Which schooner carries herring?');
    expect(hits[0]).toMatchObject({ filename: 'ships.md', attributes: { year: 2026 } });
    expect(hits[0]?.content[0].text).toContain('Albatross');
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    for (const score of scores) expect(score >= 0 && score <= 1).toBe(true);
    expect((await found(id, 'night train to Vienna'))[0]?.filename).toBe('trains.md');
    const counted = (await call('GET', `/${id}`)).json();
    expect(counted).toMatchObject({ status: 'completed', file_counts: { completed: 2, total: 2 } });
    expect(counted.item_count).toBeGreaterThan(1);
    expect(counted.usage_bytes).toBeGreaterThan(0);
  });

  it('is narrowed by files and by attributes', async () => {
    const id = await create();
    const old = await add(id, ships, { filename: 'old.md', attributes: '{"year":2020,"kind":"log"}' });
    await add(id, ships, { filename: 'new.md', attributes: '{"year":2026,"kind":"log"}' });
    const names = async (more: object) => [
      ...new Set((await found(id, 'herring', more)).map(({ filename }) => filename)),
    ];
    expect((await names({})).toSorted()).toEqual(['new.md', 'old.md']);
    expect(await names({ file_ids: [old.id] })).toEqual(['old.md']);
    expect(await names({ filters: { type: 'gt', key: 'year', value: 2021 } })).toEqual(['new.md']);
    const both = {
      type: 'and',
      filters: [
        { type: 'eq', key: 'kind', value: 'log' },
        { type: 'in', key: 'year', value: [2020] },
      ],
    };
    expect(await names({ filters: both })).toEqual(['old.md']);
    expect(await names({ filters: { type: 'eq', key: 'none', value: true } })).toEqual([]);
  });

  it('[VEC-17, VEC-20, VEC-30] finds an item by its new description, and no more once it is deleted', async () => {
    const id = await create();
    await add(id, ships);
    const [item] = (await call('GET', `/${id}/items`)).json().data;
    const changed = await call('PATCH', `/${id}/items/${item.id}`, {
      description: 'Quokka census of Rottnest',
    });
    expect([changed.status, changed.json().description]).toEqual([202, 'Quokka census of Rottnest']);
    expect((await found(id, 'quokka census'))[0]?.item_id).toBe(item.id);
    const gone = await call('DELETE', `/${id}/items/${item.id}`);
    expect([gone.status, gone.body]).toEqual([204, '']);
    expect((await found(id, 'quokka census')).map(({ item_id }) => item_id)).not.toContain(item.id);
    expect((await call('GET', `/${id}/items/${item.id}`)).status).toBe(400);
  });

  it('[VEC-29] finds nothing of a file that was deleted, and is itself gone with all when it is', async () => {
    const id = await create();
    const file = await add(id, ships);
    expect((await call('DELETE', `/${id}/files/${file.id}`)).json().deleted).toBe(true);
    expect(await found(id, 'herring')).toEqual([]);
    expect((await call('GET', `/${id}/items`)).json().data).toEqual([]);
    await add(id, trains);
    expect((await call('DELETE', `/${id}`)).json().deleted).toBe(true);
    expect((await call('POST', `/${id}/search`, { input: 'train' })).status).toBe(400);
  });

  it('tells of a file that cannot be read in its record', async () => {
    const id = await create();
    const picture = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    const file = await add(id, picture, { filename: '../scan.png' });
    expect(file).toMatchObject({ filename: 'scan.png', status: 'failed', item_count: 0 });
    expect(file.last_error.message).not.toBe('');
    expect((await call('GET', `/${id}`)).json()).toMatchObject({ file_counts: { failed: 1, total: 1 } });
  });

  it('[AUTH-19] is the same for two keys of its subscription', async () => {
    const id = await create({ name: 'shared' });
    const { id: file } = await add(id, ships);
    expect((await call('GET', `/${id}`, undefined, second)).json().name).toBe('shared');
    expect((await call('GET', `/${id}/files/${file}`, undefined, second)).json().id).toBe(file);
    const hits = await call('POST', `/${id}/search`, { input: 'herring' }, second);
    expect(hits.json().data[0].file_id).toBe(file);
    expect((await call('PATCH', `/${id}`, { name: 'renamed' }, second)).status).toBe(200);
    expect((await call('GET', `/${id}`)).json().name).toBe('renamed');
  });

  it('[AUTH-22] does not exist for another subscription', async () => {
    const id = await create();
    const { id: file } = await add(id, ships);
    const [item] = (await call('GET', `/${id}/items`)).json().data;
    for (const [method, path, payload] of [
      ['GET', '', undefined],
      ['POST', '', { name: 'mine' }],
      ['DELETE', '', undefined],
      ['GET', '/files', undefined],
      ['GET', `/files/${file}`, undefined],
      ['DELETE', `/files/${file}`, undefined],
      ['GET', '/items', undefined],
      ['GET', `/items/${item.id}`, undefined],
      ['PATCH', `/items/${item.id}`, { description: 'x' }],
      ['DELETE', `/items/${item.id}`, undefined],
      ['POST', '/search', { input: 'herring' }],
    ] as const) {
      const answer = await call(method, `/${id}${path}`, payload, stranger);
      const { message } = answer.json().error;
      expect([answer.status, message], `${method} ${path}`).toEqual([
        400,
        `There is no vector store "${id}"`,
      ]);
    }
    const upload = await sendForm(gateway, `/vector_store/${id}/files`, fileForm('x'), stranger);
    expect(upload.status).toBe(400);
    expect((await call('GET', '', undefined, stranger)).json().data).toEqual([]);
    expect((await call('GET', `/${id}`)).status).toBe(200);
  });

  it('[LIMIT-12] searches within the limits of its embedding model, and tells how they stand', async () => {
    const id = await create({ model: 'twice' });
    const ask = () => call('POST', `/${id}/search`, { input: 'x' });
    const first = await ask();
    expect([first.status, first.headers['x-ratelimit-remaining-requests']]).toEqual([200, '1']);
    expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('is billed for the tokens of a search, as a generation of its own', async () => {
    const id = await create();
    const answer = await call('POST', `/${id}/search`, { input: 'salted herring from Bergen' });
    const { prompt_tokens, total_tokens, cost } = answer.json().usage;
    expect(prompt_tokens).toBeGreaterThan(0);
    expect([total_tokens, cost]).toEqual([prompt_tokens, prompt_tokens / 1e6]);
    const generation = await gateway.inject({
      url: `/v1/generation?id=${answer.headers['x-generation-id']}`,
    });
    expect(generation.json().data).toMatchObject({ model: 'words', total_cost: cost });
  });

  it('[VEC-9, VEC-10] is a 502 when its embedding fails and a 503 while embeddings are not to be had', async () => {
    for (const [model, status, type] of [
      ['refusing', 502, 'provider_unavailable'],
      ['busy', 503, 'provider_overloaded'],
    ] as const) {
      const answer = await call('POST', `/${await create({ model })}/search`, { input: 'x' });
      expect([answer.status, answer.json().error.metadata.error_type]).toEqual([status, type]);
    }
  });
});
