/** `/embeddings`: vectors for texts; `/embeddings/models`: the embedding models of the catalogue. */
import assert from 'node:assert';
import { toOperation } from '../../http/operation.ts';
import { defineRoute } from '../../http/route.ts';
import { toUsd } from '../../platform/billing/index.ts';
import { toModelEntry } from '../../platform/catalog/entry.ts';
import { toPage } from '../../platform/catalog/page.ts';
import { toEmbeddingReply } from './render.ts';
import { EmbeddingList, EmbeddingModels, EmbeddingModelsQuery, EmbeddingsBody } from './schema.ts';
import { toEmbeddingRequest } from './translate.ts';

export const createEmbeddings = defineRoute({
  method: 'POST',
  path: '/embeddings',
  access: 'key',
  summary: 'Turn texts or tokens into vectors',
  tag: 'Embeddings',
  body: EmbeddingsBody,
  // A body is parsed and checked in one go, while nothing else is served. 2,048 inputs of 4 KB take up to 80 ms,
  // 300,000 tokens, which is all that OpenAI takes in one request, about 30 ms. Who has more sends it in parts.
  maxBodyBytes: 8 * 1024 * 1024,
  maxBodyValues: 310_000,
  response: EmbeddingList,
  failures: ['not_found', 'rate_limited', 'unreachable', 'overloaded', 'timeout'],
  generation: true,
  async handle(call, { catalog, inference }) {
    const { body, generationId } = call;
    const { model } = catalog.resolve('embedding', body.model);
    const request = toEmbeddingRequest(body, model);
    const operation = toOperation(call, 'embeddings');
    const { result, costPicoUsd } = await inference.run(
      operation,
      model,
      ({ embedding }, signal) => {
        assert(
          embedding !== undefined,
          'the catalogue gives embedding models only engines that have the port',
        );
        return embedding.embed(request, signal);
      },
      ({ promptTokens }) => ({ quantities: { promptTokens }, outcome: 'stop' }),
    );
    const { vectors, promptTokens } = result;
    const head = {
      id: `emb-${generationId.slice('gen_'.length)}`,
      model: model.id,
      usage: { prompt_tokens: promptTokens, total_tokens: promptTokens, cost: toUsd(costPicoUsd) },
    };
    return toEmbeddingReply(head, vectors, body.encoding_format ?? 'float');
  },
});

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
