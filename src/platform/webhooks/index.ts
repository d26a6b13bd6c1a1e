/** The public face of webhooks. */

export type * from './types.ts';
export { createWebhooks, type RunningWebhooks, type WebhooksParts } from './webhooks.ts';
