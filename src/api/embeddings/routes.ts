/** `/embeddings/models`: the embedding models of the catalogue. */
import { defineRoute } from '../../http/route.ts';
import { toModelEntry } from '../../platform/catalog/entry.ts';
import { toPage } from '../../platform/catalog/page.ts';
import { EmbeddingModels, EmbeddingModelsQuery } from './schema.ts';

export const listEmbeddingModels = defineRoute({
  method: 'GET',
  path: '/embeddings/models',
  access: 'public',
  summary: 'List the embedding models',
  tag: 'Embeddings',
  query: EmbeddingModelsQuery,
  response: EmbeddingModels,
  failures: ['unreachable', 'overloaded'],
  handle({ query: { offset, limit } }, { catalog }) {
    const models = catalog.listed().filter((model) => model.type === 'embedding');
    return toPage(models.map(toModelEntry), { path: '/v1/embeddings/models', offset, limit });
  },
});
