/** `/music`. */
import type { Route } from '../../http/route.ts';
import { createMusic, listMusicModels, musicJobRoutes, streamMusic } from './routes.ts';

export { musicJob } from './job.ts';
export const musicRoutes: readonly Route[] = [listMusicModels, createMusic, streamMusic, ...musicJobRoutes];
