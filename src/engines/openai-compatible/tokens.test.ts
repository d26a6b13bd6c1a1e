import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../contract/chat.ts';
import { toAddress } from './address.ts';
import type { Question, Reply } from './ask.ts';
import { type FlavorName, flavors } from './flavors.ts';
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

function engine(flavor: FlavorName, answers: Record<string, Reply | Error>) {
  const questions: Question[] = [];
  const parts = {
    address: toAddress('http://host/v1'),
    flavor: flavors[flavor],
    async ask(question: Question) {
      questions.push(question);
      const answer = answers[question.path] ?? { status: 404, text: '' };
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { parts, questions };
}

const ok = (body: unknown): Reply => ({ status: 200, text: JSON.stringify(body) });
const imageTokens = 1_500;

describe('counting tokens', () => {
  it('asks vLLM and SGLang with the messages, media estimated', async () => {
    for (const flavor of ['vllm', 'sglang'] as const) {
      const { parts, questions } = engine(flavor, { '/tokenize': ok({ count: 12, tokens: [] }) });
      expect(await countTokens(parts, request, never)).toBe(12 + imageTokens);
      expect(JSON.parse(JSON.stringify(questions[0]?.body))).toEqual({
        model: 'm',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
        tools: [{ type: 'function', function: { name: 'f' } }],
      });
    }
  });

  it('asks llama.cpp for the prompt, then for its tokens', async () => {
    const { parts, questions } = engine('llama.cpp', {
      '/apply-template': ok({ prompt: '<user>Hi' }),
      '/tokenize': ok({ tokens: [1, 2, 3] }),
    });
    expect(await countTokens(parts, request, never)).toBe(3 + imageTokens);
    expect(questions[1]?.body).toMatchObject({ content: '<user>Hi', add_special: true });
  });

  it.each([
    ['vllm', { '/tokenize': { status: 404, text: '' } }],
    ['vllm', { '/tokenize': { status: 200, text: '<html>' } }],
    ['vllm', { '/tokenize': ok({ tokens: 'none' }) }],
    ['vllm', { '/tokenize': ok(null) }],
    ['vllm', { '/tokenize': new Error('refused') }],
    ['llama.cpp', { '/apply-template': ok({}) }],
    ['ollama', {}],
    ['generic', {}],
  ] as [FlavorName, Record<string, Reply | Error>][])(
    'estimates when %s cannot say: %j',
    async (flavor, answers) => {
      const { parts } = engine(flavor, answers);
      expect(await countTokens(parts, request, never)).toBe(estimateTokens(request));
    },
  );

  it('stops when it is aborted', async () => {
    const { parts } = engine('vllm', { '/tokenize': ok({ count: 1 }) });
    await expect(countTokens(parts, request, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    const controller = new AbortController();
    const stopped = countTokens(
      {
        ...parts,
        async ask() {
          controller.abort(new Error('left'));
          throw new Error('aborted');
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
