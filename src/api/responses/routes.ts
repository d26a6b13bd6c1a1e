/** `/responses`: an answer as items, whole or streamed, and what is kept of it. */

import { fromBytes } from '../../engines/contract/json-bytes.ts';
import { toOperation } from '../../http/operation.ts';
import { EventReply, Reply, StreamReply } from '../../http/reply.ts';
import { defineRoute } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import { createItemIds } from '../../platform/responses/index.ts';
import { DeletedResponse, InputItemList, ResponseObject } from './answer-schema.ts';
import { toInputItemPage, toPageQuery } from './input-items.ts';
import { finishResponse, type Keeping } from './keep.ts';
import { prepare } from './prepare.ts';
import { toFrame, toProgress } from './render.ts';
import { replay } from './replay.ts';
import { InputItemsQuery, ResponsesBody, RetrieveQuery } from './schema.ts';
import { ResponseRenderer } from './stream.ts';
import { summaryOf } from './translate.ts';

const tag = 'Responses';

export const createResponse = defineRoute({
  method: 'POST',
  path: '/responses',
  access: 'key',
  summary: 'Answer a conversation with items, whole or as an event stream',
  tag,
  body: ResponsesBody,
  maxBodyBytes: 64 * 1024 * 1024,
  response: ResponseObject,
  media: ['text/event-stream'],
  failures: ['not_found', 'rate_limited', 'unreachable', 'overloaded', 'timeout'],
  generation: true,
  handle(call, platform) {
    const { body, caller, generationId, log } = call;
    const { inference, responses } = platform;
    const resolved = platform.catalog.resolve('chat', body.model ?? undefined);
    const { model } = resolved;
    const { draft, request, earlier } = prepare(
      body,
      resolved,
      caller.subscriptionId,
      platform,
      () => call.signal,
    );

    const operation = toOperation(call, 'responses');
    const tail = generationId.slice('gen_'.length);
    const now = Date.now();
    const head = { id: `resp_${tail}`, createdAt: Math.floor(now / 1000), model: model.id };
    const frame = toFrame(head, body, draft.request);
    const createId = createItemIds(tail);
    const { subscriptionId } = caller;
    const keeping: Keeping = {
      responses,
      subscriptionId,
      frame,
      createdAt: now,
      body,
      earlier,
      createId,
      log,
    };
    const isSummary = summaryOf(body) !== null;

    if (body.stream !== true) {
      return inference.complete(operation, model, request).then(async ({ result, costPicoUsd }) => {
        const progress = toProgress(result, costPicoUsd, createId, isSummary);
        return toJson(fromBytes(await finishResponse(keeping, progress)));
      });
    }
    const isStored = body.store !== false;
    return new StreamReply(async (out) => {
      const renderer = new ResponseRenderer(out, {
        frame,
        isStored,
        isSummary,
        createId,
        finish: (progress) => finishResponse(keeping, progress),
      });
      await inference.stream(operation, model, request, renderer);
      await renderer.over;
    });
  },
});

export const getResponse = defineRoute({
  method: 'GET',
  path: '/responses/{id}',
  access: 'key',
  summary: 'A response that was kept, or its events once more',
  tag,
  query: RetrieveQuery,
  response: ResponseObject,
  failures: ['not_found', 'overloaded'],
  async handle({ params: { id }, query, caller }, { responses }) {
    const found = await responses.find(caller.subscriptionId, id);
    if (found === undefined) throw unknown(id);
    const { json } = found;
    if (query.stream !== true) return toJson(json);
    // Nothing can fail between the events: the response is all here.
    return new EventReply(replay(JSON.parse(json) as ResponseObject, query.starting_after), () => []);
  },
});

export const deleteResponse = defineRoute({
  method: 'DELETE',
  path: '/responses/{id}',
  access: 'key',
  summary: 'Forget a response that was kept',
  tag,
  response: DeletedResponse,
  failures: ['not_found', 'overloaded'],
  async handle({ params: { id }, caller }, { responses }) {
    if (!(await responses.remove(caller.subscriptionId, id))) throw unknown(id);
    return { id, object: 'response', deleted: true };
  },
});

export const listResponseInputItems = defineRoute({
  method: 'GET',
  path: '/responses/{id}/input_items',
  access: 'key',
  summary: 'The items that a response was made from',
  tag,
  query: InputItemsQuery,
  response: InputItemList,
  failures: ['not_found', 'overloaded'],
  async handle({ params: { id }, query, caller }, { responses }) {
    const page = await responses.inputItems(caller.subscriptionId, id, toPageQuery(query));
    if (page === undefined) throw unknown(id);
    return toJson(toInputItemPage(page));
  },
});

function unknown(id: string): GatewayError {
  return new GatewayError('not_found', `There is no response ${id}`);
}

/** What is JSON already. */
function toJson(text: string): Reply {
  return new Reply(text, { headers: { 'content-type': 'application/json; charset=utf-8' } });
}
