import { expect, it } from 'vitest';
import { ConfigError, joinPath } from './config-error.ts';

it('says all problems, each on its line', () => {
  const error = new ConfigError('roundhouse.yaml', [
    { path: 'models[0].id', message: 'is required' },
    { path: '', message: 'must be a mapping' },
  ]);
  expect(error.message).toBe(
    'roundhouse.yaml cannot be used:\n  models[0].id is required\n  must be a mapping',
  );
  expect(error.problems).toHaveLength(2);
});

it('joins paths as a person writes them', () => {
  expect(joinPath('models[2]', 'pricing.prompt')).toBe('models[2].pricing.prompt');
  expect(joinPath('models', '[2].id')).toBe('models[2].id');
  expect(joinPath('models', '')).toBe('models');
  expect(joinPath('', 'id')).toBe('id');
});
