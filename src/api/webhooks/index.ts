/** The signing secret of a subscription's webhooks. */
export { webhookRoutes } from './routes.ts';
