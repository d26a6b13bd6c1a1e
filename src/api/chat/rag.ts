/**
 * `/chat/completions/RAG`: a chat answer with what a collection holds on its question put before the model. The search
 * runs once the chat request has been admitted, as an operation of its own: counted against the limits of the
 * embedding model and billed as a row of its own.
 */
import { defineRoute } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import { createId } from '../../lib/ids.ts';
import { quoted } from '../../lib/quoted.ts';
import type { ChatModel } from '../../platform/catalog/index.ts';
import { type ChatDraft, loadAttached, noSlots, prepareChat } from '../../platform/chat/prepare.ts';
import { marginTokens, promptBound } from '../../platform/chat/window.ts';
import type { Platform } from '../../platform/index.ts';
import type { Operation } from '../../platform/inference/types.ts';
import type { Hit } from '../../platform/vectors/types.ts';
import { answerChat } from './answer.ts';
import { fewerBy, toPassages, withPassages } from './rag-context.ts';
import { toQuery } from './rag-query.ts';
import { RagBody, RagCompletion, type Source } from './rag-schema.ts';
import { maxChatBodyBytes } from './routes.ts';
import { toDraft } from './translate.ts';

/** More would rather distract a model than help it. */
const maxPassages = 8;
/** Of the window, for an answer whose limit is larger than that. */
const answerShare = 1 / 2;

export const createRagCompletion = defineRoute({
  method: 'POST',
  path: '/chat/completions/RAG',
  access: 'key',
  summary: 'Answer a conversation from what a vector store collection holds on it',
  tag: 'Chat',
  body: RagBody,
  maxBodyBytes: maxChatBodyBytes,
  response: RagCompletion,
  media: ['text/event-stream'],
  failures: ['not_found', 'rate_limited', 'unreachable', 'overloaded', 'timeout'],
  generation: true,
  async handle(call, platform) {
    const { body, caller, presence } = call;
    const resolved = platform.catalog.resolve('chat', body.model);
    const { model } = resolved;
    const draft = toDraft(body, resolved);
    const { collection } = body;
    // No id has it, and PostgreSQL cannot be asked for it.
    const isName = !collection.includes('\0');
    if (!isName || (await platform.vectors.findCollection(caller.subscriptionId, collection)) === undefined)
      throw unknownCollection(collection);
    let sources: readonly Source[] = [];

    const request = async () => {
      const operation = { id: createId('gen'), caller, name: 'rag_search', signal: presence };
      const found = await retrieve(platform, operation, collection, model, draft, call.signal);
      sources = found.sources;
      const prepared = prepareChat(model, found.draft, platform, () => call.signal);
      return typeof prepared === 'function' ? prepared() : prepared;
    };
    return answerChat(call, platform, { model, request, extra: () => ({ sources }) });
  },
});

/** The draft with what was found in front of its last question, as much of it as fits, and what that is. */
async function retrieve(
  platform: Platform,
  operation: Operation,
  collection: string,
  model: ChatModel,
  draft: ChatDraft,
  signal: AbortSignal,
): Promise<{ draft: ChatDraft; sources: readonly Source[] }> {
  const asked = await loadAttached(draft, platform, signal);
  const ready = { ...draft, request: asked, slots: noSlots };
  const text = toQuery(asked.messages);
  if (text === '') return { draft: ready, sources: [] };
  const answer = await platform.vectors.search(operation, collection, { text, limit: maxPassages });
  // It was there when the request was looked at.
  if (answer === undefined) throw unknownCollection(collection);

  const request = (passages: readonly Hit[]) => ({
    ...asked,
    messages: withPassages(asked.messages, passages),
  });
  let passages = toPassages(answer.hits);
  const answerTokens = Math.min(asked.maxTokens, Math.floor(model.contextLength * answerShare));
  const room = model.contextLength - marginTokens - answerTokens;
  // Counting is a call to the engine: it is left out where the passages fit for certain.
  if (passages.length > 0 && promptBound(request(passages)) > room) {
    const promptTokens = await platform.inference.countTokens(model, request(passages), signal);
    passages = fewerBy(promptTokens - room, passages);
  }
  return { draft: { ...ready, request: request(passages) }, sources: passages.map(toSource) };
}

function toSource({ item, score }: Hit, index: number): Source {
  return {
    index: index + 1,
    item_id: item.id,
    file_id: item.fileId,
    filename: item.filename,
    description: item.description,
    score,
  };
}

function unknownCollection(id: string): GatewayError {
  const message = `collection ${quoted(id)} does not exist`;
  return new GatewayError('invalid_request', message, { param: 'collection' });
}
