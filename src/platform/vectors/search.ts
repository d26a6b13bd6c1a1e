/** A question to a collection: embedded, looked up by meaning and by words, fused, and read back as items. */
import { GatewayError } from '../../lib/errors.ts';
import type { Database } from '../../storage/database.ts';
import type { Operation } from '../inference/types.ts';
import { findCollectionRow, touchCollection } from './collections.ts';
import { fuse } from './fuse.ts';
import { selectFound } from './items.ts';
import type { Embed, ItemIndex } from './parts.ts';
import type { Hit, SearchAnswer, SearchRequest } from './types.ts';

export interface SearchParts {
  readonly database: Database;
  readonly index: ItemIndex;
  readonly embed: Embed;
  readonly now: () => number;
}

/** How many of each way are fused: one that is far down in both may still belong among the first. */
const minDepth = 50;

export async function search(
  { database, index, embed, now }: SearchParts,
  operation: Operation,
  collectionId: string,
  { text, limit, fileIds, filter }: SearchRequest,
): Promise<SearchAnswer | undefined> {
  const found = await findCollectionRow(database, operation.caller.subscriptionId, collectionId);
  if (found === undefined) return undefined;
  const { number, dimensions, collection } = found;
  const { vectors, promptTokens, costPicoUsd } = await embed(operation, collection.modelId, [text], 'query');
  const [vector] = vectors;
  if (vector === undefined || (dimensions !== undefined && vector.length !== dimensions)) {
    throw new GatewayError(
      'unreachable',
      `The model ${collection.modelId} now makes vectors of another length than those of the collection: ` +
        'they cannot be compared',
      { permanent: true },
    );
  }
  const depth = Math.max(minDepth, limit * 2);
  const query = { collectionNumber: number, vector, text, limit: depth, fileIds, filter };
  const ranked = fuse(await index.search(query), depth);
  const items = await selectFound(
    database,
    collectionId,
    // Some may go in this very moment: a few more are read.
    ranked.slice(0, limit + 5).map((one) => one.number),
  );
  const hits = ranked.flatMap((one): Hit[] => {
    const item = items.get(one.number);
    return item === undefined ? [] : [{ item, score: one.score }];
  });
  await touchCollection(database, found, now());
  return { hits: hits.slice(0, limit), promptTokens, costPicoUsd };
}
