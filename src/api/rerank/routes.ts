/** `/rerank`: documents in the order in which they answer a query. */
import assert from 'node:assert';
import type { RerankRequest } from '../../engines/contract/rerank.ts';
import { toOperation } from '../../http/operation.ts';
import { defineRoute } from '../../http/route.ts';
import { toUsd } from '../../platform/billing/index.ts';
import { toRanking } from './render.ts';
import { Ranking, RerankBody } from './schema.ts';

export const createRerank = defineRoute({
  method: 'POST',
  path: '/rerank',
  access: 'key',
  summary: 'Order documents by how well they answer a query',
  tag: 'Rerank',
  body: RerankBody,
  // A thousand documents of 8 KB: checking them takes up to 80 ms, in which nothing else is served.
  maxBodyBytes: 8 * 1024 * 1024,
  response: Ranking,
  failures: ['not_found', 'rate_limited', 'unreachable', 'overloaded', 'timeout'],
  generation: true,
  async handle(call, { catalog, inference }) {
    const { body, generationId } = call;
    const { model } = catalog.resolve('rerank', body.model ?? undefined);
    const documents = body.documents.map((document) =>
      typeof document === 'string' ? document : document.text,
    );
    const request: RerankRequest = {
      model: model.engineModel,
      query: body.query,
      documents,
      maxTokens: model.contextLength,
      ...(model.script === undefined ? {} : { script: model.script }),
    };
    const operation = toOperation(call, 'rerank');
    const { result, costPicoUsd } = await inference.run(
      operation,
      model,
      ({ rerank }, signal) => {
        assert(rerank !== undefined, 'the catalogue gives rerank models only engines that have the port');
        return rerank.rerank(request, signal);
      },
      ({ promptTokens }) => ({ quantities: { promptTokens }, outcome: 'stop' }),
    );
    const { scores, promptTokens } = result;
    const head = {
      id: `rerank-${generationId.slice('gen_'.length)}`,
      model: model.id,
      usage: { prompt_tokens: promptTokens, total_tokens: promptTokens, cost: toUsd(costPicoUsd) },
    };
    return toRanking(head, scores, documents, body);
  },
});
