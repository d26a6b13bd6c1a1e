import { describe, expect, it } from 'vitest';
import { toAddress } from './address.ts';
import type { Question, Reply } from './ask.ts';
import type { FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import { checkHealth } from './health.ts';

const never = new AbortController().signal;

function engine(flavor: FlavorName, path: string, answer: Reply | Error) {
  const questions: Question[] = [];
  const parts = {
    address: toAddress('http://host/v1'),
    flavor: flavors[flavor],
    async ask(question: Question): Promise<Reply> {
      questions.push(question);
      if (answer instanceof Error) throw answer;
      return question.path === path ? answer : { status: 404, text: '' };
    },
  };
  return { parts, questions };
}

describe('the health of an engine', () => {
  it.each([
    ['vllm', '/health'],
    ['sglang', '/health'],
    ['llama.cpp', '/health'],
    ['ollama', '/api/version'],
    ['tei', '/health'],
    ['generic', '/v1/models'],
  ] as const)('is asked of %s at %s', async (flavor, path) => {
    const well = engine(flavor, path, { status: 200, text: '' });
    expect(await checkHealth(well.parts, never)).toEqual({ ok: true });
    expect(well.questions).toEqual([{ path }]);
    const loading = engine(flavor, path, { status: 503, text: '' });
    expect(await checkHealth(loading.parts, never)).toEqual({ ok: false, detail: `${path} answers 503` });
    const gone = engine(flavor, path, new Error('connect ECONNREFUSED'));
    expect(await checkHealth(gone.parts, never)).toEqual({ ok: false, detail: 'connect ECONNREFUSED' });
  });
});
