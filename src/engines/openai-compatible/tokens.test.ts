import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../lib/errors.ts';
import { ResponseHead } from '../../lib/http1/client/response-head.ts';
import type { ChatRequest } from '../contract/chat.ts';
import type { Fields, FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import type { Questions } from './questions.ts';
import { countTokens, estimateTokens } from './tokens.ts';

const request: ChatRequest = {
  model: 'm',
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'image', mediaType: 'image/png', base64: 'x' },
      ],
    },
  ],
  continueFinal: false,
  n: 1,
  maxTokens: 10,
  tools: [{ name: 'f' }],
  affinity: '',
};
const never = new AbortController().signal;

function engine(flavor: FlavorName, answers: Record<string, object | Error>) {
  const asked: { path: string; body: Fields }[] = [];
  const questions: Questions = {
    async post({ path }, body, read) {
      asked.push({ path, body });
      const answer = answers[path] ?? new GatewayError('invalid_request', 'Not Found');
      if (answer instanceof Error) throw answer;
      return read({ json: answer, head: new ResponseHead('HTTP/1.1 200 OK\r\n') });
    },
  };
  return { parts: { flavor: flavors[flavor], questions }, asked };
}

const imageTokens = 1_500;

describe('counting tokens', () => {
  it('asks vLLM and SGLang with the messages, media estimated', async () => {
    for (const flavor of ['vllm', 'sglang'] as const) {
      const { parts, asked } = engine(flavor, { '/tokenize': { count: 12, tokens: [] } });
      expect(await countTokens(parts, request, never)).toBe(12 + imageTokens);
      expect(JSON.parse(JSON.stringify(asked[0]?.body))).toEqual({
        model: 'm',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
        tools: [{ type: 'function', function: { name: 'f' } }],
      });
    }
  });

  it('asks llama.cpp for the prompt, then for its tokens', async () => {
    const { parts, asked } = engine('llama.cpp', {
      '/apply-template': { prompt: '<user>Hi' },
      '/tokenize': { tokens: [1, 2, 3] },
    });
    expect(await countTokens(parts, request, never)).toBe(3 + imageTokens);
    expect(asked[1]?.body).toMatchObject({ content: '<user>Hi', add_special: true });
  });

  it.each([
    ['vllm', {}],
    ['vllm', { '/tokenize': { tokens: 'none' } }],
    ['vllm', { '/tokenize': new Error('refused') }],
    ['llama.cpp', { '/apply-template': {} }],
    ['ollama', {}],
    ['generic', {}],
  ] as [FlavorName, Record<string, object | Error>][])(
    'estimates when %s cannot say: %j',
    async (flavor, answers) => {
      const { parts } = engine(flavor, answers);
      expect(await countTokens(parts, request, never)).toBe(estimateTokens(request));
    },
  );

  it('stops when it is aborted', async () => {
    const { parts } = engine('vllm', { '/tokenize': { count: 1 } });
    await expect(countTokens(parts, request, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    const controller = new AbortController();
    const stopped = countTokens(
      {
        ...parts,
        questions: {
          async post() {
            controller.abort(new Error('left'));
            throw new Error('aborted');
          },
        },
      },
      request,
      controller.signal,
    );
    await expect(stopped).rejects.toThrow('left');
  });

  it('estimates a token for every three bytes, rounded up, media apart', () => {
    const said = (content: string) =>
      estimateTokens({ ...request, tools: [], messages: [{ role: 'user', content }] });
    const around = said('');
    expect([said('abc') - around, said('abcd') - around, said('日本') - around]).toEqual([1, 2, 2]);
    expect(estimateTokens(request)).toBeGreaterThan(imageTokens);
  });
});
