/** Decisions through the whole gateway: limits, the ledger, and a chat model behind a socket that decides. */
import { afterEach, describe, expect, it } from 'vitest';
import { createDecisionGateway, moods, state, team } from './support/decision-gateway.ts';
import type { TestGateway, TestGatewayOptions } from './support/gateway.ts';
import type { TestAnswer } from './support/inject.ts';
import { letterModel } from './support/letter-model.ts';
import { answers, createMockEngine, type MockEngine } from './support/mock-engine.ts';

let gateway: TestGateway;
let engine: MockEngine | undefined;
afterEach(async () => {
  await gateway.close();
  await engine?.close();
  engine = undefined;
});

async function start(settings: TestGatewayOptions['settings'] = {}) {
  gateway = await createDecisionGateway({ settings });
}

/** With a chat model of the mock engine as a decision model. */
async function startWithEngine() {
  engine = await createMockEngine();
  engine.route('/health', ({ text }) => text(200, ''));
  await start({
    engines: { mock: { kind: 'openai-compatible', url: engine.url, flavor: 'vllm' } },
    models: [
      { id: 'judge', type: 'decision', engine: 'mock', contextLength: 4096, pricing: { prompt: '0.000001' } },
    ],
    builtins: { models: [], defaults: {} },
  });
  return engine;
}

const questions = {
  urgent: { type: 'noul', instructions: 'Is it urgent?' },
  team: { type: 'choice', instructions: 'Which team?', criteria: team },
  mood: { type: 'score', instructions: 'How angry?', criteria: moods },
};
const post = (payload: object = {}, url = '/v1/systemone') =>
  gateway.inject({ method: 'POST', url, payload: { model: 'judge', state, questions, ...payload } });

/** The ledger's row of an operation. */
const generation = ({ headers }: TestAnswer) =>
  gateway.inject({ url: `/v1/generation?id=${headers['x-generation-id']}` });

describe('decisions of a whole gateway', () => {
  it('[LIMIT-12] the limits hold on systemone as on every other route, under all its names', async () => {
    await start({ limits: { requestsPerMinute: 3, concurrent: 8, maxQueueWaitMs: 1_000 } });
    const list = { input: state, questions: [{ type: 'predicate' }] };
    const statuses = [
      (await post()).status,
      (await post({}, '/alpha/decisions')).status,
      (await post(list, '/v1/decisions')).status,
    ];
    expect(statuses).toEqual([200, 200, 200]);
    for (const refused of [
      await post(),
      await post({}, '/alpha/decisions'),
      await post(list, '/v1/decisions'),
    ]) {
      expect(refused.status).toBe(429);
      expect(refused.json().error.metadata.error_type).toBe('rate_limit_exceeded');
      expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(refused.headers['x-ratelimit-remaining-requests']).toBe('0');
    }
  });

  it('[BILL-25, BILL-26] every question is billed its whole prompt, as one row without output', async () => {
    await start();
    const one = await post({ questions: { urgent: questions.urgent } });
    const two = await post({ questions: { a: questions.urgent, b: questions.urgent } });
    const { usage } = two.json();
    expect(usage.input_tokens).toBe(2 * one.json().usage.input_tokens);
    expect(usage.cost).toBeCloseTo(usage.input_tokens * 1e-6, 12);
    await expect.poll(async () => (await generation(two)).status).toBe(200);
    const { data } = (await generation(two)).json();
    expect(data).toMatchObject({ total_cost: usage.cost, model: 'judge' });
  });

  it('[BILL-25] what is refused or fails is not billed', async () => {
    await start();
    const failed = [await post({ model: 'busy' }), await post({ model: 'down' }), await post({ model: 'x' })];
    expect(failed.map(({ status }) => status)).toEqual([529, 502, 422]);
    const good = await post();
    // Rows are written in their order.
    await expect.poll(async () => (await generation(good)).status).toBe(200);
    for (const answer of failed) expect((await generation(answer)).status).toBe(404);
  });

  it('[DEC-20, DEC-21, BILL-25] a chat model behind a socket decides', async () => {
    const mock = await startWithEngine();
    const liking = (line: string) => (/^(yes|billing|annoyed)/.test(line) ? 2 : 0);
    mock.respond(letterModel({ liking, promptTokens: 100 }));
    const answer = await post();
    expect(answer.status).toBe(200);
    const { answers: given, usage } = answer.json();
    expect(given.urgent.noul).toBeCloseTo(Math.exp(2) / (Math.exp(2) + 1), 6);
    expect(given.team.choice).toBe('billing');
    expect(given.mood.score).toBeCloseTo(1, 6);
    expect(usage).toEqual({ input_tokens: 300, output_tokens: 0, cost: 0.0003 });
  });

  it('[DEC-28] a busy engine is a 529 with its Retry-After, one that cannot be reached a 502', async () => {
    const mock = await startWithEngine();
    mock.respond(answers.busy(503, '7'));
    const busy = await post();
    expect([busy.status, busy.headers['retry-after']]).toEqual([529, '7']);
    await mock.refuse();
    expect((await post()).status).toBe(502);
    await mock.open();
  });

  it('a client who leaves ends all requests at the engine', async () => {
    const mock = await startWithEngine();
    mock.respond(answers.stallAtOnce);
    const base = await gateway.listen();
    const controller = new AbortController();
    const pending = fetch(`${base}/systemone`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'judge', state, questions }),
      signal: controller.signal,
    });
    await mock.request(6);
    controller.abort();
    await expect(pending).rejects.toThrow();
    await Promise.all(mock.requests.map(({ aborted }) => aborted));
  });
});
