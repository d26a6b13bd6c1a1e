import { describe, expect, it } from 'vitest';
import { isReservedId, parseName, readingsOf, withoutAnthropicPrefix } from './names.ts';

describe('the name of a model', () => {
  it.each([
    ['qwen3-8b', 'qwen3-8b', undefined],
    ['qwen3-8b:express', 'qwen3-8b', 'express'],
    ['qwen/qwen3-8b:free', 'qwen/qwen3-8b', 'free'],
    ['qwen3-8b:free:nitro', 'qwen3-8b', 'free:nitro'],
    ['qwen3-8b:', 'qwen3-8b', undefined],
    ['qwen3-8b:express-normalize', 'qwen3-8b', 'express'],
    ['qwen3-8b-normalize:express', 'qwen3-8b-normalize', 'express'],
    ['', '', undefined],
  ])('[CHAT-4] %j is %j with the variant %j', (name, base, variant) => {
    expect(parseName(name)).toEqual({ base, variant });
  });

  it('[CHAT-3] a `-normalize` suffix is ignored, after the exact name', () => {
    expect([...readingsOf('qwen3-8b-normalize')]).toEqual(['qwen3-8b-normalize', 'qwen3-8b']);
    expect([...readingsOf('qwen3-8b')]).toEqual(['qwen3-8b']);
  });

  it('the prefix of the version-header lists comes off once', () => {
    expect(withoutAnthropicPrefix('anthropic/qwen3-8b')).toBe('qwen3-8b');
    expect(withoutAnthropicPrefix('qwen3-8b')).toBe('qwen3-8b');
    expect(withoutAnthropicPrefix('Anthropic/qwen3-8b')).toBe('Anthropic/qwen3-8b');
  });

  it('a path of the API cannot be an id', () => {
    expect(isReservedId('count')).toBe(true);
    expect(isReservedId('acme/one/endpoints')).toBe(true);
    expect(isReservedId('counter')).toBe(false);
  });
});
