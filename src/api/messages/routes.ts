/** `/messages`: one answer, whole or streamed, and the tokens of a prompt. */
import { toOperation } from '../../http/operation.ts';
import { setMessagesRateHeaders } from '../../http/rate-headers.ts';
import { StreamReply } from '../../http/reply.ts';
import { defineRoute } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import { loadAttached, type PreparationFacts, prepareChat } from '../../platform/chat/prepare.ts';
import type { Signatures } from '../../platform/signatures/types.ts';
import { createPromptCount } from './prompt-count.ts';
import { toMessage } from './render.ts';
import { CountTokensBody, Message, MessagesBody, type PromptFields, TokenCount } from './schema.ts';
import { MessageRenderer, ping } from './stream.ts';
import { toDraft } from './translate.ts';
import type { KnowsThought } from './turns.ts';

const common = {
  method: 'POST',
  access: 'key',
  tag: 'Messages',
  dialect: 'messages',
  maxBodyBytes: 64 * 1024 * 1024,
} as const;

/** What signatures of thoughts are for. */
const purpose = 'thinking';

export const createMessage = defineRoute({
  ...common,
  path: '/messages',
  summary: 'Answer a conversation in the messages format, whole or as an event stream',
  body: MessagesBody,
  response: Message,
  media: ['text/event-stream'],
  failures: ['not_found', 'rate_limited', 'unreachable', 'overloaded', 'timeout'],
  generation: true,
  handle(call, platform) {
    const { body, generationId } = call;
    const { inference, signatures } = platform;
    if (body.thread?.previous_message_id != null) throw lostThread();
    const resolved = platform.catalog.resolve('chat', body.model);
    const { model } = resolved;

    const facts: PreparationFacts = {};
    const draft = toDraft(body, resolved, toKnows(signatures));
    const request = prepareChat(model, draft, platform, () => call.signal, facts);
    const operation = toOperation(call, 'messages', (rate) => setMessagesRateHeaders(call, rate, Date.now()));
    const shape = {
      id: `msg_${generationId.slice('gen_'.length)}`,
      model: model.id,
      hidesThinking: body.thinking?.display === 'omitted',
      stopSequences: body.stop_sequences ?? [],
      facts,
      sign: (thinking: string) => signatures.sign(purpose, thinking),
    };
    if (body.stream !== true) {
      return inference
        .complete(operation, model, request)
        .then(({ result, costPicoUsd }) => toMessage(shape, result, costPicoUsd));
    }
    return new StreamReply((out) => {
      const renderer = new MessageRenderer(out, { ...shape, requestId: call.id });
      const { prepared, stop, abort } = createPromptCount({
        prepared: request,
        facts,
        count: (asked, signal) => inference.countTokens(model, asked, signal),
        tell: (promptTokens) => renderer.tellPromptTokens(promptTokens),
      });
      return inference.stream(operation, model, prepared, renderer).then(stop, (error) => {
        abort();
        throw error;
      });
    }, ping);
  },
});

export const countTokens = defineRoute({
  ...common,
  path: '/messages/count_tokens',
  summary: 'Count the tokens of a prompt in the messages format',
  body: CountTokensBody,
  response: TokenCount,
  failures: ['not_found', 'rate_limited', 'unreachable', 'overloaded', 'timeout'],
  async handle(call, platform) {
    const { body } = call;
    const resolved = platform.catalog.resolve('chat', body.model);
    const draft = toDraft(toPromptFields(body), resolved, toKnows(platform.signatures));
    const operation = toOperation(call, 'messages');
    const input_tokens = await platform.inference.countPrompt(operation, resolved.model, () =>
      loadAttached(draft, platform, call.signal),
    );
    return { input_tokens };
  },
});

/** Nothing but what was checked: a body that is only counted may hold anything else. */
function toPromptFields(body: PromptFields): PromptFields {
  const { model, messages, system, output_config, thinking, tools, tool_choice } = body;
  return { model, messages, system, output_config, thinking, tools, tool_choice } as PromptFields;
}

/**
 * The newest SDK of the format asks for conversations that the server keeps, and then sends only what is new.
 * Answered as if nothing had happened, the model would see a conversation without its beginning. By this code
 * the SDK knows to send it whole, and goes on.
 */
function lostThread(): GatewayError {
  const message = 'thread.previous_message_id: conversations are not kept here, send all messages';
  const details = { param: 'thread.previous_message_id', code: 'thread_not_found' };
  return new GatewayError('not_found', message, details);
}

function toKnows(signatures: Signatures): KnowsThought {
  return (thinking, signature) => signatures.verify(purpose, thinking, signature);
}
