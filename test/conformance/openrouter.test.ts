/** The OpenRouter SDK on `/responses` over a socket, against every engine: it validates every answer it reads. */
import { OpenRouter } from '@openrouter/sdk';
import type { OpenResponsesResult, ResponsesRequest, StreamEvents } from '@openrouter/sdk/models';
import * as errors from '@openrouter/sdk/models/errors';
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

type Fields = Omit<ResponsesRequest, 'stream'>;
type Send = (fields: Fields) => Promise<OpenResponsesResult>;

const functions = tools.map(({ name, description, parameters }) => ({
  type: 'function' as const,
  name,
  description,
  parameters: { ...parameters },
  strict: true,
}));

interface Read {
  text: string;
  reasoning: string;
  calls: { id: string; callId: string; name: string; arguments: string }[];
}

/** The items of an output, whose type the SDK leaves to its reader. */
function read({ output }: OpenResponsesResult): Read {
  const found: Read = { text: '', reasoning: '', calls: [] };
  for (const item of output as unknown as Record<string, never>[]) {
    const { type, content, summary } = item as unknown as {
      type: string;
      content?: { text: string }[];
      summary?: { text: string }[];
    };
    const joined = [...(content ?? []), ...(summary ?? [])].map(({ text }) => text).join('');
    if (type === 'message') found.text += joined;
    else if (type === 'reasoning') found.reasoning += joined;
    else if (type === 'function_call') found.calls.push(item as never);
    else throw new Error(`an item that the SDK does not know: ${JSON.stringify(item)}`);
  }
  return found;
}

for (const kind of backends) {
  describe(`the OpenRouter SDK on ${kind.name}`, () => {
    let backend: Backend;
    let client: OpenRouter;
    /** By itself the SDK retries every 5xx for an hour. */
    const connect = (apiKey: string) =>
      new OpenRouter({ serverURL: backend.base, apiKey, retryConfig: { strategy: 'none' } });
    beforeAll(async () => {
      backend = await kind.open();
      client = connect(backend.key);
    });
    afterAll(() => backend.close());

    const say = (model: CaseName, input: string, fields: Partial<Fields> = {}): Fields => ({
      model,
      input,
      ...fields,
    });
    const create: Send = async (fields) =>
      (await client.responses.send({
        responsesRequest: { ...fields, stream: false },
      })) as OpenResponsesResult;
    async function listen(fields: Fields, onEvent: (event: StreamEvents) => void = () => {}) {
      const stream = await client.responses.send({ responsesRequest: { ...fields, stream: true } });
      const events: StreamEvents[] = [];
      for await (const event of stream as AsyncIterable<StreamEvents>) {
        events.push(event);
        onEvent(event);
      }
      return events;
    }
    /** The last event of a stream has the whole response; no event on the way was unknown to the SDK. */
    const accumulate: Send = async (fields) => {
      const events = await listen(fields);
      expect(events.filter((event) => 'isUnknown' in event)).toEqual([]);
      const last = events.at(-1);
      if (last?.type !== 'response.completed' && last?.type !== 'response.incomplete')
        throw new Error(`the stream ended with ${JSON.stringify(last)}`);
      return last.response;
    };
    const modes = [
      ['whole', create],
      ['streamed', accumulate],
    ] as const;

    it.each(modes)('[ROUTE-30] [RESP-19] [RESP-22] text is %s', async (_mode, send) => {
      const { prompt, text } = backend.cases.text;
      const result = await send(say('text', prompt));
      expect([read(result).text, result.status, result.model]).toEqual([text, 'completed', 'text']);
      expect(result.usage?.inputTokens).toBe(backend.cases.promptTokens);
      expect(result.usage?.cost).toBeGreaterThan(0);
    });

    it('[ROUTE-30] [RESP-37] every piece of text is an event that it knows', async () => {
      const { prompt, text } = backend.cases.text;
      const events = await listen(say('text', prompt));
      const pieces = events.flatMap((event) =>
        event.type === 'response.output_text.delta' ? [event.delta] : [],
      );
      expect(pieces.join('')).toBe(text);
      expect(events.map((event) => (event as { sequenceNumber?: number }).sequenceNumber)).toEqual(
        events.map((_, at) => at),
      );
    });

    it('[ROUTE-30] [RESP-2] takes no model for the default model, by its older name as well', async () => {
      const { prompt, text } = backend.cases.text;
      const result = await client.beta.responses.send({
        responsesRequest: { input: prompt, provider: { allowFallbacks: false }, stream: false },
      });
      expect(read(result as OpenResponsesResult).text).toBe(text);
    });

    it.each(modes)('[ROUTE-30] [RESP-27] an answer that reaches its limit, %s', async (_mode, send) => {
      const { prompt, text, maxTokens } = backend.cases.length;
      const result = await send(say('length', prompt, { maxOutputTokens: maxTokens }));
      expect([read(result).text, result.status, result.incompleteDetails?.reason]).toEqual([
        text,
        'incomplete',
        'max_output_tokens',
      ]);
    });

    it.each(modes)('[ROUTE-30] [RESP-4] a picture reaches the engine, %s', async (_mode, send) => {
      const result = await send({
        model: 'sight',
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_image', imageUrl: `data:image/png;base64,${png}`, detail: 'auto' },
              { type: 'input_text', text: 'What is this?' },
            ],
          },
        ],
      });
      expectSight(backend, read(result).text);
    });

    it.each(modes)(
      '[ROUTE-30] [RESP-24] [RESP-38] thoughts are an item of their own, %s',
      async (_, send) => {
        const { prompt, text, reasoning } = backend.cases.thinking;
        for (const summary of [undefined, 'auto'] as const) {
          const effort = { effort: 'low' as const, ...(summary === undefined ? {} : { summary }) };
          const result = read(await send(say('thinking', prompt, { reasoning: effort })));
          expect(result.text).toBe(text);
          expect(result.reasoning).toMatch(reasoning);
        }
      },
    );

    async function converse(model: 'loop' | 'thinking-loop', send: Send): Promise<LoopTurn[]> {
      const turns: LoopTurn[] = [];
      const input: unknown[] = [{ role: 'user', content: loopPrompt }];
      while (turns.length < longestLoop) {
        const result = await send({
          model,
          input: input as never,
          tools: functions,
          ...(model === 'thinking-loop' ? { reasoning: { effort: 'low' } } : {}),
          ...(turns.length === 1 ? { toolChoice: { type: 'function', name: secondTool } } : {}),
        });
        const { text, reasoning, calls } = read(result);
        turns.push({
          text,
          reasoning,
          calls: calls.map(({ callId, name, arguments: args }) => ({
            id: callId,
            name,
            input: JSON.parse(args) as unknown,
          })),
        });
        if (calls.length === 0) break;
        // Nothing is stored for this client: the whole conversation is sent again.
        const outputs = calls.map(({ callId, name, arguments: args }) => ({
          type: 'function_call_output',
          callId,
          output: resultOf(name, JSON.parse(args)),
        }));
        input.push(...result.output, ...outputs);
      }
      return turns;
    }

    it.each(modes)('[ROUTE-30] [RESP-5] [RESP-40] a tool loop of three turns, %s', async (_mode, send) => {
      expectLoop(backend, 'loop', await converse('loop', send));
    });

    it.each(modes)('[ROUTE-30] [RESP-7] a tool loop that thinks, %s', async (_mode, send) => {
      expectLoop(backend, 'thinking-loop', await converse('thinking-loop', send));
    });

    it.each(modes)('[ROUTE-30] [RESP-14] an answer fits its schema, %s', async (_mode, send) => {
      const format = { type: 'json_schema' as const, name: 'weather', schema: { ...weatherSchema } };
      const result = await send(say('structured', 'What is the weather in Paris?', { text: { format } }));
      expect(createValidator(weatherSchema).check(JSON.parse(read(result).text))).toBe(true);
    });

    it('[LIMIT-10] a stream that is left ends the call of the engine and gives its permit back', async () => {
      // The model lets one request run at a time: the second only starts when the first has let go.
      for (let round = 0; round < 2; round++) {
        const stream = await client.responses.send({
          responsesRequest: { ...say('stalling', backend.cases.text.prompt), stream: true },
        });
        for await (const event of stream as AsyncIterable<StreamEvents>) {
          if (event.type === 'response.output_text.delta') break;
        }
        await expectAborted(backend, 'stalling');
      }
    });

    it('[ROUTE-30] [RESP-42] [RESP-43] [RESP-44] a failure in the middle is told by events that it knows', async () => {
      for (const name of ['breaking', 'cut'] as const) {
        const { prompt, text } = backend.cases[name];
        const events = await listen(say(name, prompt));
        expect(events.filter((event) => 'isUnknown' in event)).toEqual([]);
        const pieces = events.flatMap((event) =>
          event.type === 'response.output_text.delta' ? [event.delta] : [],
        );
        expect(pieces.join('')).toBe(text);
        expect(events.at(-2)).toMatchObject({ type: 'error', code: 'server_error' });
        expect(events.at(-1)).toMatchObject({
          type: 'response.failed',
          response: { status: 'failed', error: { code: 'server_error' } },
        });
        expectNoAddress(JSON.stringify(events.slice(-2)));
      }
    });

    it('[ROUTE-30] [ERR-47] raises its typed class for each status, streamed or not', async () => {
      const cases = [
        ['invalid', errors.BadRequestResponseError, 400],
        ['failing', errors.BadGatewayResponseError, 502],
        ['html', errors.BadGatewayResponseError, 502],
        ['garbage', errors.BadGatewayResponseError, 502],
        ['busy', errors.ServiceUnavailableResponseError, 503],
        ['late', errors.OpenRouterDefaultError, 504],
      ] as const;
      // No version of the sandbox refuses a request by itself.
      const met = cases.filter(([name]) => name !== 'invalid' || backend.asked('invalid') !== undefined);
      const meet = async ([name, type, status]: (typeof cases)[number], send: Send) => {
        const error = await thrown(() => send(say(name, 'Hi')));
        expect(error, `${name} ${error}`).toBeInstanceOf(type);
        expect((error as { statusCode?: number }).statusCode).toBe(status);
        expectNoAddress(error.message);
      };
      await Promise.all(met.flatMap((failure) => [meet(failure, create), meet(failure, accumulate)]));
    });

    it('[ROUTE-30] [ERR-47] the mistakes of a client raise their classes', async () => {
      const raised = (fields: Partial<Fields>) => thrown(() => create(say('text', 'Hi', fields)));
      expect(await raised({ temperature: 3 })).toBeInstanceOf(errors.BadRequestResponseError);
      expect(await raised({ model: 'nothing' })).toBeInstanceOf(errors.NotFoundResponseError);
      expect(
        await thrown(() =>
          connect('wrong').responses.send({ responsesRequest: { ...say('text', 'Hi'), stream: false } }),
        ),
      ).toBeInstanceOf(errors.UnauthorizedResponseError);
      if (backend.asked('text') === undefined) {
        const imageUrl = `data:image/png;base64,${hugeImage()}`;
        const content = [{ type: 'input_image' as const, imageUrl, detail: 'auto' as const }];
        expect(await raised({ model: 'sight', input: [{ role: 'user', content }] })).toBeInstanceOf(
          errors.PayloadTooLargeResponseError,
        );
      }
      await create(say('once', 'Hi'));
      expect(await raised({ model: 'once' })).toBeInstanceOf(errors.TooManyRequestsResponseError);
    });
  });
}

describe('the OpenRouter SDK on a gateway with a fault of its own', () => {
  it('[ROUTE-30] [ERR-37] [ERR-47] raises a 500 without a trace of it', () =>
    withFault(async (serverURL, apiKey) => {
      const client = new OpenRouter({ serverURL, apiKey, retryConfig: { strategy: 'none' } });
      for (const stream of [false, true]) {
        const error = await thrown(() =>
          client.responses.send({ responsesRequest: { input: 'Hi', stream } }),
        );
        expect(error).toBeInstanceOf(errors.InternalServerResponseError);
        expect(error.message).not.toContain('secret');
      }
    }));
});
