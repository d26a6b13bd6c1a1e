import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../lib/errors.ts';
import type { ChatMessage } from '../../contract/chat.ts';
import { createPromptWriter } from './template.ts';
import type { ChatInput } from './types.ts';

const zephyr = `{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>
'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}`;

/** As Gemma's: no system message, and the roles take turns. */
const strict = `{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}{{ '[' + message['role'] + ']' + message['content'] | trim }}{% endfor %}{% if add_generation_prompt %}[model]{% endif %}`;

const calling = `{% if tools %}{{ tools | tojson }}{% endif %}{% for message in messages %}[{{ message.role }}]{{ message.content }}{% if message.tool_calls %}{% for call in message.tool_calls %}<tool_call>{{ call.function.name }} {{ call.function.arguments.city }}</tool_call>{% endfor %}{% endif %}{% endfor %}{% if enable_thinking is defined and enable_thinking is false %}<think></think>{% endif %}`;

function write(
  template: string | undefined,
  messages: readonly ChatMessage[],
  fields: Partial<ChatInput> = {},
) {
  const input: ChatInput = { messages, continueFinal: false, n: 1, maxTokens: 10, affinity: '', ...fields };
  return createPromptWriter({ template, bos: '<s>', eos: '</s>' }).write(input);
}

const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const system = (content: string): ChatMessage => ({ role: 'system', content });

function failureOf(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    return error as GatewayError;
  }
  throw new Error('it did not fail');
}

describe('a prompt', () => {
  it('is written as the template of the model has it', () => {
    expect(write(zephyr, [system('Be kind.'), user('Hi'), assistant('Hello'), user('Bye')])).toBe(
      '<|system|>\nBe kind.</s>\n<|user|>\nHi</s>\n<|assistant|>\nHello</s>\n<|user|>\nBye</s>\n<|assistant|>\n',
    );
  });

  it('takes the messages of developers for those of the system, and joins the parts of a message', () => {
    const parts = {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    } as const;
    expect(write(zephyr, [{ role: 'developer', content: 'Be kind.' }, parts])).toContain(
      '<|system|>\nBe kind.</s>\n<|user|>\na\nb</s>',
    );
  });

  it('that goes on with an answer ends where that ends, white space included', () => {
    const messages = [user('Hi'), assistant('Hello, ')];
    expect(write(zephyr, messages, { continueFinal: true })).toBe('<|user|>\nHi</s>\n<|assistant|>\nHello, ');
    expect(write(strict, messages, { continueFinal: true })).toBe('<s>[user]Hi[assistant]Hello, ');
    expect(write(strict, [user('x'), assistant('x')], { continueFinal: true })).toBe(
      '<s>[user]x[assistant]x',
    );
  });

  it('says what the system says in the first message of the user, where a template has no place for it', () => {
    expect(write(strict, [system('Be kind.'), user('Hi')])).toBe('<s>[user]Be kind.\n\nHi[model]');
  });

  it('is refused in the words of the template when that does not take the messages', () => {
    const failure = failureOf(() => write(strict, [user('Hi'), user('there')]));
    expect(failure).toMatchObject({ kind: 'invalid_request', param: 'messages' });
    expect(failure.message).toContain('Roles must alternate');
  });

  it('has the tools, the calls with their arguments as values, and whether to think', () => {
    const tools = [{ name: 'get_weather', parameters: { type: 'object' } }];
    const called: ChatMessage = {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' }],
    };
    const result: ChatMessage = { role: 'tool', content: 'sunny', toolCallId: 'call_1' };
    const prompt = write(calling, [user('Hi'), called, result], { tools, thinking: { enabled: false } });
    expect(prompt).toContain('"name": "get_weather"');
    expect(prompt).toContain('[assistant]<tool_call>get_weather Paris</tool_call>[tool]sunny<think></think>');
    expect(write(calling, [user('Hi')], { tools, toolChoice: 'none' })).toBe('[user]Hi');
  });

  it('of a model without a template has a common form', () => {
    expect(write(undefined, [user('Hi')])).toBe('<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n');
  });

  it('has no pictures', () => {
    const picture: ChatMessage = {
      role: 'user',
      content: [{ type: 'image', mediaType: 'image/png', base64: '' }],
    };
    expect(failureOf(() => write(zephyr, [picture]))).toMatchObject({
      kind: 'invalid_request',
      param: 'messages',
    });
  });
});
