import { TypeSafeClient } from '@typesafe-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';
import { createSampleCatalog } from '../support/sample-models.ts';

let gateway: TestGateway;
let base: string;

beforeAll(async () => {
  gateway = await createTestGateway({ platform: { catalog: createSampleCatalog() } });
  base = await gateway.listen();
});
afterAll(() => gateway.close());

/** The SDK appends `/v1` itself. */
test.each(['with /v1', 'without /v1'])(
  '[ROUTE-32] [ROUTE-6] [MODEL-71] the decision SDK lists the decision models, base address %s',
  async (kind) => {
    const baseURL = kind === 'with /v1' ? base : base.slice(0, -'/v1'.length);
    const client = new TypeSafeClient({ apiKey: gateway.key, baseURL });
    expect(await client.models.list()).toEqual([
      { name: 'judge-one', description: 'Answers typed questions.', release_date: '2025-10-09' },
    ]);
  },
);
