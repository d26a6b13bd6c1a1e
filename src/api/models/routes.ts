/** The catalogue: the list, its count, and one model in the ways in which SDKs ask for it. */
import Type from 'typebox';
import type { ClientKind } from '../../http/client.ts';
import type { Dialect } from '../../http/errors.ts';
import { defineRoute } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import { ModelEntry, toModelEntry } from '../../platform/catalog/entry.ts';
import type { Model } from '../../platform/catalog/index.ts';
import { toPage } from '../../platform/catalog/page.ts';
import { toModelEndpoints } from './endpoints-entry.ts';
import { matching } from './filter.ts';
import { findMessagesModel, toMessagesList, toMessagesModel } from './messages-entry.ts';
import {
  CountQuery,
  ListQuery,
  MessagesList,
  MessagesModel,
  ModelCount,
  ModelEndpoints,
  ModelList,
  WrappedEntry,
} from './schema.ts';

const tag = 'Models';
const byClient = (client: ClientKind): Dialect => (client === 'anthropic' ? 'messages' : 'router');

export const listModels = defineRoute({
  method: 'GET',
  path: '/models',
  access: 'public',
  summary: 'List the models, in the shape of the SDK that asks',
  tag,
  dialect: byClient,
  query: ListQuery,
  response: Type.Union([ModelList, MessagesList]),
  failures: ['invalid_request', 'unreachable', 'overloaded'],
  handle({ client, query }, { catalog }): ModelList | MessagesList {
    const listed = catalog.listed();
    if (client === 'anthropic') return toMessagesList(listed, query);
    const { offset, limit, after_id, before_id, ...filters } = query;
    const matches = matching(listed.map(toModelEntry), filters, client);
    return {
      object: 'list',
      ...toPage(matches, { path: '/v1/models', offset, limit, filters }),
      ...(client === 'typesafe' ? { models: toDecisionModels(listed) } : {}),
    };
  },
});

/** What the decision SDK's `models.list()` reads. */
function toDecisionModels(listed: readonly Model[]): NonNullable<ModelList['models']> {
  return listed
    .filter((model) => model.type === 'decision')
    .map(({ id, description = '', created }) => ({
      name: id,
      description,
      release_date: new Date(created * 1000).toISOString().slice(0, 10),
    }));
}

export const countModels = defineRoute({
  method: 'GET',
  path: '/models/count',
  access: 'public',
  summary: 'Count the models that a filter matches',
  tag,
  query: CountQuery,
  response: ModelCount,
  failures: ['unreachable', 'overloaded'],
  handle: ({ client, query }, { catalog }) => ({
    data: { count: matching(catalog.listed().map(toModelEntry), query, client).length },
  }),
});

export const getModel = defineRoute({
  method: 'GET',
  path: '/models/{id+}',
  access: 'key',
  summary: 'One model as the list shows it',
  tag,
  dialect: byClient,
  response: Type.Union([ModelEntry, MessagesModel]),
  failures: ['invalid_request', 'not_found', 'unreachable', 'overloaded'],
  handle({ client, params: { id } }, { catalog }): ModelEntry | MessagesModel {
    if (client === 'anthropic') return toMessagesModel(found(findMessagesModel(catalog, id), id), id);
    return toModelEntry(found(catalog.find(id), id));
  },
});

export const listModelEndpoints = defineRoute({
  method: 'GET',
  path: '/models/{author}/{slug+}/endpoints',
  access: 'key',
  summary: 'Where a model is served',
  tag,
  response: ModelEndpoints,
  failures: ['not_found', 'unreachable', 'overloaded'],
  handle: ({ params: { author, slug } }, { catalog }) =>
    toModelEndpoints(found(catalog.lookup(author, slug), slug)),
});

export const lookupModel = defineRoute({
  method: 'GET',
  path: '/model/{author}/{slug+}',
  access: 'public',
  summary: 'One model by id, Hugging Face id or legacy id',
  tag,
  response: WrappedEntry,
  failures: ['not_found', 'unreachable', 'overloaded'],
  handle: ({ params: { author, slug } }, { catalog }) => ({
    data: toModelEntry(found(catalog.lookup(author, slug), slug)),
  }),
});

function found<M extends Model>(model: M | undefined, name: string): M {
  if (model === undefined) throw new GatewayError('not_found', `There is no model ${quoted(name)}`);
  return model;
}
