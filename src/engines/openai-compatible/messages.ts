/** Canonical messages in the form that an engine takes. */
import type { ChatMessage, ContentPart, ToolCall } from '../contract/chat.ts';
import type { Fields, Flavor } from './flavor.ts';

export function toWireMessages(messages: readonly ChatMessage[], flavor: Flavor): Fields[] {
  return messages.map((message) => toWireMessage(message, flavor));
}

function toWireMessage(message: ChatMessage, flavor: Flavor): Fields {
  switch (message.role) {
    case 'system':
    case 'developer': {
      const role = message.role === 'developer' ? flavor.developerRole : 'system';
      return { role, content: message.content, ...named(message) };
    }
    case 'user':
      return { role: 'user', content: toContent(message.content, flavor), ...named(message) };
    case 'tool':
      return {
        role: 'tool',
        // A result of text alone is a text to every engine; templates often know nothing else.
        content: toContent(message.content, { ...flavor, joinsText: true }),
        tool_call_id: message.toolCallId,
      };
    case 'assistant': {
      const { content, toolCalls = [] } = message;
      const rest = { ...thought(message.reasoning, flavor), ...named(message) };
      if (toolCalls.length === 0) return { role: 'assistant', content: content ?? '', ...rest };
      return { role: 'assistant', content, tool_calls: toolCalls.map(toWireCall), ...rest };
    }
  }
}

function named({ name }: { name?: string }): Fields {
  return name === undefined ? {} : { name };
}

function thought(reasoning: string | undefined, { reasoningField }: Flavor): Fields {
  return reasoning === undefined || reasoningField === undefined ? {} : { [reasoningField]: reasoning };
}

function toWireCall({ id, name, arguments: text }: ToolCall): Fields {
  // Engines parse the arguments for their templates, and an empty text is no JSON.
  return { id, type: 'function', function: { name, arguments: text.trim() === '' ? '{}' : text } };
}

function toContent(content: string | readonly ContentPart[], flavor: Flavor): string | Fields[] {
  if (typeof content === 'string') return content;
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (flavor.joinsText && texts.length === content.length) return texts.join('\n');
  return content.map((part) =>
    part.type === 'text' ? { type: 'text', text: part.text } : flavor.media(part),
  );
}
