import { describe, expect, it } from 'vitest';
import { noStudio } from '../../../test/support/no-studio.ts';
import { createLog } from '../../lib/log.ts';
import { createValidator } from '../../lib/schema.ts';
import { modelTypes } from '../contract/model-type.ts';
import { engineKinds } from '../index.ts';
import { sandbox } from './index.ts';

const context = {
  name: 'sandbox',
  log: createLog('silent'),
  secret: () => undefined,
  dataFolder: '',
  studio: noStudio,
};

describe('the sandbox kind', () => {
  it('is one of the kinds, each of which has its own name', () => {
    expect(engineKinds).toContain(sandbox);
    expect(new Set(engineKinds.map(({ kind }) => kind)).size).toBe(engineKinds.length);
  });

  it('serves every type of model', () => {
    expect([...sandbox.serves].sort()).toEqual([...modelTypes].sort());
  });

  it('takes its options and nothing else', () => {
    const options = createValidator(sandbox.options);
    expect(options.check({ kind: 'sandbox', slots: 4 })).toBe(true);
    expect(options.check({ kind: 'sandbox', slots: 0 })).toBe(false);
    expect(options.problem({ kind: 'sandbox', url: 'http://x' })).toEqual({
      path: 'url',
      message: 'is not a known field',
    });
  });

  it('answers chat, embeddings, reranking and decisions', () => {
    const engine = sandbox.create({ kind: 'sandbox' }, context);
    expect(engine).toMatchObject({ chat: {}, embedding: {}, rerank: {}, decision: {} });
  });

  it('is always well', async () => {
    const engine = sandbox.create({ kind: 'sandbox' }, context);
    expect(engine.kind).toBe('sandbox');
    expect(await engine.health(new AbortController().signal)).toEqual({ ok: true });
    await engine.close();
  });
});
