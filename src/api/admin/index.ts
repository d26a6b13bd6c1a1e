/** The operator's routes. */
export { adminRoutes } from './routes.ts';
