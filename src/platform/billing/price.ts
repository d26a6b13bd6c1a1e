/**
 * What an operation costs, exactly. A price is a decimal string in dollars per unit. It is held as an integer of
 * 10^-18 dollars, a quantity as an integer of millionths (a megapixel count has six decimals, tokens none), so
 * every product and sum is exact; one rounding, half up, at the end gives whole pico-dollars (10^-12). What a
 * price has beyond its 18th decimal is rounded half up when it is read: over a billion tokens that is less than
 * a nano-dollar.
 */
import assert from 'node:assert';
import type { Model } from '../catalog/declaration.ts';
import type { Quantities } from './types.ts';

const priceDecimals = 18;
const microPerUnit = 1_000_000n;
/** From 10^-18 dollars times 10^-6 units to 10^-12 dollars. */
const scaledPerPico = 10n ** 12n;
const picoPerUsd = 1e12;
/** A hundred thousand dollars: no operation costs as much, and sums of what does would leave the database's integers. */
const dearest = 10n ** 17n;

/** In 10^-18 dollars per unit. */
interface Prices {
  readonly prompt: bigint;
  readonly completion: bigint;
  readonly cacheRead: bigint;
  readonly reasoning: bigint;
}

/** A memo of a pure function: reading four decimals costs more than the price itself. It lives as long as the model. */
const read = new WeakMap<Model, Prices>();

export function priceOf(model: Model, quantities: Quantities): bigint {
  let prices = read.get(model);
  if (prices === undefined) {
    prices = toPrices(model);
    read.set(model, prices);
  }
  const cost = roundHalfUp(scaledCost(model.type, prices, quantities), scaledPerPico);
  if (cost > dearest) return dearest;
  return cost;
}

export function toUsd(picoUsd: bigint): number {
  const number = Number(picoUsd);
  if (Number.isSafeInteger(number)) return number / picoPerUsd;
  // Past 2^53 the division would round twice; reading the decimal rounds once.
  const sign = picoUsd < 0n ? '-' : '';
  const digits = (picoUsd < 0n ? -picoUsd : picoUsd).toString();
  return Number(`${sign}${digits.slice(0, -12)}.${digits.slice(-12)}`);
}

/** A price as an integer of 10^-18 dollars. */
export function parsePrice(text: string): bigint {
  const [, whole, decimals = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  assert(whole !== undefined, `the catalogue lets only decimal prices in, not "${text}"`);
  const kept = BigInt(whole + decimals.slice(0, priceDecimals).padEnd(priceDecimals, '0'));
  return (decimals[priceDecimals] ?? '0') >= '5' ? kept + 1n : kept;
}

/** Cached and reasoning tokens have the ordinary price where they have none of their own. */
function toPrices(model: Model): Prices {
  const pricing: {
    prompt?: string;
    completion?: string;
    inputCacheRead?: string;
    internalReasoning?: string;
  } = model.pricing ?? {};
  const prompt = parsePrice(pricing.prompt ?? '0');
  const completion = parsePrice(pricing.completion ?? '0');
  return {
    prompt,
    completion,
    cacheRead: pricing.inputCacheRead === undefined ? prompt : parsePrice(pricing.inputCacheRead),
    reasoning: pricing.internalReasoning === undefined ? completion : parsePrice(pricing.internalReasoning),
  };
}

/** In 10^-24 dollars. */
function scaledCost(type: Model['type'], prices: Prices, quantities: Quantities): bigint {
  switch (type) {
    case 'chat':
      return chatCost(prices, quantities);
    case 'embedding':
    case 'rerank':
    case 'decision':
      return prices.prompt * toMicro(quantities.promptTokens);
    case 'image':
      return prices.completion * toMicro(quantities.megapixels);
    case 'video':
    case 'music':
    case 'speech':
      return prices.completion * toMicro(quantities.seconds);
    case 'transcription':
      return prices.prompt * toMicro(quantities.seconds);
  }
}

/** Cached tokens are part of the prompt's, reasoning tokens part of the completion's. */
function chatCost(prices: Prices, quantities: Quantities): bigint {
  const { promptTokens = 0, completionTokens = 0, cachedTokens = 0, reasoningTokens = 0 } = quantities;
  const cached = Math.min(cachedTokens, promptTokens);
  const reasoned = Math.min(reasoningTokens, completionTokens);
  return (
    prices.prompt * toMicro(promptTokens - cached) +
    prices.cacheRead * toMicro(cached) +
    prices.completion * toMicro(completionTokens - reasoned) +
    prices.reasoning * toMicro(reasoned)
  );
}

function toMicro(quantity = 0): bigint {
  if (quantity === 0) return 0n;
  if (Number.isSafeInteger(quantity)) return BigInt(quantity) * microPerUnit;
  return BigInt(Math.round(quantity * 1e6));
}

function roundHalfUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor / 2n) / divisor;
}
