/** The OpenAI SDK on `/responses` over a socket, against every engine. */
import OpenAI from 'openai';
import { ResponsesToolRunner } from 'openai/helpers/responses-tool-runner';
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseFunctionToolCall,
  ResponseInputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createValidator } from '../../src/lib/schema.ts';
import { weatherSchema } from '../support/chat-gateway.ts';
import { type Backend, backends, type CaseName } from './backends.ts';
import { expectAborted, expectNoAddress, expectSight, hugeImage, png, thrown, withFault } from './cases.ts';
import {
  expectLoop,
  type LoopTurn,
  longestLoop,
  loopPrompt,
  resultOf,
  secondTool,
  tools,
} from './tool-loop.ts';

type Params = Omit<ResponseCreateParamsNonStreaming, 'stream'>;
type ApiError = InstanceType<typeof OpenAI.APIError>;
type Send = (params: Params) => PromiseLike<Response>;

const functions = tools.map(({ name, description, parameters }) => ({
  type: 'function' as const,
  name,
  description,
  parameters: { ...parameters },
  strict: true,
}));

const callsOf = ({ output }: Response) =>
  output.filter((item): item is ResponseFunctionToolCall => item.type === 'function_call');
const thoughtsOf = ({ output }: Response) =>
  output
    .flatMap((item) => (item.type === 'reasoning' ? [...(item.content ?? []), ...item.summary] : []))
    .map(({ text }) => text)
    .join('');
const toTurn = (response: Response): LoopTurn => ({
  text: response.output_text,
  reasoning: thoughtsOf(response),
  calls: callsOf(response).map(({ call_id, name, arguments: args }) => ({
    id: call_id,
    name,
    input: JSON.parse(args) as unknown,
  })),
});
const toResults = (response: Response): ResponseInputItem[] =>
  callsOf(response).map(({ call_id, name, arguments: args }) => ({
    type: 'function_call_output',
    call_id,
    output: resultOf(name, JSON.parse(args)),
  }));

for (const kind of backends) {
  describe(`the OpenAI SDK on ${kind.name}`, () => {
    let backend: Backend;
    let client: OpenAI;
    const connect = (apiKey: string) => new OpenAI({ baseURL: backend.base, apiKey, maxRetries: 0 });
    beforeAll(async () => {
      backend = await kind.open();
      client = connect(backend.key);
    });
    afterAll(() => backend.close());

    const say = (model: CaseName, input: string, fields: Partial<Params> = {}): Params => ({
      model,
      input,
      ...fields,
    });
    const create: Send = (params) => client.responses.create(params);
    const accumulate: Send = (params) => client.responses.stream(params).finalResponse();
    const modes = [
      ['whole', create],
      ['accumulated from a stream', accumulate],
    ] as const;

    it.each(modes)('[ROUTE-28] [RESP-1] [RESP-22] [RESP-23] [RESP-26] text is %s', async (_mode, send) => {
      const { prompt, text } = backend.cases.text;
      const response = await send(say('text', prompt));
      expect(response).toMatchObject({
        id: expect.stringMatching(/^resp_/),
        object: 'response',
        status: 'completed',
        model: 'text',
        error: null,
        incomplete_details: null,
        output: [{ type: 'message', role: 'assistant', status: 'completed' }],
      });
      expect(response.output_text).toBe(text);
      expect(response.usage?.input_tokens).toBe(backend.cases.promptTokens);
      expect(response.usage?.total_tokens).toBe(
        backend.cases.promptTokens + (response.usage?.output_tokens ?? 0),
      );
    });

    it('[ROUTE-28] [RESP-29] [RESP-30] [RESP-41] a raw stream has its events numbered, from created to completed', async () => {
      const { prompt, text } = backend.cases.text;
      const events: ResponseStreamEvent[] = [];
      for await (const event of await client.responses.create({ ...say('text', prompt), stream: true }))
        events.push(event);
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
      expect([events[0]?.type, events[1]?.type, events.at(-1)?.type]).toEqual([
        'response.created',
        'response.in_progress',
        'response.completed',
      ]);
      const pieces = events.flatMap((event) =>
        event.type === 'response.output_text.delta' ? [event.delta] : [],
      );
      expect(pieces.join('')).toBe(text);
      expect(pieces.length).toBeGreaterThan(4);
    });

    it.each(modes)('[ROUTE-28] [RESP-10] [RESP-27] an answer that reaches its limit, %s', async (_, send) => {
      const { prompt, text, maxTokens } = backend.cases.length;
      const response = await send(say('length', prompt, { max_output_tokens: maxTokens }));
      expect(response).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      });
      expect(response.output_text).toBe(text);
    });

    it.each(modes)('[ROUTE-28] [RESP-4] a picture reaches the engine, %s', async (_mode, send) => {
      const response = await send({
        model: 'sight',
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
              { type: 'input_text', text: 'What is this?' },
            ],
          },
        ],
      });
      expectSight(backend, response.output_text);
    });

    it.each(modes)('[ROUTE-28] [RESP-24] thoughts are an item of their own, %s', async (_mode, send) => {
      const { prompt, text, reasoning } = backend.cases.thinking;
      const response = await send(say('thinking', prompt, { reasoning: { effort: 'low' } }));
      expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
      expect(response.output_text).toBe(text);
      expect(thoughtsOf(response)).toMatch(reasoning);
      expect(response.output[0]).toMatchObject({ summary: [], content: [{ type: 'reasoning_text' }] });
      const summarised = await send(
        say('thinking', prompt, { reasoning: { effort: 'low', summary: 'auto' } }),
      );
      expect(summarised.output[0]).toMatchObject({ summary: [{ type: 'summary_text' }] });
      expect(thoughtsOf(summarised)).toMatch(reasoning);
    });

    const conversations = modes.flatMap(([mode, send]) =>
      (['by previous_response_id', 'by its items'] as const).map((by) => [mode, by, send] as const),
    );

    async function converse(
      model: 'loop' | 'thinking-loop',
      by: 'by previous_response_id' | 'by its items',
      send: Send,
    ): Promise<LoopTurn[]> {
      const turns: LoopTurn[] = [];
      let input: ResponseInputItem[] = [{ role: 'user', content: loopPrompt }];
      let previous: string | undefined;
      while (turns.length < longestLoop) {
        const response = await send({
          model,
          input,
          tools: functions,
          ...(model === 'thinking-loop' ? { reasoning: { effort: 'low' } } : {}),
          ...(turns.length === 1 ? { tool_choice: { type: 'function', name: secondTool } } : {}),
          ...(previous === undefined ? {} : { previous_response_id: previous }),
        });
        turns.push(toTurn(response));
        for (const item of callsOf(response)) {
          expect(item.id).toMatch(/^fc_/);
          expect(item.call_id).toMatch(/^call_/);
        }
        if (callsOf(response).length === 0) break;
        if (by === 'by previous_response_id') {
          previous = response.id;
          input = toResults(response);
        } else input = [...input, ...(response.output as ResponseInputItem[]), ...toResults(response)];
      }
      return turns;
    }

    it.each(conversations)(
      '[ROUTE-28] [RESP-5] [RESP-12] [RESP-13] [RESP-25] [RESP-50] a tool loop of three turns, %s, %s',
      async (_mode, by, send) => {
        expectLoop(backend, 'loop', await converse('loop', by, send));
      },
    );

    it.each(conversations)(
      '[ROUTE-28] [RESP-7] [RESP-50] a tool loop that thinks, %s, %s',
      async (_mode, by, send) => {
        expectLoop(backend, 'thinking-loop', await converse('thinking-loop', by, send));
      },
    );

    it('[ROUTE-28] [RESP-33] [RESP-35] its tool runner runs the loop by itself, whole and streamed', async () => {
      const asked: string[] = [];
      const runner = new ResponsesToolRunner({
        functions: functions.map((tool) => ({
          tool,
          execute(input) {
            asked.push(tool.name);
            return resultOf(tool.name, input);
          },
        })),
      });
      const params = say('loop', loopPrompt);
      const whole = await runner.run(client, params, { maxSteps: longestLoop });
      expect(whole.status).toBe('completed');
      const wholeCalls = asked.splice(0);
      expect(wholeCalls.length).toBeGreaterThan(1);
      const streamed = await runner.run(client, params, { maxSteps: longestLoop, stream: true });
      expect(asked).toEqual(wholeCalls);
      expect(streamed.output_text).toBe(whole.output_text);
    });

    it('[ROUTE-28] [RESP-14] [RESP-16] parses an answer that fits a schema, and the arguments of a call', async () => {
      const text = {
        format: { type: 'json_schema' as const, name: 'weather', schema: { ...weatherSchema }, strict: true },
      };
      const params = say('structured', 'What is the weather in Paris?', { text });
      const { output_parsed: parsed } = await client.responses.parse(params);
      expect(createValidator(weatherSchema).check(parsed)).toBe(true);
      const streamed = await client.responses.stream(params).finalResponse();
      expect(streamed.output_parsed).toEqual(parsed);
      const called = await client.responses.parse(say('loop', loopPrompt, { tools: functions }));
      const inputs = called.output.flatMap((item) =>
        item.type === 'function_call' ? [(item as { parsed_arguments?: unknown }).parsed_arguments] : [],
      );
      expect(inputs).toEqual(backend.cases.calls.map(({ input }) => input));
    });

    it('[ROUTE-28] [RESP-46] [RESP-53] [RESP-54] gets a response back, its input, and deletes it', async () => {
      const { prompt, text } = backend.cases.text;
      for (const send of [create, accumulate]) {
        const { id, output, usage } = await send(say('text', prompt, { metadata: { turn: 'first' } }));
        const stored = await client.responses.retrieve(id);
        expect(stored).toMatchObject({ id, status: 'completed', metadata: { turn: 'first' }, usage });
        expect(stored.output_text).toBe(text);
        expect(stored.output.map((item) => item.id)).toEqual(output.map((item) => item.id));
        const items = [];
        for await (const item of client.responses.inputItems.list(id)) items.push(item);
        expect(items).toMatchObject([
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] },
        ]);
        await client.responses.delete(id);
        const gone = await thrown<ApiError>(() => client.responses.retrieve(id));
        expect([gone.constructor.name, gone.status]).toEqual(['NotFoundError', 404]);
      }
    });

    it('[ROUTE-28] [RESP-48] nothing is kept of a response that shall not be stored', async () => {
      const { id } = await create(say('text', backend.cases.text.prompt, { store: false }));
      expect((await thrown<ApiError>(() => client.responses.retrieve(id))).status).toBe(404);
    });

    it('[ROUTE-28] [RESP-47] a stored response is streamed again by its id', async () => {
      const first = await create(say('thinking', 'Hi', { reasoning: { effort: 'low' } }));
      const again = await client.responses.stream({ response_id: first.id }).finalResponse();
      expect(again.output_text).toBe(first.output_text);
      expect(again.output.map(({ id, type }) => [id, type])).toEqual(
        first.output.map(({ id, type }) => [id, type]),
      );
      const calls = await create(say('loop', loopPrompt, { tools: functions }));
      const replayed = await client.responses.stream({ response_id: calls.id }).finalResponse();
      expect(toTurn(replayed)).toEqual(toTurn(calls));
      const { prompt, maxTokens } = backend.cases.length;
      const cut = await accumulate(say('length', prompt, { max_output_tokens: maxTokens }));
      const cutAgain = await client.responses.stream({ response_id: cut.id }).finalResponse();
      expect([cutAgain.status, cutAgain.output_text]).toEqual(['incomplete', cut.output_text]);
      const seen: number[] = [];
      const tail = client.responses.stream({ response_id: first.id, starting_after: 3 });
      for await (const { sequence_number } of tail) seen.push(sequence_number);
      expect(seen[0]).toBe(4);
    });

    it('[ROUTE-28] [RESP-50] [RESP-9] the next turn has the earlier one before it, and no earlier instructions', async () => {
      const { prompt, text } = backend.cases.text;
      const first = await create(say('text', 'Remember the word heron', { instructions: 'Be brief' }));
      const second = await accumulate(
        say('text', prompt, { previous_response_id: first.id, instructions: 'Be long' }),
      );
      expect(second.output_text).toBe(text);
      expect(second.previous_response_id).toBe(first.id);
      const asked = backend.asked('text')?.at(-1)?.body?.['messages'];
      if (asked === undefined) return;
      const messages = asked as { role: string; content: unknown }[];
      expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
      expect(messages[0]?.content).toBe('Be long');
      expect(JSON.stringify(messages[1])).toContain('heron');
      expect(messages[2]?.content).toBe(first.output_text);
    });

    it('[ROUTE-28] many at once keep apart', async () => {
      const asked = Array.from({ length: 24 }, (_, at) => 3 + at);
      const heard = await Promise.all(
        asked.map((to) => (to % 2 === 0 ? create : accumulate)(say('text', `Count to ${to}`))),
      );
      expect(new Set(heard.flatMap(({ id, output }) => [id, ...output.map((item) => item.id)])).size).toBe(
        48,
      );
      for (const [at, response] of heard.entries()) {
        const counted = `${Array.from({ length: asked[at] ?? 0 }, (_, one) => one + 1).join(', ')}.`;
        const text = backend.asked('text') === undefined ? counted : backend.cases.text.text;
        expect(response.output_text).toBe(text);
      }
    });

    it('[LIMIT-10] an aborted stream ends the call of the engine and gives its permit back', async () => {
      const { prompt } = backend.cases.text;
      // The model lets one request run at a time: the second only starts when the first has let go.
      for (let round = 0; round < 2; round++) {
        const stream = client.responses.stream(say('stalling', prompt));
        const ended = thrown(() => stream.done());
        await new Promise<void>((resolve) => stream.once('response.output_text.delta', () => resolve()));
        stream.abort();
        expect((await ended).constructor.name).toBe('APIUserAbortError');
        await expectAborted(backend, 'stalling');
      }
      for await (const event of await client.responses.create({ ...say('stalling', prompt), stream: true })) {
        if (event.type === 'response.output_text.delta') break;
      }
      await expectAborted(backend, 'stalling');
    });

    it('[LIMIT-10] an aborted call ends the call of the engine and gives its permit back', async () => {
      for (let round = 0; round < 2; round++) {
        const aborter = new AbortController();
        const arrival = backend.arrival();
        const { prompt } = backend.cases.text;
        const ended = thrown(() =>
          client.responses.create(say('stalling', prompt), { signal: aborter.signal }),
        );
        await arrival;
        aborter.abort();
        expect((await ended).constructor.name).toBe('APIUserAbortError');
        if (arrival !== undefined) await expectAborted(backend, 'stalling');
      }
    });

    it('[RESP-42] [RESP-43] [ERR-41] a failure in the middle is raised, after what came before it', async () => {
      for (const name of ['breaking', 'cut'] as const) {
        const { prompt, text } = backend.cases[name];
        let heard = '';
        const stream = client.responses
          .stream(say(name, prompt))
          .on('response.output_text.delta', (event) => {
            heard += event.delta;
          });
        const error = await thrown<ApiError>(() => stream.finalResponse());
        expect(error).toBeInstanceOf(OpenAI.APIError);
        expect(error.code).toBe('server_error');
        expectNoAddress(error.message);
        expect(heard).toBe(text);
        const raw = await thrown<ApiError>(async () => {
          for await (const _ of await client.responses.create({ ...say(name, prompt), stream: true }));
        });
        expect([raw.constructor.name, raw.code]).toEqual(['APIError', 'server_error']);
      }
    });

    it('[RESP-28] [ERR-40] [ERR-45] a failure before the first token raises the class of its status, streamed or not', async () => {
      const failures = [
        ['invalid', 400, 'BadRequestError'],
        ['failing', 502, 'InternalServerError'],
        ['busy', 503, 'InternalServerError'],
        ['late', 504, 'InternalServerError'],
        ['html', 502, 'InternalServerError'],
        ['garbage', 502, 'InternalServerError'],
      ] as const;
      // No version of the sandbox refuses a request by itself.
      const met = failures.filter(([name]) => name !== 'invalid' || backend.asked('invalid') !== undefined);
      const meet = async ([name, status, type]: (typeof failures)[number], send: Send) => {
        const error = await thrown<ApiError>(() => send(say(name, 'Hi')));
        expect([error.status, error.constructor.name], name).toEqual([status, type]);
        expect(error.requestID).toMatch(/^req_[0-9a-f]{24}$/);
        expectNoAddress(error.message);
        if (name === 'busy') expect(error.headers?.get('retry-after')).toBe('7');
      };
      await Promise.all(met.flatMap((failure) => [meet(failure, create), meet(failure, accumulate)]));
    });

    it('[RESP-18] [RESP-51] [ERR-45] the mistakes of a client raise their classes', async () => {
      const refused = async (work: () => PromiseLike<unknown>, status: number, type: string) => {
        const error = await thrown<ApiError>(work);
        expect([error.status, error.constructor.name], error.message).toEqual([status, type]);
        expect(error.requestID).toMatch(/^req_[0-9a-f]{24}$/);
        return error;
      };
      const ask = (fields: Partial<Params>) => () => create(say('text', 'Hi', fields));
      const named = [
        ['temperature', { temperature: 3 }],
        ['background', { background: true }],
        ['previous_response_id', { previous_response_id: 'resp_0123456789abcdef01234567' }],
        ['input', { input: [{ type: 'item_reference' as const, id: 'msg_0123456789abcdef01234567' }] }],
        ['tools', { tools: [{ type: 'web_search' as const }] }],
      ] as const;
      for (const [field, fields] of named) {
        const { message, param } = await refused(ask(fields as Partial<Params>), 400, 'BadRequestError');
        expect(`${message} ${param}`).toContain(field);
      }
      await refused(() => connect('wrong').responses.create(say('text', 'Hi')), 401, 'AuthenticationError');
      await refused(ask({ model: 'nothing' }), 404, 'NotFoundError');
      await refused(() => client.get('/responses'), 405, 'APIError');
      if (backend.asked('text') === undefined) {
        const image_url = `data:image/png;base64,${hugeImage()}`;
        const content = [{ type: 'input_image' as const, image_url, detail: 'auto' as const }];
        await refused(ask({ model: 'sight', input: [{ role: 'user', content }] }), 413, 'APIError');
      }
      await ask({ model: 'once' })();
      const limited = await refused(ask({ model: 'once' }), 429, 'RateLimitError');
      expect(Number(limited.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(Number(limited.headers?.get('retry-after'))).toBeLessThan(60);
    });
  });
}

describe('the OpenAI SDK on a gateway with a fault of its own', () => {
  it('[ERR-37] [ERR-45] raises a 500 without a trace of it', () =>
    withFault(async (baseURL, apiKey) => {
      const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
      const params = { model: 'sandbox-chat', input: 'Hi' };
      for (const send of [
        () => client.responses.create(params),
        () => client.responses.stream(params).finalResponse(),
      ]) {
        const error = await thrown<ApiError>(send);
        expect([error.status, error.constructor.name]).toEqual([500, 'InternalServerError']);
        expect(error.message).not.toContain('secret');
      }
    }));
});
