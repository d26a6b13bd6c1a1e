/** `/music`. */
import type { Route } from '../../http/route.ts';
import { listMusicModels } from './routes.ts';

export const musicRoutes: readonly Route[] = [listMusicModels];
