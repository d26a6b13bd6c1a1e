import { describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest } from '../contract/chat.ts';
import { toBody } from './body.ts';
import { type FlavorName, flavorNames } from './flavor.ts';
import { flavors } from './flavors.ts';

const plain: ChatRequest = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  continueFinal: false,
  n: 1,
  maxTokens: 100,
  affinity: 'a',
};

const body = (request: Partial<ChatRequest>, flavor: FlavorName = 'vllm', isStreamed = false) =>
  toBody({ ...plain, ...request }, flavors[flavor], isStreamed) as Record<string, unknown>;

describe('a body', () => {
  it.each(flavorNames)('of a plain request holds nothing else for %s', (flavor) => {
    expect(body({}, flavor)).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 100,
    });
  });

  it('of a stream always asks for the usage', () => {
    expect(body({}, 'generic', true)).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('has every field that was given, under its wire name, and no other', () => {
    const request: ChatRequest & { unknown: string } = {
      ...plain,
      n: 2,
      temperature: 0,
      topP: 0.9,
      topK: 5,
      frequencyPenalty: 0.1,
      presencePenalty: -0.1,
      repetitionPenalty: 1.1,
      seed: 0,
      stop: ['END'],
      topLogprobs: 0,
      responseFormat: { type: 'json_object' },
      tools: [{ name: 'f', description: 'd', parameters: { type: 'object' }, strict: true }],
      toolChoice: { name: 'f' },
      parallelToolCalls: false,
      thinking: { enabled: true, effort: 'low', budgetTokens: 64 },
      unknown: 'x',
    };
    expect(toBody(request, flavors.vllm, false)).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 100,
      n: 2,
      temperature: 0,
      top_p: 0.9,
      top_k: 5,
      frequency_penalty: 0.1,
      presence_penalty: -0.1,
      repetition_penalty: 1.1,
      seed: 0,
      stop: ['END'],
      logprobs: true,
      top_logprobs: 0,
      response_format: { type: 'json_object' },
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
      chat_template_kwargs: { enable_thinking: true, thinking: true },
      reasoning_effort: 'low',
      thinking_token_budget: 64,
    });
  });

  it('has a JSON schema in OpenAI’s form', () => {
    const schema = { type: 'object' };
    const responseFormat = { type: 'json_schema', name: 's', schema, strict: true } as const;
    expect(body({ responseFormat })['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 's', schema, strict: true },
    });
  });

  it.each([
    ['vllm', { top_k: -1, repetition_penalty: 1.2 }],
    ['sglang', { top_k: -1, repetition_penalty: 1.2 }],
    ['llama.cpp', { top_k: 0, repeat_penalty: 1.2 }],
    ['ollama', {}],
    ['generic', { repetition_penalty: 1.2 }],
  ] as const)('for %s: top_k 0 disables it, and the repetition penalty has its name', (flavor, fields) => {
    const made = body({ topK: 0, repetitionPenalty: 1.2 }, flavor);
    const { model, messages, max_tokens, ...rest } = made;
    expect(rest).toEqual(fields);
  });

  it('asks llama.cpp for one alternative at least, which would else give no log probabilities', () => {
    expect(body({ topLogprobs: 0 }, 'llama.cpp')).toMatchObject({ logprobs: true, top_logprobs: 1 });
    expect(body({ topLogprobs: 5 }, 'llama.cpp')).toMatchObject({ logprobs: true, top_logprobs: 5 });
  });

  it('refuses several answers for an engine that gives one', () => {
    expect(() => body({ n: 2 }, 'ollama')).toThrow(
      expect.objectContaining({ kind: 'invalid_request', param: 'n' }),
    );
  });
});

describe('a continuation', () => {
  const messages: ChatMessage[] = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hel' },
  ];
  const off = { chat_template_kwargs: { enable_thinking: false, thinking: false } };

  it.each([
    ['vllm', { continue_final_message: true, add_generation_prompt: false, ...off }],
    ['sglang', { continue_final_message: true, ...off }],
    ['llama.cpp', { continue_final_message: true, add_generation_prompt: false, ...off }],
    ['ollama', { reasoning_effort: 'none' }],
    ['generic', {}],
  ] as const)('[CHAT-66] [CHAT-70] is asked of %s in its way, without thinking', (flavor, fields) => {
    const { model, messages: sent, max_tokens, ...rest } = body({ messages, continueFinal: true }, flavor);
    expect(rest).toEqual(fields);
    expect((sent as unknown[]).at(-1)).toEqual({ role: 'assistant', content: 'Hel' });
  });

  it('[CHAT-70] [CHAT-34] ignores an effort and a budget', () => {
    const thinking = { enabled: true, effort: 'high', budgetTokens: 9 } as const;
    const made = body({ messages, continueFinal: true, thinking });
    expect(made).toMatchObject(off);
    expect(made).not.toHaveProperty('reasoning_effort');
    expect(made).not.toHaveProperty('thinking_token_budget');
  });
});

describe('thinking', () => {
  const on = { enable_thinking: true, thinking: true };
  const off = { enable_thinking: false, thinking: false };

  it.each([
    ['vllm', { chat_template_kwargs: off }],
    ['sglang', { chat_template_kwargs: off }],
    ['llama.cpp', { chat_template_kwargs: off }],
    ['ollama', { reasoning_effort: 'none' }],
    ['generic', { reasoning_effort: 'none' }],
  ] as const)('[CHAT-30] is turned off for %s', (flavor, fields) => {
    const made = body({ thinking: { enabled: false, effort: 'high', budgetTokens: 5 } }, flavor);
    const { model, messages, max_tokens, ...rest } = made;
    expect(rest).toEqual(fields);
  });

  it.each([
    ['vllm', { chat_template_kwargs: on, reasoning_effort: 'max', thinking_token_budget: 64 }],
    ['sglang', { chat_template_kwargs: on, reasoning_effort: 'max', custom_params: { thinking_budget: 64 } }],
    ['llama.cpp', { chat_template_kwargs: { ...on, reasoning_effort: 'max' }, thinking_budget_tokens: 64 }],
    ['ollama', { reasoning_effort: 'high' }],
    ['generic', { reasoning_effort: 'ultra' }],
  ] as const)('[CHAT-35] has its effort and budget for %s', (flavor, fields) => {
    const made = body({ thinking: { enabled: true, effort: 'ultra', budgetTokens: 64 } }, flavor);
    const { model, messages, max_tokens, ...rest } = made;
    expect(rest).toEqual(fields);
  });

  it('without an effort is only turned on', () => {
    expect(body({ thinking: { enabled: true } }, 'vllm')).not.toHaveProperty('reasoning_effort');
    expect(body({ thinking: { enabled: true } }, 'ollama')['reasoning_effort']).toBe('medium');
    expect(body({ thinking: { enabled: true } }, 'generic')).not.toHaveProperty('reasoning_effort');
  });
});

describe('tools', () => {
  const tools = [{ name: 'f' }, { name: 'g' }];
  const names = (made: Record<string, unknown>) =>
    (made['tools'] as { function: { name: string } }[] | undefined)?.map((tool) => tool.function.name);

  it.each([
    ['vllm', ['f', 'g'], { type: 'function', function: { name: 'g' } }],
    ['llama.cpp', ['g'], 'required'],
    ['ollama', ['g'], undefined],
  ] as const)('[CHAT-46] a named one is asked of %s as far as it goes', (flavor, listed, choice) => {
    const made = body({ tools, toolChoice: { name: 'g' } }, flavor);
    expect(names(made)).toEqual(listed);
    expect(made['tool_choice']).toEqual(choice);
  });

  it('that must not be used do not reach Ollama, which knows no choice', () => {
    expect(body({ tools, toolChoice: 'none' }, 'ollama')).not.toHaveProperty('tools');
    expect(names(body({ tools, toolChoice: 'required' }, 'ollama'))).toEqual(['f', 'g']);
    expect(body({ tools, toolChoice: 'none' }, 'sglang')).toMatchObject({ tool_choice: 'none' });
  });

  it('that are none take the choice with them', () => {
    expect(body({ tools: [], toolChoice: 'none', parallelToolCalls: true })).not.toHaveProperty(
      'tool_choice',
    );
  });
});

describe('messages', () => {
  const sent = (messages: ChatMessage[], flavor: FlavorName = 'vllm') =>
    body({ messages }, flavor)['messages'] as Record<string, unknown>[];

  it('keep their roles, names, calls and results', () => {
    expect(
      sent([
        { role: 'system', content: 's', name: 'n' },
        { role: 'developer', content: 'd' },
        { role: 'assistant', content: null, toolCalls: [{ id: 'call_1', name: 'f', arguments: '' }] },
        {
          role: 'tool',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
          toolCallId: 'call_1',
        },
        { role: 'assistant', content: null },
      ]),
    ).toEqual([
      { role: 'system', content: 's', name: 'n' },
      { role: 'system', content: 'd' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', content: 'a\nb', tool_call_id: 'call_1' },
      { role: 'assistant', content: '' },
    ]);
    expect(sent([{ role: 'developer', content: 'd' }], 'generic')[0]?.['role']).toBe('developer');
  });

  it('of several texts are one text for Ollama, which would make messages of them', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ] as const;
    expect(sent([{ role: 'user', content }], 'ollama')[0]?.['content']).toBe('a\nb');
    expect(sent([{ role: 'user', content }])[0]?.['content']).toEqual(content);
  });

  const image = { type: 'image', mediaType: 'image/png', base64: 'aW1n', detail: 'low' } as const;
  const audio = { type: 'audio', mediaType: 'audio/mpeg', base64: 'YXVk' } as const;
  const video = { type: 'video', mediaType: 'video/mp4', base64: 'dmlk' } as const;
  const imageUrl = { type: 'image_url', image_url: { url: 'data:image/png;base64,aW1n', detail: 'low' } };
  const audioUrl = { type: 'audio_url', audio_url: { url: 'data:audio/mpeg;base64,YXVk' } };
  const inputAudio = { type: 'input_audio', input_audio: { data: 'YXVk', format: 'mp3' } };
  const videoUrl = { type: 'video_url', video_url: { url: 'data:video/mp4;base64,dmlk' } };

  it.each([
    ['vllm', [imageUrl, audioUrl, videoUrl]],
    ['sglang', [imageUrl, audioUrl, videoUrl]],
    ['llama.cpp', [imageUrl, inputAudio, { type: 'input_video', input_video: { data: 'dmlk' } }]],
    ['generic', [imageUrl, inputAudio, videoUrl]],
  ] as const)('[CHAT-54] [CHAT-56] [CHAT-57] carry media to %s as bytes, in its form', (flavor, parts) => {
    const text = { type: 'text', text: 'look' } as const;
    const content = [text, image, audio, video];
    expect(sent([{ role: 'user', content }], flavor)[0]?.['content']).toEqual([text, ...parts]);
  });

  it('name an image’s type to Ollama only when it knows it', () => {
    const gif = { type: 'image', mediaType: 'image/gif', base64: 'Z2lm' } as const;
    const urls = sent([{ role: 'user', content: [image, gif] }], 'ollama')[0]?.['content'];
    expect(urls).toEqual([imageUrl, { type: 'image_url', image_url: { url: 'data:;base64,Z2lm' } }]);
  });
});
