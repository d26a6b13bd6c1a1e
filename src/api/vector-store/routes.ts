/** `/vector_store`: collections are made, listed, read, changed and deleted. */
import { defineRoute } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Catalog } from '../../platform/catalog/index.ts';
import { at, findCollection } from './declaration.ts';
import { toList, toVectorStore } from './render.ts';
import { ChangeBody, CollectionListQuery, CreateBody, listOf, removalOf, VectorStore } from './schema.ts';
import { refuseUnsupported, toListing, toStorable, unknown } from './translate.ts';

export const createCollection = defineRoute({
  method: 'POST',
  ...at(''),
  summary: 'Create a vector store collection',
  body: CreateBody,
  success: 201,
  response: VectorStore,
  failures: ['overloaded'],
  async handle({ body: sent, caller }, { catalog, vectors }) {
    const body = toStorable(sent);
    refuseUnsupported(body);
    const collection = await vectors.createCollection(caller.subscriptionId, {
      name: body.name ?? '',
      description: body.description ?? '',
      metadata: body.metadata ?? {},
      modelId: toModelId(catalog, body.model ?? undefined),
    });
    return toVectorStore(collection);
  },
});

/** On these routes what does not exist is a 400, a model too. */
function toModelId(catalog: Catalog, name: string | undefined): string {
  try {
    return catalog.resolve('embedding', name).model.id;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.kind !== 'not_found') throw error;
    throw new GatewayError('invalid_request', `model: ${error.message}`, { param: 'model', cause: error });
  }
}

export const listCollections = defineRoute({
  method: 'GET',
  ...at(''),
  summary: 'List the vector store collections',
  query: CollectionListQuery,
  response: listOf(VectorStore),
  async handle({ query, caller }, { vectors }) {
    const page = await vectors.listCollections(caller.subscriptionId, toListing(query));
    return toList(page, toVectorStore);
  },
});

export const getCollection = defineRoute({
  method: 'GET',
  ...at('/{id}'),
  summary: 'Read a vector store collection',
  response: VectorStore,
  async handle({ params, caller }, platform) {
    return toVectorStore(await findCollection(platform, caller.subscriptionId, params.id));
  },
});

/** OpenAI's SDK changes a collection by POST. */
const changeCollection = (method: 'PATCH' | 'POST') =>
  defineRoute({
    method,
    ...at('/{id}'),
    summary: 'Change the name, the description or the metadata of a vector store collection',
    body: ChangeBody,
    response: VectorStore,
    async handle({ params: { id }, body: sent, caller }, { vectors }) {
      const { name, description, metadata, ...rest } = toStorable(sent);
      refuseUnsupported(rest);
      const collection = await vectors.changeCollection(caller.subscriptionId, id, {
        ...(name == null ? {} : { name }),
        ...(description == null ? {} : { description }),
        ...(metadata == null ? {} : { metadata }),
      });
      if (collection === undefined) throw unknown('vector store', id, 'id');
      return toVectorStore(collection);
    },
  });

export const patchCollection = changeCollection('PATCH');
export const postCollection = changeCollection('POST');

export const removeCollection = defineRoute({
  method: 'DELETE',
  ...at('/{id}'),
  summary: 'Delete a vector store collection with its files and items',
  response: removalOf('vector_store.deleted'),
  async handle({ params: { id }, caller }, { vectors }) {
    if (!(await vectors.removeCollection(caller.subscriptionId, id))) throw unknown('vector store', id, 'id');
    return { id, object: 'vector_store.deleted', deleted: true };
  },
});
