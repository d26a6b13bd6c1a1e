/** What the messages of a conversation may hold, whichever route they came by. Pure. */
import type { ChatMessage } from '../../engines/contract/chat.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Attachment, AttachmentKind } from '../attachments/index.ts';
import type { ChatModel } from '../catalog/index.ts';

/** A medium that the model must be able to take. `param` is its field's path. */
export function toMedia(
  model: ChatModel,
  kind: Exclude<AttachmentKind, 'document'>,
  source: string,
  param: string,
): Attachment {
  if (model.inputModalities?.includes(kind) !== true) {
    const message = `${param}: the model ${model.id} does not take ${kind} input`;
    throw new GatewayError('invalid_request', message, { param });
  }
  return { kind, source, param };
}

/**
 * "A final `assistant` message is continued": it must have text and no tool calls, and its trailing whitespace
 * is trimmed, because a model that is given a space seldom goes on from it. Undefined when the last message is
 * another's; `path` is where the route's client wrote it.
 */
export function toContinued(
  messages: readonly ChatMessage[],
  path: string,
  calls = 'tool_calls',
): readonly ChatMessage[] | undefined {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return undefined;
  if (last.toolCalls !== undefined) {
    const param = `${path}.${calls}`;
    const message = `${param}: a final assistant message is continued and must not have tool calls`;
    throw new GatewayError('invalid_request', message, { param });
  }
  const content = last.content?.trimEnd() ?? '';
  if (content === '') {
    const param = `${path}.content`;
    const message = `${param} must not be empty: a final assistant message is continued`;
    throw new GatewayError('invalid_request', message, { param });
  }
  return [...messages.slice(0, -1), { ...last, content }];
}
