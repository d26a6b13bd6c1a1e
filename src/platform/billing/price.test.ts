import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleModel } from '../../../test/support/sample-models.ts';
import type { ChatModel, Model } from '../catalog/index.ts';
import { parsePrice, priceOf, toUsd } from './price.ts';

// 0.15 $, 0.60 $, 0.03 $ and 0.50 $ per million: 150,000, 600,000, 30,000 and 500,000 pico-dollars a token.
const priced = sampleModel('chat', 'qwen3-8b');

function chatWith(pricing: ChatModel['pricing']): ChatModel {
  const { pricing: _, ...model } = priced;
  return pricing === undefined ? model : { ...model, pricing };
}

describe('the price of a chat', () => {
  const plain = chatWith({ prompt: '0.00000015', completion: '0.0000006' });

  it('[BILL-1] is prompt tokens × pricing.prompt + completion tokens × pricing.completion', () => {
    expect(priceOf(plain, { promptTokens: 1_000, completionTokens: 10 })).toBe(156_000_000n);
  });

  it('[BILL-1] a model without prices costs nothing', () => {
    expect(priceOf(chatWith(undefined), { promptTokens: 1_000, completionTokens: 10 })).toBe(0n);
  });

  it('[BILL-2] cached tokens cost input_cache_read where the model has that price', () => {
    expect(priceOf(priced, { promptTokens: 1_000, cachedTokens: 900 })).toBe(
      100n * 150_000n + 900n * 30_000n,
    );
    expect(priceOf(plain, { promptTokens: 1_000, cachedTokens: 900 })).toBe(1_000n * 150_000n);
  });

  it('[BILL-3] reasoning tokens cost internal_reasoning where the model has that price', () => {
    expect(priceOf(priced, { completionTokens: 100, reasoningTokens: 80 })).toBe(
      20n * 600_000n + 80n * 500_000n,
    );
    expect(priceOf(plain, { completionTokens: 100, reasoningTokens: 80 })).toBe(100n * 600_000n);
  });

  it('an engine that reports more cached tokens than prompt tokens does not make the price negative', () => {
    expect(priceOf(priced, { promptTokens: 10, cachedTokens: 50 })).toBe(10n * 30_000n);
    expect(priceOf(priced, { completionTokens: 10, reasoningTokens: 50 })).toBe(10n * 500_000n);
  });

  it('prices below a pico-dollar a token count, and only the sum is rounded, half up', () => {
    const tiny = chatWith({ prompt: '0.0000000000001', completion: '0.0000000000004' });
    expect(priceOf(tiny, { promptTokens: 1_000_000 })).toBe(100_000n);
    expect(priceOf(tiny, { promptTokens: 4 })).toBe(0n);
    expect(priceOf(tiny, { promptTokens: 5 })).toBe(1n);
    expect(priceOf(tiny, { promptTokens: 1, completionTokens: 1 })).toBe(1n);
  });
});

describe('the price of the other types', () => {
  it.each([
    ['embedding', 'embed-small', { promptTokens: 500, completionTokens: 9 }, 500n * 20_000n],
    ['embedding', 'embed-large', { promptTokens: 500 }, 0n],
    ['decision', 'judge-one', { promptTokens: 318 }, 318n * 100_000n],
    ['rerank', 'rank-one', { promptTokens: 10 }, 10n * 50_000n],
    ['image', 'draw-fast', { megapixels: 1.048576 }, 10_485_760_000n],
    ['image', 'atelier/draw-edit', { megapixels: 1.048576 }, 0n],
    ['video', 'film-one', { seconds: 7 }, 350_000_000_000n],
    ['music', 'song-one', { seconds: 30 }, 60_000_000_000n],
    ['speech', 'voice-one', { seconds: 4 }, 1_200_000_000n],
    ['transcription', 'listen-one', { seconds: 3 }, 300_000_000n],
  ] as const)('%s: %s with %o costs %s pico-dollars', (type, id, quantities, picoUsd) => {
    expect(priceOf(sampleModel(type, id) as Model, quantities)).toBe(picoUsd);
  });
});

describe('a price as text', () => {
  it.each([
    ['0', 0n],
    ['1', 10n ** 18n],
    ['0.1', 10n ** 17n],
    ['12.345', 12_345n * 10n ** 15n],
    ['0.000000000000000001', 1n],
    ['0.0000000000000000014', 1n],
    ['0.0000000000000000015', 2n],
  ])('%s is read exactly', (text, scaled) => {
    expect(parsePrice(text)).toBe(scaled);
  });

  it('any decimal with up to 18 places reads back as it was written', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 30n }),
        fc.integer({ min: 0, max: 18 }),
        (digits, places) => {
          const whole = digits / 10n ** BigInt(places);
          const rest = (digits % 10n ** BigInt(places)).toString().padStart(places, '0');
          const text = places === 0 ? `${whole}` : `${whole}.${rest}`;
          expect(parsePrice(text)).toBe(digits * 10n ** BigInt(18 - places));
        },
      ),
    );
  });
});

describe('pico-dollars as dollars', () => {
  it.each([
    [0n, 0],
    [1n, 1e-12],
    [150_000n, 1.5e-7],
    [100_000_000_000n, 0.1],
    [300_000_000_000n, 0.3],
    [9_007_199_254_740_993_000n, 9_007_199.254740993],
    [-9_007_199_254_740_993_000n, -9_007_199.254740993],
  ])('%s is %s', (picoUsd, usd) => {
    expect(toUsd(picoUsd)).toBe(usd);
  });
});
