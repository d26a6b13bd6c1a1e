/** `/objects`: what signed links lead to. */
import type { Route } from '../../http/route.ts';
import { getObject } from './routes.ts';

export const objectRoutes: readonly Route[] = [getObject];
