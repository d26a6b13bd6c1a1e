/** What a subscription can read about itself. */
export { accountRoutes } from './routes.ts';
