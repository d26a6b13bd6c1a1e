/** `/vector_store/{id}/items`: the pieces of files, as they are found: listed, read, described anew and deleted. */
import { toOperation } from '../../http/operation.ts';
import { defineRoute } from '../../http/route.ts';
import { at, findCollection } from './declaration.ts';
import { toList, toVectorStoreItem } from './render.ts';
import { DescribeBody, ItemListQuery, listOf, VectorStoreItem } from './schema.ts';
import { toListing, toStorable, unknown } from './translate.ts';

export const listItems = defineRoute({
  method: 'GET',
  ...at('/{id}/items'),
  summary: 'List the items of a vector store collection, or of one of its files',
  query: ItemListQuery,
  response: listOf(VectorStoreItem),
  async handle({ params: { id }, query, caller }, { vectors }) {
    const { subscriptionId } = caller;
    const { file_id: fileId } = query;
    // In the order in which they stand in their files.
    const page = await vectors.listItems(subscriptionId, id, { ...toListing(query, 'asc'), fileId });
    if (page === undefined) throw unknown('vector store', id, 'id');
    if (page.entries.length === 0 && fileId !== undefined) {
      const file = await vectors.findFile(subscriptionId, id, fileId);
      if (file === undefined) throw unknown('file', fileId, 'file_id');
    }
    return toList(page, toVectorStoreItem);
  },
});

export const getItem = defineRoute({
  method: 'GET',
  ...at('/{id}/items/{itemid}'),
  summary: 'Read an item',
  response: VectorStoreItem,
  async handle({ params: { id, itemid }, caller }, platform) {
    const { subscriptionId } = caller;
    const item = await platform.vectors.findItem(subscriptionId, id, itemid);
    if (item !== undefined) return toVectorStoreItem(item);
    await findCollection(platform, subscriptionId, id);
    throw unknown('item', itemid, 'itemid');
  },
});

export const describeItem = defineRoute({
  method: 'PATCH',
  ...at('/{id}/items/{itemid}'),
  summary: 'Describe an item anew; it is embedded with its new description',
  body: DescribeBody,
  success: 202,
  response: VectorStoreItem,
  failures: ['rate_limited', 'unreachable', 'overloaded'],
  generation: true,
  async handle(call, platform) {
    const { params, body, caller } = call;
    const { id, itemid } = params;
    const { description } = toStorable(body);
    const operation = toOperation(call, 'vector_item');
    const item = await platform.vectors.describeItem(operation, id, itemid, description);
    if (item !== undefined) return toVectorStoreItem(item);
    await findCollection(platform, caller.subscriptionId, id);
    throw unknown('item', itemid, 'itemid');
  },
});

export const removeItem = defineRoute({
  method: 'DELETE',
  ...at('/{id}/items/{itemid}'),
  summary: 'Delete an item',
  success: 204,
  async handle({ params: { id, itemid }, caller }, platform) {
    const { subscriptionId } = caller;
    if (await platform.vectors.removeItem(subscriptionId, id, itemid)) return;
    await findCollection(platform, subscriptionId, id);
    throw unknown('item', itemid, 'itemid');
  },
});
