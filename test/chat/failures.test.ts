/**
 * Everything that goes wrong between a client, the gateway and an engine, over real sockets: the right status or
 * the right word inside the stream, the engine call ended, the permit given back, what was delivered billed.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  answers,
  chunk,
  completion,
  createMockEngine,
  type MockEngine,
  type MockScript,
  usageChunk,
} from '../support/mock-engine.ts';

let engine: MockEngine;
let gateway: TestGateway;
let base: string;

/** One slot: a permit that was not given back would block every later request. */
const limits = { requestsPerMinute: 1000, concurrent: 1, maxQueueWaitMs: 20_000 };

beforeEach(async ({ task }) => {
  // Short only where a silence is what fails: elsewhere a busy machine is not taken for a silent engine.
  const silenceMs = task.name.includes('stalls') ? 1_500 : 30_000;
  engine = await createMockEngine();
  engine.route('/health', ({ text }) => text(200, ''));
  gateway = await createTestGateway({
    settings: {
      limits,
      engines: {
        mock: {
          kind: 'openai-compatible',
          url: engine.url,
          flavor: 'vllm',
          timeoutMs: silenceMs,
          idleTimeoutMs: silenceMs,
        },
      },
      models: [
        {
          id: 'm',
          type: 'chat',
          engine: 'mock',
          contextLength: 100_000,
          pricing: { prompt: '0.000001', completion: '0.000002' },
        },
      ],
      builtins: { models: [], defaults: {} },
    },
  });
  base = await gateway.listen();
});
afterEach(async () => {
  await gateway.close();
  await engine.close();
});

function ask(stream: boolean, signal?: AbortSignal): Promise<Response> {
  return fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'hi' }] }),
    ...(signal === undefined ? {} : { signal }),
  });
}

interface Sums {
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
}

async function billed(): Promise<Sums> {
  await gateway.house.platform.inference.close();
  const { data } = (await (
    await fetch(`${base}/activity`, { headers: { authorization: `Bearer ${gateway.key}` } })
  ).json()) as {
    data: Sums[];
  };
  const [row = { requests: 0, prompt_tokens: 0, completion_tokens: 0 }] = data;
  return {
    requests: row.requests,
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
  };
}

const nothing: Sums = { requests: 0, prompt_tokens: 0, completion_tokens: 0 };

/** The next request is answered: nothing of the failed one is still held. */
async function expectFree(): Promise<void> {
  engine.respond(answers.hello);
  const answer = await ask(false);
  expect(answer.status).toBe(200);
  await answer.body?.cancel();
}

describe('an engine that fails before it has said anything', () => {
  const cases: [string, MockScript, number][] = [
    ['resets before the headers', answers.resetBeforeHeaders, 502],
    ['answers 500 with HTML', answers.html500, 502],
    ['stalls', answers.stallAtOnce, 504],
    ['stalls after the headers', answers.stallAfterHeaders, 504],
    ['sends garbage', answers.garbage, 502],
    ['is overloaded', answers.busy(503), 503],
    ['limits the gateway', answers.busy(429, '7'), 503],
  ];
  for (const stream of [false, true]) {
    it.each(cases)(
      `${stream ? 'streamed' : 'whole'}, [ERR-40] %s: its real status, nothing billed`,
      async (_what, script, status) => {
        engine.respond(script);
        const answer = await ask(stream);
        expect(answer.status).toBe(status);
        expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
        const { error } = (await answer.json()) as { error: { code: number; message: string } };
        expect(error.code).toBe(status);
        expect(error.message).not.toMatch(/127\.0\.0\.1|10\.0\.0\.5|html/i);
        expect(await billed()).toEqual(nothing);
        await expectFree();
      },
    );
  }

  it('[ERR-34] refuses the connection: 502', async () => {
    await engine.refuse();
    for (const stream of [false, true]) expect((await ask(stream)).status).toBe(502);
    await engine.open();
    await expectFree();
  });

  it('[ERR-38] refuses the request as malformed: its first line is a 400', async () => {
    engine.respond(answers.invalid('prompt too long\nTraceback'));
    for (const stream of [false, true]) {
      const answer = await ask(stream);
      expect(answer.status).toBe(400);
      expect(((await answer.json()) as { error: { message: string } }).error.message).toContain(
        'prompt too long',
      );
    }
    expect(await billed()).toEqual(nothing);
  });
});

describe('an engine that fails in the middle of a stream', () => {
  it.each([
    ['stalls', answers.stallMidStream, 504],
    ['sends an error inside the stream', answers.errorInStream, 502],
    ['ends without a finish reason', answers.endWithoutFinish, 502],
    ['breaks the connection', answers.resetMidStream, 502],
    ['sends garbage', answers.garbageInStream, 502],
  ] as [string, MockScript, number][])(
    '[ERR-41, STREAM-22, BILL-4] %s: told inside the stream, what was delivered is billed',
    async (_what, script, code) => {
      engine.respond(script);
      const answer = await ask(true);
      expect(answer.status).toBe(200);
      const text = await answer.text();
      const events = text.trimEnd().split('\n\n');
      expect(events.at(-1)).toBe('data: [DONE]');
      const last = JSON.parse(events.at(-2)?.slice(6) ?? '') as {
        error: { code: number; message: string };
        choices: unknown[];
      };
      expect(last.error.code).toBe(code);
      expect(last.error.message).not.toMatch(/internal|127\.0/);
      expect(last.choices).toMatchObject([{ index: 0, finish_reason: 'error' }]);
      expect(text).toContain('"content":"Hello"');
      expect(await billed()).toMatchObject({ requests: 1, completion_tokens: 1 });
      await expectFree();
    },
  );

  it('that sends 10 MB in one line is still read', async () => {
    engine.respond(answers.longLine(10_000_000));
    const answer = await ask(true);
    expect((await answer.text()).length).toBeGreaterThan(10_000_000);
    await expectFree();
  });
});

describe('an engine that says what cannot be', () => {
  it('of its usage is not believed: the answer is counted, and the account can still be read', async () => {
    for (const usage of [
      { prompt_tokens: 1e300, completion_tokens: 9e15 },
      { prompt_tokens: -5, completion_tokens: -5 },
    ]) {
      for (const stream of [false, true]) {
        engine.respondOnce(async ({ json, event, done }) => {
          if (!stream) return json(200, completion({ content: 'Hello' }, 'stop', usage));
          await event(chunk({ content: 'Hello' }));
          await event(chunk({}, 'stop'));
          await event(usageChunk(usage));
          done();
        });
        const answer = await ask(stream);
        expect(answer.status).toBe(200);
        await answer.text();
      }
    }
    const sums = await billed();
    expect(sums.requests).toBe(4);
    expect(sums.completion_tokens).toBeLessThan(1_000);
    for (const path of ['key', 'credits']) {
      const answer = await fetch(`${base}/${path}`, { headers: { authorization: `Bearer ${gateway.key}` } });
      expect(answer.status, path).toBe(200);
      await answer.body?.cancel();
    }
  });

  it('and gives fewer answers than asked is not set aside for it', async () => {
    engine.respond(answers.hello);
    for (let i = 0; i < 6; i++) {
      const answer = await fetch(`${base}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', n: 2, messages: [{ role: 'user', content: 'hi' }] }),
      });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('n must be 1');
    }
    await expectFree();
  });
});

describe('a client that leaves', () => {
  it.each([false, true])(
    'before the first token (streamed: %s): the engine call ends, nothing is billed',
    async (stream) => {
      engine.respond(answers.stallAtOnce);
      const controller = new AbortController();
      const answer = ask(stream, controller.signal);
      const request = await engine.request(0);
      controller.abort();
      await expect(answer).rejects.toThrow();
      await request.aborted;
      expect(await billed()).toEqual(nothing);
      await expectFree();
    },
  );

  it('[BILL-4] in the middle of a stream: the engine call ends, what was delivered is billed', async () => {
    engine.respond(async ({ event, request }) => {
      await event(chunk({ content: 'one' }));
      await event(chunk({ content: ' two' }));
      await request.aborted;
    });
    const controller = new AbortController();
    const answer = await ask(true, controller.signal);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes(' two')) text += (await reader?.read())?.value ?? '';
    controller.abort();
    await (await engine.request(0)).aborted;
    await expectFree();
    const sums = await billed();
    // The other one is that of `expectFree`, which has two tokens as well.
    expect(sums).toMatchObject({ requests: 2, completion_tokens: 4 });
  });

  it('[LIMIT-10] while it waits in line: the engine is never asked', async () => {
    engine.respond(answers.stallAtOnce);
    const first = new AbortController();
    const running = ask(false, first.signal).catch(() => {});
    await engine.request(0);
    const second = new AbortController();
    const waiting = ask(false, second.signal).catch(() => {});
    await expect.poll(() => gateway.house.platform.inference !== undefined).toBe(true);
    second.abort();
    await waiting;
    first.abort();
    await running;
    await expectFree();
    expect(engine.requests).toHaveLength(2);
    expect(await billed()).toMatchObject({ requests: 1 });
  });
});
