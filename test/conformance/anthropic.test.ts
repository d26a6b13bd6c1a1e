/** The Anthropic SDK, current and 0.137, on `/messages` over a socket, against every engine. */
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import Anthropic0137 from 'anthropic-sdk-0137';
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
  tools,
  type weatherParameters,
} from './tool-loop.ts';

type Message = Anthropic.Message;
type Params = Anthropic.MessageCreateParamsNonStreaming;
type ApiError = InstanceType<typeof Anthropic.APIError>;

type Send = (params: Params) => PromiseLike<Message>;

interface Connection {
  base: string;
  key: string;
}

/**
 * The newer one sends the key as a Bearer token, the older one as `x-api-key`, each with its API version. Both
 * put `/v1` behind the base address, so it may be given with it and without.
 */
const versions = [
  {
    name: '1.8.0',
    connect: ({ base, key }: Connection, defaultHeaders: Record<string, string> = {}) =>
      new Anthropic({ baseURL: base, apiKey: key, maxRetries: 0, defaultHeaders }),
  },
  {
    name: '0.137',
    connect: ({ base, key }: Connection, defaultHeaders: Record<string, string> = {}) =>
      // The older types differ in fields that are not used here; the calls are the same.
      new Anthropic0137({
        baseURL: base.slice(0, -'/v1'.length),
        apiKey: key,
        authToken: null,
        maxRetries: 0,
        defaultHeaders,
      }) as unknown as Anthropic,
  },
];

const maxTokens = 4096;
const enabled = { type: 'enabled', budget_tokens: 1024 } as const;
const messageTools = tools.map(({ name, description, parameters }) => ({
  name,
  description,
  input_schema: parameters as unknown as Anthropic.Tool.InputSchema,
}));

const textOf = ({ content }: Message) =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');
const thinkingOf = ({ content }: Message) => content.filter((block) => block.type === 'thinking');
const promptOf = ({ usage }: Message) => usage.input_tokens + (usage.cache_read_input_tokens ?? 0);

for (const kind of backends) {
  describe(`the Anthropic SDK on ${kind.name}`, () => {
    let backend: Backend;
    beforeAll(async () => {
      backend = await kind.open();
    });
    afterAll(() => backend.close());

    describe.each(versions)('version $name', ({ name: version, connect }) => {
      const client = () => connect(backend);
      const say = (model: CaseName, content: string, fields: Partial<Params> = {}): Params => ({
        model,
        max_tokens: maxTokens,
        messages: [{ role: 'user', content }],
        ...fields,
      });
      const create: Send = (params) => client().messages.create(params);
      const accumulate: Send = (params) => client().messages.stream(params).finalMessage();
      const modes = [
        ['whole', create],
        ['accumulated from a stream', accumulate],
      ] as const;

      it.each(modes)('[ROUTE-29] [MSG-1] [MSG-52] [MSG-55] text is %s', async (_mode, send) => {
        const { prompt, text } = backend.cases.text;
        const message = await send(say('text', prompt));
        expect(message).toMatchObject({
          id: expect.stringMatching(/^msg_[0-9a-f]{24}$/),
          type: 'message',
          role: 'assistant',
          model: 'text',
          content: [{ type: 'text', text }],
          stop_reason: 'end_turn',
          stop_sequence: null,
        });
        expect(promptOf(message)).toBe(backend.cases.promptTokens);
        expect(message.usage.output_tokens).toBeGreaterThan(4);
      });

      it('[ROUTE-29] [MSG-65] [MSG-67] a stream tells every piece as it comes, and the prompt at its start', async () => {
        const { prompt, text } = backend.cases.text;
        const pieces: string[] = [];
        const types: string[] = [];
        let startUsage: Anthropic.Usage | undefined;
        const stream = client()
          .messages.stream(say('text', prompt))
          .on('text', (piece) => pieces.push(piece))
          .on('streamEvent', (event) => {
            types.push(event.type);
            if (event.type === 'message_start') startUsage ??= { ...event.message.usage };
          });
        expect(await stream.finalText()).toBe(text);
        expect(pieces.join('')).toBe(text);
        expect(pieces.length).toBeGreaterThan(4);
        expect([types[0], types.at(-2), types.at(-1)]).toEqual([
          'message_start',
          'message_delta',
          'message_stop',
        ]);
        expect(startUsage?.output_tokens).toBe(0);
        expect((startUsage?.input_tokens ?? 0) + (startUsage?.cache_read_input_tokens ?? 0)).toBe(
          backend.cases.promptTokens,
        );
      });

      it('[ROUTE-27] [LIMIT-15] an unknown API version gets the same answer, with the state of the limits', async () => {
        const { prompt, text } = backend.cases.text;
        const stranger = connect(backend, { 'anthropic-version': '2099-12-31' });
        const { data, response } = await stranger.messages.create(say('text', prompt)).withResponse();
        expect(textOf(data)).toBe(text);
        expect(Number(response.headers.get('anthropic-ratelimit-requests-limit'))).toBe(100_000);
        expect(Date.parse(response.headers.get('anthropic-ratelimit-requests-reset') ?? '')).not.toBeNaN();
      });

      it('[ROUTE-29] [MSG-64] a raw stream can be read without the helper', async () => {
        const { prompt, text } = backend.cases.text;
        let heard = '';
        for await (const event of await client().messages.create({ ...say('text', prompt), stream: true })) {
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
            heard += event.delta.text;
        }
        expect(heard).toBe(text);
      });

      it.each(modes)('[ROUTE-29] [MSG-57] an answer that reaches its limit, %s', async (_mode, send) => {
        const { prompt, text, maxTokens: limit } = backend.cases.length;
        const message = await send(say('length', prompt, { max_tokens: limit }));
        expect([textOf(message), message.stop_reason]).toEqual([text, 'max_tokens']);
      });

      it.each(modes)('[ROUTE-29] [MSG-56] an answer that meets a stop sequence, %s', async (_mode, send) => {
        const { prompt, text, sequences, found } = backend.cases.stop;
        const message = await send(say('stop', prompt, { stop_sequences: [...sequences] }));
        expect(textOf(message)).toBe(text);
        // llama.cpp does not say which sequence it was, nor whether it was one.
        expect([message.stop_reason, message.stop_sequence]).toEqual(
          found === undefined ? ['end_turn', null] : ['stop_sequence', found],
        );
      });

      it.each(modes)('[ROUTE-29] [MSG-9] a beginning is continued, %s', async (_mode, send) => {
        const { prompt, beginning } = backend.cases.prefill;
        const message = await send(
          say('prefill', '', {
            messages: [
              { role: 'user', content: prompt },
              { role: 'assistant', content: beginning },
            ],
          }),
        );
        expectContinuation(backend, textOf(message));
      });

      it.each(modes)('[ROUTE-29] [MSG-15] a picture reaches the engine, %s', async (_mode, send) => {
        const message = await send(
          say('sight', '', {
            messages: [
              {
                role: 'user',
                content: [
                  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
                  { type: 'text', text: 'What is this?' },
                ],
              },
            ],
          }),
        );
        expectSight(backend, textOf(message));
      });

      it.each(modes)(
        '[ROUTE-29] [MSG-37] [MSG-69] thoughts have a block of their own, %s',
        async (_, send) => {
          const { prompt, text, reasoning } = backend.cases.thinking;
          const message = await send(say('thinking', prompt, { thinking: enabled }));
          expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
          expect(textOf(message)).toBe(text);
          const [block] = thinkingOf(message);
          expect(block?.thinking).toMatch(reasoning);
          expect(block?.signature).not.toBe('');
          const hidden = await send(
            say('thinking', prompt, { thinking: { ...enabled, display: 'omitted' } as never }),
          );
          expect(thinkingOf(hidden)).toEqual([
            { type: 'thinking', thinking: '', signature: expect.stringMatching(/./) as unknown },
          ]);
        },
      );

      async function converse(model: 'loop' | 'thinking-loop', send: Send): Promise<LoopTurn[]> {
        const messages: Anthropic.MessageParam[] = [{ role: 'user', content: loopPrompt }];
        const turns: LoopTurn[] = [];
        while (turns.length < longestLoop) {
          const message = await send({
            model,
            max_tokens: maxTokens,
            messages,
            tools: messageTools,
            ...(model === 'thinking-loop' ? { thinking: enabled } : {}),
            ...(turns.length === 1 ? { tool_choice: { type: 'tool', name: secondTool } } : {}),
          });
          const calls = message.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
          const reasoning = thinkingOf(message)
            .map(({ thinking }) => thinking)
            .join('');
          turns.push({ text: textOf(message), reasoning, calls });
          expect(message.stop_reason).toBe(calls.length > 0 ? 'tool_use' : 'end_turn');
          for (const { id } of calls) expect(id).toMatch(/^toolu_/);
          if (calls.length === 0) break;
          messages.push(
            { role: 'assistant', content: message.content as Anthropic.ContentBlockParam[] },
            {
              role: 'user',
              content: calls.map(({ id, name, input }) => ({
                type: 'tool_result' as const,
                tool_use_id: id,
                content: resultOf(name, input),
              })),
            },
          );
        }
        return turns;
      }

      it.each(modes)(
        '[ROUTE-29] [MSG-47] [MSG-49] [MSG-50] [MSG-59] a tool loop of three turns, %s',
        async (_mode, send) => {
          expectLoop(backend, 'loop', await converse('loop', send));
        },
      );

      it.each(modes)(
        '[ROUTE-29] [MSG-37] [MSG-61] a tool loop that thinks, its thoughts sent back with their signatures, %s',
        async (_mode, send) => {
          expectLoop(backend, 'thinking-loop', await converse('thinking-loop', send));
        },
      );

      it('[ROUTE-29] [MSG-16] a tool may answer with a picture, or fail', async () => {
        const call = { type: 'tool_use' as const, id: 'toolu_0123456789', name: 'get_weather', input: {} };
        const source = { type: 'base64' as const, media_type: 'image/png' as const, data: png };
        const result = {
          type: 'tool_result' as const,
          tool_use_id: call.id,
          is_error: true,
          content: [
            { type: 'text' as const, text: 'The camera is dirty' },
            { type: 'image' as const, source },
          ],
        };
        const messages: Anthropic.MessageParam[] = [
          { role: 'user', content: 'Look out of the window' },
          { role: 'assistant', content: [call] },
          { role: 'user', content: [result] },
        ];
        const message = await create(say('sight', '', { messages, tools: messageTools }));
        expect(message.stop_reason).toBe('end_turn');
        const asked = backend.asked('sight')?.at(-1)?.body;
        if (asked === undefined) expect(textOf(message)).toContain('The camera is dirty');
        else expect(JSON.stringify(asked)).toMatch(new RegExp(`camera is dirty.*${RegExp.escape(png)}`));
      });

      it('[ROUTE-29] [MSG-61] thoughts that come back changed are no failure', async () => {
        const { prompt, text } = backend.cases.text;
        const answer = await create(
          say('text', '', {
            messages: [
              { role: 'user', content: 'Hi' },
              {
                role: 'assistant',
                content: [
                  { type: 'thinking', thinking: 'Somebody else thought this', signature: 'AAAA' },
                  { type: 'redacted_thinking', data: 'AAAA' },
                  { type: 'text', text: 'Hello' },
                ],
              },
              { role: 'user', content: prompt },
            ],
          }),
        );
        expect(textOf(answer)).toBe(text);
        expect(JSON.stringify(backend.asked('text')?.at(-1)?.body ?? {})).not.toContain('Somebody else');
      });

      it('[ROUTE-29] [MSG-63] the beta tool runner runs the loop by itself, whole and streamed', async () => {
        const asked: string[] = [];
        const runnable = tools.map(({ name, description, parameters }) =>
          betaTool({
            name,
            description,
            inputSchema: parameters as unknown as typeof weatherParameters,
            run: (input) => {
              asked.push(name);
              return resultOf(name, input);
            },
          }),
        );
        const request = {
          model: 'loop',
          max_tokens: maxTokens,
          messages: [{ role: 'user' as const, content: loopPrompt }],
          tools: runnable,
          max_iterations: longestLoop,
        };
        const whole = await client().beta.messages.toolRunner(request).runUntilDone();
        expect(whole.stop_reason).toBe('end_turn');
        const wholeCalls = asked.splice(0);
        expect(wholeCalls.length).toBeGreaterThan(1);
        const runner = client().beta.messages.toolRunner({ ...request, stream: true });
        const finals: Anthropic.Beta.BetaMessage[] = [];
        for await (const stream of runner) finals.push(await stream.finalMessage());
        expect(asked).toEqual(wholeCalls);
        expect(finals.at(-1)?.content).toEqual(whole.content);
      });

      if (version === '1.8.0') {
        it('[ROUTE-29] a thread of the newer SDK sends everything again, since nothing is kept', async () => {
          const { prompt, text } = backend.cases.text;
          const thread = client().beta.messages.thread({ model: 'text', max_tokens: maxTokens });
          await thread.send({ role: 'user', content: 'Remember the word heron' });
          const { content } = await thread.send({ role: 'user', content: prompt });
          expect(content).toMatchObject([{ type: 'text', text }]);
          const asked = backend.asked('text')?.at(-1)?.body?.['messages'];
          if (asked !== undefined) expect(JSON.stringify(asked)).toContain('heron');
        });
      }

      it('[ROUTE-29] [MSG-27] parses an answer that fits a schema', async () => {
        const format = jsonSchemaOutputFormat(weatherSchema as never);
        const params = say('structured', 'What is the weather in Paris?', { output_config: { format } });
        const { parsed_output: parsed } = await client().messages.parse(params as never);
        expect(createValidator(weatherSchema).check(parsed)).toBe(true);
        const streamed = await client()
          .messages.stream(params as never)
          .finalMessage();
        expect(streamed.parsed_output).toEqual(parsed);
      });

      it('[ROUTE-29] [MSG-78] [MSG-79] counts the tokens that an answer reports', async () => {
        const { prompt } = backend.cases.text;
        const { messages } = say('text', prompt);
        const { input_tokens } = await client().messages.countTokens({ model: 'text', messages });
        expect(input_tokens).toBe(promptOf(await create(say('text', prompt))));
      });

      it('[ROUTE-29] [MSG-3] takes the prefixed name of a model', async () => {
        const { prompt, text } = backend.cases.text;
        const message = await create({ ...say('text', prompt), model: 'anthropic/text' });
        expect(textOf(message)).toBe(text);
      });

      it('[ROUTE-29] many at once keep apart', async () => {
        const asked = Array.from({ length: 24 }, (_, at) => 3 + at);
        const heard = await Promise.all(
          asked.map((to) => (to % 2 === 0 ? create : accumulate)(say('text', `Count to ${to}`))),
        );
        expect(new Set(heard.map(({ id }) => id)).size).toBe(24);
        for (const [at, message] of heard.entries()) {
          const counted = `${Array.from({ length: asked[at] ?? 0 }, (_, one) => one + 1).join(', ')}.`;
          const text = backend.asked('text') === undefined ? counted : backend.cases.text.text;
          expect(textOf(message)).toBe(text);
        }
      });

      it('[LIMIT-10] an aborted stream ends the call of the engine and gives its permit back', async () => {
        const { prompt } = backend.cases.text;
        // The model lets one request run at a time: the second only starts when the first has let go.
        for (let round = 0; round < 2; round++) {
          const stream = client().messages.stream(say('stalling', prompt));
          const ended = thrown(() => stream.done());
          await new Promise<void>((resolve) => stream.once('text', () => resolve()));
          stream.abort();
          expect((await ended).constructor.name).toBe('APIUserAbortError');
          await expectAborted(backend, 'stalling');
        }
        for await (const event of await client().messages.create({
          ...say('stalling', prompt),
          stream: true,
        })) {
          if (event.type === 'content_block_delta') break;
        }
        await expectAborted(backend, 'stalling');
      });

      it('[LIMIT-10] an aborted call ends the call of the engine and gives its permit back', async () => {
        for (let round = 0; round < 2; round++) {
          const aborter = new AbortController();
          const arrival = backend.arrival();
          const { prompt } = backend.cases.text;
          const ended = thrown(() =>
            client().messages.create(say('stalling', prompt), { signal: aborter.signal }),
          );
          await arrival;
          aborter.abort();
          expect((await ended).constructor.name).toBe('APIUserAbortError');
          if (arrival !== undefined) await expectAborted(backend, 'stalling');
        }
      });

      it('[MSG-76] [MSG-77] [ERR-41] a failure in the middle is raised, after what came before it', async () => {
        for (const name of ['breaking', 'cut'] as const) {
          const { prompt, text } = backend.cases[name];
          let heard = '';
          const stream = client()
            .messages.stream(say(name, prompt))
            .on('text', (piece) => {
              heard += piece;
            });
          const error = await thrown<ApiError>(() => stream.finalMessage());
          expect(error.constructor.name).toBe('APIError');
          expect(error).toMatchObject({
            error: {
              type: 'error',
              error: { type: 'api_error' },
              request_id: expect.stringMatching(/^req_/) as unknown,
            },
          });
          expectNoAddress(error.message);
          expect(heard).toBe(text);
        }
      });

      it('[ERR-40] [ERR-46] a failure before the first token raises the class of its status, streamed or not', async () => {
        const failures = [
          ['invalid', 400, 'BadRequestError', 'invalid_request_error'],
          ['failing', 502, 'InternalServerError', 'api_error'],
          ['busy', 503, 'ServiceUnavailableError', 'api_error'],
          ['late', 504, 'GatewayTimeoutError', 'api_error'],
        ] as const;
        // No version of the sandbox refuses a request by itself.
        const met = failures.filter(([name]) => name !== 'invalid' || backend.asked('invalid') !== undefined);
        const meet = async ([name, status, type, word]: (typeof failures)[number], send: Send) => {
          const error = await thrown<ApiError>(() => send(say(name, 'Hi')));
          expect([error.status, error.constructor.name], name).toEqual([status, classOf(error, type)]);
          expect(error.error).toMatchObject({ type: 'error', error: { type: word } });
          expect(error.requestID).toMatch(/^req_[0-9a-f]{24}$/);
          expectNoAddress(error.message);
          if (name === 'busy') expect(error.headers?.get('retry-after')).toBe('7');
        };
        await Promise.all(met.flatMap((failure) => [meet(failure, create), meet(failure, accumulate)]));
        for (const name of ['html', 'garbage'] as const) {
          const error = await thrown<ApiError>(() => create(say(name, 'Hi')));
          expect(error.status, name).toBe(502);
          expectNoAddress(error.message);
        }
      });
    });

    it('[ERR-27] [ERR-28] [ERR-29] [ERR-30] [ERR-31] [ERR-46] the mistakes of a client raise their classes', async () => {
      const hi = [{ role: 'user' as const, content: 'Hi' }];
      const image = {
        type: 'image' as const,
        source: { type: 'base64' as const, media_type: 'image/png' as const, data: hugeImage() },
      };
      for (const { connect, name } of versions) {
        const client = connect(backend);
        const refused = async (
          work: () => PromiseLike<unknown>,
          status: number,
          type: string,
          word: string,
        ) => {
          const error = await thrown<ApiError>(work);
          expect([error.status, error.constructor.name], word).toEqual([status, classOf(error, type)]);
          expect(error.error).toMatchObject({
            type: 'error',
            error: { type: word, message: expect.stringMatching(/./) as unknown },
            request_id: error.requestID,
          });
          return error;
        };
        const ask = (fields: Partial<Params>) => () =>
          client.messages.create({ model: 'text', max_tokens: 5, messages: hi, ...fields });
        const { error } = await refused(
          ask({ max_tokens: -1 }),
          400,
          'BadRequestError',
          'invalid_request_error',
        );
        expect(JSON.stringify(error)).toContain('max_tokens');
        const stranger = connect({ ...backend, key: 'wrong' });
        await refused(
          () => stranger.messages.create({ model: 'text', max_tokens: 5, messages: hi }),
          401,
          'AuthenticationError',
          'authentication_error',
        );
        await refused(ask({ model: 'nothing' }), 404, 'NotFoundError', 'not_found_error');
        await refused(() => client.get('/v1/messages'), 405, 'APIError', 'invalid_request_error');
        if (backend.asked('text') === undefined && name === '1.8.0') {
          await refused(
            ask({ model: 'sight', messages: [{ role: 'user', content: [image] }] }),
            413,
            'ContentTooLargeError',
            'request_too_large',
          );
        }
        if (name === '1.8.0') await ask({ model: 'once' })();
        const limited = await refused(ask({ model: 'once' }), 429, 'RateLimitError', 'rate_limit_error');
        expect(Number(limited.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(Number(limited.headers?.get('retry-after'))).toBeLessThan(60);
      }
    });
  });
}

/** Version 0.137 has fewer classes: what is from 500 up is one, what it does not know is the base. */
function classOf(error: ApiError, type: string): string {
  const isNew: boolean = (error as Error) instanceof Anthropic.APIError;
  if (isNew) return type;
  if ((error.status ?? 0) >= 500) return 'InternalServerError';
  return type === 'ContentTooLargeError' ? 'APIError' : type;
}

describe('the Anthropic SDK on a gateway with a fault of its own', () => {
  it('[ERR-32] [ERR-37] raises a 500 without a trace of it', () =>
    withFault(async (base, key) => {
      for (const { connect } of versions) {
        const client = connect({ base, key });
        const messages = [{ role: 'user' as const, content: 'Hi' }];
        const params = { model: 'sandbox-chat', max_tokens: 5, messages };
        for (const send of [
          () => client.messages.create(params),
          () => client.messages.stream(params).finalMessage(),
        ]) {
          const error = await thrown<ApiError>(send);
          expect([error.status, error.constructor.name]).toEqual([500, 'InternalServerError']);
          expect(error.error).toMatchObject({ error: { type: 'api_error' } });
          expect(error.message).not.toContain('secret');
        }
      }
    }));
});
