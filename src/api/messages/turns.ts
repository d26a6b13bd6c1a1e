/**
 * The turns of a request as canonical messages: same-role turns are merged, results of tools become messages of
 * their own, and what has to be loaded gets a slot. Pure.
 */
import type { ChatMessage, ContentPart, ToolCall } from '../../engines/contract/chat.ts';
import type { Attachment } from '../../platform/attachments/index.ts';
import type { ChatModel } from '../../platform/catalog/index.ts';
import { toMedia } from '../../platform/chat/content.ts';
import { noSlots, placeholder, type Slot } from '../../platform/chat/prepare.ts';
import { invalid } from '../../platform/chat/request.ts';
import type { Block, ImageBlock, PromptFields, ThinkingBlock, ToolResultBlock, Turn } from './schema.ts';
import { toCallId } from './tool-ids.ts';

export interface Translated {
  readonly messages: readonly ChatMessage[];
  readonly slots: readonly Slot[];
  /** Where the last turn stands that has anything in it. */
  readonly lastPath: string;
}

/** Whether a thought that comes back is one that this service has given out. */
export type KnowsThought = (thinking: string, signature: string) => boolean;

/** Between texts that were written apart. */
const paragraph = '\n\n';

/** A turn and where it stands. */
interface Placed {
  readonly turn: Turn;
  readonly path: string;
}

export function toMessages(
  model: ChatModel,
  { system, messages: turns }: PromptFields,
  knows: KnowsThought,
): Translated {
  const messages: ChatMessage[] = [];
  const slots: Slot[] = [];
  if (system != null) pushSystem(messages, typeof system === 'string' ? [system] : system.map(textIn));
  const groups = toGroups(turns);
  for (const group of groups) {
    switch (group[0]?.turn.role) {
      case 'user':
        pushUser(model, messages, slots, group);
        break;
      case 'assistant':
        messages.push(toAssistant(group, knows));
        break;
      case 'system':
        pushSystem(messages, group.flatMap(systemTexts));
        break;
    }
  }
  const lastPath = groups.at(-1)?.at(-1)?.path ?? 'messages';
  return { messages, slots: slots.length === 0 ? noSlots : slots, lastPath };
}

/** Consecutive turns of one role together. An assistant's turn with nothing to read in it is no turn. */
function toGroups(turns: readonly Turn[]): readonly (readonly Placed[])[] {
  const groups: Placed[][] = [];
  for (let index = 0; index < turns.length; index++) {
    const turn = turns[index]!;
    const path = `messages[${index}]`;
    if (turn.output_config != null) throw invalid(`${path}.output_config`, 'is not supported on a message');
    checkOrder(turns[index - 1]?.role, turn.role, path);
    if (turn.role === 'assistant' && isEmpty(turn.content)) continue;
    const group = groups.at(-1);
    if (group?.[0]?.turn.role === turn.role) group.push({ turn, path });
    else groups.push([{ turn, path }]);
  }
  return groups;
}

/** "A `system` message must follow a `user` message and may be last or precede an `assistant` message" */
function checkOrder(before: Turn['role'] | undefined, role: Turn['role'], path: string): void {
  if (role === 'system' && before !== 'user' && before !== 'system')
    throw invalid(path, 'is a system message, which must follow a user message');
  if (role === 'user' && before === 'system')
    throw invalid(path, 'follows a system message, which must be last or precede an assistant message');
}

function isEmpty(content: Turn['content']): boolean {
  if (typeof content === 'string') return content.trim() === '';
  return content.every((block) => block.type !== 'tool_use' && (textOf(block) ?? '').trim() === '');
}

function pushSystem(messages: ChatMessage[], texts: readonly string[]): void {
  const content = joined(texts);
  if (content !== '') messages.push({ role: 'system', content });
}

function systemTexts({ turn: { content }, path }: Placed): readonly string[] {
  if (typeof content === 'string') return [content];
  return content.map((block, at) => {
    if (block.type === 'text') return block.text;
    throw invalid(`${path}.content[${at}]`, `is of type ${block.type}: a system message takes only text`);
  });
}

/** The results of tools come first: templates want them right behind the calls. */
function pushUser(model: ChatModel, messages: ChatMessage[], slots: Slot[], group: readonly Placed[]): void {
  const parts: ContentPart[] = [];
  let hasMedia = false;
  let hasResults = false;
  for (const { turn, path } of group) {
    const { content } = turn;
    if (typeof content === 'string') parts.push({ type: 'text', text: content });
    else
      for (let at = 0; at < content.length; at++) {
        const block = content[at]!;
        const where = `${path}.content[${at}]`;
        switch (block.type) {
          case 'text':
            parts.push({ type: 'text', text: block.text });
            break;
          case 'image':
            hasMedia = true;
            pushSlot(slots, parts, toImage(model, block, where));
            break;
          case 'tool_result':
            hasResults = true;
            messages.push(toToolMessage(model, slots, block, where));
            break;
          case 'tool_use':
            throw misplaced(block, where, 'assistant');
        }
      }
  }
  if (parts.length === 0 && hasResults) return;
  messages.push({ role: 'user', content: hasMedia ? parts : joined(parts.map(textIn)) });
}

function toToolMessage(model: ChatModel, slots: Slot[], result: ToolResultBlock, path: string): ChatMessage {
  const { tool_use_id: id, content, is_error: isError } = result;
  const message = (said: string | readonly ContentPart[]): ChatMessage => ({
    role: 'tool',
    content: said,
    toolCallId: toCallId(id),
  });
  if (content == null || typeof content === 'string') return message(marked(content ?? '', isError));
  const texts = content.flatMap((block) => textOf(block) ?? []);
  if (texts.length === content.length) return message(marked(texts.join('\n'), isError));

  const parts: ContentPart[] = isError === true ? [{ type: 'text', text: 'Error:' }] : [];
  for (let at = 0; at < content.length; at++) {
    const block = content[at]!;
    if (block.type === 'text') parts.push({ type: 'text', text: block.text });
    else pushSlot(slots, parts, toImage(model, block, `${path}.content[${at}]`));
  }
  return message(parts);
}

/** Engines know no `is_error`: the model reads it. */
function marked(text: string, isError: boolean | null | undefined): string {
  if (isError !== true || /^\W*\w*error/i.test(text)) return text;
  return text === '' ? 'Error' : `Error: ${text}`;
}

function pushSlot(slots: Slot[], parts: ContentPart[], attachment: Attachment): void {
  slots.push({ attachment, parts, index: parts.length });
  parts.push(placeholder);
}

function toImage(model: ChatModel, { source }: ImageBlock, path: string): Attachment {
  if (source.type === 'url') return toMedia(model, 'image', source.url, `${path}.source.url`);
  return { ...toMedia(model, 'image', source.data, `${path}.source.data`), isBase64: true };
}

/** Blocks of one turn go on where the last one ended, as a model wrote them; merged turns are paragraphs. */
function toAssistant(group: readonly Placed[], knows: KnowsThought): ChatMessage {
  const texts: string[] = [];
  const toolCalls: ToolCall[] = [];
  let reasoning = '';
  for (const { turn, path } of group) {
    const { content } = turn;
    if (typeof content === 'string') texts.push(content);
    else {
      let text = '';
      for (let at = 0; at < content.length; at++) {
        const block = content[at]!;
        switch (block.type) {
          case 'text':
            text += block.text;
            break;
          case 'tool_use': {
            const { id, name, input } = block;
            toolCalls.push({ id: toCallId(id), name, arguments: JSON.stringify(input ?? {}) });
            break;
          }
          case 'thinking':
            reasoning += knownThought(block, knows);
            break;
          case 'image':
          case 'tool_result':
            throw misplaced(block, `${path}.content[${at}]`, 'user');
        }
      }
      texts.push(text);
    }
  }
  const content = joined(texts);
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

/** A thought that is not ours could be anything, so the model does not get it as its own. */
function knownThought({ thinking, signature }: ThinkingBlock, knows: KnowsThought): string {
  if (typeof thinking !== 'string' || typeof signature !== 'string') return '';
  return knows(thinking, signature) ? thinking : '';
}

function textOf(block: Block): string | undefined {
  return block.type === 'text' ? block.text : undefined;
}

function textIn(part: { type: string; text?: string }): string {
  return part.text ?? '';
}

function joined(texts: readonly string[]): string {
  return texts.length === 1 ? texts[0]! : texts.filter((text) => text !== '').join(paragraph);
}

function misplaced({ type }: Block, path: string, role: Turn['role']) {
  return invalid(path, `is of type ${type}, which only ${role} messages take`);
}
