/** `/health`: whether the service works. */
import type { Route } from '../../http/route.ts';
import { getHealth } from './routes.ts';

export const healthRoutes: readonly Route[] = [getHealth];
