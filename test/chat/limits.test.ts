/** Limits under load, over real sockets. */
import { afterEach, describe, expect, it } from 'vitest';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';
import { createMockEngine, type MockEngine, saying } from '../support/mock-engine.ts';

let engine: MockEngine;
let gateway: TestGateway;

afterEach(async () => {
  await gateway.close();
  await engine.close();
});

async function setUp(limits: { requestsPerMinute: number; concurrent: number; maxQueueWaitMs: number }) {
  engine = await createMockEngine();
  engine.route('/health', ({ text }) => text(200, ''));
  gateway = await createTestGateway({
    settings: {
      limits,
      engines: { mock: { kind: 'openai-compatible', url: engine.url, flavor: 'vllm' } },
      models: [{ id: 'm', type: 'chat', engine: 'mock', contextLength: 100_000 }],
      builtins: { models: [], defaults: {} },
    },
  });
  const base = await gateway.listen();
  return (n: number, key = gateway.key) =>
    fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'm',
        stream: n % 2 === 1,
        messages: [{ role: 'user', content: String(n) }],
      }),
    });
}

describe('limits', () => {
  it('[LIMIT-8] 200 requests at once against 8 running: never more at the engine, every one answered', async () => {
    const ask = await setUp({ requestsPerMinute: 100_000, concurrent: 8, maxQueueWaitMs: 60_000 });
    let running = 0;
    let most = 0;
    const hello = saying('Hello');
    engine.respond(async (exchange) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      await hello(exchange);
    });
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const answer = await ask(n);
        await answer.text();
        return answer.status;
      }),
    );
    expect(statuses).toEqual(Array.from({ length: 200 }, () => 200));
    expect(most).toBeLessThanOrEqual(8);
    expect(most).toBeGreaterThan(4);
    expect(engine.requests).toHaveLength(200);
  });

  it('[LIMIT-1, LIMIT-3, LIMIT-4, LIMIT-5] 1,000 requests against 60 a minute: exactly 60 pass', async () => {
    const ask = await setUp({ requestsPerMinute: 60, concurrent: 60, maxQueueWaitMs: 20_000 });
    const answers: { status: number; retryAfter: string | null; message: string }[] = [];
    for (let batch = 0; batch < 10; batch++) {
      answers.push(
        ...(await Promise.all(
          Array.from({ length: 100 }, async (_, n) => {
            const answer = await ask(n);
            return {
              status: answer.status,
              retryAfter: answer.headers.get('retry-after'),
              message: await answer.text(),
            };
          }),
        )),
      );
    }
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(refused).toHaveLength(940);
    expect(engine.requests).toHaveLength(60);
    for (const { retryAfter, message } of refused) {
      expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
      expect(Number(retryAfter)).toBeLessThanOrEqual(59);
      expect(message).not.toMatch(/billing|quota|credit|will reset at/i);
    }
  });

  it('[AUTH-20, LIMIT-7] two keys of one subscription share one limit; another subscription has its own', async () => {
    const ask = await setUp({ requestsPerMinute: 2, concurrent: 8, maxQueueWaitMs: 1_000 });
    const { accounts } = gateway.house.platform;
    const sibling = await accounts.createKey({ subscription: 'default', name: 'second' });
    await accounts.createSubscription('other');
    const stranger = await accounts.createKey({ subscription: 'other', name: 'first' });
    const status = async (key: string) => {
      const answer = await ask(0, key);
      await answer.text();
      return answer.status;
    };
    expect([
      await status(gateway.key),
      await status(sibling.secret),
      await status(gateway.key),
      await status(sibling.secret),
    ]).toEqual([200, 200, 429, 429]);
    expect(await status(stranger.secret)).toBe(200);
  });

  it('[LIMIT-13, LIMIT-14, LIMIT-16] the state of the minute stands in headers, on a refusal too', async () => {
    const ask = await setUp({ requestsPerMinute: 2, concurrent: 8, maxQueueWaitMs: 1_000 });
    const seen: (string | null)[][] = [];
    for (let n = 0; n < 3; n++) {
      const answer = await ask(n);
      await answer.text();
      const read = (name: string) => answer.headers.get(`x-ratelimit-${name}-requests`);
      seen.push([String(answer.status), read('limit'), read('remaining')]);
      expect(read('reset')).toMatch(/^(\d+m)?\d+(s|ms)$/);
      expect([...answer.headers.keys()].filter((name) => name.includes('token'))).toEqual([]);
    }
    expect(seen).toEqual([
      ['200', '2', '1'],
      ['200', '2', '0'],
      ['429', '2', '0'],
    ]);
  });
});
