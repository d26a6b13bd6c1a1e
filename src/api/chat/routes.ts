/** `/chat/completions`: one answer, whole or streamed. */
import { defineRoute } from '../../http/route.ts';
import { prepareChat } from '../../platform/chat/prepare.ts';
import { answerChat } from './answer.ts';
import { ChatBody, ChatCompletion } from './schema.ts';
import { toDraft } from './translate.ts';

export const maxChatBodyBytes = 64 * 1024 * 1024;

export const createChatCompletion = defineRoute({
  method: 'POST',
  path: '/chat/completions',
  access: 'key',
  summary: 'Answer a conversation, whole or as an event stream',
  tag: 'Chat',
  body: ChatBody,
  maxBodyBytes: maxChatBodyBytes,
  response: ChatCompletion,
  media: ['text/event-stream'],
  failures: ['not_found', 'rate_limited', 'unreachable', 'overloaded', 'timeout'],
  generation: true,
  handle(call, platform) {
    const { body } = call;
    const resolved = platform.catalog.resolve('chat', body.model ?? undefined);
    const { model } = resolved;
    const request = prepareChat(model, toDraft(body, resolved), platform, () => call.signal);
    return answerChat(call, platform, { model, request });
  },
});
