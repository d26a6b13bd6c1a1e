/** `/images`. */
import type { Route } from '../../http/route.ts';
import { createImage, editImage, generateImage, listImageModelEndpoints, listImageModels } from './routes.ts';

export const imageRoutes: readonly Route[] = [
  createImage,
  generateImage,
  editImage,
  listImageModels,
  listImageModelEndpoints,
];
