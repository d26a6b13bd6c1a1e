import { describe, expect, it } from 'vitest';
import { toAddress } from './address.ts';
import type { FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import { checkHealth } from './health.ts';

const never = new AbortController().signal;

function engine(flavor: FlavorName, path: string, answer: number | Error) {
  const asked: string[] = [];
  const parts = {
    address: toAddress('http://host/v1'),
    flavor: flavors[flavor],
    async askStatus(at: string): Promise<number> {
      asked.push(at);
      if (answer instanceof Error) throw answer;
      return at === path ? answer : 404;
    },
  };
  return { parts, asked };
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
    const well = engine(flavor, path, 200);
    expect(await checkHealth(well.parts, never)).toEqual({ ok: true });
    expect(well.asked).toEqual([path]);
    const loading = engine(flavor, path, 503);
    expect(await checkHealth(loading.parts, never)).toEqual({ ok: false, detail: `${path} answers 503` });
    const gone = engine(flavor, path, new Error('connect ECONNREFUSED'));
    expect(await checkHealth(gone.parts, never)).toEqual({ ok: false, detail: 'connect ECONNREFUSED' });
  });
});
