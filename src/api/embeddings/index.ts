/** `/embeddings`. */
import type { Route } from '../../http/route.ts';
import { listEmbeddingModels } from './routes.ts';

export const embeddingRoutes: readonly Route[] = [listEmbeddingModels];
