/** The operator's routes over webhook deliveries: what was sent, what came back, and sending again by hand. */
import type { Static } from 'typebox';
import { defineRoute, type Route } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import type { Delivery } from '../../platform/webhooks/types.ts';
import { DeliveriesQuery, DeliveryDetail, DeliveryEntry, DeliveryList } from './webhook-schema.ts';

const tag = 'Admin';
const defaultLimit = 100;

const listDeliveries = defineRoute({
  method: 'GET',
  path: '/admin/webhooks/deliveries',
  access: 'admin',
  summary: 'List webhook deliveries of the last 30 days, newest first',
  tag,
  query: DeliveriesQuery,
  response: DeliveryList,
  failures: ['not_found'],
  async handle({ query }, { accounts, webhooks }) {
    const { subscription, job, status, after, limit = defaultLimit } = query;
    const owner = subscription === undefined ? undefined : await accounts.getSubscription(subscription);
    // One more than is shown tells whether there are more.
    const found = await webhooks.deliveries({
      subscriptionId: owner?.id,
      jobId: job,
      status,
      after,
      limit: limit + 1,
    });
    return { object: 'list', data: found.slice(0, limit).map(toEntry), has_more: found.length > limit };
  },
});

const getDelivery = defineRoute({
  method: 'GET',
  path: '/admin/webhooks/deliveries/{id}',
  access: 'admin',
  summary: 'One webhook delivery, with the text that it sends',
  tag,
  response: DeliveryDetail,
  failures: ['not_found'],
  async handle({ params }, { webhooks }) {
    const found = (await webhooks.delivery(params.id)) ?? none(params.id);
    return { ...toEntry(found), body: found.body };
  },
});

const resendDelivery = defineRoute({
  method: 'POST',
  path: '/admin/webhooks/deliveries/{id}/resend',
  access: 'admin',
  summary: 'Send a webhook once more, now: the same body and idempotency key, with retries of its own',
  tag,
  response: DeliveryEntry,
  failures: ['not_found'],
  handle: async ({ params }, { webhooks }) => toEntry((await webhooks.resend(params.id)) ?? none(params.id)),
});

export const adminWebhookRoutes: readonly Route[] = [listDeliveries, getDelivery, resendDelivery];

function toEntry(delivery: Delivery): Static<typeof DeliveryEntry> {
  return {
    object: 'webhook.delivery',
    id: delivery.id,
    subscription_id: delivery.subscriptionId,
    job_id: delivery.jobId,
    type: delivery.type,
    url: delivery.url,
    status: delivery.status,
    attempts: delivery.attempts,
    created_at: Math.floor(delivery.createdAt / 1000),
    next_attempt_at: toSecondsOrNull(delivery.nextAttemptAt),
    last_status: delivery.lastStatus ?? null,
    last_error: delivery.lastError ?? null,
    delivered_at: toSecondsOrNull(delivery.deliveredAt),
  };
}

function toSecondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.floor(ms / 1000);
}

function none(id: string): never {
  throw new GatewayError('not_found', `There is no webhook delivery ${quoted(id)}`, { param: 'id' });
}
