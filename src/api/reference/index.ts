/** `/openapi.json` and `/docs`: the API's own description. */
export { referenceRoutes } from './routes.ts';
