/** `/images`. */
import type { Route } from '../../http/route.ts';
import { listImageModelEndpoints, listImageModels } from './routes.ts';

export const imageRoutes: readonly Route[] = [listImageModels, listImageModelEndpoints];
