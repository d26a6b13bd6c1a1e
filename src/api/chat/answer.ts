/** The answer to a request that is ready, whole or streamed, whichever of the two chat routes it came by. */
import { toOperation } from '../../http/operation.ts';
import { JsonText, StreamReply } from '../../http/reply.ts';
import type { Call } from '../../http/route.ts';
import type { Caller } from '../../platform/accounts/types.ts';
import type { ChatModel } from '../../platform/catalog/index.ts';
import type { Platform } from '../../platform/index.ts';
import type { Prepared } from '../../platform/inference/types.ts';
import { type AnswerHead, toCompletion, toCompletionText } from './render.ts';
import type { ChatBody, ChatCompletion } from './schema.ts';
import { ChatRenderer } from './stream.ts';

export type ChatCall = Call<unknown, unknown, ChatBody, Caller>;

export interface Asked {
  readonly model: ChatModel;
  readonly request: Prepared;
  /** More fields of the answer, or of the first chunk of a stream. Asked for once the request has been prepared. */
  readonly extra?: () => object;
}

export function answerChat(
  call: ChatCall,
  { inference }: Platform,
  { model, request, extra }: Asked,
): Promise<ChatCompletion | JsonText> | StreamReply {
  const { body, generationId } = call;
  const operation = toOperation(call, 'chat');
  const head: AnswerHead = {
    id: `chatcmpl-${generationId.slice('gen_'.length)}`,
    created: Math.floor(Date.now() / 1000),
    model: model.id,
  };
  if (body.stream !== true) {
    return inference.complete(operation, model, request).then(({ result, costPicoUsd }) => {
      if (extra !== undefined) return { ...toCompletion(head, result, costPicoUsd), ...extra() };
      const text = toCompletionText(head, result, costPicoUsd);
      return text === undefined ? toCompletion(head, result, costPicoUsd) : new JsonText(text);
    });
  }
  const includeUsage = body.stream_options?.include_usage === true;
  const options = { ...head, n: body.n ?? 1, includeUsage, extra };
  return new StreamReply((out) =>
    inference.stream(operation, model, request, new ChatRenderer(out, options)),
  );
}
