import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { defineEngineKind, type EngineKind } from '../../engines/contract/engine.ts';
import { sandbox } from '../../engines/sandbox/index.ts';
import { ConfigError } from '../../lib/config-error.ts';
import { GatewayError } from '../../lib/errors.ts';
import { type CatalogOptions, createCatalog } from './catalog.ts';
import type { Declaration } from './declaration.ts';
import type { Builtins, CatalogSettings } from './snapshot.ts';

const chat = (id: string, fields: Partial<Declaration<'chat'>> = {}): Declaration => ({
  id,
  type: 'chat',
  engine: 'sandbox',
  contextLength: 8192,
  ...fields,
});
const rerank = (id: string, fields: Partial<Declaration<'rerank'>> = {}): Declaration => ({
  id,
  type: 'rerank',
  engine: 'sandbox',
  contextLength: 8192,
  ...fields,
});

const builtins: Builtins = {
  models: [chat('house-chat'), rerank('house-rank')],
  defaults: { chat: 'house-chat' },
};
const none: Builtins = { models: [], defaults: {} };

/** Serves embeddings alone. */
const narrow: EngineKind = defineEngineKind({
  kind: 'narrow',
  serves: ['embedding'],
  options: Type.Object({ kind: Type.Literal('narrow') }),
  create: () => {
    throw new Error('no engine is started by the catalogue');
  },
});

function settingsOf(models: readonly Declaration[], fields: Partial<CatalogSettings> = {}): CatalogSettings {
  return {
    source: 'test.yaml',
    defaults: {},
    engines: { sandbox: { kind: 'sandbox' } },
    models,
    builtins: none,
    ...fields,
  };
}

type Sources = Pick<CatalogOptions, 'readModels' | 'readServed'>;

function catalogOf(
  models: readonly Declaration[],
  fields: Partial<CatalogSettings> = {},
  sources: Sources = {},
) {
  return createCatalog({ settings: settingsOf(models, fields), engineKinds: [sandbox, narrow], ...sources });
}

function problemsOf(models: readonly Declaration[], fields: Partial<CatalogSettings> = {}): string[] {
  try {
    catalogOf(models, fields);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ path, message }) => `${path} ${message}`);
  }
  return [];
}

function failureOf(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    return error as GatewayError;
  }
  throw new Error('it did not fail');
}

const ids = (models: readonly { id: string }[]) => models.map(({ id }) => id);

describe('what is listed', () => {
  it('shows served models that are not private, in the order of the configuration', () => {
    const catalog = catalogOf([
      chat('b'),
      chat('secret', { private: true }),
      chat('off', { served: false }),
      rerank('a'),
    ]);
    expect(ids(catalog.listed())).toEqual(['b', 'a']);
    expect(catalog.find('b')?.id).toBe('b');
    expect(catalog.find('secret')).toBeUndefined();
    expect(catalog.find('off')).toBeUndefined();
  });

  it('is the same frozen list until something changes', () => {
    const catalog = catalogOf([chat('a')]);
    const listed = catalog.listed();
    expect(catalog.listed()).toBe(listed);
    expect(Object.isFrozen(listed)).toBe(true);
    expect(Object.isFrozen(listed[0])).toBe(true);
    catalog.replace(settingsOf([chat('a'), chat('b')]));
    expect(catalog.listed()).not.toBe(listed);
  });

  it('follows the list of served models when that changes', () => {
    let served: ReadonlySet<string> = new Set(['a', 'b']);
    const catalog = catalogOf([chat('a'), chat('b')], {}, { readServed: () => served });
    expect(ids(catalog.listed())).toEqual(['a', 'b']);
    served = new Set(['b']);
    expect(ids(catalog.listed())).toEqual(['b']);
    expect(failureOf(() => catalog.resolve('chat', 'a')).kind).toBe('overloaded');
  });

  it('[MODEL-52] ids are case-sensitive', () => {
    const catalog = catalogOf([chat('Chat-One')]);
    expect(catalog.find('Chat-One')?.id).toBe('Chat-One');
    expect(catalog.find('chat-one')).toBeUndefined();
    expect(failureOf(() => catalog.resolve('chat', 'chat-one')).kind).toBe('not_found');
  });

  it('fills in what a declaration leaves open', () => {
    const [model] = catalogOf([chat('acme/one')]).listed();
    expect(model).toMatchObject({
      name: 'acme/one',
      author: 'acme',
      engines: ['sandbox'],
      engineModel: 'acme/one',
      aliases: [],
      legacyIds: [],
      private: false,
      served: true,
    });
    expect(Number.isInteger(model?.created)).toBe(true);
    expect(catalogOf([chat('one', { huggingFaceId: 'Qwen/Qwen3-8B' })]).listed()[0]?.author).toBe('qwen');
    expect(catalogOf([chat('one')]).listed()[0]?.author).toBe('roundhouse');
  });
});

describe('the lookup by author and slug', () => {
  const catalog = catalogOf([
    chat('one', { huggingFaceId: 'Acme/One-8B-Instruct', legacyIds: ['one-preview', 'old/one'] }),
    chat('acme/two', { legacyIds: ['two'], huggingFaceId: 'Acme/Two' }),
    chat('hidden', { private: true, huggingFaceId: 'Acme/Hidden', legacyIds: ['hidden-0'] }),
    chat('off', { served: false, legacyIds: ['off-0'] }),
  ]);
  const find = (author: string, slug: string) => catalog.lookup(author, slug)?.id;

  it('[MODEL-44] takes any author', () => {
    expect(find('acme', 'one')).toBe('one');
    expect(find('whoever', 'one')).toBe('one');
  });

  it('[MODEL-45] takes an id with a slash, whole or split into author and slug', () => {
    expect(find('acme', 'two')).toBe('acme/two');
    expect(find('any', 'acme/two')).toBe('acme/two');
    expect(find('other', 'acme/One')).toBeUndefined();
  });

  it('[MODEL-46] takes a Hugging Face id in any case', () => {
    expect(find('any', 'Acme/One-8B-Instruct')).toBe('one');
    expect(find('ACME', 'one-8b-INSTRUCT')).toBe('one');
    expect(find('any', 'ACME/TWO')).toBe('acme/two');
  });

  it('[MODEL-47] a legacy id leads to the replacement', () => {
    expect(find('any', 'one-preview')).toBe('one');
    expect(find('old', 'one')).toBe('one');
    expect(find('any', 'old/one')).toBe('one');
    expect(find('any', 'two')).toBe('acme/two');
  });

  it('[MODEL-48] a `:variant` is accepted and ignored, known or not', () => {
    expect(find('acme', 'one:free')).toBe('one');
    expect(find('acme', 'two:whatever')).toBe('acme/two');
    expect(find('acme', 'one-8b-instruct:free')).toBe('one');
    expect(find('any', 'one-preview:free')).toBe('one');
    expect(find('any', 'one-normalize')).toBe('one');
  });

  it('[MODEL-49] an unknown, an unserved and a private model are not found, by none of their names', () => {
    for (const slug of ['nothing', 'hidden', 'Acme/Hidden', 'hidden-0', 'off', 'off-0', '', ':free']) {
      expect(find('acme', slug), slug).toBeUndefined();
    }
  });

  it('is case-sensitive for everything but Hugging Face ids', () => {
    expect(find('any', 'ONE')).toBeUndefined();
    expect(find('any', 'One-Preview')).toBeUndefined();
  });

  it('an id comes before a Hugging Face id, and the slug alone before author and slug', () => {
    const both = catalogOf([chat('a', { huggingFaceId: 'x/b' }), chat('x/b'), chat('b')]);
    expect(both.lookup('any', 'x/b')?.id).toBe('x/b');
    expect(both.lookup('x', 'b')?.id).toBe('b');
  });
});

describe('the model that a request means', () => {
  const catalog = catalogOf([
    chat('one', { aliases: ['assistant'], legacyIds: ['one-preview'] }),
    chat('two', { private: true }),
    chat('off', { served: false }),
    chat('real-normalize'),
    chat('anthropic/own'),
    rerank('rank'),
  ]);
  const resolve = (name: string | undefined) => {
    const { model, variant } = catalog.resolve('chat', name);
    return variant === undefined ? model.id : [model.id, variant];
  };

  it('is found by id, alias or legacy id, private ones included', () => {
    expect(resolve('one')).toBe('one');
    expect(resolve('assistant')).toBe('one');
    expect(resolve('one-preview')).toBe('one');
    expect(resolve('two')).toBe('two');
  });

  it('[CHAT-3] with `-normalize` ignored, unless the id itself ends so', () => {
    expect(resolve('one-normalize')).toBe('one');
    expect(resolve('real-normalize')).toBe('real-normalize');
    expect(resolve('real-normalize-normalize')).toBe('real-normalize');
  });

  it('[CHAT-4] with the `:variant` parsed apart, known or not', () => {
    expect(resolve('one:express')).toEqual(['one', 'express']);
    expect(resolve('assistant-normalize:zzz')).toEqual(['one', 'zzz']);
  });

  it('under the prefix of the version-header lists, chat models alone', () => {
    expect(resolve('anthropic/one')).toBe('one');
    expect(resolve('anthropic/one:express')).toEqual(['one', 'express']);
    expect(resolve('anthropic/own')).toBe('anthropic/own');
    expect(failureOf(() => catalog.resolve('rerank', 'anthropic/rank')).kind).toBe('not_found');
  });

  it('[CHAT-7] is a 404 when there is none of the type', () => {
    for (const name of ['nothing', 'rank', 'ONE', '', ':express']) {
      const failure = failureOf(() => resolve(name));
      expect(failure.kind, name).toBe('not_found');
      expect(failure.param).toBe('model');
    }
    expect(failureOf(() => resolve('nothing')).message).toContain('"nothing"');
  });

  it('is a 503 when it is declared but not served', () => {
    expect(failureOf(() => resolve('off')).kind).toBe('overloaded');
  });

  it('has the type that was asked for', () => {
    const { model } = catalog.resolve('rerank', 'rank');
    expect(model.type satisfies 'rerank').toBe('rerank');
  });
});

describe('the default model of a type', () => {
  it('[CHAT-2] is the one that the operator chose, also by an alias', () => {
    const fields = { builtins, defaults: { chat: 'assistant' } };
    const catalog = catalogOf([chat('one'), chat('two', { aliases: ['assistant'] })], fields);
    expect(catalog.resolve('chat', undefined)).toMatchObject({ model: { id: 'two' }, variant: undefined });
  });

  it("else the operator's first one that is offered, else the built-in one", () => {
    expect(catalogOf([chat('one')], { builtins }).resolve('chat', undefined).model.id).toBe('one');
    const hidden = [chat('off', { served: false }), chat('secret', { private: true })];
    expect(catalogOf(hidden, { builtins }).resolve('chat', undefined).model.id).toBe('house-chat');
  });

  it('without built-in models the first one that is offered', () => {
    const models = [
      chat('off', { served: false }),
      chat('secret', { private: true }),
      chat('one'),
      chat('two'),
    ];
    expect(catalogOf(models).resolve('chat', undefined).model.id).toBe('one');
    expect(catalogOf([], { builtins }).resolve('rerank', undefined).model.id).toBe('house-rank');
  });

  it('else there is none: a 404', () => {
    expect(failureOf(() => catalogOf([rerank('rank')]).resolve('chat', undefined)).kind).toBe('not_found');
  });

  it('must exist and have the type', () => {
    expect(problemsOf([rerank('rank')], { defaults: { chat: 'nothing', rerank: 'rank' } })).toEqual([
      'defaults.chat names "nothing", which is not declared',
    ]);
    expect(problemsOf([rerank('rank')], { defaults: { chat: 'rank' } })).toEqual([
      'defaults.chat names rank, which is a model of the type rerank',
    ]);
  });
});

describe('built-in models', () => {
  it('stand after the operator’s own', () => {
    expect(ids(catalogOf([chat('one')], { builtins }).listed())).toEqual(['one', 'house-chat', 'house-rank']);
  });

  it('are replaced by a model of the same id, whatever its type', () => {
    const catalog = catalogOf([chat('own'), rerank('house-chat', { name: 'Mine' })], { builtins });
    expect(ids(catalog.listed())).toEqual(['own', 'house-chat', 'house-rank']);
    expect(catalog.find('house-chat')).toMatchObject({ type: 'rerank', name: 'Mine' });
    expect(catalog.resolve('chat', undefined).model.id).toBe('own');
  });
});

describe('sources that cannot be read', () => {
  const broken = () => {
    throw new Error('disk gone at /srv/models');
  };

  it('[MODEL-56] an unreadable catalogue is a 502 everywhere, never an empty list', () => {
    const catalog = catalogOf([chat('one')], {}, { readModels: broken });
    const calls = [
      () => catalog.listed(),
      () => catalog.find('one'),
      () => catalog.lookup('a', 'one'),
      () => catalog.resolve('chat', 'one'),
      () => catalog.resolve('chat', undefined),
    ];
    for (const call of calls) {
      const failure = failureOf(call);
      expect(failure.kind).toBe('unreachable');
      expect(failure.message).not.toContain('/srv');
    }
  });

  it('[MODEL-57] [CHAT-8] an unreadable served-model list is a 503', () => {
    const catalog = catalogOf([chat('one')], {}, { readServed: broken });
    expect(failureOf(() => catalog.listed()).kind).toBe('overloaded');
    expect(failureOf(() => catalog.resolve('chat', 'one')).kind).toBe('overloaded');
  });

  it('a source that comes back is read again', () => {
    let isBroken = true;
    const readServed: CatalogOptions['readServed'] = ({ served }) => (isBroken ? broken() : served);
    const catalog = catalogOf([chat('one')], {}, { readServed });
    expect(failureOf(() => catalog.listed()).kind).toBe('overloaded');
    isBroken = false;
    expect(ids(catalog.listed())).toEqual(['one']);
  });
});

describe('new settings while it serves', () => {
  it('take effect at once', () => {
    const catalog = catalogOf([chat('one')]);
    catalog.replace(settingsOf([chat('two', { legacyIds: ['one'] })]));
    expect(ids(catalog.listed())).toEqual(['two']);
    expect(catalog.resolve('chat', 'one').model.id).toBe('two');
    expect(catalog.resolve('chat', undefined).model.id).toBe('two');
  });

  it('change nothing when they are wrong, and say why', () => {
    const catalog = catalogOf([chat('one', { aliases: ['uno'] })]);
    const listed = catalog.listed();
    const wrong = settingsOf([chat('two', { engine: 'gone' })], { defaults: { chat: 'one' } });
    expect(() => catalog.replace(wrong)).toThrow(
      /^test\.yaml cannot be used:\n {2}models\[0\]\.engine names the engine "gone"/,
    );
    expect(catalog.listed()).toBe(listed);
    expect(catalog.resolve('chat', 'uno').model.id).toBe('one');
  });
});

describe('what the catalogue refuses at start', () => {
  it('a name that leads to two models', () => {
    expect(problemsOf([chat('a'), chat('a')])).toEqual(['models[1].id "a" is taken: it is the id of a']);
    expect(problemsOf([chat('a', { aliases: ['b'] }), chat('b')])).toEqual([
      'models[0].aliases[0] "b" is taken: it is the id of b',
    ]);
    expect(problemsOf([chat('a', { aliases: ['x'] }), chat('b', { legacyIds: ['y', 'x'] })])).toEqual([
      'models[1].legacyIds[1] "x" is taken: it is an alias of a',
    ]);
    expect(problemsOf([chat('a', { aliases: ['house-rank'] })], { builtins })).toEqual([
      'models[0].aliases[0] "house-rank" is taken: it is the id of house-rank',
    ]);
  });

  it('an engine that is not declared', () => {
    expect(problemsOf([chat('a', { engine: 'vllm' })])).toEqual([
      'models[0].engine names the engine "vllm", which is not declared; declared are: sandbox',
    ]);
    const { engine: _, ...rest } = chat('a');
    expect(problemsOf([{ ...rest, engines: ['sandbox', 'toString'] } as Declaration])[0]).toMatch(
      /^models\[0\]\.engines\[1\] names the engine "toString"/,
    );
    expect(problemsOf([rest as Declaration])).toEqual(['models[0].engine is required']);
    expect(problemsOf([chat('a', { engines: ['sandbox'] })])[0]).toMatch(
      /^models\[0\]\.engine stands beside engines/,
    );
  });

  it('an engine whose kind does not serve the type', () => {
    const engines = { sandbox: { kind: 'sandbox' }, vectors: { kind: 'narrow' } };
    expect(problemsOf([chat('a', { engine: 'vectors' })], { engines })).toEqual([
      'models[0].engine names vectors, but the kind narrow does not serve chat models, only: embedding',
    ]);
  });

  it('a script that the engine cannot follow', () => {
    const engines = { sandbox: { kind: 'sandbox' }, vectors: { kind: 'narrow' } };
    const embedding: Declaration = {
      id: 'e',
      type: 'embedding',
      engine: 'vectors',
      contextLength: 512,
      dimensions: 8,
      script: {},
    };
    expect(problemsOf([embedding], { engines })).toEqual([
      'models[0].script is not for engines of the kind narrow',
    ]);
    expect(problemsOf([chat('a', { script: { overload: { rate: 3 } } })])).toEqual([
      'models[0].script.overload.rate must be at most 1',
    ]);
    expect(problemsOf([chat('a', { script: { delayMs: 10, failBefore: 'timeout' } })])).toEqual([]);
  });

  it('everything at once', () => {
    const problems = problemsOf([chat('a', { engine: 'x' }), chat('a'), chat('count')], {
      defaults: { image: 'z' },
    });
    expect(problems.map((problem) => problem.split(' ', 1)[0])).toEqual([
      'models[0].engine',
      'models[2].id',
      'models[1].id',
      'defaults.image',
    ]);
  });
});
