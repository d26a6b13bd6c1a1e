import Anthropic from '@anthropic-ai/sdk';
import Anthropic0137 from 'anthropic-sdk-0137';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';
import { createSampleCatalog } from '../support/sample-models.ts';

const shown = [
  'qwen3-8b',
  'anthropic/qwen3-8b',
  'plain-chat',
  'anthropic/plain-chat',
  'acme/thinker',
  'anthropic/acme/thinker',
];

let gateway: TestGateway;
let base: string;

beforeAll(async () => {
  gateway = await createTestGateway({ platform: { catalog: createSampleCatalog() } });
  base = await gateway.listen();
});
afterAll(() => gateway.close());

/** The SDK appends `/v1` itself, so a base address with and without it must both work. */
const address = (kind: string) => (kind === 'with /v1' ? base : base.slice(0, -'/v1'.length));

/** One of the two credentials is null, so that none is taken from the environment. */
const versions = [
  ['1.8.0 by key', (baseURL: string, key: string) => new Anthropic({ baseURL, apiKey: key, maxRetries: 0 })],
  [
    '1.8.0 by token',
    (baseURL: string, key: string) => new Anthropic({ baseURL, authToken: key, apiKey: null, maxRetries: 0 }),
  ],
  [
    '0.137 by x-api-key',
    (baseURL: string, key: string) =>
      new Anthropic0137({ baseURL, apiKey: key, authToken: null, maxRetries: 0 }),
  ],
  [
    '0.137 by Bearer',
    (baseURL: string, key: string) =>
      new Anthropic0137({ baseURL, authToken: key, apiKey: null, maxRetries: 0 }),
  ],
] as const;
const cases = versions.flatMap(([name, create]) =>
  ['with /v1', 'without /v1'].map((kind) => [name, kind, create] as const),
);

describe.each(cases)('the Anthropic SDK %s, base address %s', (_name, kind, create) => {
  const client = () => create(address(kind), gateway.key);

  test('[ROUTE-29] [ROUTE-6] [MODEL-64] [MODEL-68] lists the chat models', async () => {
    const page = await client().models.list();
    expect(page.data.map((model) => model.id)).toEqual(shown);
    expect(page.has_more).toBe(false);
    expect([page.first_id, page.last_id]).toEqual([shown[0], shown.at(-1)]);
  });

  test('[ROUTE-29] [MODEL-66] iterates over pages in both directions', async () => {
    const seen: string[] = [];
    for await (const model of client().models.list({ limit: 2 })) seen.push(model.id);
    expect(seen).toEqual(shown);
    const back: string[] = [];
    for await (const model of client().models.list({ limit: 2, before_id: 'anthropic/acme/thinker' }))
      back.push(model.id);
    expect(back).toEqual([...shown.slice(3, 5), ...shown.slice(1, 3), ...shown.slice(0, 1)]);
  });

  test('[ROUTE-29] [MODEL-69] retrieves a model, also by the prefixed id', async () => {
    for (const id of ['qwen3-8b', 'anthropic/qwen3-8b', 'acme/thinker', 'anthropic/acme/thinker']) {
      const model = await client().models.retrieve(id);
      expect(model).toMatchObject({ id, type: 'model' });
      expect(new Date(model.created_at).getTime()).toBeGreaterThan(0);
    }
  });
});

test('[ROUTE-29] [MODEL-70] the SDK raises its typed errors, with the request id', async () => {
  const client = new Anthropic({ baseURL: base, apiKey: gateway.key, maxRetries: 0 });
  const missing = await client.models.retrieve('draw-fast').catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(Anthropic.NotFoundError);
  expect(missing).toMatchObject({
    status: 404,
    error: { type: 'error', error: { type: 'not_found_error' } },
  });
  expect((missing as InstanceType<typeof Anthropic.NotFoundError>).requestID).toMatch(/^req_[0-9a-f]{24}$/);
  await expect(client.models.list({ limit: 1001 })).rejects.toBeInstanceOf(Anthropic.BadRequestError);
  const stranger = new Anthropic({ baseURL: base, apiKey: 'wrong', maxRetries: 0 });
  await expect(stranger.models.retrieve('qwen3-8b')).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
});

test('[MODEL-64] [ROUTE-22] what Claude Code asks for its model list is answered without a redirect', async () => {
  const answer = await fetch(`${base}/models?limit=1000`, {
    redirect: 'error',
    headers: { 'user-agent': 'claude-cli/2.1.0 (external, cli)', authorization: `Bearer ${gateway.key}` },
  });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  expect(data.map((model) => model.id).filter((id) => /^(claude|anthropic)/.test(id))).toEqual(
    shown.filter((id) => id.startsWith('anthropic/')),
  );
});
