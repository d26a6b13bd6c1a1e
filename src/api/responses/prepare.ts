/** A request made ready for its engine: at once, or after admission where earlier turns are to be read. */
import type { ChatRequest } from '../../engines/contract/chat.ts';
import type { ResolvedModel } from '../../platform/catalog/index.ts';
import { type ChatDraft, type Needed, prepareChat } from '../../platform/chat/prepare.ts';
import type { Prepared } from '../../platform/inference/types.ts';
import type { Responses } from '../../platform/responses/types.ts';
import { type Earlier, nothingEarlier, readEarlier, toConversation } from './earlier.ts';
import type { ResponsesBody } from './schema.ts';
import { checkConversation, toDraft } from './translate.ts';

export interface Preparation {
  /** The request without what it refers to. */
  readonly draft: ChatDraft;
  readonly request: Prepared;
  /** What it refers to; nothing before `request` has run. */
  earlier(): Earlier;
}

export function prepare(
  body: ResponsesBody,
  resolved: ResolvedModel<'chat'>,
  subscriptionId: string,
  platform: Needed & { readonly responses: Responses },
  signal: () => AbortSignal,
): Preparation {
  let earlier = nothingEarlier;
  const { model } = resolved;
  const own = toConversation(body, earlier);
  // What is wrong with the request itself is told before it counts against a limit.
  const draft = toDraft(body, resolved, own);
  const read = readEarlier(body, subscriptionId, platform.responses);
  if (read === undefined) {
    checkConversation(own, body);
    return { draft, request: prepareChat(model, draft, platform, signal), earlier: () => earlier };
  }
  const request = async (): Promise<ChatRequest> => {
    earlier = await read();
    const conversation = toConversation(body, earlier);
    checkConversation(conversation, body);
    const prepared = prepareChat(model, toDraft(body, resolved, conversation), platform, signal);
    return typeof prepared === 'function' ? prepared() : prepared;
  };
  return { draft, request, earlier: () => earlier };
}
