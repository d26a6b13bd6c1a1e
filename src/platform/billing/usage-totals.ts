/** What rows add up to: one sum for every subscription, day, model and operation among them. Pure. */
import { amount, whole } from './line.ts';
import type { LedgerRow } from './types.ts';

interface Total {
  readonly subscriptionId: string;
  /** Since 1970, in UTC. */
  readonly day: number;
  readonly modelId: string;
  readonly operation: string;
  requests: number;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  reasoningTokens: number;
  megapixels: number;
  seconds: number;
  costPicoUsd: bigint;
}

export const dayMs = 24 * 3600 * 1000;

export class UsageTotals {
  /** A subscription has few of them in one batch: they are found by looking, without a joined name for each row. */
  readonly #ofSubscriptions = new Map<string, Total[]>();

  add({ subscriptionId, modelId, operation, at, quantities, costPicoUsd }: LedgerRow): void {
    const total = this.#find(subscriptionId, Math.floor(at / dayMs), modelId, operation);
    total.requests += 1;
    total.promptTokens += whole(quantities.promptTokens);
    total.completionTokens += whole(quantities.completionTokens);
    total.cachedTokens += whole(quantities.cachedTokens);
    total.reasoningTokens += whole(quantities.reasoningTokens);
    total.megapixels += amount(quantities.megapixels);
    total.seconds += amount(quantities.seconds);
    total.costPicoUsd += costPicoUsd;
  }

  #find(subscriptionId: string, day: number, modelId: string, operation: string): Total {
    let totals = this.#ofSubscriptions.get(subscriptionId);
    if (totals === undefined) {
      totals = [];
      this.#ofSubscriptions.set(subscriptionId, totals);
    }
    for (const total of totals)
      if (total.day === day && total.modelId === modelId && total.operation === operation) return total;
    const total: Total = {
      subscriptionId,
      day,
      modelId,
      operation,
      requests: 0,
      promptTokens: 0,
      completionTokens: 0,
      cachedTokens: 0,
      reasoningTokens: 0,
      megapixels: 0,
      seconds: 0,
      costPicoUsd: 0n,
    };
    totals.push(total);
    return total;
  }

  /** In the order of the columns of `usage_days`, sorted by the first four of them. */
  toLists(): (string | number)[][] {
    return [...this.#ofSubscriptions.values()]
      .flat()
      .map((total) => ({ total, name: toName(total) }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ total }) => [
        total.subscriptionId,
        toDay(total.day * dayMs),
        total.modelId,
        total.operation,
        total.requests,
        total.promptTokens,
        total.completionTokens,
        total.cachedTokens,
        total.reasoningTokens,
        total.megapixels,
        total.seconds,
        total.costPicoUsd.toString(),
      ]);
  }
}

export function toTotals(rows: Iterable<LedgerRow>): UsageTotals {
  const totals = new UsageTotals();
  for (const row of rows) totals.add(row);
  return totals;
}

function toName({ subscriptionId, day, modelId, operation }: Total): string {
  return `${subscriptionId}\n${toDay(day * dayMs)}\n${modelId}\n${operation}`;
}

/** `2026-11-15` in UTC. */
export function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
