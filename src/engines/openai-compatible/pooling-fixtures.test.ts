/** What real engines answer to embeddings and reranking, written from their sources at a named version. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createMockEngine, type MockScript } from '../../../test/support/mock-engine.ts';
import type { Engine } from '../contract/engine.ts';
import { toAddress } from './address.ts';
import type { FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import { createOpenaiCompatible } from './index.ts';

interface Fixture {
  engine: FlavorName;
  note: string;
  case: string;
  status: number;
  request: { input?: string[]; query?: string; documents?: string[]; texts?: string[]; text_2?: string[] };
  headers?: Record<string, string>;
  body: string;
  expect: {
    vectors?: number[][];
    scores?: number[];
    promptTokens?: number;
    failure?: string;
    isTooLong?: boolean;
  };
}

const folder = new URL('./fixtures/', import.meta.url).pathname;
const all = globSync('*/{embeddings,rerank,score}*.json', { cwd: folder })
  .sort()
  .map((path) => [path, JSON.parse(readFileSync(folder + path, 'utf8')) as Fixture] as const);
const answered = (key: 'vectors' | 'scores') =>
  all.filter(([, fixture]) => fixture.expect[key] !== undefined);
const tooLong = all.filter(([, fixture]) => fixture.expect.isTooLong === true);
const { signal } = new AbortController();

/** The route that the fixture's note names. */
const routeOf = ({ note }: Fixture) => /POST (\/[a-z0-9/]+)/.exec(note)?.[1] ?? '';
const replay =
  ({ status, body, headers }: Fixture): MockScript =>
  ({ text }) =>
    text(status, body, { 'content-type': 'application/json', ...headers });

async function withEngine<T>(
  fixture: Fixture,
  script: MockScript,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const mock = await createMockEngine();
  const engine = createOpenaiCompatible({
    address: toAddress(mock.url),
    flavor: flavors[fixture.engine],
    apiKey: undefined,
    headers: {},
    timeoutMs: 10_000,
    idleTimeoutMs: 10_000,
  });
  mock.route(routeOf(fixture), script);
  try {
    return await work(engine);
  } finally {
    await engine.close();
    await mock.close();
  }
}

describe('embeddings and reranking of real engines', () => {
  it('are there for every flavour that has them', () => {
    const there = new Set(all.map(([, fixture]) => `${fixture.engine} ${fixture.case}`));
    for (const { name, embedding, rerank } of Object.values(flavors)) {
      if (name === 'generic') continue;
      expect(there.has(`${name} embeddings`)).toBe(embedding !== undefined);
      expect(there.has(`${name} rerank`)).toBe(rerank !== undefined);
    }
  });

  it.each(answered('vectors'))('%s gives the expected vectors', async (_, fixture) => {
    const inputs = fixture.request.input ?? [];
    const result = await withEngine(fixture, replay(fixture), (engine) =>
      engine.embedding!.embed({ model: 'm', inputs, maxTokens: 512, fullDimensions: 4 }, signal),
    );
    const { vectors, promptTokens } = fixture.expect;
    expect(result.vectors).toEqual(vectors?.map((vector) => Float32Array.from(vector)));
    expect(result.promptTokens).toBe(promptTokens);
  });

  it.each(answered('scores'))('%s gives the expected scores', async (_, fixture) => {
    const { query = 'q', documents, texts, text_2: pairs } = fixture.request;
    const ranked = documents ?? texts ?? pairs ?? [];
    const result = await withEngine(fixture, replay(fixture), (engine) =>
      engine.rerank!.rerank({ model: 'm', query, documents: ranked, maxTokens: 512 }, signal),
    );
    expect(result).toEqual(
      fixture.expect.scores && {
        scores: fixture.expect.scores,
        promptTokens: fixture.expect.promptTokens,
      },
    );
  });

  it.each(tooLong)('[EMB-19] %s is cut and asked again', async (_, fixture) => {
    let asked = 0;
    const vector = [1, 0, 0, 0];
    const script: MockScript = (exchange) => {
      asked += 1;
      if (asked === 1) replay(fixture)(exchange);
      else exchange.json(200, { data: [{ index: 0, embedding: vector }], usage: { prompt_tokens: 500 } });
    };
    const inputs = ['many words '.repeat(1_000)];
    const result = await withEngine(fixture, script, (engine) =>
      engine.embedding!.embed({ model: 'm', inputs, maxTokens: 512 }, signal),
    );
    expect(asked).toBe(2);
    expect(result).toEqual({ vectors: [Float32Array.from(vector)], promptTokens: 500 });
  });
});
