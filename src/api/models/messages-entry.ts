/**
 * Models as clients of the messages format see them: chat models only, each also under a prefix, because Claude
 * Code drops every listed id that begins neither with `claude` nor with `anthropic`.
 */
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import {
  anthropicPrefix,
  type Catalog,
  type ChatModel,
  type Model,
  withoutAnthropicPrefix,
} from '../../platform/catalog/index.ts';
import type { MessagesList, MessagesModel } from './schema.ts';

const defaultLimit = 20;

export interface Cursor {
  limit?: number;
  after_id?: string;
  before_id?: string;
}

export function toMessagesModel(model: ChatModel, id: string): MessagesModel {
  return {
    type: 'model',
    id,
    display_name: model.name,
    created_at: new Date(model.created * 1000).toISOString().replace('.000Z', 'Z'),
    max_input_tokens: model.contextLength,
    max_tokens: model.maxCompletionTokens ?? model.contextLength,
    capabilities: null,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
  };
}

export function toMessagesList(listed: readonly Model[], cursor: Cursor): MessagesList {
  const shown = new Map<string, ChatModel>();
  const ids = new Set(listed.map((model) => model.id));
  for (const model of listed) {
    if (model.type !== 'chat') continue;
    shown.set(model.id, model);
    // A model that really has the prefixed id keeps it.
    const prefixed = anthropicPrefix + model.id;
    if (!ids.has(prefixed)) shown.set(prefixed, model);
  }
  const all = [...shown.keys()];
  const { start, end, hasMore } = pageOf(all, cursor);
  const page = all.slice(start, end);
  return {
    data: page.map((id) => toMessagesModel(shown.get(id)!, id)),
    has_more: hasMore,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  };
}

/** `has_more` looks the way the page moves: forward after `after_id`, backward before `before_id`. */
function pageOf(ids: readonly string[], cursor: Cursor): { start: number; end: number; hasMore: boolean } {
  const { limit = defaultLimit, after_id: afterId, before_id: beforeId } = cursor;
  if (afterId !== undefined && beforeId !== undefined) {
    throw new GatewayError('invalid_request', 'after_id and before_id cannot be sent together', {
      param: 'after_id',
    });
  }
  if (beforeId !== undefined) {
    const end = position(ids, 'before_id', beforeId);
    const start = Math.max(0, end - limit);
    return { start, end, hasMore: start > 0 };
  }
  const start = afterId === undefined ? 0 : position(ids, 'after_id', afterId) + 1;
  return { start, end: start + limit, hasMore: start + limit < ids.length };
}

function position(ids: readonly string[], field: 'after_id' | 'before_id', id: string): number {
  const found = ids.indexOf(id);
  // Starting over instead would make a client that pages through the list run in circles.
  if (found === -1)
    throw new GatewayError('invalid_request', `${field} is not an id of this list: ${quoted(id)}`, {
      param: field,
    });
  return found;
}

/** The chat model that the list shows under an id, its own or the prefixed one. */
export function findMessagesModel(catalog: Catalog, id: string): ChatModel | undefined {
  const model = catalog.find(id) ?? catalog.find(withoutAnthropicPrefix(id));
  return model?.type === 'chat' ? model : undefined;
}
