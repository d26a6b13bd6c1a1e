import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../lib/errors.ts';
import { createValidator } from '../lib/schema.ts';
import { providerOf, toSettings } from './provider-options.ts';
import { fromText, propertySchema } from './text-values.ts';

const settings = {
  quality: Type.Optional(Type.Union([Type.Enum(['low', 'high']), Type.Null()])),
  steps: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
};
const rules = {
  validator: createValidator(Type.Object(settings)),
  allowed: ['quality', 'steps'],
  slug: 'acme',
};
const read = (body: Record<string, unknown>) =>
  Object.fromEntries([...toSettings(body, rules)].map(([name, { value, path }]) => [name, [value, path]]));

function failureOf(body: Record<string, unknown>): GatewayError {
  try {
    toSettings(body, rules);
  } catch (error) {
    return error as GatewayError;
  }
  throw new Error('it was taken');
}

describe('settings', () => {
  it('[VIDEO-52] [VIDEO-54] are those of the top level, then of the options, then of the provider there', () => {
    const own = { quality: 'low', steps: 3 };
    expect(read({ provider: { options: { acme: own } } })).toEqual({
      quality: ['low', 'provider.options.acme.quality'],
      steps: [3, 'provider.options.acme.steps'],
    });
    expect(read({ provider: { options: { acme: own, steps: 2 } } })).toMatchObject({
      steps: [2, 'provider.options.steps'],
    });
    expect(read({ steps: 1, provider: { options: { acme: own, steps: 2 } } })).toEqual({
      quality: ['low', 'provider.options.acme.quality'],
      steps: [1, 'steps'],
    });
  });

  it('[VIDEO-51] are not what else stands in provider, and null is nothing', () => {
    expect(read({ provider: { order: ['a'], acme: { steps: 1 } } })).toEqual({});
    expect(read({ steps: null, provider: { options: { steps: null, quality: 'high' } } })).toEqual({
      quality: ['high', 'provider.options.quality'],
    });
    for (const provider of [undefined, null, {}, { options: null }, { options: { acme: null } }])
      expect(read({ provider })).toEqual({});
  });

  it.each([
    [{ x: 1 }, 'provider.options.x', 'unsupported_parameter'],
    [{ other: { steps: 1 } }, 'provider.options.other', 'unsupported_parameter'],
    [{ acme: { x: 1 } }, 'provider.options.acme.x', 'unsupported_parameter'],
    [{ acme: 5 }, 'provider.options.acme', 'invalid_request'],
    [{ steps: 0 }, 'provider.options.steps', 'invalid_request'],
    [{ acme: { quality: 'best' } }, 'provider.options.acme.quality', 'invalid_request'],
  ])('[VIDEO-53] that are wrong are named by their path: %j', (options, param, kind) => {
    const failure = failureOf({ provider: { options } });
    expect([failure.param, failure.kind]).toEqual([param, kind]);
    expect(failure.message.startsWith(param)).toBe(true);
  });

  it('that shadow one of a higher place are looked at all the same', () => {
    expect(failureOf({ steps: 1, provider: { options: { steps: 'x' } } }).param).toBe(
      'provider.options.steps',
    );
  });
});

describe('the schema of provider', () => {
  const schema = Type.Object({ provider: providerOf(settings) });
  const validator = createValidator(schema);

  it('takes objects, whatever else is in them', () => {
    for (const provider of [
      undefined,
      null,
      {},
      { order: 5, options: { steps: 1, other: {} } },
      { options: null },
    ])
      expect(validator.check(provider === undefined ? {} : { provider })).toBe(true);
    for (const provider of [5, 'x', { options: 5 }, { options: { steps: 0 } }])
      expect(validator.check({ provider })).toBe(false);
  });

  it('[VIDEO-58] tells a form what its texts mean', () => {
    const provider = propertySchema(schema, 'provider');
    expect(fromText('{"options":{"steps":2}}', provider)).toEqual({ options: { steps: 2 } });
    const options = propertySchema(provider, 'options');
    expect(fromText('2', propertySchema(options, 'steps'))).toBe(2);
  });
});
