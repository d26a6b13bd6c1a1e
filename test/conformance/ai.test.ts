/** The AI SDK over a socket, against every engine: its Anthropic provider on `/messages`, OpenAI's on `/responses`. */
import { type AnthropicLanguageModelOptions, createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI, type OpenAILanguageModelResponsesOptions } from '@ai-sdk/openai';
import {
  APICallError,
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  type StepResult,
  streamText,
  tool,
} from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createValidator } from '../../src/lib/schema.ts';
import { weatherSchema } from '../support/chat-gateway.ts';
import { type Backend, backends, type CaseName } from './backends.ts';
import {
  expectAborted,
  expectContinuation,
  expectNoAddress,
  expectSight,
  hugeImage,
  png,
  thrown,
  withFault,
} from './cases.ts';
import {
  expectLoop,
  type LoopTurn,
  longestLoop,
  loopPrompt,
  resultOf,
  secondTool,
  timeParameters,
  weatherParameters,
} from './tool-loop.ts';

interface Provider {
  name: string;
  connect(base: string, apiKey: string, fetch?: typeof globalThis.fetch): (model: string) => LanguageModel;
  thinking: Record<string, object>;
  /** Whether it names what was kept of the last turn, instead of sending it again. */
  refers: boolean;
  /** OpenAI's has no beginning to be continued. */
  continues: boolean;
  /** Anthropic's names no tool to a model that thinks: there the user has to ask for it. */
  forcesWhileThinking: boolean;
  rules: string;
}

const providers: readonly Provider[] = [
  {
    name: '@ai-sdk/anthropic',
    connect: (baseURL, apiKey, fetch = globalThis.fetch) => createAnthropic({ baseURL, apiKey, fetch }),
    thinking: {
      anthropic: {
        thinking: { type: 'enabled', budgetTokens: 1024 },
      } satisfies AnthropicLanguageModelOptions,
    },
    refers: false,
    continues: true,
    forcesWhileThinking: false,
    rules: '[MSG-65]',
  },
  {
    name: '@ai-sdk/openai',
    connect: (baseURL, apiKey, fetch = globalThis.fetch) =>
      createOpenAI({ baseURL, apiKey, fetch }).responses,
    // It reads thoughts only where they come as a summary, and asks for it only with `forceReasoning`.
    thinking: {
      openai: {
        reasoningEffort: 'low',
        reasoningSummary: 'auto',
        forceReasoning: true,
      } satisfies OpenAILanguageModelResponsesOptions,
    },
    refers: true,
    continues: false,
    forcesWhileThinking: true,
    rules: '[RESP-8] [RESP-39]',
  },
];

const maxOutputTokens = 4096;

for (const kind of backends) {
  describe(`the AI SDK on ${kind.name}`, () => {
    let backend: Backend;
    beforeAll(async () => {
      // Some of what is tried here is worth a warning to it, which is no failure.
      Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
      backend = await kind.open();
    });
    afterAll(() => backend.close());

    describe.each(providers)('with $name', (provider) => {
      const { connect, thinking, continues, rules } = provider;
      const model = (name: CaseName | 'nothing', apiKey = backend.key) => connect(backend.base, apiKey)(name);
      const ask = (name: CaseName | 'nothing', prompt = 'Hi', apiKey?: string) => ({
        model: model(name, apiKey),
        prompt,
        maxOutputTokens,
        maxRetries: 0,
      });
      type Asked = ReturnType<typeof ask>;
      const tools = {
        get_weather: tool({
          description: 'Weather of a city',
          inputSchema: jsonSchema<{ city: string }>({ ...weatherParameters } as object),
          execute: async (input) => resultOf('get_weather', input),
        }),
        get_time: tool({
          description: 'Local time of a city',
          inputSchema: jsonSchema<{ city: string }>({ ...timeParameters } as object),
          execute: async (input) => resultOf('get_time', input),
        }),
      };

      it('[ROUTE-31] text is generated and streamed, with usage', async () => {
        const { prompt, text } = backend.cases.text;
        const whole = await generateText(ask('text', prompt));
        expect([whole.text, whole.finishReason]).toEqual([text, 'stop']);
        expect(whole.usage.inputTokens).toBe(backend.cases.promptTokens);
        const streamed = streamText(ask('text', prompt));
        const pieces: string[] = [];
        for await (const piece of streamed.textStream) pieces.push(piece);
        expect(pieces.join('')).toBe(text);
        expect(pieces.length).toBeGreaterThan(4);
        expect(await streamed.finishReason).toBe('stop');
        expect((await streamed.usage).inputTokens).toBe(backend.cases.promptTokens);
        expect((await streamed.usage).outputTokens).toBe(whole.usage.outputTokens);
      });

      it('[ROUTE-31] tells that an answer was cut', async () => {
        const { prompt, text, maxTokens } = backend.cases.length;
        const request = { ...ask('length', prompt), maxOutputTokens: maxTokens };
        const whole = await generateText(request);
        expect([whole.text, whole.finishReason]).toEqual([text, 'length']);
        expect(await streamText(request).finishReason).toBe('length');
      });

      it('[ROUTE-31] a picture reaches the engine', async () => {
        const messages: ModelMessage[] = [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'file', data: Buffer.from(png, 'base64'), mediaType: 'image/png' },
            ],
          },
        ];
        const request = { model: model('sight'), messages, maxOutputTokens, maxRetries: 0 };
        expectSight(backend, (await generateText(request)).text);
        expectSight(backend, await streamText(request).text);
      });

      if (continues) {
        it('[ROUTE-31] [MSG-9] a beginning is continued', async () => {
          const { prompt, beginning } = backend.cases.prefill;
          const messages: ModelMessage[] = [
            { role: 'user', content: prompt },
            { role: 'assistant', content: beginning },
          ];
          const request = { model: model('prefill'), messages, maxOutputTokens, maxRetries: 0 };
          expectContinuation(backend, (await generateText(request)).text);
          expectContinuation(backend, await streamText(request).text);
        });
      }

      it(`[ROUTE-31] ${rules} thoughts are kept apart from the text`, async () => {
        const { prompt, text, reasoning } = backend.cases.thinking;
        const request = { ...ask('thinking', prompt), providerOptions: thinking as never };
        const whole = await generateText(request);
        expect(whole.text).toBe(text);
        expect(whole.reasoningText).toMatch(reasoning);
        const streamed = streamText(request);
        expect(await streamed.text).toBe(text);
        expect(await streamed.reasoningText).toMatch(reasoning);
      });

      const toTurns = (steps: readonly StepResult<typeof tools>[]): LoopTurn[] =>
        steps.map(({ text, reasoningText, toolCalls }) => ({
          text,
          reasoning: reasoningText,
          calls: toolCalls.map(({ toolCallId, toolName, input }) => ({
            id: toolCallId,
            name: toolName,
            input: input as unknown,
          })),
        }));

      it.each(['loop', 'thinking-loop'] as const)(
        `[ROUTE-31] ${rules} runs a tool loop of three turns, generated and streamed: %s`,
        async (name) => {
          const request = {
            ...ask(name, loopPrompt),
            tools,
            stopWhen: isStepCount(longestLoop),
            prepareStep: ({ stepNumber, messages }: { stepNumber: number; messages: ModelMessage[] }) => {
              if (name === 'loop' || provider.forcesWhileThinking) {
                return stepNumber === 1
                  ? { toolChoice: { type: 'tool', toolName: secondTool } as const }
                  : {};
              }
              const wish: ModelMessage = { role: 'user', content: `Call ${secondTool}` };
              if (stepNumber === 1) return { messages: [...messages, wish] };
              // What was added stays, and is taken away again.
              return { messages: messages.filter(({ content }) => content !== wish.content) };
            },
            ...(name === 'thinking-loop' ? { providerOptions: thinking as never } : {}),
          };
          const whole = await generateText(request);
          expectLoop(backend, name, toTurns(whole.steps));
          const streamed = await streamText(request).steps;
          expectLoop(backend, name, toTurns(streamed));
        },
      );

      if (provider.refers) {
        it('[ROUTE-31] [RESP-48] runs the loop of which nothing is kept', async () => {
          const options = { openai: { ...thinking['openai'], store: false } };
          const whole = await generateText({
            ...ask('thinking-loop', loopPrompt),
            tools,
            stopWhen: isStepCount(longestLoop),
            prepareStep: ({ stepNumber }) =>
              stepNumber === 1 ? { toolChoice: { type: 'tool', toolName: secondTool } } : {},
            providerOptions: options as never,
          });
          expectLoop(backend, 'thinking-loop', toTurns(whole.steps));
        });
      }

      it(`[ROUTE-31] ${rules} goes on with a conversation from its own messages`, async () => {
        const { prompt, text } = backend.cases.text;
        const question: ModelMessage = { role: 'user', content: 'Remember the word heron' };
        const first = await generateText({
          model: model('thinking'),
          messages: [question],
          maxOutputTokens,
          maxRetries: 0,
          providerOptions: thinking as never,
        });
        const messages: ModelMessage[] = [
          question,
          ...first.response.messages,
          { role: 'user', content: prompt },
        ];
        const sent: string[] = [];
        const listening: typeof fetch = (url, init) => {
          sent.push(String(init?.body));
          return fetch(url, init);
        };
        const request = {
          model: connect(backend.base, backend.key, listening)('text'),
          messages,
          maxOutputTokens,
          maxRetries: 0,
        };
        expect((await generateText(request)).text).toBe(text);
        expect(await streamText(request).text).toBe(text);
        expect(sent.map((body) => body.includes('"item_reference"'))).toEqual([
          provider.refers,
          provider.refers,
        ]);
        const asked = backend.asked('text')?.at(-1)?.body?.['messages'];
        if (asked === undefined) return;
        const said = asked as { role: string; content: unknown }[];
        expect(said.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
        expect(JSON.stringify(said[0])).toContain('heron');
        expect(JSON.stringify(said[1]?.content)).toContain(JSON.stringify(first.text).slice(1, -1).trim());
      });

      it('[ROUTE-31] generates objects that fit the schema', async () => {
        const schema = jsonSchema<{ city: string }>({ ...weatherSchema } as object);
        const request = {
          ...ask('structured', 'What is the weather in Paris?'),
          output: Output.object({ schema }),
        };
        const { output } = await generateText(request);
        expect(createValidator(weatherSchema).check(output)).toBe(true);
        expect(await streamText(request).output).toEqual(output);
      });

      it('[ROUTE-31] [LIMIT-10] an aborted stream ends the call of the engine and gives its permit back', async () => {
        // The model lets one request run at a time: the second only starts when the first has let go.
        for (let round = 0; round < 2; round++) {
          const aborter = new AbortController();
          const result = streamText({
            ...ask('stalling', backend.cases.text.prompt),
            abortSignal: aborter.signal,
          });
          const types: string[] = [];
          for await (const part of result.stream) {
            types.push(part.type);
            if (part.type === 'text-delta') aborter.abort();
          }
          expect(types.at(-1)).toBe('abort');
          await expectAborted(backend, 'stalling');
        }
      });

      it('[ROUTE-31] [ERR-41] a stream that fails in the middle tells it, after what came before it', async () => {
        for (const name of ['breaking', 'cut'] as const) {
          const { prompt, text } = backend.cases[name];
          const failures: unknown[] = [];
          const result = streamText({
            ...ask(name, prompt),
            onError: ({ error }) => void failures.push(error),
          });
          let heard = '';
          for await (const part of result.stream) if (part.type === 'text-delta') heard += part.text;
          expect(heard).toBe(text);
          expect(failures).toHaveLength(1);
          expectNoAddress(JSON.stringify(failures[0]));
        }
      });

      it('[ROUTE-31] [ERR-40] raises the status and the message of a failure, streamed or not', async () => {
        const failures = [
          ['invalid', 400],
          ['failing', 502],
          ['busy', 503],
          ['late', 504],
        ] as const;
        // No version of the sandbox refuses a request by itself.
        const met = failures.filter(([name]) => name !== 'invalid' || backend.asked('invalid') !== undefined);
        const stream = async (request: Asked) => {
          const told: unknown[] = [];
          const result = streamText({ ...request, onError: ({ error }) => void told.push(error) });
          await result.consumeStream();
          throw told[0];
        };
        const meet = async (name: CaseName, status: number, send: (request: Asked) => Promise<unknown>) => {
          const error = await thrown<APICallError>(() => send(ask(name)));
          expect(APICallError.isInstance(error), `${name}: ${error}`).toBe(true);
          expect(error.statusCode).toBe(status);
          expect(error.isRetryable).toBe(status >= 500);
          expectNoAddress(error.message);
        };
        await Promise.all(
          met.flatMap(([name, status]) => [meet(name, status, generateText), meet(name, status, stream)]),
        );
      });

      it('[ROUTE-31] raises the status and the message of a client’s mistakes', async () => {
        const raised = async (work: () => Promise<unknown>) => thrown<APICallError>(work);
        const refused = await raised(() => generateText(ask('text', 'Hi', 'wrong')));
        expect([refused.statusCode, refused.message]).toEqual([401, 'Invalid API key']);
        expect((await raised(() => generateText(ask('nothing')))).statusCode).toBe(404);
        const wrong = await raised(() => generateText({ ...ask('text'), maxOutputTokens: 1, topP: 2 }));
        expect(wrong.statusCode).toBe(400);
        expect(wrong.message).toContain('top_p');
        if (backend.asked('text') === undefined && continues) {
          const data = Buffer.from(hugeImage(), 'base64');
          const content = [{ type: 'file' as const, data, mediaType: 'image/png' }];
          const large = await raised(() =>
            generateText({ model: model('sight'), messages: [{ role: 'user', content }], maxRetries: 0 }),
          );
          expect(large.statusCode).toBe(413);
        }
        if (continues) await generateText(ask('once'));
        const limited = await raised(() => generateText(ask('once')));
        expect([limited.statusCode, limited.isRetryable]).toEqual([429, true]);
        expect(Number(limited.responseHeaders?.['retry-after'])).toBeGreaterThanOrEqual(1);
      });
    });
  });
}

describe.each(providers)('the AI SDK with $name on a gateway with a fault of its own', ({ connect }) => {
  it('[ROUTE-31] [ERR-37] raises a 500 without a trace of it', () =>
    withFault(async (base, apiKey) => {
      const model = connect(base, apiKey)('sandbox-chat');
      const error = await thrown<APICallError>(() => generateText({ model, prompt: 'Hi', maxRetries: 0 }));
      expect(error.statusCode).toBe(500);
      expect(error.message).not.toContain('secret');
    }));
});
