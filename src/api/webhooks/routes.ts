/** The routes of the webhook secret. It belongs to the subscription: every key of one sees the same. */
import type { Static } from 'typebox';
import { json, type Reply } from '../../http/reply.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { WebhookSecret } from '../../platform/webhooks/types.ts';
import { SecretAnswer } from './schema.ts';

const tag = 'Webhooks';

const getSecret = defineRoute({
  method: 'GET',
  path: '/webhooks/secret',
  access: 'key',
  summary: 'The secret that signs webhooks, made on the first call',
  tag,
  response: SecretAnswer,
  handle: async ({ caller }, { webhooks }) => toReply(await webhooks.secret(caller.subscriptionId)),
});

const rotateSecret = defineRoute({
  method: 'POST',
  path: '/webhooks/secret/rotate',
  access: 'key',
  summary: 'Make a new secret; for 24 hours the one before it signs too',
  tag,
  response: SecretAnswer,
  handle: async ({ caller }, { webhooks }) => toReply(await webhooks.rotate(caller.subscriptionId)),
});

export const webhookRoutes: readonly Route[] = [getSecret, rotateSecret];

function toReply({ secret, createdAt, previousExpiresAt }: WebhookSecret): Reply {
  const answer: Static<typeof SecretAnswer> = {
    object: 'webhook.secret',
    secret,
    created_at: toSeconds(createdAt),
    previous_secret_expires_at: previousExpiresAt === undefined ? null : toSeconds(previousExpiresAt),
  };
  return json(answer, { headers: { 'cache-control': 'no-store' } });
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
