/** `/embeddings`. */
import type { Route } from '../../http/route.ts';
import { createEmbeddings, listEmbeddingModels } from './routes.ts';

export const embeddingRoutes: readonly Route[] = [createEmbeddings, listEmbeddingModels];
