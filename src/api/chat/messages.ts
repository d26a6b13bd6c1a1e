/** The messages of a request as canonical ones: what each role may hold, and what has to be loaded first. Pure. */
import type { ChatMessage, ContentPart, ToolCall } from '../../engines/contract/chat.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Attachment } from '../../platform/attachments/index.ts';
import type { ChatModel } from '../../platform/catalog/index.ts';
import { toContinued, toMedia } from '../../platform/chat/content.ts';
import { noSlots, placeholder, type Slot } from '../../platform/chat/prepare.ts';
import type { ChatBody, Message, Part } from './schema.ts';

export interface Translated {
  readonly messages: readonly ChatMessage[];
  readonly slots: readonly Slot[];
}

export function toMessages(model: ChatModel, wire: readonly Message[]): Translated {
  const messages: ChatMessage[] = [];
  let slots: Slot[] | undefined;
  for (let index = 0; index < wire.length; index++) {
    const message = wire[index]!;
    const { content } = message;
    if (message.role === 'user' && Array.isArray(content)) {
      const parts: ContentPart[] = [];
      for (let at = 0; at < content.length; at++) {
        const part = content[at]!;
        const text = textOf(part);
        if (text !== undefined) parts.push({ type: 'text', text });
        else {
          const attachment = toAttachment(model, part, `messages[${index}].content[${at}]`);
          slots ??= [];
          slots.push({ attachment, parts, index: parts.length });
          parts.push(placeholder);
        }
      }
      messages.push({ role: 'user', content: parts, ...named(message) });
    } else messages.push(toMessage(message, index));
  }
  return { messages, slots: slots ?? noSlots };
}

function toMessage(message: Message, index: number): ChatMessage {
  const { role } = message;
  switch (role) {
    case 'system':
    case 'developer':
    case 'user':
      return { role, content: requiredText(message, index), ...named(message) };
    case 'assistant':
      return toAssistant(message, index);
    case 'tool': {
      const { tool_call_id: toolCallId } = message;
      if (toolCallId == null) throw missing(`messages[${index}].tool_call_id`);
      return { role, content: requiredText(message, index), toolCallId };
    }
  }
}

/** What it thought and how it was cached is left behind: `reasoning`, `reasoning_details` … are not read. */
function toAssistant(message: Message, index: number): ChatMessage {
  const calls = message.tool_calls ?? [];
  const content = plainText(message, index) ?? message.refusal ?? null;
  if (content === null && calls.length === 0) throw missing(`messages[${index}].content`);
  return {
    role: 'assistant',
    content,
    ...(calls.length === 0 ? {} : { toolCalls: calls.map(toToolCall) }),
    ...named(message),
  };
}

function toToolCall({ id, function: { name, arguments: text } }: WireToolCall): ToolCall {
  return { id, name, arguments: text };
}
type WireToolCall = NonNullable<Message['tool_calls']>[number];

function requiredText(message: Message, index: number): string {
  const text = plainText(message, index);
  if (text === undefined) throw missing(`messages[${index}].content`);
  return text;
}

/** Several text parts of one message are its paragraphs: engines that take one string join them so too. */
function plainText({ role, content }: Message, index: number): string | undefined {
  if (content == null || typeof content === 'string') return content ?? undefined;
  const texts = content.map((part, at) => {
    const text = textOf(part);
    if (text !== undefined) return text;
    const param = `messages[${index}].content[${at}]`;
    const message = `${param}: a part of type ${part.type} is accepted on user messages only, not on ${role} ones`;
    throw new GatewayError('invalid_request', message, { param });
  });
  return texts.join('\n');
}

function textOf(part: Part): string | undefined {
  if (part.type === 'text') return part.text;
  return part.type === 'refusal' ? part.refusal : undefined;
}

function toAttachment(model: ChatModel, part: Part, path: string): Attachment {
  switch (part.type) {
    case 'image_url': {
      const { image_url: image } = part;
      const detail = typeof image === 'string' ? undefined : (image.detail ?? undefined);
      const attachment = toMedia(model, 'image', addressOf(image), `${path}.image_url`);
      return detail === undefined ? attachment : { ...attachment, detail };
    }
    case 'audio_url':
      return toMedia(model, 'audio', addressOf(part.audio_url), `${path}.audio_url`);
    case 'video_url':
    case 'input_video':
      return toMedia(model, 'video', addressOf(part.video_url), `${path}.video_url`);
    case 'input_audio': {
      const param = `${path}.input_audio`;
      return { ...toMedia(model, 'audio', part.input_audio.data, param), isBase64: true };
    }
    case 'file':
      return toDocument(part.file, `${path}.file`);
    default:
      throw new GatewayError('internal', `a part of type ${part.type} is not media`);
  }
}

function addressOf(from: string | { url: string }): string {
  return typeof from === 'string' ? from : from.url;
}

/** Becomes text, so that every model can read it. */
function toDocument(file: WireFile, param: string): Attachment {
  if (file.file_data == null) {
    const message =
      file.file_id == null
        ? `${param}.file_data is required`
        : `${param}.file_id is not supported: send the document in file_data`;
    throw new GatewayError('invalid_request', message, { param });
  }
  const { file_data: source, filename } = file;
  return { kind: 'document', source, param, ...(filename == null ? {} : { filename }) };
}
type WireFile = Extract<Part, { type: 'file' }>['file'];

/** The messages with the last one ready to be continued, or undefined when it is not the assistant's. */
export function continued(
  messages: readonly ChatMessage[],
  { continue_final_message: isAsked }: ChatBody,
): readonly ChatMessage[] | undefined {
  const ready = toContinued(messages, `messages[${messages.length - 1}]`);
  if (ready !== undefined || isAsked !== true) return ready;
  const message = 'continue_final_message: the last message must be from the assistant';
  throw new GatewayError('invalid_request', message, { param: 'continue_final_message' });
}

function named({ name }: Message): { name?: string } {
  return name == null ? {} : { name };
}

function missing(param: string): GatewayError {
  return new GatewayError('invalid_request', `${param} is required`, { param });
}
