/** `/models` and `/model`: the public catalogue. */
import type { Route } from '../../http/route.ts';
import { countModels, getModel, listModelEndpoints, listModels, lookupModel } from './routes.ts';

export const modelRoutes: readonly Route[] = [
  listModels,
  countModels,
  getModel,
  listModelEndpoints,
  lookupModel,
];
