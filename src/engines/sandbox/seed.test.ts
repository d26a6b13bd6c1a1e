import { describe, expect, it } from 'vitest';
import { createRandom, toSeed } from './seed.ts';

const request = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }], temperature: 0 };

const stream = (seed: bigint) => {
  const random = createRandom(seed);
  return Array.from({ length: 50 }, () => random.next());
};

describe('a request as a seed', () => {
  it('the same request has the same seed, whatever the order of its keys', () => {
    const reordered = {
      temperature: 0,
      messages: [{ content: 'Hello', role: 'user' }],
      model: 'sandbox-chat',
    };
    expect(toSeed(reordered)).toBe(toSeed(request));
    expect(toSeed({ ...request, stop: undefined })).toBe(toSeed(request));
  });

  it('another request has another seed', () => {
    const others = [
      { ...request, temperature: 1 },
      { ...request, temperature: null },
      { ...request, messages: [...request.messages, ...request.messages] },
      { ...request, seed: '1' },
      { ...request, seed: 1 },
      { ...request, image: Buffer.from('a') },
      { ...request, image: Buffer.from('b') },
      [request],
    ];
    const seeds = new Set([request, ...others].map(toSeed));
    expect(seeds.size).toBe(others.length + 1);
  });

  it('does not change between versions, so that recorded answers stay', () => {
    expect(toSeed(request).toString(16)).toBe('d0edaf7553dcb215');
    expect(createRandom(1n).below(1_000_000)).toBe(133_426);
  });

  it('has 64 bits', () => {
    const seeds = Array.from({ length: 200 }, (_, index) => toSeed({ index }));
    expect(seeds.every((seed) => seed >= 0n && seed < 2n ** 64n)).toBe(true);
    expect(seeds.some((seed) => seed >= 2n ** 63n)).toBe(true);
  });
});

describe('a seed as numbers', () => {
  it('the same seed gives the same stream, another seed another', () => {
    expect(stream(7n)).toEqual(stream(7n));
    expect(stream(7n)).not.toEqual(stream(8n));
    expect(stream(7n)).not.toEqual(stream(7n + (1n << 32n)));
  });

  it('numbers are spread evenly over 0 to 1', () => {
    const random = createRandom(42n);
    const buckets = new Array<number>(10).fill(0);
    for (let draw = 0; draw < 20_000; draw++) {
      buckets[Math.floor(random.next() * 10)]! += 1;
    }
    expect(buckets).toHaveLength(10);
    expect(Math.min(...buckets)).toBeGreaterThan(1800);
    expect(Math.max(...buckets)).toBeLessThan(2200);
  });

  it('whole numbers and choices stay within their bounds and reach all of them', () => {
    const random = createRandom(3n);
    const numbers = new Set(Array.from({ length: 500 }, () => random.below(6)));
    expect([...numbers].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    const words = new Set(Array.from({ length: 100 }, () => random.pick(['a', 'b', 'c'])));
    expect([...words].sort()).toEqual(['a', 'b', 'c']);
  });
});
