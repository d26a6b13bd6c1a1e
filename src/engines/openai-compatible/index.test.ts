/** The whole engine against a server that misbehaves on purpose. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  answers,
  chunk,
  createMockEngine,
  type MockEngine,
  type MockScript,
  saying,
} from '../../../test/support/mock-engine.ts';
import { noStudio } from '../../../test/support/no-studio.ts';
import { createRecordingSink } from '../../../test/support/recording-sink.ts';
import type { GatewayError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import { createValidator } from '../../lib/schema.ts';
import { Wheel } from '../../lib/wheel.ts';
import type { ChatPort, ChatRequest, ChatResult, ChatRun } from '../contract/chat.ts';
import type { Engine } from '../contract/engine.ts';
import { engineKinds } from '../index.ts';
import { toAddress } from './address.ts';
import { flavors } from './flavors.ts';
import { createOpenaiCompatible, openaiCompatible } from './index.ts';

const request: ChatRequest = {
  model: 'mock',
  messages: [{ role: 'user', content: 'Hi' }],
  continueFinal: false,
  n: 1,
  maxTokens: 100,
  affinity: '',
};

let mock: MockEngine;
let engine: Engine;
let wheel: Wheel;
let now: number;

beforeEach(async () => {
  now = 1_000_000;
  wheel = new Wheel({ now: () => now, tickMs: 10_000 });
  mock = await createMockEngine();
  engine = createOpenaiCompatible({
    address: toAddress(mock.url),
    flavor: flavors.vllm,
    apiKey: 'engine-key',
    headers: { 'X-Team': 'blue' },
    timeoutMs: 100_000,
    idleTimeoutMs: 20_000,
    wheel,
  });
});

/** Whatever happened: no deadline waits, and no connection stays after the engine is closed. */
afterEach(async () => {
  expect(wheel.size).toBe(0);
  await engine.close();
  await until(async () => (await mock.connections()) === 0);
  await mock.close();
});

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!(await isTrue())) {
    expect(performance.now()).toBeLessThan(deadline);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const port = (): ChatPort => engine.chat!;

/** Moves the clock and lets the wheel look at it. */
function pass(ms: number): void {
  now += ms;
  wheel.turn();
}

function stream(sent: ChatRequest = request) {
  const sink = createRecordingSink();
  return { sink, run: port().stream(sent, sink) };
}

function complete(sent: ChatRequest = request) {
  let run: ChatRun | undefined;
  const answers: unknown[] = [];
  const result = new Promise<ChatResult>((resolve, reject) => {
    run = port().complete(sent, (error, answer) => {
      answers.push(error ?? answer);
      if (error === undefined) resolve(answer!);
      else reject(error);
    });
  });
  result.catch(() => {});
  return { result, answers, run: run! };
}

const failureOf = (result: Promise<unknown>) =>
  result.then(
    () => undefined,
    (error: GatewayError) => error,
  );

describe('the openai-compatible kind', () => {
  const options = createValidator(openaiCompatible.options);
  const entry = { kind: 'openai-compatible', url: 'http://10.0.0.5:8000/v1' };

  it('is one of the kinds and serves chat, embeddings and reranking, as far as its flavour does', () => {
    expect(engineKinds).toContain(openaiCompatible);
    const all = ['chat', 'embedding', 'rerank'];
    expect(openaiCompatible.serves).toEqual(expect.arrayContaining(all));
    const serves = (options: object) =>
      openaiCompatible.servesWith?.({ kind: 'openai-compatible', ...options });
    expect(serves({})).toEqual(expect.arrayContaining(all));
    expect(serves({ flavor: 'ollama' })).not.toContain('rerank');
    expect(serves({ flavor: 'tei' })).toEqual(['embedding', 'rerank']);
  });

  it.each([
    {},
    { flavor: 'llama.cpp' },
    { url: 'https://ai.example.com' },
    { apiKeyEnv: 'KEY', timeoutMs: 295_000, idleTimeoutMs: 1, slots: 4, headers: { 'x-a': 'b' } },
    { headers: { Host: 'engine.internal:8000' } },
  ])('takes %j', (more) => {
    expect(options.check({ ...entry, ...more })).toBe(true);
  });

  it.each([
    { url: 'ftp://host' },
    { url: 'http://user:key@host' },
    { url: 'http://host/v1?key=1' },
    { url: 'host:8000' },
    { flavor: 'tgi' },
    { timeoutMs: 295_001 },
    { timeoutMs: 0 },
    { idleTimeoutMs: 0 },
    { slots: 0 },
    { headers: { 'bad name': 'x' } },
    { headers: { Connection: 'close' } },
    { headers: { 'transfer-encoding': 'chunked' } },
    { headers: { 'x-a': 'line\nbreak' } },
    { unknown: 1 },
  ])('refuses %j', (more) => {
    expect(options.check({ ...entry, ...more })).toBe(false);
  });

  it('reads the key of the engine through its context', async () => {
    const context = {
      name: 'a',
      log: createLog('silent'),
      secret: (name: string) => (name === 'MOCK_KEY' ? 'from-env' : undefined),
      dataFolder: '',
      studio: noStudio,
    };
    const made = openaiCompatible.create(
      { kind: 'openai-compatible', url: mock.url, apiKeyEnv: 'MOCK_KEY' },
      context,
    );
    const sink = createRecordingSink();
    made.chat!.stream(request, sink);
    await sink.over;
    expect(mock.requests[0]?.headers.authorization).toBe('Bearer from-env');
    await made.close();
  });
});

describe('a streamed answer', () => {
  it('comes in parts, each read flushed once, and ends', async () => {
    const { sink } = stream();
    await sink.over;
    expect(sink.choices[0]).toMatchObject({
      text: 'Hello world',
      finish: { reason: 'stop', native: 'stop' },
    });
    expect(sink.usages).toEqual([
      { promptTokens: 7, completionTokens: 2, cachedTokens: 0, reasoningTokens: 0 },
    ]);
    expect(sink.heard.at(-1)).toBe('end');
    expect(mock.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer engine-key', 'x-team': 'blue', 'content-type': 'application/json' },
      body: { model: 'mock', stream: true, stream_options: { include_usage: true } },
    });
    await until(() => wheel.size === 0);
    expect(mock.requests[0]?.isAborted).toBe(false);
  });

  it('is flushed once per read, not once per chunk', async () => {
    let go = () => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    mock.respond(async ({ write, event, done }) => {
      const words = Array.from(
        { length: 50 },
        (_, i) => `data: ${JSON.stringify(chunk({ content: `${i} ` }))}\n\n`,
      );
      await write(words.join(''));
      await gone;
      await event(chunk({}, 'stop'));
      done();
    });
    const { sink } = stream();
    await sink.flushed();
    expect(sink.flushes).toBeLessThan(5);
    expect(sink.heard.length).toBe(50);
    go();
    await sink.over;
    await until(() => wheel.size === 0);
  });

  it('leaves its connection for the next one', async () => {
    for (let i = 0; i < 5; i++) {
      const { sink } = stream();
      await sink.over;
      await until(() => wheel.size === 0);
    }
    // Two, because a connection is free again only a moment after its answer has ended.
    expect(await mock.connections()).toBeLessThanOrEqual(2);
    expect(mock.requests.map(({ isAborted }) => isAborted)).toEqual([false, false, false, false, false]);
  });

  it('stays a success when its run is aborted after the end', async () => {
    const { sink, run } = stream();
    await sink.over;
    run.abort();
    run.abort();
    await until(() => wheel.size === 0);
    expect(mock.requests[0]?.isAborted).toBe(false);
  });

  it('that is never closed is given up a few seconds after its end', async () => {
    mock.respond(async ({ event, request: { aborted } }) => {
      await event(chunk({ content: 'x' }));
      await event(chunk({}, 'stop'));
      await event('[DONE]');
      await aborted;
    });
    const { sink } = stream();
    await sink.over;
    expect(sink.error).toBeUndefined();
    pass(30_000);
    await mock.requests[0]?.aborted;
  });

  it('takes 10 MB in one line', async () => {
    mock.respond(answers.longLine(10 * 1024 * 1024));
    const { sink } = stream();
    await sink.over;
    expect(sink.choices[0]?.text.length).toBe(10 * 1024 * 1024);
    expect(sink.error).toBeUndefined();
    await until(() => wheel.size === 0);
  });

  it('holds the engine back while the reader is slow', async () => {
    let written = 0;
    mock.respond(async ({ event, done, request: seen }) => {
      for (; written < 400 && !seen.isAborted; written++) {
        await Promise.race([event(chunk({ content: 'x'.repeat(100_000) })), seen.aborted]);
      }
      await event(chunk({}, 'stop'));
      done();
    });
    const { sink, run } = stream();
    await sink.flushed();
    run.pause();
    let before = -1;
    // Until the socket buffers are full and nothing more is taken.
    while (before !== written) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(written).toBeLessThan(400);
    const heard = sink.heard.length;
    pass(1_000_000);
    expect(sink.error, 'an engine that is held back is not late').toBeUndefined();
    run.resume();
    await sink.over;
    expect(sink.heard.length).toBeGreaterThan(heard);
    expect(sink.choices[0]?.text.length).toBe(400 * 100_000);
    await until(() => wheel.size === 0);
  });
});

describe('a whole answer', () => {
  it('comes once', async () => {
    const { result, answers: heard, run } = complete();
    expect((await result).choices[0]?.text).toBe('Hello world');
    run.abort();
    run.pause();
    run.resume();
    expect(heard).toHaveLength(1);
    expect(mock.requests[0]?.body).not.toHaveProperty('stream');
    expect(wheel.size).toBe(0);
  });

  it('that looks like the one before hands its text on as it came', async () => {
    const first = await complete().result;
    const second = await complete().result;
    expect(first.choices[0]).toMatchObject({ text: 'Hello world' });
    expect(first.choices[0]?.textInJson).toBeUndefined();
    expect(second.choices[0]?.textInJson).toBe('Hello world');
    expect(second.choices[0]?.text).toBe('Hello world');
    expect(second.usage).toEqual(first.usage);
    expect(second.choices[0]?.finish).toEqual(first.choices[0]?.finish);
  });

  it('over 64 MB is given up', async () => {
    mock.respond(async ({ write, request: seen }) => {
      const piece = Buffer.alloc(4 * 1024 * 1024, 'x');
      while (!seen.isAborted) await Promise.race([write(piece), seen.aborted]);
    });
    expect(await failureOf(complete().result)).toMatchObject({ kind: 'unreachable' });
    await mock.requests[0]?.aborted;
  });
});

describe('an engine that fails', () => {
  const cases: [string, MockScript, Partial<GatewayError>][] = [
    ['resets before its headers', answers.resetBeforeHeaders, { kind: 'unreachable' }],
    ['answers 500 with a page', answers.html500, { kind: 'unreachable', message: 'The engine failed' }],
    ['redirects', ({ text }) => text(302, '', { location: 'http://10.0.0.9/' }), { kind: 'unreachable' }],
    ['refuses the key', ({ json }) => json(401, {}), { kind: 'unreachable', permanent: false }],
    ['is busy', answers.busy(429, '12'), { kind: 'overloaded', retryAfterSeconds: 12 }],
    ['is loading', answers.busy(503), { kind: 'overloaded' }],
    [
      'refuses the request',
      answers.invalid('max_tokens is too large'),
      { kind: 'invalid_request', message: 'max_tokens is too large' },
    ],
  ];

  it.each(cases)('because it %s: streamed', async (_, script, expected) => {
    mock.respond(script);
    const { sink } = stream();
    await sink.over;
    expect(sink.error).toMatchObject(expected);
    expect(sink.heard).toEqual(['fail']);
  });

  it.each(cases)('because it %s: whole', async (_, script, expected) => {
    mock.respond(script);
    const { result, answers: heard } = complete();
    expect(await failureOf(result)).toMatchObject(expected);
    expect(heard).toHaveLength(1);
  });

  it.each([
    ['sends an error inside of the stream', answers.errorInStream],
    ['ends without a finish reason', answers.endWithoutFinish],
    ['resets in the middle of the stream', answers.resetMidStream],
    ['sends garbage in the stream', answers.garbageInStream],
    ['sends 17 MB in one line', answers.longLine(17 * 1024 * 1024)],
  ] as [string, MockScript][])('because it %s', async (_, script) => {
    mock.respond(script);
    const { sink } = stream();
    await sink.over;
    expect(sink.error).toMatchObject({ kind: 'unreachable' });
    expect(sink.error?.message).not.toMatch(/gpu-3|127\.0\.0\.1/);
    await until(() => wheel.size === 0);
  });

  it('because it answers no stream when one was asked for', async () => {
    mock.respond(answers.garbage);
    const { sink } = stream();
    await sink.over;
    expect(sink.error).toMatchObject({ kind: 'unreachable' });
  });

  it('because it answers garbage', async () => {
    mock.respond(answers.garbage);
    expect(await failureOf(complete().result)).toMatchObject({ kind: 'unreachable' });
  });

  it('because nobody listens, and says so without its address', async () => {
    await mock.refuse();
    const { sink } = stream();
    const { result } = complete();
    await sink.over;
    const { port: at } = new URL(mock.url);
    for (const error of [sink.error, await failureOf(result)]) {
      expect(error).toMatchObject({ kind: 'unreachable' });
      expect(error?.message).not.toContain(at);
    }
    expect(await engine.health(new AbortController().signal)).toMatchObject({ ok: false });
    await mock.open();
    const again = stream();
    await again.sink.over;
    expect(again.sink.error).toBeUndefined();
    await until(() => wheel.size === 0);
  });

  it('is told only after the caller has its handle', async () => {
    await engine.close();
    const { sink } = stream();
    expect(sink.heard).toEqual([]);
    await sink.over;
    expect(sink.error).toMatchObject({ kind: 'unreachable' });
    const aborted = stream();
    aborted.run.abort();
    await new Promise((resolve) => setImmediate(resolve));
    expect(aborted.sink.heard).toEqual([]);
  });

  it('at a request that it cannot take, without being asked', async () => {
    const ollama = createOpenaiCompatible({
      address: toAddress(mock.url),
      flavor: flavors.ollama,
      apiKey: undefined,
      headers: {},
      timeoutMs: 1_000,
      idleTimeoutMs: 1_000,
    });
    const sink = createRecordingSink();
    ollama.chat!.stream({ ...request, n: 2 }, sink);
    expect(sink.heard).toEqual([]);
    await sink.over;
    expect(sink.error).toMatchObject({ kind: 'invalid_request', param: 'n' });
    expect(mock.requests).toEqual([]);
    await ollama.close();
  });
});

describe('an engine that falls silent', () => {
  it.each([
    ['before its headers', answers.stallAtOnce],
    ['after its headers', answers.stallAfterHeaders],
    [
      'and sends only roles and comments',
      async ({ event, write, request: seen }) => {
        await event(chunk({ role: 'assistant', content: '' }));
        await write(': ping\n\n');
        await seen.aborted;
      },
    ],
  ] as [string, MockScript][])('[STREAM-21] %s is a timeout before the first token', async (_, script) => {
    mock.respond(script);
    const { sink } = stream();
    const seen = await mock.request(0);
    pass(99_000);
    expect(sink.error).toBeUndefined();
    pass(21_000);
    expect(sink.error).toMatchObject({ kind: 'timeout', message: 'The engine did not answer in time' });
    await seen.aborted;
    expect(sink.heard).toEqual(['fail']);
  });

  it('is a timeout for a whole answer too', async () => {
    mock.respond(answers.stallAtOnce);
    const { result } = complete();
    const seen = await mock.request(0);
    pass(120_000);
    expect(await failureOf(result)).toMatchObject({ kind: 'timeout' });
    await seen.aborted;
  });

  it('in the middle of the stream is a timeout after the idle time', async () => {
    mock.respond(answers.stallMidStream);
    const { sink } = stream();
    await until(() => sink.choices[0]?.text === 'Hello');
    pass(19_000);
    expect(sink.error).toBeUndefined();
    pass(21_000);
    expect(sink.error).toMatchObject({ kind: 'timeout', message: expect.stringContaining('silent') });
    await mock.requests[0]?.aborted;
  });

  it('is given its idle time again with every event, but not with a comment', async () => {
    let next: (bytes: string) => Promise<void> = async () => {};
    mock.respond(async ({ event, write, request: seen }) => {
      await event(chunk({ content: 'a' }));
      next = write;
      await seen.aborted;
    });
    const { sink } = stream();
    await until(() => sink.choices[0]?.text === 'a');
    pass(15_000);
    await next(`data: ${JSON.stringify(chunk({ content: 'b' }))}\n\n`);
    await until(() => sink.choices[0]?.text === 'ab');
    pass(25_000);
    expect(sink.error).toBeUndefined();
    await next(': ping\n\n');
    await sink.flushed();
    pass(10_000);
    expect(sink.error).toMatchObject({ kind: 'timeout' });
    await mock.requests[0]?.aborted;
  });
});

describe('a client that leaves', () => {
  it.each([
    ['while the engine is silent', answers.stallAtOnce],
    ['after the headers', answers.stallAfterHeaders],
  ] as [string, MockScript][])('%s stops the engine at once', async (_, script) => {
    mock.respond(script);
    const streamed = stream();
    const whole = complete();
    const seen = [await mock.request(0), await mock.request(1)];
    streamed.run.abort();
    whole.run.abort();
    await Promise.all(seen.map(({ aborted }) => aborted));
    await new Promise((resolve) => setImmediate(resolve));
    expect(streamed.sink.heard).toEqual([]);
    expect(whole.answers).toEqual([]);
  });

  it('in the middle of the stream stops the engine at once', async () => {
    mock.respond(answers.stallMidStream);
    const { sink, run } = stream();
    await until(() => sink.choices[0]?.text === 'Hello');
    run.abort();
    run.abort();
    await mock.requests[0]?.aborted;
    expect(sink.heard).toEqual(['text']);
  });

  it('while held back stops the engine at once', async () => {
    mock.respond(answers.stallMidStream);
    const { sink, run } = stream();
    await until(() => sink.choices[0]?.text === 'Hello');
    run.pause();
    run.abort();
    await mock.requests[0]?.aborted;
  });

  it('before the connection stands never reaches the engine’s work', async () => {
    const { sink, run } = stream();
    run.abort();
    expect(wheel.size).toBe(0);
    await engine.close();
    expect(sink.heard).toEqual([]);
    expect(mock.requests.every(({ isAborted }) => isAborted)).toBe(true);
  });
});

describe('an engine that is closed', () => {
  it('lets the call under way end, and takes no more', async () => {
    let go = () => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    mock.respond(async (exchange) => {
      await gone;
      await saying('late')(exchange);
    });
    const { sink } = stream();
    await mock.request(0);
    const closing = engine.close();
    const refused = stream();
    await refused.sink.over;
    expect(refused.sink.error).toMatchObject({ kind: 'unreachable' });
    go();
    await closing;
    expect(sink.choices[0]?.text).toBe('late');
    expect(mock.requests).toHaveLength(1);
  });
});

describe('beside chat', () => {
  it('asks for health and tokens with its credentials', async () => {
    mock.route('/health', ({ text }) => text(200, ''));
    mock.route('/tokenize', ({ json }) => json(200, { count: 5, tokens: [1, 2, 3, 4, 5] }));
    const { signal } = new AbortController();
    expect(await engine.health(signal)).toEqual({ ok: true });
    expect(await port().countTokens(request, signal)).toBe(5);
    expect(mock.others.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
      ['GET', '/health', 'Bearer engine-key'],
      ['POST', '/tokenize', 'Bearer engine-key'],
    ]);
  });

  it('says that an engine is not well when the question takes too long', async () => {
    mock.route('/health', answers.stallAtOnce);
    expect(await engine.health(AbortSignal.timeout(50))).toMatchObject({ ok: false });
  });
});
