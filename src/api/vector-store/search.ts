/** `/vector_store/{id}/search`: the items that fit a text best. */
import { toOperation } from '../../http/operation.ts';
import { defineRoute } from '../../http/route.ts';
import type { Platform } from '../../platform/index.ts';
import { at, findCollection } from './declaration.ts';
import { toSearchPage } from './render.ts';
import { SearchBody, SearchPage } from './schema.ts';
import { toSearch, toStorable, unknown } from './translate.ts';

export const searchCollection = defineRoute({
  method: 'POST',
  ...at('/{id}/search'),
  summary: 'Search a vector store collection',
  body: SearchBody,
  response: SearchPage,
  failures: ['rate_limited', 'unreachable', 'overloaded'],
  generation: true,
  async handle(call, platform) {
    const { id } = call.params;
    const { minScore, ...request } = toSearch(toStorable(call.body));
    await checkFiles(platform, call.caller.subscriptionId, id, request.fileIds);
    const answer = await platform.vectors.search(toOperation(call, 'vector_search'), id, request);
    if (answer === undefined) throw unknown('vector store', id, 'id');
    const hits = answer.hits.filter(({ score }) => score >= minScore);
    return toSearchPage(request.text, hits, answer);
  },
});

/** Asking in a file that is not there is a mistake, and not a search without results. */
async function checkFiles(
  platform: Platform,
  subscriptionId: string,
  id: string,
  fileIds: readonly string[] = [],
): Promise<void> {
  if (fileIds.length === 0) return;
  await findCollection(platform, subscriptionId, id);
  const files = await Promise.all(
    fileIds.map((fileId) => platform.vectors.findFile(subscriptionId, id, fileId)),
  );
  const missing = files.indexOf(undefined);
  if (missing !== -1) throw unknown('file', fileIds[missing] ?? '', 'file_ids');
}
