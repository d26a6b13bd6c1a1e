import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  answers,
  createMockEngine,
  type MockEngine,
  type MockExchange,
  type MockScript,
} from '../../../test/support/mock-engine.ts';
import type { Engine } from '../contract/engine.ts';
import type { MusicPart, MusicRequest } from '../contract/music.ts';
import { toAddress } from './address.ts';
import { flavors } from './flavors.ts';
import { createOpenaiCompatible } from './index.ts';

const request: MusicRequest = {
  model: 'm',
  prompt: 'a waltz',
  instrumental: true,
  durationSeconds: 30,
  count: 1,
  seed: 7,
  references: [],
  sampleRate: 32_000,
  channels: 2,
};
const pcm = (bytes: number, value = 3) => Buffer.alloc(bytes, value);
const audio = (bytes: Buffer, index = 0) => ({ index, audio: bytes.toString('base64') });
const format = { sample_rate: 32_000, channels: 2 };
const done = { done: true };

let mock: MockEngine;
let engine: Engine;
beforeEach(async () => {
  mock = await createMockEngine();
});
afterEach(async () => {
  await engine.close();
  await mock.close();
});

const lines =
  (...all: unknown[]): MockScript =>
  async ({ head, write, end }) => {
    head({ 'content-type': 'application/x-ndjson' });
    for (const line of all) await write(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);
    end();
  };

function start(
  script: MockScript,
  changes: Partial<MusicRequest> = {},
  { timeoutMs = 10_000, idleTimeoutMs = 10_000, signal = new AbortController().signal } = {},
) {
  engine = createOpenaiCompatible({
    address: toAddress(mock.url),
    flavor: flavors.generic,
    apiKey: 'secret',
    headers: {},
    timeoutMs,
    idleTimeoutMs,
  });
  mock.route('/v1/music/generations', script);
  const progress: number[] = [];
  const context = {
    remembered: undefined,
    remember: async () => {},
    progress: (fraction: number) => void progress.push(fraction),
    expectedMs: 1_000,
  };
  const rendering = engine.music!.render({ ...request, ...changes }, context, signal)[Symbol.asyncIterator]();
  return { rendering, progress };
}

async function all(rendering: AsyncIterator<MusicPart>) {
  const parts: MusicPart[] = [];
  try {
    for (let step = await rendering.next(); step.done !== true; step = await rendering.next())
      parts.push(step.value);
    return { parts, error: undefined };
  } catch (error) {
    return { parts, error };
  }
}

const play = (script: MockScript, changes?: Partial<MusicRequest>, options?: Parameters<typeof start>[2]) =>
  all(start(script, changes, options).rendering);

describe('what an engine is asked', () => {
  it('is everything that the client asked for, and what the samples shall be', async () => {
    await play(lines(format, done), {
      lyrics: 'la la',
      instrumental: false,
      count: 2,
      negativePrompt: 'drums',
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      guidanceScale: 3,
      steps: 20,
      references: [{ bytes: Buffer.from('RIFF'), mediaType: 'audio/wav' }],
      script: { stall: true },
    });
    expect(mock.others.at(-1)?.headers.authorization).toBe('Bearer secret');
    expect(mock.others.at(-1)?.body).toEqual({
      model: 'm',
      prompt: 'a waltz',
      lyrics: 'la la',
      instrumental: false,
      duration: 30,
      n: 2,
      seed: 7,
      negative_prompt: 'drums',
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      guidance_scale: 3,
      num_inference_steps: 20,
      input_references: [{ media_type: 'audio/wav', data: 'UklGRg==' }],
      sample_rate: 32_000,
      channels: 2,
    });
  });

  it('is nothing that the client left out', async () => {
    await play(lines(format, done));
    expect(Object.keys(mock.others.at(-1)?.body ?? {})).toEqual([
      'model',
      'prompt',
      'instrumental',
      'duration',
      'n',
      'seed',
      'sample_rate',
      'channels',
    ]);
  });
});

describe('the songs', () => {
  it('come part by part, while they are made, with how far they are', async () => {
    const go = Promise.withResolvers<void>();
    const { rendering, progress } = start(
      async ({ head, write, end }) => {
        head({ 'content-type': 'application/x-ndjson' });
        await write(`${JSON.stringify(format)}\n${JSON.stringify(audio(pcm(400)))}\n{"progress":0.25}\n`);
        await go.promise;
        await write(`${JSON.stringify(audio(pcm(800, 5), 1))}\n{"progress":7}\n{"done":true}\n`);
        end();
      },
      { count: 2 },
    );
    expect((await rendering.next()).value).toEqual({ index: 0, samples: pcm(400) });
    go.resolve();
    expect(await all(rendering)).toEqual({ parts: [{ index: 1, samples: pcm(800, 5) }], error: undefined });
    expect(progress).toEqual([0.25, 1]);
  });

  it('are read wherever lines and frames are cut, and heartbeats are passed over', async () => {
    const text = [format, {}, audio(pcm(6)), audio(pcm(7)), {}, audio(pcm(3)), done]
      .map((line) => JSON.stringify(line))
      .join('\n\n');
    for (const size of [1, 7, 64]) {
      const pieces = `${text}\n`.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const { parts, error } = await play(lines(...pieces));
      expect(error).toBeUndefined();
      expect(Buffer.concat(parts.map(({ samples }) => samples))).toEqual(pcm(16));
      for (const { samples } of parts) expect(samples.length % 4).toBe(0);
      await engine.close();
    }
  });

  it('in mono are heard on both sides, and in stereo in the middle where mono is wanted', async () => {
    const mono = Buffer.from(new Int16Array([100, -200]).buffer);
    const stereo = Buffer.from(new Int16Array([100, 200, -300, -100]).buffer);
    const wide = await play(lines({ ...format, channels: 1 }, audio(mono), done));
    expect([...new Int16Array(new Uint8Array(wide.parts[0]!.samples).buffer)]).toEqual([
      100, 100, -200, -200,
    ]);
    await engine.close();
    const narrow = await play(lines(format, audio(stereo), done), { channels: 1 });
    expect([...new Int16Array(new Uint8Array(narrow.parts[0]!.samples).buffer)]).toEqual([150, -200]);
  });

  it('hold the engine back when nobody takes them', async () => {
    let written = 0;
    const line = `${JSON.stringify(audio(pcm(512 * 1024)))}\n`;
    const { rendering } = start(async ({ head, write, end }) => {
      head({ 'content-type': 'application/x-ndjson' });
      await write(`${JSON.stringify(format)}\n`);
      for (; written < 64; written++) await write(line);
      await write('{"done":true}\n');
      end();
    });
    await rendering.next();
    let last = -1;
    // Until nothing moves any more: the sockets hold some megabytes.
    while (last !== written) {
      last = written;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(written).toBeLessThan(64);
    const { parts, error } = await all(rendering);
    expect(error).toBeUndefined();
    expect(parts).toHaveLength(63);
  });
});

describe('what goes wrong', () => {
  it.each([
    ['no connection', answers.resetBeforeHeaders, 'unreachable'],
    ['a broken server', answers.html500, 'unreachable'],
    ['a busy one', ({ json }: MockExchange) => json(503, {}), 'overloaded'],
    ['a prompt that it refuses', answers.invalid('prompt is too long'), 'invalid_request'],
    ['an end without an end', lines(format, audio(pcm(4))), 'unreachable'],
    ['no lines at all', lines(), 'unreachable'],
    ['lines that are no JSON', lines('hello\n'), 'unreachable'],
    ['lines that are no objects', lines('[1]\n'), 'unreachable'],
    ['sound without its rate', lines(audio(pcm(4)), done), 'unreachable'],
    ['another rate', lines({ ...format, sample_rate: 44_100 }, done), 'unreachable'],
    ['six channels', lines({ ...format, channels: 6 }, done), 'unreachable'],
    ['a song that nobody asked for', lines(format, audio(pcm(4), 1)), 'unreachable'],
    ['a failure in words', lines(format, { error: 'out of memory' }), 'unreachable'],
    [
      'a failure with a code',
      lines(format, { error: { message: 'no lyrics', code: 400 } }),
      'invalid_request',
    ],
  ] as [string, MockScript, string][])('%s is told as it is', async (_, script, kind) => {
    expect((await play(script)).error).toMatchObject({ kind });
  });

  it('another rate is told with its remedy', async () => {
    const { error } = await play(lines({ ...format, sample_rate: 44_100 }));
    expect((error as Error).message).toBe(
      "The engine plays at 44100 Hz instead of 32000: the model's sampleRate has to say so",
    );
  });

  it('a stream that breaks off is a failure after what was heard', async () => {
    const { parts, error } = await play(async ({ head, write, reset }) => {
      head({ 'content-type': 'application/x-ndjson' });
      await write(`${JSON.stringify(format)}\n${JSON.stringify(audio(pcm(400)))}\n`);
      reset();
    });
    expect(error).toMatchObject({ kind: 'unreachable' });
    expect(parts).toHaveLength(1);
  });

  it('silence before and in the middle ends in a timeout', async () => {
    expect((await play(answers.stallAtOnce, {}, { timeoutMs: 20 })).error).toMatchObject({ kind: 'timeout' });
    await engine.close();
    const stalls: MockScript = async ({ head, write, request: got }) => {
      head({ 'content-type': 'application/x-ndjson' });
      await write(`${JSON.stringify(format)}\n`);
      await got.aborted;
    };
    expect((await play(stalls, {}, { idleTimeoutMs: 20 })).error).toMatchObject({ kind: 'timeout' });
  });

  it.each(['abort', 'return'] as const)('%s closes the connection', async (how) => {
    const aborter = new AbortController();
    const { rendering } = start(
      async ({ head, write, request: got }) => {
        head({ 'content-type': 'application/x-ndjson' });
        await write(`${JSON.stringify(format)}\n${JSON.stringify(audio(pcm(400)))}\n`);
        await got.aborted;
      },
      {},
      { signal: aborter.signal },
    );
    await rendering.next();
    if (how === 'return') await rendering.return?.();
    else {
      const next = rendering.next();
      aborter.abort(new Error('enough'));
      await expect(next).rejects.toThrow('enough');
    }
    await mock.others[0]!.aborted;
  });
});

describe('flavours', () => {
  it('music is what a generic server may make; others have no such route', () => {
    engine = createOpenaiCompatible({
      address: toAddress(mock.url),
      flavor: flavors.vllm,
      apiKey: undefined,
      headers: {},
      timeoutMs: 1_000,
      idleTimeoutMs: 1_000,
    });
    expect(engine.music).toBeUndefined();
    const makers = Object.values(flavors).filter(({ serves }) => serves.includes('music'));
    expect(makers.map(({ name }) => name)).toEqual(['generic']);
  });
});
