/** The operator's routes over accounts. The command line speaks to these and to nothing else. */
import { json } from '../../http/reply.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { KeyMove, SubscriptionMove } from '../../platform/accounts/index.ts';
import { toKeyEntry, toList, toSubscriptionEntry } from './render.ts';
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
} from './schema.ts';

const tag = 'Admin';
const defaultLimit = 100;

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
];

function toMs(seconds: number | null | undefined): number | null | undefined {
  return typeof seconds === 'number' ? seconds * 1000 : seconds;
}
