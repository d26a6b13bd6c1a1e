/** `/videos`. */
import type { Route } from '../../http/route.ts';
import { createVideo, listVideoModels, videoJobRoutes } from './routes.ts';

export { videoJob } from './job.ts';
export const videoRoutes: readonly Route[] = [listVideoModels, createVideo, ...videoJobRoutes];
