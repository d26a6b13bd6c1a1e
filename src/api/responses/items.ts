/** The items of a conversation as canonical messages, and what has to be loaded for them first. Pure. */
import type { ChatMessage, ContentPart, ToolCall } from '../../engines/contract/chat.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Attachment } from '../../platform/attachments/index.ts';
import type { ChatModel } from '../../platform/catalog/index.ts';
import { toMedia } from '../../platform/chat/content.ts';
import { placeholder, type Slot } from '../../platform/chat/prepare.ts';
import type { Message, Part, SaidItem } from './schema.ts';

/** An item and where it came from. */
export interface Said {
  readonly item: SaidItem;
  /** What failures name: the item itself, or the field that referred to it. */
  readonly path: string;
  /** Read from the store. */
  readonly isStored: boolean;
}

export interface Translated {
  readonly messages: readonly ChatMessage[];
  readonly slots: readonly Slot[];
}

/** The assistant's turn as far as it is known: its text and its calls are items of their own here. */
interface Turn {
  content: string | null;
  reasoning: string | undefined;
  readonly toolCalls: ToolCall[];
}

export function toMessages(model: ChatModel, said: readonly Said[]): Translated {
  const messages: ChatMessage[] = [];
  const slots: Slot[] = [];
  let turn: Turn | undefined;
  const closeTurn = () => {
    if (turn !== undefined && (turn.content !== null || turn.toolCalls.length > 0))
      messages.push(toAssistant(turn));
    turn = undefined;
  };
  const inTurn = (): Turn => {
    turn ??= { content: null, reasoning: undefined, toolCalls: [] };
    return turn;
  };
  const lastQuestion = said.findLastIndex(({ item }) => isQuestion(item));
  for (const [index, one] of said.entries()) {
    const { item } = one;
    if (item.type === 'reasoning') {
      // Our own: what a client sends of it is neither said nor kept. It goes on while the model works with its
      // tools: afterwards chat templates leave it out.
      if (index > lastQuestion) addReasoning(inTurn(), item);
    } else if (item.type === 'function_call') {
      inTurn().toolCalls.push({ id: item.call_id, name: item.name, arguments: item.arguments });
    } else if (item.type === 'function_call_output') {
      closeTurn();
      const content = toContent(model, item.output, one, 'output', slots);
      messages.push({ role: 'tool', content: joined(content), toolCallId: item.call_id });
    } else if (item.role === 'assistant') {
      const open = inTurn();
      const text = toText(item, one);
      open.content = open.content === null ? text : `${open.content}\n${text}`;
    } else {
      closeTurn();
      if (item.role === 'user')
        messages.push({ role: 'user', content: toContent(model, item.content, one, 'content', slots) });
      else messages.push({ role: item.role, content: toText(item, one) });
    }
  }
  closeTurn();
  return { messages, slots };
}

function isQuestion(item: SaidItem): boolean {
  return 'role' in item && item.role === 'user';
}

function toAssistant({ content, reasoning, toolCalls }: Turn): ChatMessage {
  return {
    role: 'assistant',
    content,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

/** As `render.ts` wrote it: in one of the two places. */
function addReasoning(turn: Turn, item: object): void {
  const { summary = [], content = [] } = item as Record<
    'summary' | 'content',
    { text: string }[] | undefined
  >;
  const text = [...summary, ...content].map((part) => part.text).join('\n');
  if (text !== '') turn.reasoning = turn.reasoning === undefined ? text : `${turn.reasoning}\n${text}`;
}

/** Several text parts of one message are its paragraphs: engines that take one string join them so too. */
function toText({ role, content }: Message, said: Said): string {
  if (typeof content === 'string') return content;
  const texts = content.map((part, at) => {
    const text = textOf(part);
    if (text !== undefined) return text;
    const param = within(said, `content[${at}]`);
    const message = `${param}: a part of type ${part.type} is not accepted on ${role} messages`;
    throw new GatewayError('invalid_request', message, { param });
  });
  return texts.join('\n');
}

function toContent(
  model: ChatModel,
  content: string | readonly Part[],
  said: Said,
  field: string,
  slots: Slot[],
): string | ContentPart[] {
  if (typeof content === 'string') return content;
  const parts: ContentPart[] = [];
  for (const [at, part] of content.entries()) {
    const text = textOf(part);
    if (text !== undefined) parts.push({ type: 'text', text });
    else {
      const attachment = toAttachment(model, part, (name) => within(said, `${field}[${at}].${name}`));
      slots.push({ attachment, parts, index: parts.length });
      parts.push(placeholder);
    }
  }
  return parts;
}

/** A result of text alone is a text to every engine. A placeholder of what is still to be loaded is not a text. */
function joined(content: string | ContentPart[]): string | ContentPart[] {
  if (typeof content === 'string') return content;
  const texts: string[] = [];
  for (const part of content) {
    if (part.type !== 'text' || part === placeholder) return content;
    texts.push(part.text);
  }
  return texts.join('\n');
}

function textOf(part: Part): string | undefined {
  if (part.type === 'input_text' || part.type === 'output_text') return part.text;
  return part.type === 'refusal' ? part.refusal : undefined;
}

function toAttachment(model: ChatModel, part: Part, path: (name: string) => string): Attachment {
  switch (part.type) {
    case 'input_image': {
      const { image_url: source, detail } = part;
      const param = path('image_url');
      if (source == null) throw missing(param, part.file_id, path('file_id'));
      const attachment = toMedia(model, 'image', source, param);
      return detail == null ? attachment : { ...attachment, detail };
    }
    case 'input_audio':
      return { ...toMedia(model, 'audio', part.input_audio.data, path('input_audio')), isBase64: true };
    case 'input_video':
      return toMedia(model, 'video', part.video_url, path('video_url'));
    case 'input_file':
      return toDocument(part, path);
    default:
      throw new GatewayError('internal', `a part of type ${part.type} is not media`);
  }
}

/** Becomes text, so that every model can read it. */
function toDocument(file: Extract<Part, { type: 'input_file' }>, path: (name: string) => string): Attachment {
  const { file_data: data, file_url: url, filename } = file;
  const named = filename == null ? {} : { filename };
  if (data != null) {
    // A data URI is told by its beginning; an address, which chat takes in this field, too.
    const isBase64 = !/^https?:/i.test(data);
    return { kind: 'document', source: data, param: path('file_data'), isBase64, ...named };
  }
  if (url == null) throw missing(path('file_data'), file.file_id, path('file_id'));
  return { kind: 'document', source: url, param: path('file_url'), ...named };
}

function missing(param: string, fileId: string | null | undefined, idParam: string): GatewayError {
  return fileId == null
    ? new GatewayError('invalid_request', `${param} is required`, { param })
    : new GatewayError('invalid_request', `${idParam} is not supported: there are no stored files`, {
        param: idParam,
      });
}

/** Nothing inside of a stored item was written by this request: its failures name what refers to it. */
function within({ path, isStored }: Said, field: string): string {
  return isStored ? path : `${path}.${field}`;
}
