/** What all routes of the vector store have in common: their two paths, their heading, and whose collection it is. */
import type { Platform } from '../../platform/index.ts';
import type { Collection } from '../../platform/vectors/types.ts';
import { unknown } from './translate.ts';

/** OpenAI's SDK says `vector_stores`; the contract says `vector_store`. */
export const at = <const Rest extends string>(rest: Rest) =>
  ({
    path: `/vector_store${rest}`,
    aliases: [`/vector_stores${rest}`],
    access: 'key',
    tag: 'Vector stores',
  }) as const;

/** Throws the 400 of a collection that the subscription does not have. */
export async function findCollection(
  { vectors }: Pick<Platform, 'vectors'>,
  subscriptionId: string,
  id: string,
): Promise<Collection> {
  const collection = await vectors.findCollection(subscriptionId, id);
  if (collection === undefined) throw unknown('vector store', id, 'id');
  return collection;
}
