/** Accounts and usage as the admin routes show them. */
import type { Static } from 'typebox';
import type { Key, Page, Subscription } from '../../platform/accounts/types.ts';
import { toUsd, type UsageSums } from '../../platform/billing/index.ts';
import type { KeyEntry, SubscriptionEntry } from './schema.ts';

export function toSubscriptionEntry(subscription: Subscription): Static<typeof SubscriptionEntry> {
  const { id, name, status, createdAt, closedAt } = subscription;
  return {
    object: 'subscription',
    id,
    name,
    status,
    created_at: toSeconds(createdAt),
    closed_at: toSecondsOrNull(closedAt),
  };
}

export function toKeyEntry(key: Key): Static<typeof KeyEntry> {
  const { id, subscriptionId, name, prefix, status, createdAt, expiresAt, revokedAt } = key;
  return {
    object: 'key',
    id,
    subscription_id: subscriptionId,
    name,
    prefix,
    status,
    created_at: toSeconds(createdAt),
    expires_at: toSecondsOrNull(expiresAt),
    revoked_at: toSecondsOrNull(revokedAt),
  };
}

export function toUsageEntry(sums: UsageSums & { name: string }) {
  return { object: 'usage' as const, group: sums.name, ...toUsageTotal(sums) };
}

export function toUsageTotal(sums: UsageSums) {
  return {
    requests: sums.requests,
    prompt_tokens: sums.promptTokens,
    completion_tokens: sums.completionTokens,
    cached_tokens: sums.cachedTokens,
    reasoning_tokens: sums.reasoningTokens,
    megapixels: sums.megapixels,
    seconds: sums.seconds,
    cost: toUsd(sums.costPicoUsd),
  };
}

export function toList<T, E>({ data, hasMore }: Page<T>, toEntry: (record: T) => E) {
  return { object: 'list' as const, data: data.map(toEntry), has_more: hasMore };
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

function toSecondsOrNull(ms: number | null): number | null {
  return ms === null ? null : toSeconds(ms);
}
