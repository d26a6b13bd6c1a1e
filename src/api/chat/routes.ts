/** `/chat/completions`: one answer, whole or streamed. */
import { toOperation } from '../../http/operation.ts';
import { StreamReply } from '../../http/reply.ts';
import { defineRoute } from '../../http/route.ts';
import { prepareChat } from '../../platform/chat/prepare.ts';
import { type AnswerHead, toCompletion } from './render.ts';
import { ChatBody, ChatCompletion } from './schema.ts';
import { ChatRenderer } from './stream.ts';
import { toDraft } from './translate.ts';

export const createChatCompletion = defineRoute({
  method: 'POST',
  path: '/chat/completions',
  access: 'key',
  summary: 'Answer a conversation, whole or as an event stream',
  tag: 'Chat',
  body: ChatBody,
  maxBodyBytes: 64 * 1024 * 1024,
  response: ChatCompletion,
  media: ['text/event-stream'],
  failures: ['not_found', 'rate_limited', 'unreachable', 'overloaded', 'timeout'],
  generation: true,
  handle(call, platform) {
    const { body, generationId } = call;
    const resolved = platform.catalog.resolve('chat', body.model ?? undefined);
    const { model } = resolved;
    const { inference } = platform;

    const request = prepareChat(model, toDraft(body, resolved), platform, () => call.signal);
    const operation = toOperation(call, 'chat');
    const head: AnswerHead = {
      id: `chatcmpl-${generationId.slice('gen_'.length)}`,
      created: Math.floor(Date.now() / 1000),
      model: model.id,
    };
    if (body.stream !== true) {
      return inference
        .complete(operation, model, request)
        .then(({ result, costPicoUsd }) => toCompletion(head, result, costPicoUsd));
    }
    const includeUsage = body.stream_options?.include_usage === true;
    const options = { ...head, n: body.n ?? 1, includeUsage };
    return new StreamReply((out) =>
      inference.stream(operation, model, request, new ChatRenderer(out, options)),
    );
  },
});
