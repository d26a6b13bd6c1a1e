import { globSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  answers,
  createMockEngine,
  type MockEngine,
  type MockExchange,
  type MockScript,
} from '../../../test/support/mock-engine.ts';
import type { GatewayError } from '../../lib/errors.ts';
import type { Engine } from '../contract/engine.ts';
import type { SpeechRequest } from '../contract/speech.ts';
import { toAddress } from './address.ts';
import type { FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import { createOpenaiCompatible } from './index.ts';

const request: SpeechRequest = {
  model: 'm',
  input: 'Hello there.',
  voice: { type: 'builtin', id: 'vivian' },
};
const pcm = (bytes: number) => Buffer.alloc(bytes, 3);

let mock: MockEngine;
let engine: Engine;
beforeEach(async () => {
  mock = await createMockEngine();
});
afterEach(async () => {
  await engine.close();
  await mock.close();
});

function start(
  changes: Partial<SpeechRequest>,
  script: MockScript,
  { flavor = 'generic' as FlavorName, timeoutMs = 10_000, idleTimeoutMs = 10_000 } = {},
) {
  engine = createOpenaiCompatible({
    address: toAddress(mock.url),
    flavor: flavors[flavor],
    apiKey: 'secret',
    headers: {},
    timeoutMs,
    idleTimeoutMs,
  });
  mock.route('/v1/audio/speech', script);
  const pieces: Buffer[] = [];
  const over = Promise.withResolvers<GatewayError | undefined>();
  const first = Promise.withResolvers<void>();
  const run = engine.speech!.speak(
    { ...request, ...changes },
    {
      audio(bytes) {
        pieces.push(Buffer.from(bytes));
        first.resolve();
      },
      end: () => over.resolve(undefined),
      fail: (error) => over.resolve(error),
    },
  );
  return { run, pieces, first: first.promise, over: over.promise };
}

const sound =
  (...chunks: Buffer[]): MockScript =>
  async ({ head, write, end }) => {
    head({ 'content-type': 'audio/pcm' });
    for (const chunk of chunks) await write(chunk);
    end();
  };

async function sent(changes: Partial<SpeechRequest>, flavor: FlavorName) {
  const { over } = start(changes, sound(pcm(4)), { flavor });
  expect(await over).toBeUndefined();
  return mock.others.at(-1)!;
}

describe('what an engine is asked', () => {
  const full: Partial<SpeechRequest> = {
    instructions: 'Calm',
    language: 'de',
    seed: 7,
    temperature: 0.5,
    topP: 0.000001,
    topK: 3,
    isStreamed: true,
    script: { stall: true },
  };

  it('generic servers get what OpenAI takes, and nothing else', async () => {
    const { body, headers } = await sent(full, 'generic');
    expect(body).toEqual({
      model: 'm',
      input: 'Hello there.',
      voice: 'vivian',
      response_format: 'pcm',
      instructions: 'Calm',
    });
    expect(headers.authorization).toBe('Bearer secret');
  });

  it('[SPEECH-24] vLLM-Omni gets the settings, and the language by its name', async () => {
    const { body } = await sent(full, 'vllm-omni');
    expect(body).toEqual({
      model: 'm',
      input: 'Hello there.',
      voice: 'vivian',
      response_format: 'pcm',
      instructions: 'Calm',
      stream: true,
      stream_format: 'audio',
      sample_rate: 24_000,
      language: 'German',
      seed: 7,
      temperature: 0.5,
      top_p: 0.000001,
      top_k: 3,
    });
  });

  it('vLLM-Omni makes voices from descriptions and clips', async () => {
    const designed = await sent({ voice: { type: 'design', description: 'Old' } }, 'vllm-omni');
    expect(designed.body).toMatchObject({ task_type: 'VoiceDesign', instructions: 'Old' });
    expect(designed.body).not.toHaveProperty('voice');
    await engine.close();
    const clip = Buffer.from('RIFF');
    const cloned = await sent({ voice: { type: 'clone', clip, transcript: 'Hi' } }, 'vllm-omni');
    const ref_audio = `data:audio/wav;base64,${clip.toString('base64')}`;
    expect(cloned.body).toMatchObject({ task_type: 'Base', ref_audio, ref_text: 'Hi' });
    await engine.close();
    const timbre = await sent({ voice: { type: 'clone', clip } }, 'vllm-omni');
    expect(timbre.body).toMatchObject({ task_type: 'Base', ref_audio, x_vector_only_mode: true });
  });

  it('Kokoro-FastAPI gets the letter of a language, and English is left to the voice', async () => {
    expect((await sent({ language: 'French' }, 'kokoro-fastapi')).body).toMatchObject({
      stream: true,
      lang_code: 'f',
    });
    await engine.close();
    expect((await sent({ language: 'en' }, 'kokoro-fastapi')).body).not.toHaveProperty('lang_code');
  });

  it.each(['generic', 'kokoro-fastapi'] as const)('%s makes no voices: 400 naming voice', async (flavor) => {
    const { over } = start({ voice: { type: 'design', description: 'x' } }, sound(pcm(4)), { flavor });
    expect(await over).toMatchObject({ kind: 'invalid_request', param: 'voice' });
    expect(mock.others).toEqual([]);
  });
});

describe('the sound', () => {
  it('is handed on as it comes, in whole samples', async () => {
    const go = Promise.withResolvers<void>();
    const { pieces, first, over } = start({}, async ({ head, write, end }) => {
      head({ 'content-type': 'audio/pcm;rate=24000' });
      await write(pcm(101));
      await go.promise;
      await write(pcm(100));
      end();
    });
    await first;
    expect(pieces.map(({ length }) => length)).toEqual([100]);
    go.resolve();
    expect(await over).toBeUndefined();
    // The last byte is half a sample.
    expect(Buffer.concat(pieces)).toEqual(pcm(200));
    for (const { length } of pieces) expect(length % 2).toBe(0);
  });

  const wav = (rate: number, bits = 16) => {
    const head = Buffer.alloc(44);
    head.write('RIFF____WAVEfmt ', 'latin1');
    head.writeUInt32LE(16, 16);
    head.writeUInt16LE(1, 20);
    head.writeUInt16LE(1, 22);
    head.writeUInt32LE(rate, 24);
    head.writeUInt16LE(bits, 34);
    head.write('data', 36, 'latin1');
    head.writeUInt32LE(0xffffffff, 40);
    return head;
  };

  it('loses the head of a WAV file, wherever it is cut', async () => {
    const file = Buffer.concat([wav(24_000), pcm(100)]);
    for (const cut of [1, 3, 13, 40, 44, 45, 100]) {
      const { pieces, over } = start({}, sound(file.subarray(0, cut), file.subarray(cut)));
      expect(await over).toBeUndefined();
      expect(Buffer.concat(pieces)).toEqual(pcm(100));
      await engine.close();
    }
  });

  it.each([
    ['at another rate', sound(wav(44_100), pcm(100))],
    ['of 8 bit', sound(wav(24_000, 8), pcm(100))],
    ['that is empty', sound()],
    ['that is text', ({ text }: MockExchange) => text(200, 'hello')],
    ['that is JSON', ({ json }: MockExchange) => json(200, { audio: 'x' })],
    [
      'labelled with another rate',
      ({ text }: MockExchange) => text(200, 'hello', { 'content-type': 'audio/pcm;rate=44100' }),
    ],
  ] as [string, MockScript][])('%s is refused', async (_, script) => {
    const { pieces, over } = start({}, script);
    expect((await over)?.kind).toBe('unreachable');
    expect(pieces).toEqual([]);
  });
});

describe('what goes wrong', () => {
  it.each([
    ['no connection', answers.resetBeforeHeaders, 'unreachable'],
    ['a broken server', answers.html500, 'unreachable'],
    ['a busy one', ({ json }: MockExchange) => json(503, {}), 'overloaded'],
    [
      'a voice that it does not have',
      ({ json }: MockExchange) => json(400, { error: { message: 'no voice' } }),
      'invalid_request',
    ],
  ] as [string, MockScript, string][])('%s is told as it is', async (_, script, kind) => {
    expect((await start({}, script).over)?.kind).toBe(kind);
  });

  it('a stream that breaks off is a failure after what was heard', async () => {
    const { pieces, over } = start({}, async ({ head, write, reset }) => {
      head({ 'content-type': 'audio/pcm' });
      await write(pcm(100));
      reset();
    });
    expect((await over)?.kind).toBe('unreachable');
    expect(Buffer.concat(pieces)).toHaveLength(100);
  });

  it('silence before and in the middle ends in a timeout', async () => {
    const late = start({}, answers.stallAtOnce, { timeoutMs: 20 });
    expect((await late.over)?.kind).toBe('timeout');
    await engine.close();
    const silent = start(
      {},
      async ({ head, write, request: asked }) => {
        head({ 'content-type': 'audio/pcm' });
        await write(pcm(100));
        await asked.aborted;
      },
      { idleTimeoutMs: 20 },
    );
    expect((await silent.over)?.kind).toBe('timeout');
    expect(Buffer.concat(silent.pieces)).toHaveLength(100);
  });

  it('an abort closes the connection, and nothing more is heard', async () => {
    const { run, pieces, first, over } = start({}, async ({ head, write, request: asked }) => {
      head({ 'content-type': 'audio/pcm' });
      await write(pcm(100));
      await asked.aborted;
    });
    await first;
    run.abort();
    await mock.others[0]!.aborted;
    expect(pieces).toHaveLength(1);
    expect(await Promise.race([over, 'nothing'])).toBe('nothing');
  });

  it('a pause holds the engine back', async () => {
    let written = 0;
    const { run, first, over } = start({}, async ({ head, write, end }) => {
      head({ 'content-type': 'audio/pcm' });
      for (; written < 64; written++) await write(pcm(1024 * 1024));
      end();
    });
    await first;
    run.pause();
    const until = performance.now() + 200;
    let last = -1;
    // Until nothing moves any more: the sockets hold some megabytes.
    while (last !== written && performance.now() < until + 2_000) {
      last = written;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(written).toBeLessThan(64);
    run.resume();
    expect(await over).toBeUndefined();
    expect(written).toBe(64);
  });
});

describe('real engines', () => {
  interface Fixture {
    engine: FlavorName;
    status: number;
    request: Record<string, unknown> & { input: string; voice: string; instructions?: string; seed?: number };
    headers?: Record<string, string>;
    chunks?: string[];
    body?: string;
    expect: { bytes?: number; failure?: string };
  }
  const folder = new URL('./fixtures/', import.meta.url).pathname;
  const all = globSync('*/speech*.json', { cwd: folder })
    .sort()
    .map((path) => [path, JSON.parse(readFileSync(folder + path, 'utf8')) as Fixture] as const);

  it('are there for every flavour that speaks', () => {
    const there = new Set(all.filter(([, { status }]) => status === 200).map(([, { engine: name }]) => name));
    const speaking = Object.values(flavors).filter(
      ({ speech, name }) => speech !== undefined && name !== 'generic',
    );
    expect([...there].sort()).toEqual(speaking.map(({ name }) => name).sort());
  });

  it.each(all)('%s is asked as it was, and answers what is expected', async (_, fixture) => {
    const { model, input, voice, instructions, seed, language, lang_code } = fixture.request;
    const { pieces, over } = start(
      {
        model: model as string,
        input,
        voice: { type: 'builtin', id: voice },
        ...(instructions === undefined ? {} : { instructions }),
        ...(seed === undefined ? {} : { seed }),
        ...(language === undefined && lang_code === undefined
          ? {}
          : { language: lang_code === 'f' ? 'fr' : 'en' }),
      },
      async ({ head, write, end, text }) => {
        if (fixture.chunks === undefined) {
          text(fixture.status, fixture.body ?? '', { 'content-type': 'application/json' });
          return;
        }
        const { 'transfer-encoding': _chunked, ...headers } = fixture.headers ?? {};
        head(headers);
        for (const chunk of fixture.chunks) await write(Buffer.from(chunk, 'base64'));
        end();
      },
      { flavor: fixture.engine },
    );
    const failure = await over;
    expect(mock.others.at(-1)?.body).toEqual(fixture.request);
    expect(failure?.kind).toBe(fixture.expect.failure);
    if (fixture.expect.bytes !== undefined) expect(Buffer.concat(pieces)).toHaveLength(fixture.expect.bytes);
    if (fixture.expect.failure === 'invalid_request') expect(failure?.message).toContain("'nobody'");
  });
});
