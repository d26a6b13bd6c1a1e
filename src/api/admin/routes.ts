/** The operator's routes over accounts, usage and webhooks. The command line speaks to these and to nothing else. */
import { json } from '../../http/reply.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { KeyMove, SubscriptionMove } from '../../platform/accounts/index.ts';
import { adminJobRoutes } from './job-routes.ts';
import { toKeyEntry, toList, toSubscriptionEntry, toUsageEntry, toUsageTotal } from './render.ts';
import {
  ExpireBody,
  KeyBody,
  KeyEntry,
  KeyList,
  KeysQuery,
  NewKeyEntry,
  SubscriptionBody,
  SubscriptionEntry,
  SubscriptionList,
  SubscriptionsQuery,
  UsageList,
  UsageQuery,
} from './schema.ts';
import { adminWebhookRoutes } from './webhook-routes.ts';

const tag = 'Admin';
const defaultLimit = 100;
const maxUsageGroups = 1000;
const defaultUsageDays = 30;

const listSubscriptions = defineRoute({
  method: 'GET',
  path: '/admin/subscriptions',
  access: 'admin',
  summary: 'List subscriptions, oldest first',
  tag,
  query: SubscriptionsQuery,
  response: SubscriptionList,
  handle: async ({ query: { after, limit = defaultLimit } }, { accounts }) =>
    toList(await accounts.listSubscriptions({ after, limit }), toSubscriptionEntry),
});

const createSubscription = defineRoute({
  method: 'POST',
  path: '/admin/subscriptions',
  access: 'admin',
  summary: 'Create a subscription',
  tag,
  body: SubscriptionBody,
  success: 201,
  response: SubscriptionEntry,
  failures: ['conflict'],
  handle: async ({ body }, { accounts }) => toSubscriptionEntry(await accounts.createSubscription(body.name)),
});

const listKeys = defineRoute({
  method: 'GET',
  path: '/admin/keys',
  access: 'admin',
  summary: 'List keys, oldest first, of one subscription or of all',
  tag,
  query: KeysQuery,
  response: KeyList,
  failures: ['not_found'],
  handle: async ({ query: { subscription, after, limit = defaultLimit } }, { accounts }) =>
    toList(await accounts.listKeys({ subscription, after, limit }), toKeyEntry),
});

const createKey = defineRoute({
  method: 'POST',
  path: '/admin/keys',
  access: 'admin',
  summary: 'Create a key; its secret is in this answer and nowhere else',
  tag,
  body: KeyBody,
  success: 201,
  response: NewKeyEntry,
  failures: ['not_found', 'conflict'],
  async handle({ body }, { accounts }) {
    const { key, secret } = await accounts.createKey({
      subscription: body.subscription ?? 'default',
      name: body.name ?? 'unnamed',
      expiresAt: toMs(body.expires_at),
    });
    return json({ ...toKeyEntry(key), secret }, { status: 201, headers: { 'cache-control': 'no-store' } });
  },
});

const expireKey = defineRoute({
  method: 'POST',
  path: '/admin/keys/{id}/expire',
  access: 'admin',
  summary: 'Set when a key expires: now, at a time, or never',
  tag,
  body: ExpireBody,
  response: KeyEntry,
  failures: ['not_found', 'conflict'],
  handle: async ({ params, body }, { accounts }) =>
    toKeyEntry(await accounts.expireKey(params.id, toMs(body.expires_at))),
});

function defineKeyMove(move: KeyMove, summary: string): Route {
  return defineRoute({
    method: 'POST',
    path: `/admin/keys/{id}/${move}`,
    access: 'admin',
    summary,
    tag,
    response: KeyEntry,
    failures: ['not_found', 'conflict'],
    handle: async ({ params }, { accounts }) => toKeyEntry(await accounts.moveKey(params.id, move)),
  });
}

function defineSubscriptionMove(move: SubscriptionMove, summary: string): Route {
  return defineRoute({
    method: 'POST',
    path: `/admin/subscriptions/{id}/${move}`,
    access: 'admin',
    summary,
    tag,
    response: SubscriptionEntry,
    failures: ['not_found', 'conflict'],
    handle: async ({ params }, { accounts }) =>
      toSubscriptionEntry(await accounts.moveSubscription(params.id, move)),
  });
}

const getUsage = defineRoute({
  method: 'GET',
  path: '/admin/usage',
  access: 'admin',
  summary: 'What was used, by day, model or subscription; the last 30 days unless days are named',
  tag,
  query: UsageQuery,
  response: UsageList,
  failures: ['not_found'],
  async handle({ query }, { usage, accounts }) {
    const { by = 'day', limit = maxUsageGroups } = query;
    const to = query.to ?? usage.today();
    const from = query.from ?? dayBefore(to, defaultUsageDays - 1);
    if (from > to) throw new GatewayError('invalid_request', 'from must not be after to', { param: 'from' });
    const owner =
      query.subscription === undefined ? undefined : await accounts.getSubscription(query.subscription);
    const { groups, total, hasMore } = await usage.grouped({
      by,
      from,
      to,
      limit,
      subscriptionId: owner?.id,
    });
    return {
      object: 'list',
      by,
      from,
      to,
      data: groups.map(toUsageEntry),
      total: toUsageTotal(total),
      has_more: hasMore,
    };
  },
});

export const adminRoutes: readonly Route[] = [
  listSubscriptions,
  createSubscription,
  defineSubscriptionMove('suspend', 'Suspend a subscription: none of its keys works until it is resumed'),
  defineSubscriptionMove('resume', 'Resume a suspended subscription'),
  defineSubscriptionMove('close', 'Close a subscription for good'),
  listKeys,
  createKey,
  defineKeyMove('suspend', 'Suspend a key'),
  defineKeyMove('resume', 'Resume a suspended key'),
  defineKeyMove('revoke', 'Revoke a key for good'),
  expireKey,
  getUsage,
  ...adminJobRoutes,
  ...adminWebhookRoutes,
];

function toMs(seconds: number | null | undefined): number | null | undefined {
  return typeof seconds === 'number' ? seconds * 1000 : seconds;
}

function dayBefore(day: string, days: number): string {
  const time = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(time))
    throw new GatewayError('invalid_request', 'to must be a day that exists', { param: 'to' });
  return new Date(time - days * 24 * 3600 * 1000).toISOString().slice(0, 10);
}
