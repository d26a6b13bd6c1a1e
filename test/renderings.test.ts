/**
 * One answer of an engine, rendered in three formats, streamed and whole: whatever parts it came in, all of them
 * carry the same text, reasoning, tool calls, usage and end. The streams are read twice: event by event, and by
 * the SDKs' own accumulators.
 */
import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream';
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import { describe, expect, it } from 'vitest';
import type { ChatResult, Finish, FinishReason, Usage } from '../src/engines/contract/chat.ts';
import { toJsonBytes } from '../src/engines/contract/json-bytes.ts';
import { GatewayError } from '../src/lib/errors.ts';
import type { BilledSink } from '../src/platform/inference/types.ts';
import { choiceOf, createChatShell } from './support/chat-shell.ts';
import { createMessagesShell, holdOrder, signatureOf } from './support/messages-shell.ts';
import { createResponsesShell, holdResponse, toResponseEvents } from './support/responses-shell.ts';

/** What an engine pushes: pieces, and where its socket had no more for a moment. */
type Part =
  | { readonly type: 'text' | 'reasoning'; readonly piece: string }
  | { readonly type: 'call'; readonly call: number; readonly piece: string; readonly isFirst: boolean }
  | { readonly type: 'flush' };

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

interface Answer {
  readonly parts: readonly Part[];
  readonly calls: readonly Call[];
  readonly finish: Finish;
  readonly usage: Usage;
}

/** What a client has in the end, whichever format it read. */
interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  readonly finish: string;
  readonly usage: Usage;
}

// What breaks renderers: quotes and escapes, controls, line ends of JavaScript and of event streams, halves of
// pairs, bytes that latin1 has as well.
const odd = fc.constantFrom(
  '',
  ' ',
  '"',
  '\\',
  '\\"',
  '\\u0041',
  '\n',
  '\n\ndata: {"type":"error"}\n\n',
  '\r\n',
  '\u0000',
  '\u001f',
  '\u007f',
  '\u0085',
  'é',
  'ÿ',
  '\u2028\u2029',
  '\ufeff',
  '\ufffd',
  '👩‍🍳',
  '\ud83d',
  '\ude00',
  '</script>',
  '[DONE]',
);
const words = fc.oneof(odd, fc.string({ unit: 'binary', maxLength: 12 }), fc.lorem({ maxCount: 3 }));
/** A text in two pieces, cut anywhere, in the middle of a pair as well. */
const cutText = fc
  .tuple(fc.array(words, { maxLength: 4 }), fc.nat(40))
  .map(([pieces, at]) => [pieces.join('').slice(0, at), pieces.join('').slice(at)]);

const input = fc.dictionary(words, fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' }), { maxKeys: 4 });
const call = fc.record({
  name: fc.constantFrom('get_weather', 'get_time', 'a-b_C9'),
  input,
  indent: fc.constantFrom(0, 1),
  cuts: fc.array(fc.nat(60), { maxLength: 4 }),
});

const step = fc.oneof(
  { weight: 4, arbitrary: cutText.map((pieces) => ({ type: 'text' as const, pieces })) },
  { weight: 2, arbitrary: cutText.map((pieces) => ({ type: 'reasoning' as const, pieces })) },
  { weight: 4, arbitrary: fc.nat(5).map((of) => ({ type: 'call' as const, of })) },
  { weight: 1, arbitrary: fc.constant({ type: 'flush' as const }) },
);

const usage = fc
  .tuple(fc.nat(1_000_000), fc.nat(1_000_000), fc.nat(1_000_000), fc.nat(1_000_000))
  .map(([promptTokens, completionTokens, cached, reasoning]) => ({
    promptTokens,
    completionTokens,
    cachedTokens: Math.min(promptTokens, cached),
    reasoningTokens: Math.min(completionTokens, reasoning),
  }));

const answers: fc.Arbitrary<Answer> = fc
  .record({
    steps: fc.array(step, { maxLength: 14 }),
    calls: fc.array(call, { maxLength: 4 }),
    reason: fc.constantFrom<FinishReason>('stop', 'length', 'content_filter'),
    usage,
  })
  .map(({ steps, calls, reason, usage: used }) => {
    const texts = calls.map((made) => JSON.stringify(made.input, null, made.indent));
    return {
      parts: toParts(
        steps,
        calls.map(({ cuts }, at) => cutAt(texts[at] ?? '', cuts)),
      ),
      calls: calls.map(({ name }, at) => ({
        id: `call_${String(at).padStart(24, 'a')}`,
        name,
        arguments: texts[at] ?? '',
      })),
      finish: {
        reason: calls.length > 0 && reason === 'stop' ? 'tool_calls' : reason,
        native: 'native',
      },
      usage: used,
    };
  });

function cutAt(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort(
    (a, b) => a - b,
  );
  // An empty piece first, as engines send the name before any argument.
  return ['', ...places.slice(1).map((end, at) => text.slice(places[at], end))];
}

/** Pieces of calls interleave as they like, but calls begin in their order; what is left comes at the end. */
function toParts(steps: readonly Step[], pieces: readonly string[][]): Part[] {
  const left = pieces.map((own) => [...own]);
  const begun = pieces.map(() => false);
  const parts: Part[] = [];
  const push = (at: number) => {
    const piece = left[at]?.shift();
    if (piece === undefined) return;
    parts.push({ type: 'call', call: at, piece, isFirst: begun[at] !== true });
    begun[at] = true;
  };
  for (const one of steps) {
    if (one.type === 'flush') parts.push(one);
    else if (one.type !== 'call') {
      for (const piece of one.pieces) parts.push({ type: one.type, piece });
    } else {
      const known = begun.filter(Boolean).length;
      if (pieces.length > 0) push(one.of % Math.min(pieces.length, known + 1));
    }
  }
  for (const at of pieces.keys()) while ((left[at]?.length ?? 0) > 0) push(at);
  return parts;
}

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Says it as an engine does. */
function push(sink: BilledSink, { parts, calls, finish, usage: used }: Answer, failure?: GatewayError): void {
  for (const part of parts) {
    if (part.type === 'flush') sink.flush();
    else if (part.type === 'call') {
      const { id, name } = part.isFirst ? calls[part.call]! : { id: undefined, name: undefined };
      sink.tool(0, part.call, id, name, toJsonBytes(part.piece));
    } else sink[part.type](0, toJsonBytes(part.piece));
  }
  sink.flush();
  if (failure !== undefined) {
    sink.fail(failure);
    return;
  }
  sink.finish(0, finish);
  sink.cost(1_000_000n);
  sink.usage(used);
  sink.end();
}

const joined = ({ parts }: Answer, type: 'text' | 'reasoning') =>
  parts.map((part) => (part.type === type ? part.piece : '')).join('');

function toResult(answer: Answer): ChatResult {
  const { calls, finish, usage: used } = answer;
  return {
    choices: [
      choiceOf({
        text: joined(answer, 'text'),
        reasoning: joined(answer, 'reasoning'),
        toolCalls: calls,
        finish: finish as never,
      }),
    ],
    usage: used,
  };
}

function toSaid(answer: Answer): Said {
  return {
    text: joined(answer, 'text'),
    reasoning: joined(answer, 'reasoning'),
    calls: answer.calls.map(({ id, name, arguments: args }) => ({ id, name, input: JSON.parse(args) })),
    finish: answer.finish.reason,
    usage: answer.usage,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read here whose shape the shells check
type Loose = any;

const toCall = (id: string, name: string, args: string) => ({ id, name, input: JSON.parse(args) as unknown });
const own = (id: string) => id.replace(/^toolu_/, 'call_');

function toEvents(body: string): Loose[] {
  const events: Loose[] = [];
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) });
  parser.feed(body);
  return events.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data));
}

/** As the SDKs' accumulators take it: one JSON text a line. */
function toReadable(events: readonly Loose[]): ReadableStream {
  return new Response(events.map((event) => JSON.stringify(event)).join('\n')).body as ReadableStream;
}

const chatUsage = (told: Loose): Usage => ({
  promptTokens: told.prompt_tokens,
  completionTokens: told.completion_tokens,
  cachedTokens: told.prompt_tokens_details.cached_tokens,
  reasoningTokens: told.completion_tokens_details.reasoning_tokens,
});

function readChat({ choices: [choice], usage: told }: Loose): Said {
  const { message, finish_reason: finish } = choice;
  return {
    text: message.content ?? '',
    reasoning: message.reasoning ?? '',
    calls: (message.tool_calls ?? []).map((made: Loose) =>
      toCall(made.id, made.function.name, made.function.arguments),
    ),
    finish,
    usage: chatUsage(told),
  };
}

function readChatStream(events: readonly Loose[]): Said {
  const said = { text: '', reasoning: '', finish: '' };
  const calls: { id: string; name: string; args: string }[] = [];
  for (const { choices } of events) {
    const [choice] = choices;
    said.text += choice?.delta.content ?? '';
    said.reasoning += choice?.delta.reasoning ?? '';
    said.finish = choice?.finish_reason ?? said.finish;
    for (const made of choice?.delta.tool_calls ?? []) {
      calls[made.index] ??= { id: made.id, name: made.function.name, args: '' };
      calls[made.index]!.args += made.function.arguments;
    }
  }
  return {
    ...said,
    calls: calls.map(({ id, name, args }) => toCall(id, name, args)),
    usage: chatUsage(events.at(-1).usage),
  };
}

const messageUsage = (told: Loose): Usage => ({
  promptTokens: told.input_tokens + told.cache_read_input_tokens,
  completionTokens: told.output_tokens,
  cachedTokens: told.cache_read_input_tokens,
  reasoningTokens: told.output_tokens_details.thinking_tokens,
});

const stopReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

function readMessage({ content, stop_reason: stop, usage: told }: Loose): Said {
  for (const block of content) {
    // A thought is worth nothing later when its signature is not of its own text.
    if (block.type === 'thinking') expect(block.signature).toBe(signatureOf(block.thinking));
  }
  const texts = (type: string, key: string) =>
    content.map((block: Loose) => (block.type === type ? block[key] : '')).join('');
  return {
    text: texts('text', 'text'),
    reasoning: texts('thinking', 'thinking'),
    calls: content.flatMap((block: Loose) =>
      block.type === 'tool_use' ? [{ id: own(block.id), name: block.name, input: block.input }] : [],
    ),
    finish: stopReasons[stop] ?? stop,
    usage: messageUsage(told),
  };
}

function readMessageStream(events: readonly Loose[]): Said {
  const blocks: Loose[] = [];
  let last: Loose;
  for (const event of events) {
    if (event.type === 'content_block_start') blocks[event.index] = { ...event.content_block, args: '' };
    else if (event.type === 'message_delta') last = event;
    else if (event.type === 'content_block_delta') {
      const { delta, index } = event;
      blocks[index].text += delta.text ?? '';
      blocks[index].thinking += delta.thinking ?? '';
      blocks[index].args += delta.partial_json ?? '';
      blocks[index].signature += delta.signature ?? '';
    }
  }
  for (const block of blocks) if (block.type === 'tool_use') block.input = JSON.parse(block.args);
  return readMessage({ content: blocks, stop_reason: last.delta.stop_reason, usage: last.usage });
}

function readResponse({ output, status, incomplete_details: incomplete, usage: told }: Loose): Said {
  const texts = (type: string) =>
    output
      .flatMap((item: Loose) => (item.type === type ? item.content : []))
      .map(({ text }: Loose) => text)
      .join('');
  const calls = output.filter(({ type }: Loose) => type === 'function_call');
  const reasons: Loose = { max_output_tokens: 'length', content_filter: 'content_filter' };
  return {
    text: texts('message'),
    reasoning: texts('reasoning'),
    calls: calls.map((item: Loose) => toCall(item.call_id, item.name, item.arguments)),
    finish: status === 'completed' ? (calls.length > 0 ? 'tool_calls' : 'stop') : reasons[incomplete.reason],
    usage: {
      promptTokens: told.input_tokens,
      completionTokens: told.output_tokens,
      cachedTokens: told.input_tokens_details.cached_tokens,
      reasoningTokens: told.output_tokens_details.reasoning_tokens,
    },
  };
}

/** From the pieces alone; the last event has the whole response once more. */
function readResponseStream(events: readonly Loose[]): Said {
  const items: Loose[] = [];
  for (const event of events) {
    const { output_index: at, delta } = event;
    if (event.type === 'response.output_item.added') items[at] = { ...event.item, text: '', arguments: '' };
    else if (event.type === 'response.function_call_arguments.delta') items[at].arguments += delta;
    else if (delta !== undefined) items[at].text += delta;
  }
  const { response } = events.at(-1);
  const output = items.map((item) => ({ ...item, content: [{ text: item.text }] }));
  return readResponse({ ...response, output });
}

describe('one answer in three formats', () => {
  let answer: Answer;
  let failure: GatewayError | undefined;
  const given = {
    stream: (sink: BilledSink) => push(sink, answer, failure),
    answer: () => toResult(answer),
  };
  const chat = createChatShell(given);
  const messages = createMessagesShell(given);
  const responses = createResponsesShell(given);
  const user = [{ role: 'user', content: 'Hi' }];
  const bodies = {
    chat: (fields: object) => chat.post({ messages: user, ...fields }),
    messages: (fields: object) => messages.post({ messages: user, ...fields }),
    responses: (fields: object) => responses.post({ input: 'Hi', ...fields }),
  };

  it('[CHAT-95] [STREAM-5] [STREAM-6] [STREAM-7] [MSG-65] [MSG-72] [RESP-32] carries the same, streamed or whole', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (generated) => {
        answer = generated;
        failure = undefined;
        const expected = toSaid(answer);
        expect(readChat((await bodies.chat({})).json()), 'chat, whole').toEqual(expected);
        expect(readMessage((await bodies.messages({})).json()), 'messages, whole').toEqual(expected);
        const whole = holdResponse((await bodies.responses({})).json());
        expect(readResponse(whole), 'responses, whole').toEqual(expected);

        const chunks = toEvents((await bodies.chat({ stream: true })).body);
        expect(readChatStream(chunks), 'chat, streamed').toEqual(expected);
        const blocks = toEvents((await bodies.messages({ stream: true })).body);
        holdOrder(blocks);
        expect(readMessageStream(blocks), 'messages, streamed').toEqual(expected);
        const { body } = await bodies.responses({ stream: true });
        const events = toEvents(body);
        expect(events).toEqual(toResponseEvents(body));
        expect(readResponseStream(events), 'responses, streamed').toEqual(expected);
        expect(readResponse(events.at(-1).response), 'responses, at the end of the stream').toEqual(expected);

        const message = await MessageStream.fromReadableStream(toReadable(blocks)).finalMessage();
        expect(readMessage(message), 'messages, accumulated').toEqual(expected);
        const response = await ResponseStream.fromReadableStream(toReadable(events)).finalResponse();
        expect(readResponse(response), 'responses, accumulated').toEqual(expected);
        const completion = await ChatCompletionStream.fromReadableStream(
          toReadable(chunks),
        ).finalChatCompletion();
        // The last piece of reasoning wins there: a limit of that client.
        expect(readChat({ ...completion, usage: chunks.at(-1).usage }), 'chat, accumulated').toEqual({
          ...expected,
          reasoning: expect.any(String),
        });
      }),
      { numRuns: 200 },
    );
  });

  it('[STREAM-22] [MSG-76] [RESP-42] tells what came before a failure, then the failure, in every format', async () => {
    const spoken = answers.filter(({ parts }) => joined({ parts } as Answer, 'text') !== '');
    await fc.assert(
      fc.asyncProperty(spoken, async (generated) => {
        answer = {
          ...generated,
          parts: generated.parts.filter(({ type }) => type !== 'call'),
        };
        failure = new GatewayError('unreachable', 'The engine stopped');
        const { text, reasoning } = toSaid({ ...answer, calls: [] });

        const chunks = toEvents((await bodies.chat({ stream: true })).body);
        expect(chunks.at(-1).error.message).toBe('The engine stopped');
        const deltas = chunks.map(({ choices: [choice] }) => choice.delta);
        expect(deltas.map((delta) => delta.content ?? '').join('')).toBe(text);
        expect(deltas.map((delta) => delta.reasoning ?? '').join('')).toBe(reasoning);

        const blocks = toEvents((await bodies.messages({ stream: true })).body);
        expect(blocks.at(-2).error.message).toBe('The engine stopped');
        const pieces = blocks.flatMap((event) => (event.type === 'content_block_delta' ? [event.delta] : []));
        expect(pieces.map((delta) => delta.text ?? '').join('')).toBe(text);
        expect(pieces.map((delta) => delta.thinking ?? '').join('')).toBe(reasoning);

        const events = toEvents((await bodies.responses({ stream: true })).body);
        expect(events.at(-2)).toMatchObject({ type: 'error', message: 'The engine stopped' });
        expect(events.at(-1).response.error.message).toBe('The engine stopped');
        const heard = (type: string) =>
          events.map((event) => (event.type === type ? event.delta : '')).join('');
        expect(heard('response.output_text.delta')).toBe(text);
        expect(heard('response.reasoning_text.delta')).toBe(reasoning);
      }),
      { numRuns: 100 },
    );
  });
});
