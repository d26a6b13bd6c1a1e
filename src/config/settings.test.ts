import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineEngineKind } from '../engines/contract/engine.ts';
import { modelTypes } from '../engines/contract/model-type.ts';
import { engineKinds } from '../engines/index.ts';
import { ConfigError } from '../lib/config-error.ts';
import { createCatalog } from '../platform/catalog/index.ts';
import { parseSettings, type Settings } from './settings.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'settings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A kind with a required option and a key, as kinds that reach a server have. */
const remote = defineEngineKind({
  kind: 'remote',
  serves: ['chat'],
  options: Type.Object(
    { kind: Type.Literal('remote'), url: Type.String(), apiKeyEnv: Type.Optional(Type.String()) },
    { additionalProperties: false },
  ),
  create: () => {
    throw new Error('not started here');
  },
});

function parse(yaml: string, env: Record<string, string> = {}): Settings {
  const file = join(folder, 'roundhouse.yaml');
  writeFileSync(file, yaml);
  return parseSettings({ file, env, engineKinds: [...engineKinds, remote] });
}

function problems(yaml: string, env: Record<string, string> = {}): string[] {
  try {
    parse(yaml, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ path, message }) => `${path} ${message}`);
  }
  return [];
}

describe('a sound file', () => {
  it('is read into settings, with defaults for what it leaves out', () => {
    const settings = parse(`
server: { publicUrl: "https://ai.example.com/v1/" }
limits: { concurrent: 2 }
defaults: { chat: one }
engines:
  far: { kind: remote, url: "http://10.0.0.5/v1" }
models:
  - { id: one, type: chat, engine: far, contextLength: 4096, pricing: { prompt: "0.00000015" } }
`);
    expect(settings).toMatchObject({
      source: 'roundhouse.yaml',
      file: join(folder, 'roundhouse.yaml'),
      server: { publicUrl: 'https://ai.example.com/v1' },
      limits: { requestsPerMinute: 60, concurrent: 2, maxQueueWaitMs: 20_000 },
      defaults: { chat: 'one' },
      engines: { sandbox: { kind: 'sandbox' }, far: { kind: 'remote', url: 'http://10.0.0.5/v1' } },
    });
    expect(settings.models.map(({ id }) => id)).toEqual(['one']);
    expect(settings.builtins.models.length).toBeGreaterThan(0);
  });

  it('may be absent or say nothing, but not be empty: that is a save that broke off', () => {
    expect(parse('{}').models).toEqual([]);
    for (const text of ['', '# nothing yet\n']) expect(() => parse(text)).toThrow(/is empty/);
    const absent = parseSettings({ file: undefined, env: {}, engineKinds });
    expect(absent).toMatchObject({
      file: undefined,
      models: [],
      server: {},
      engines: { sandbox: { kind: 'sandbox' } },
    });
  });

  it('[RESP-49] stored responses are kept for 30 days, or for 1 to 3650 where the file says so', () => {
    expect(parse('{}').responses).toEqual({ retentionDays: 30 });
    expect(parse('responses: {}').responses).toEqual({ retentionDays: 30 });
    for (const days of [1, 7, 3650])
      expect(parse(`responses: { retentionDays: ${days} }`).responses).toEqual({ retentionDays: days });
    expect(problems('responses: { retentionDays: 0 }')).toEqual([
      'responses.retentionDays must be at least 1',
    ]);
    expect(problems('responses: { retentionDays: 3651 }')).toEqual([
      'responses.retentionDays must be at most 3650',
    ]);
    expect(problems('responses: { retentionDays: 1.5 }')).toEqual([
      'responses.retentionDays must be an integer',
    ]);
    expect(problems('responses: { days: 1 }')).toEqual(['responses.days is not a known field']);
  });

  it('builtinModels: false switches the built-in models off', () => {
    const settings = parse('builtinModels: false');
    expect(createCatalog({ settings, engineKinds }).listed()).toEqual([]);
  });

  it('may share fields by anchors', () => {
    const { models } = parse(`
models:
  - &base { id: one, type: chat, engine: sandbox, contextLength: 4096 }
  - { <<: *base, id: two }
`);
    expect(models[1]).toMatchObject({ id: 'two', contextLength: 4096 });
  });

  it('keeps ratios, sizes, dates and labels as they are written', () => {
    const [model] = parse(`
models:
  - id: pic
    type: image
    engine: sandbox
    maxPromptLength: 10
    shutdownDate: 2028-01-31
    size: { multipleOf: 16, minArea: 1, maxArea: 4194304, maxRatio: 4, default: 512x512 }
    resolutions:
      512: { 1:1: 512x512, 16:9: 672x384 }
    defaultResolution: "512"
`).models;
    expect(model).toMatchObject({
      shutdownDate: '2028-01-31',
      resolutions: { '512': { '1:1': '512x512', '16:9': '672x384' } },
    });
  });
});

describe('problems are named by their path', () => {
  it('of models, one at least for each of them', () => {
    const found = problems(`
models:
  - { id: a, type: chat, engine: sandbox }
  - { id: b, type: chat, engine: sandbox, contextLength: 10, contextLenght: 10 }
  - { id: c, type: chat, engine: sandbox, contextLength: 10, pricing: { prompt: "cheap" } }
  - { id: d, type: chat, engine: sandbox, contextLength: 10, pricing: { prompt: 0.1 } }
  - { id: e, type: poem }
  - { id: f }
  - just a name
  - { id: "sp ace", type: rerank, contextLength: 1 }
`);
    expect(found).toEqual([
      'models[0].contextLength is required',
      'models[1].contextLenght is not a known field',
      'models[2].pricing.prompt must match ^\\d+(\\.\\d+)?$',
      'models[3].pricing.prompt must be a string: put the price in quotes',
      'models[4].type must be one of chat, embedding, image, video, music, speech, transcription, decision, rerank',
      'models[5].type is required',
      'models[6] must be a mapping with an id and a type',
      expect.stringMatching(/^models\[7\]\.id must match /),
    ]);
  });

  it('of engines, checked against the kind that they name', () => {
    const found = problems(`
engines:
  vllm-a: { kind: remote }
  other: { kind: steam }
  none: {}
  text: remote
  "a.b": { kind: sandbox }
  sandbox: { kind: remote, url: x }
  small: { kind: sandbox, slots: 0 }
`);
    expect(found).toEqual([
      'engines.vllm-a.url is required',
      `engines.other.kind must be one of ${[...engineKinds, remote].map(({ kind }) => kind).join(', ')}`,
      'engines.none.kind is required',
      'engines.text must be a mapping with a kind',
      'engines.a.b must have a name that matches ^[A-Za-z0-9][A-Za-z0-9_-]*$',
      'engines.sandbox.kind must be sandbox: the built-in models use this engine',
      'engines.small.slots must be at least 1',
    ]);
  });

  it('of the other sections', () => {
    const found = problems(`
server: { publicURL: x }
limits: { requestsPerMinute: 0 }
defaults: { poem: x }
builtinModels: "no"
model: []
`);
    expect(found).toEqual([
      'model is not a known section; known are: server, egress, defaults, limits, responses, jobs, webhooks, engines, models, builtinModels',
      'builtinModels must be true or false',
      'server.publicURL is not a known field',
      'limits.requestsPerMinute must be at least 1',
      'defaults.poem is not a known field',
    ]);
    expect(problems('models: {}')).toEqual(['models must be a list']);
    expect(problems('engines: [a]')).toEqual(['engines must be a mapping of names to engines']);
    expect(problems('- a\n- b')).toEqual([' must be a mapping of sections']);
  });

  it.each([
    ['ftp://x/v1', 'must be an http or https address'],
    ['not an address', 'must be an http or https address'],
    ['https://x.example/', 'must end in /v1, as every address of the API does'],
    ['https://x.example/v1?a=b', 'must have no query, fragment or user'],
    ['https://me@x.example/v1', 'must have no query, fragment or user'],
  ])('of the public address %s', (address, message) => {
    expect(problems(`server: { publicUrl: "${address}" }`)).toEqual([`server.publicUrl ${message}`]);
  });

  it('of a model file that begins as an address and is none', () => {
    const model = (file: string) =>
      `models: [{ id: a, type: chat, engine: sandbox, contextLength: 10, file: "${file}" }]`;
    expect(problems(model('https://'))).toEqual(['models[0].file must be a path or an address']);
    expect(problems(model('https://hub .example/m.gguf'))).toHaveLength(1);
    expect(parse(model('https://hub.example/m.gguf')).models[0]?.file).toBe('https://hub.example/m.gguf');
    expect(parse(model('models/m.gguf')).models[0]?.file).toBe(join(folder, 'models/m.gguf'));
  });

  it('a key is looked up in the environment when the file is read', () => {
    const yaml = 'engines: { far: { kind: remote, url: x, apiKeyEnv: FAR_KEY } }';
    expect(problems(yaml, { FAR_KEY: 'secret' })).toEqual([]);
    expect(problems(yaml)).toEqual(['engines.far.apiKeyEnv names the variable FAR_KEY, which is not set']);
    expect(problems(yaml, { FAR_KEY: 'secret\n' })).toEqual([
      'engines.far.apiKeyEnv names the variable FAR_KEY, which holds what no header may',
    ]);
  });

  it('the message lists them all under the name of the file', () => {
    expect(() => parse('limits: { concurrent: 0 }\nbuiltinModels: 1')).toThrow(
      'roundhouse.yaml cannot be used:\n  builtinModels must be true or false\n  limits.concurrent must be at least 1',
    );
  });
});

describe('YAML itself', () => {
  it('a syntax error has its line and column', () => {
    expect(problems('server:\n  publicUrl: "open\n')[0]).toMatch(/^roundhouse\.yaml:\d+:\d+ .*quote/);
    expect(problems('models:\n  - id: a\n   type: chat\n')[0]).toMatch(/^roundhouse\.yaml:[23]:\d+ /);
  });

  it('a key that stands twice is refused at its place', () => {
    expect(problems('limits: { concurrent: 1 }\ndefaults: {}\nlimits: { concurrent: 2 }\n')).toEqual([
      'roundhouse.yaml:3:1 Map keys must be unique',
    ]);
  });

  it('aliases that have no anchor, or multiply without end, are refused', () => {
    expect(problems('models: *nothing')).toHaveLength(1);
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (const [name, of] of ['ba', 'cb', 'dc', 'ed'].map((pair) => [...pair])) {
      bomb.push(`${name}: &${name} [${new Array(10).fill(`*${of}`).join(', ')}]`);
    }
    expect(problems(bomb.join('\n'))[0]).toMatch(/^roundhouse\.yaml .*alias/i);
  });

  it('a file that does not exist, or is a folder, is named', () => {
    const read = (file: string) => () => parseSettings({ file, env: {}, engineKinds });
    expect(read(join(folder, 'gone.yaml'))).toThrow(`${join(folder, 'gone.yaml')} does not exist`);
    expect(read(folder)).toThrow(/cannot be read/);
  });
});

describe('roundhouse.example.yaml', () => {
  const file = new URL('../../roundhouse.example.yaml', import.meta.url).pathname;

  it('can be used as it stands, and shows every section and every type', () => {
    const settings = parseSettings({ file, env: {}, engineKinds });
    const catalog = createCatalog({ settings, engineKinds });
    expect(catalog.resolve('chat', undefined).model.id).toBe('assistant');
    expect(new Set(settings.models.map(({ type }) => type))).toEqual(new Set(modelTypes));
    expect(settings.server.publicUrl).toBe('https://ai.example.com/v1');
  });
});
