/** Chat on a real model: the pack `tinyllama-1.1b-chat` in its own process, as the gateway runs it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatPort, ChatRequest } from '../src/engines/contract/chat.ts';
import { createChatPort } from '../src/engines/embedded/chat.ts';
import { createFinder } from '../src/engines/embedded/files.ts';
import { createModelHost, type ModelFiles, type RunningHost } from '../src/engines/embedded/host/index.ts';
import { createPacks } from '../src/engines/packs/index.ts';
import { createLog } from '../src/lib/log.ts';
import { chatRequest, completed, createRecordingSink, streamed } from './support/chat-sink.ts';
import { type PackFolder, packFolder, pullTimeoutMs } from './support/packs.ts';

const model = 'tinyllama-1.1b-chat';
const program = new URL('../src/engines/embedded/llama/program.ts', import.meta.url);
const question = 'What is the capital of France?';

/** On a busy machine it may write only a few tokens a second. */
const answerTimeoutMs = 240_000;

/** As a template would teach it that knows tools. */
const toolTemplate =
  '{% if tools %}<|system|>\nYou can call tools: {{ tools | tojson }}</s>\n{% endif %}{% for message in messages %}<|{{ message.role }}|>\n{{ message.content }}</s>\n{% endfor %}<|assistant|>\n{# <tool_call> #}';

describe('TinyLlama', { timeout: answerTimeoutMs }, () => {
  let folder: PackFolder;
  let packs: ReturnType<typeof createPacks>;
  let host: RunningHost;
  let port: ChatPort;

  beforeAll(async () => {
    folder = await packFolder(model);
    const log = createLog('silent');
    packs = createPacks({ dataFolder: folder.dataFolder, log, variable: () => undefined });
    const find = createFinder({ packs, hub: { require: () => Promise.reject(new Error('not asked for')) } });
    const options = { threads: 1, contextTokens: 8_192 };
    host = createModelHost({
      program,
      name: 'llama',
      log,
      memoryMb: 4_000,
      idleMs: 60_000,
      queueLength: 8,
      options,
    });
    const resolve = async (name: string): Promise<ModelFiles> => {
      if (name !== 'with-tools') return find(name);
      return { ...(await find(model)), name, options: { template: toolTemplate, contextTokens: 1_024 } };
    };
    port = createChatPort({ host, resolve, contextTokens: 2_048 });
  }, pullTimeoutMs);

  afterAll(async () => {
    await host?.close();
    await packs?.close();
    await folder?.[Symbol.asyncDispose]();
  });

  const ask = (fields: Partial<ChatRequest> = {}, text = question): ChatRequest =>
    chatRequest(text, { model, maxTokens: 16, temperature: 0, repetitionPenalty: 1.15, ...fields });

  it('knows the capital of France', async () => {
    const sink = await streamed(port, ask({ maxTokens: 32 }));
    expect(sink.choice().text).toContain('Paris');
    expect(sink.choice().text).toMatch(/^\S/);
    expect(sink.usageHeard?.promptTokens).toBe(24);
    expect(sink.heard.filter(({ type }) => type === 'text').length).toBeGreaterThan(5);
  });

  it('counts the tokens of a prompt exactly, while it answers another', async () => {
    const { signal } = new AbortController();
    const run = port.complete(ask({ maxTokens: 400 }), () => {});
    expect(await port.countTokens(ask(), signal)).toBe(24);
    run.abort();
    const { usage } = await completed(port, ask({ maxTokens: 1 }, 'Hi'));
    expect(usage.promptTokens).toBe(await port.countTokens(ask({}, 'Hi'), signal));
  });

  it('says the same for the same seed, and something else for another', async () => {
    const seeded = (seed: number) => completed(port, ask({ temperature: 1.5, seed, maxTokens: 8 }));
    const [first, again, other] = [await seeded(7), await seeded(7), await seeded(8)];
    expect(again).toEqual(first);
    expect(other.choices).not.toEqual(first.choices);
  });

  it('ends at a stop sequence and says at which, and knows what it has read before', async () => {
    const { choices, usage } = await completed(port, ask({ stop: ['Paris', 'zzz'] }));
    expect(choices[0]?.text).toBe('The capital of France is ');
    expect(choices[0]?.finish).toEqual({ reason: 'stop', native: 'stop', stopSequence: 'Paris' });
    const again = await completed(port, ask({ maxTokens: 1 }));
    expect(usage.cachedTokens).toBeLessThanOrEqual(usage.promptTokens);
    expect(again.usage.cachedTokens).toBe(again.usage.promptTokens - 1);
  });

  it('goes on with an answer where it ends', async () => {
    const messages = [
      { role: 'user', content: question },
      { role: 'assistant', content: 'The capital of France is' },
    ] as const;
    const { choices } = await completed(port, ask({ messages, continueFinal: true, maxTokens: 2 }));
    expect(choices[0]?.text).toMatch(/^ Paris/);
    expect(choices[0]?.finish.reason).toBe('length');
  });

  it('tells how likely each token was, and what else it could have been', async () => {
    const { choices } = await completed(port, ask({ topLogprobs: 3, maxTokens: 4, repetitionPenalty: 1 }));
    const [choice] = choices;
    expect(choice?.logprobs).toHaveLength(4);
    expect(choice?.logprobs?.map(({ token }) => token).join('')).toBe(choice?.text);
    for (const { logprob, token, bytes, topLogprobs } of choice?.logprobs ?? []) {
      expect(logprob).toBeLessThanOrEqual(0);
      expect(Buffer.from(bytes ?? []).toString()).toBe(token);
      expect(topLogprobs).toHaveLength(3);
      // It is the likeliest: the temperature is 0.
      expect(topLogprobs[0]).toMatchObject({ token, logprob });
      const sum = topLogprobs.reduce((total, each) => total + Math.exp(each.logprob), 0);
      expect(sum).toBeLessThanOrEqual(1.001);
    }
  });

  it('answers as a JSON schema wants it, and with any JSON object', async () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string', maxLength: 20 },
        country: { enum: ['France', 'Spain'] },
        millions: { type: 'integer', minimum: 1, maximum: 40 },
      },
      required: ['city', 'country', 'millions'],
      additionalProperties: false,
    };
    const responseFormat = { type: 'json_schema', name: 'city', schema } as const;
    const strict = await completed(port, ask({ responseFormat, maxTokens: 60 }));
    const parsed = JSON.parse(strict.choices[0]?.text ?? '') as Record<string, unknown>;
    expect(Object.keys(parsed)).toEqual(['city', 'country', 'millions']);
    expect(schema.properties.country.enum).toContain(parsed['country']);
    expect(strict.choices[0]?.finish.reason).toBe('stop');

    const any = await completed(port, ask({ responseFormat: { type: 'json_object' }, maxTokens: 80 }));
    expect(JSON.parse(any.choices[0]?.text ?? '')).toBeTypeOf('object');
  });

  it('refuses a schema that it cannot be held to, a prompt that is too long, and tools', async () => {
    const schema = { type: 'array', uniqueItems: true };
    const responseFormat = { type: 'json_schema', name: 'x', schema } as const;
    await expect(completed(port, ask({ responseFormat }))).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'response_format.json_schema.schema',
    });
    await expect(completed(port, ask({}, 'word '.repeat(3_000)))).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'messages',
    });
    const tools = [{ name: 'get_weather' }];
    await expect(completed(port, ask({ tools }))).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'tools',
    });
  });

  it('calls a tool when it must, where its template knows tools', async () => {
    const parameters = {
      type: 'object',
      properties: { city: { type: 'string', maxLength: 20 } },
      required: ['city'],
    };
    const tools = [{ name: 'get_weather', description: 'The weather in a city.', parameters }];
    const request = ask(
      { model: 'with-tools', tools, toolChoice: 'required', maxTokens: 60 },
      'The weather in Paris?',
    );
    const { choices } = await completed(port, request);
    expect(choices[0]?.finish.reason).toBe('tool_calls');
    expect(choices[0]?.toolCalls).toMatchObject([{ name: 'get_weather' }]);
    expect(JSON.parse(choices[0]?.toolCalls[0]?.arguments ?? '')).toHaveProperty('city');
    expect(choices[0]?.text).toBe('');
  });

  it('stops soon when nobody listens any more, in the prompt as in the answer', async () => {
    const { signal } = new AbortController();
    await port.countTokens(ask(), signal);
    const long = port.complete(ask({ maxTokens: 400 }, 'word '.repeat(1_500)), () => {});
    const sink = createRecordingSink();
    const second = port.stream(ask({ maxTokens: 400 }), sink);
    // Nothing is heard of a prompt that is being read: a moment, so that it is not stopped before it began.
    await new Promise((resolve) => setTimeout(resolve, 500));
    long.abort();
    await sink.parts(2);
    second.abort();
    const startedAt = performance.now();
    await host.drained();
    // The whole prompt would take minutes, and so would the answers.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it('whose process is killed in the middle of an answer fails in the stream, and answers the next request', async () => {
    const sink = createRecordingSink();
    port.stream(ask({ maxTokens: 400 }), sink);
    await sink.parts(3);
    process.kill(host.pid ?? 0, 'SIGKILL');
    await sink.over;
    expect(sink.error).toMatchObject({ kind: 'overloaded' });
    expect(sink.choice().text).not.toBe('');
    const { choices } = await completed(port, ask());
    expect(choices[0]?.text).toContain('Paris');
  });
});
