/** The transcription port against a server that answers as it is told, and as real ones do. */
import { globSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMockEngine, type MockEngine, type MockRequest } from '../../../test/support/mock-engine.ts';
import { formOf } from '../../../test/support/mock-form.ts';
import { Wheel } from '../../lib/wheel.ts';
import type { Engine } from '../contract/engine.ts';
import type { TranscriptionRequest } from '../contract/transcription.ts';
import { toAddress } from './address.ts';
import type { FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import { createOpenaiCompatible } from './index.ts';
import { toLanguageCode } from './languages.ts';

let mock: MockEngine;
let wheel: Wheel;
const engines: Engine[] = [];

beforeEach(async () => {
  wheel = new Wheel();
  mock = await createMockEngine();
});
afterEach(async () => {
  expect(wheel.size).toBe(0);
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await mock.close();
});

function engine(flavor: FlavorName): Engine {
  const made = createOpenaiCompatible({
    address: toAddress(mock.url),
    flavor: flavors[flavor],
    apiKey: 'secret',
    headers: { 'x-team': 'speech' },
    timeoutMs: 100_000,
    idleTimeoutMs: 20_000,
    wheel,
  });
  engines.push(made);
  return made;
}

const samples = Int16Array.from([0, 1, -1, 32_767, -32_768]);
const request = (changes: Partial<TranscriptionRequest> = {}): TranscriptionRequest => ({
  model: 'Org/Ear',
  samples,
  ...changes,
});
const { signal: never } = new AbortController();
const transcribe = (flavor: FlavorName, changes: Partial<TranscriptionRequest> = {}) =>
  engine(flavor).transcription!.transcribe(request(changes), never);

describe('a request', () => {
  it.each([
    ['vllm', '/v1/audio/transcriptions', { response_format: 'json' }],
    ['generic', '/v1/audio/transcriptions', { response_format: 'json' }],
    ['speaches', '/v1/audio/transcriptions', { response_format: 'verbose_json', vad_filter: 'false' }],
    [
      'whisper.cpp',
      '/inference',
      { response_format: 'verbose_json', no_language_probabilities: 'true', language: 'auto' },
    ],
  ] as const)('is the form that %s expects', async (flavor, path, fields) => {
    mock.route(path, ({ json }) => json(200, { text: 'Hi' }));
    await transcribe(flavor);
    const [sent] = mock.others;
    expect((await formOf(sent!)).fields).toEqual({ model: 'Org/Ear', ...fields });
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-team': 'speech' });
  });

  it.each(['vllm', 'generic', 'speaches', 'whisper.cpp'] as const)(
    '[STT-12] [STT-13] tells %s the language, the guidance and the temperature',
    async (flavor) => {
      for (const path of ['/v1/audio/transcriptions', '/inference']) {
        mock.route(path, ({ json }) => json(200, { text: 'Hi' }));
      }
      await transcribe(flavor, { language: 'de', prompt: 'Straße "Übung"\r\n--x', temperature: 0.2 });
      expect((await formOf(mock.others[0]!)).fields).toMatchObject({
        language: 'de',
        prompt: 'Straße "Übung"\r\n--x',
        temperature: '0.2',
      });
    },
  );

  it('has the samples as a WAV file', async () => {
    mock.route('/v1/audio/transcriptions', ({ json }) => json(200, { text: 'Hi' }));
    await transcribe('generic', { samples: new Int16Array([7, ...samples]).subarray(1) });
    const [file] = (await formOf(mock.others[0]!)).files;
    expect(file?.slice(0, 3)).toEqual(['file', 'audio.wav', 'audio/wav']);
    const wav = file![3];
    expect(wav.toString('latin1', 0, 4) + wav.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
    expect([wav.readUInt32LE(4), wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)]).toEqual([
      wav.length - 8,
      1,
      16_000,
      16,
    ]);
    expect(wav.readUInt32LE(40)).toBe(10);
    expect(Array.from(samples, (_, i) => wav.readInt16LE(44 + 2 * i))).toEqual([...samples]);
  });

  it('is given up when nobody waits for it any more', async () => {
    const controller = new AbortController();
    const { promise: asked, resolve } = Promise.withResolvers<MockRequest>();
    mock.route('/v1/audio/transcriptions', ({ request: given }) => resolve(given));
    const done = engine('vllm').transcription!.transcribe(request(), controller.signal);
    const given = await asked;
    controller.abort(new Error('left'));
    await expect(done).rejects.toThrow('left');
    await given.aborted;
  });

  it('is not possible where the engine has no such route', () => {
    for (const flavor of ['tei', 'ollama', 'llama.cpp', 'kokoro-fastapi'] as const) {
      expect(engine(flavor).transcription).toBeUndefined();
    }
    expect(engine('whisper.cpp').chat).toBeUndefined();
  });
});

interface Fixture {
  engine: FlavorName;
  note: string;
  status: number;
  request: { language?: string; prompt?: string };
  body: string;
  expect: { text?: string; language?: string; failure?: string };
}

const folder = new URL('./fixtures/', import.meta.url).pathname;
const fixtures = globSync('*/transcription*.json', { cwd: folder })
  .sort()
  .map((path) => [path, JSON.parse(readFileSync(folder + path, 'utf8')) as Fixture] as const);

describe('what real engines answer', () => {
  it('is there for every flavour that transcribes', () => {
    const there = new Set(fixtures.map(([, fixture]) => fixture.engine));
    for (const { name, transcription } of Object.values(flavors)) {
      if (name !== 'generic') expect([name, there.has(name)]).toEqual([name, transcription !== undefined]);
    }
  });

  it.each(fixtures)(
    '%s is understood',
    async (_, { engine: flavor, note, status, body, expect: expected }) => {
      mock.route(/POST (\/[a-z0-9/]+)/.exec(note)?.[1] ?? '', ({ text }) => text(status, body));
      const done = transcribe(flavor);
      if (expected.failure === undefined) expect(await done).toEqual(expected);
      else await expect(done).rejects.toMatchObject({ kind: expected.failure });
    },
  );

  it.each([
    ['nothing', '{}'],
    ['a text that is none', '{"text":null}'],
    ['no JSON', 'Hello'],
    ['an error', '{"error":{"message":"broken","code":500}}'],
  ])('with %s is a failure of the engine', async (_, body) => {
    mock.route('/v1/audio/transcriptions', ({ text }) => text(200, body));
    await expect(transcribe('generic')).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it.each([
    ['english', 'en'],
    ['German', 'de'],
    ['haitian creole', 'ht'],
    ['hebrew', 'he'],
    ['myanmar', 'my'],
    ['tagalog', 'tl'],
    ['javanese', 'jv'],
    ['jw', 'jv'],
    ['fr', 'fr'],
    ['hawaiian', undefined],
    ['klingon', undefined],
  ])('names the language %s as %s', (name, code) => {
    expect(toLanguageCode(name)).toBe(code);
  });
});
