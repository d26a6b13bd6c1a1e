/** `/videos`. */
import type { Route } from '../../http/route.ts';
import { listVideoModels } from './routes.ts';

export const videoRoutes: readonly Route[] = [listVideoModels];
