/**
 * The prompt as a model's own chat template writes it: the Jinja text in its file, with what every template
 * may expect to be told.
 */
import { Template } from '@huggingface/jinja';
import { GatewayError } from '../../../lib/errors.ts';
import type { ChatMessage, ContentPart, Tool } from '../../contract/chat.ts';
import type { ChatInput } from './types.ts';

export interface PromptWriter {
  write(input: ChatInput): string;
}

export interface TemplateParts {
  /** Absent in files of models that were not made for chat. */
  readonly template: string | undefined;
  readonly bos: string;
  readonly eos: string;
}

/** For models without a template: what most of those that were made for chat understand. */
const plainTemplate =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}" +
  "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/** Stands where the continued message ends, so that the prompt can be cut there. No text of a client has it. */
const endMark = '\u{e000}\u{e001}end\u{e001}\u{e000}';

type Message = Readonly<Record<string, unknown>> & { readonly role: string };

export function createPromptWriter({ template, bos, eos }: TemplateParts): PromptWriter {
  const compiled = new Template(template ?? plainTemplate);
  const render = (messages: readonly Message[], input: ChatInput) =>
    compiled.render({
      messages,
      add_generation_prompt: !input.continueFinal,
      bos_token: bos,
      eos_token: eos,
      ...(hasTools(input) ? { tools: (input.tools ?? []).map(toTemplateTool) } : {}),
      ...(input.thinking === undefined ? {} : { enable_thinking: input.thinking.enabled }),
    });

  return {
    write(input) {
      const messages = input.messages.map(toTemplateMessage);
      if (input.continueFinal) markEnd(messages);
      const prompt = renderSomehow(messages, (each) => render(each, input));
      const end = input.continueFinal ? prompt.lastIndexOf(endMark) : -1;
      return end < 0 ? prompt : prompt.slice(0, end);
    },
  };
}

export function hasTools({ tools, toolChoice }: ChatInput): boolean {
  return tools !== undefined && tools.length > 0 && toolChoice !== 'none';
}

/** Some templates refuse a system message. What it says then goes before the first message of the user. */
function renderSomehow(
  messages: readonly Message[],
  render: (messages: readonly Message[]) => string,
): string {
  try {
    return render(messages);
  } catch (first) {
    const merged = mergeSystem(messages);
    if (merged === undefined) throw refused(first);
    try {
      return render(merged);
    } catch {
      throw refused(first);
    }
  }
}

function mergeSystem(messages: readonly Message[]): Message[] | undefined {
  const said = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const others = messages.filter(({ role }) => role !== 'system');
  const first = others.findIndex(({ role }) => role === 'user');
  const user = others[first];
  if (said.length === 0 || user === undefined) return undefined;
  return others.with(first, { ...user, content: [...said, user['content']].join('\n\n') });
}

/** Templates raise in their own words: "Conversation roles must alternate user/assistant/…". */
function refused(cause: unknown): GatewayError {
  const told = cause instanceof Error ? (cause.message.split('\n', 1)[0] ?? '') : '';
  return new GatewayError(
    'invalid_request',
    `The model's chat template does not take these messages: ${told}`,
    {
      param: 'messages',
      cause,
    },
  );
}

function markEnd(messages: Message[]): void {
  const last = messages.at(-1);
  if (last === undefined) return;
  const content = typeof last['content'] === 'string' ? last['content'] : '';
  messages[messages.length - 1] = { ...last, content: content + endMark };
}

function toTemplateMessage(message: ChatMessage): Message {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', content: toText(message.content) };
    case 'tool':
      return { role: 'tool', content: toText(message.content), tool_call_id: message.toolCallId };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content ?? '',
        ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
        ...(message.toolCalls === undefined
          ? {}
          : {
              tool_calls: message.toolCalls.map(({ id, name, arguments: args }) => ({
                id,
                type: 'function',
                function: { name, arguments: toObject(args) },
              })),
            }),
      };
  }
}

function toText(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => {
      if (part.type === 'text') return part.text;
      throw new GatewayError('invalid_request', `The model reads text only, no ${part.type}`, {
        param: 'messages',
      });
    })
    .join('\n');
}

/** Templates write arguments out themselves, and expect an object. */
function toObject(args: string): unknown {
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}

function toTemplateTool({ name, description, parameters }: Tool): object {
  return {
    type: 'function',
    function: {
      name,
      description: description ?? '',
      parameters: parameters ?? { type: 'object', properties: {} },
    },
  };
}
