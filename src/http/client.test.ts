import { describe, expect, it } from 'vitest';
import { clientKind } from './client.ts';

const agent = (text: string) => ({ 'user-agent': text });

describe('who is calling', () => {
  it('[ROUTE-21] anthropic-version with any value makes a messages-format client', () => {
    for (const version of ['2023-06-01', '2026-10-21', 'x', '']) {
      expect(clientKind({ 'anthropic-version': version }, '/messages')).toBe('anthropic');
    }
  });

  it('[ROUTE-22] claude-cli/ and claude-code/ make a messages-format client on the /models routes only', () => {
    for (const name of ['claude-cli/2.0', 'claude-code/1']) {
      expect(clientKind(agent(name), '/models')).toBe('anthropic');
      expect(clientKind(agent(name), '/models/a/b')).toBe('anthropic');
      expect(clientKind(agent(name), '/chat/completions')).toBe('plain');
      expect(clientKind(agent(name), '/modelsx')).toBe('plain');
    }
    expect(clientKind(agent('my claude-cli/2.0'), '/models')).toBe('plain');
  });

  it('[ROUTE-23] the four agents of the OpenAI SDKs make an OpenAI client', () => {
    for (const name of [
      'OpenAI/JS 7.53.0',
      'AsyncOpenAI/Python 2',
      'AzureOpenAI/JS 1',
      'AsyncAzureOpenAI/Python 1',
    ]) {
      expect(clientKind(agent(name), '/videos')).toBe('openai');
    }
    expect(clientKind(agent('MyOpenAI/JS'), '/videos')).toBe('plain');
  });

  it('[ROUTE-24] x-stainless-lang alone makes an OpenAI client; beside anthropic-version it does not', () => {
    expect(clientKind({ 'x-stainless-lang': 'js' }, '/videos')).toBe('openai');
    expect(clientKind({ 'x-stainless-lang': 'js', 'anthropic-version': '1' }, '/videos')).toBe('anthropic');
  });

  it('[ROUTE-25] a User-Agent containing openrouter in any case makes a router-SDK client', () => {
    for (const name of [
      'speakeasy-sdk/typescript 1.3.19 2.914.0 1.0.0 @openrouter/sdk',
      'speakeasy-sdk/go 1 github.com/OpenRouterTeam/go-sdk',
      'ai-sdk/openrouter/2.10.0 ai-sdk/provider-utils/3',
    ]) {
      expect(clientKind(agent(name), '/models')).toBe('openrouter');
    }
  });

  it('[ROUTE-26] every other caller is plain, AI SDK agents that do not name openrouter included', () => {
    for (const name of [
      'curl/8',
      'ai/7.0.169',
      'ai-sdk-openai/4.0.114',
      'ai-sdk/anthropic/4',
      'Mozilla/5.0',
      '',
    ]) {
      expect(clientKind(agent(name), '/models')).toBe('plain');
    }
    expect(clientKind({}, '/models')).toBe('plain');
  });

  it('the decision SDK is told by its own header', () => {
    expect(clientKind({ 'x-typesafe-sdk': '0.6.0', ...agent('typesafe-sdk/0.6.0') }, '/models')).toBe(
      'typesafe',
    );
  });
});
