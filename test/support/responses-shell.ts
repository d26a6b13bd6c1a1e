/** The responses routes over sample models, an inference of the test's own and a store in memory. */
import { ResponseObject } from '../../src/api/responses/answer-schema.ts';
import { responsesRoutes } from '../../src/api/responses/index.ts';
import type { ChatRequest } from '../../src/engines/contract/chat.ts';
import { GatewayError } from '../../src/lib/errors.ts';
import { createValidator } from '../../src/lib/schema.ts';
import type { Platform } from '../../src/platform/index.ts';
import type { Operation } from '../../src/platform/inference/types.ts';
import type { Responses, StoredItem, StoredResponse } from '../../src/platform/responses/types.ts';
import { type ChatShellOptions, createChatParts } from './chat-shell.ts';
import type { TestAnswer } from './inject.ts';
import { createShell, type Shell } from './shell.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read what they check the shape of
export type Loose = any;

/** Keeps everything in memory. */
export function createMemoryResponses(): Responses & { readonly kept: Map<string, StoredResponse> } {
  const kept = new Map<string, StoredResponse>();
  const keptOf = (subscriptionId: string, id: string) => {
    const response = kept.get(id);
    return response?.subscriptionId === subscriptionId ? response : undefined;
  };
  const memory: Responses & { readonly kept: typeof kept } = {
    kept,
    async save(response) {
      kept.set(response.id, response);
    },
    async find(subscriptionId, id) {
      const response = keptOf(subscriptionId, id);
      return response && { ...response, json: toWhole(response) };
    },
    async history(subscriptionId, id) {
      const items: StoredItem[] = [];
      for (let at: string | undefined = id; at !== undefined; ) {
        const response: StoredResponse | undefined = keptOf(subscriptionId, at);
        if (response === undefined) return at === id ? 'unknown' : 'broken';
        items.unshift(...response.input, ...response.output);
        at = response.previousId;
      }
      return items;
    },
    async inputItems(subscriptionId, id, { limit, order, after }) {
      const response = keptOf(subscriptionId, id);
      if (response === undefined) return undefined;
      const { previousId, input } = response;
      const earlier = previousId === undefined ? [] : await memory.history(subscriptionId, previousId);
      const all = [...(typeof earlier === 'string' ? [] : earlier), ...input];
      if (order === 'desc') all.reverse();
      const start = after === undefined ? 0 : all.findIndex((item) => item.id === after) + 1;
      if (after !== undefined && start === 0)
        throw new GatewayError('invalid_request', 'after: there is no such item', { param: 'after' });
      return { items: all.slice(start, start + limit), hasMore: all.length > start + limit };
    },
    async items(subscriptionId, ids) {
      const own = [...kept.values()].filter((response) => response.subscriptionId === subscriptionId);
      const items = own.flatMap(({ input, output }) => [...input, ...output]);
      return new Map(items.filter(({ id }) => ids.includes(id)).map((item) => [item.id, item]));
    },
    remove: async (subscriptionId, id) => keptOf(subscriptionId, id) !== undefined && kept.delete(id),
    close: async () => {},
  };
  return memory;
}

/** The object as it is found. */
export function toWhole({ before, after, output }: StoredResponse): string {
  return before + output.map(({ json }) => json).join() + after;
}

export interface ResponsesShell extends Shell {
  /** Any body, as it is. */
  post(body: object): Promise<TestAnswer>;
  /** `input` stands beside the given fields; a 200 is held against its shape. */
  response(fields?: object): Promise<Loose>;
  /** The same; answers what reached inference. */
  request(fields?: object): Promise<ChatRequest>;
  /** The error of a 400. */
  refusal(fields: object): Promise<{ message: string; param: string }>;
  /** Streamed: the events, held against the order that is promised. */
  events(fields?: object): Promise<Loose[]>;
  get(path: string, key?: string | null): Promise<TestAnswer>;
  readonly responses: ReturnType<typeof createMemoryResponses>;
  readonly requests: ChatRequest[];
  readonly operations: Operation[];
  readonly counted: ChatRequest[];
}

export function createResponsesShell(
  options: ChatShellOptions & { platform?: Partial<Platform> } = {},
): ResponsesShell {
  const { platform, ...heard } = createChatParts(options);
  const responses = createMemoryResponses();
  const shell = createShell(responsesRoutes, { platform: { ...platform, responses, ...options.platform } });
  const post = (payload: object) => shell.send({ method: 'POST', url: '/v1/responses', payload });
  const response = async (fields: object = {}) => {
    const sent = await post({ input: 'Hi', ...fields });
    if (sent.status !== 200) throw new Error(sent.body);
    return holdResponse(sent.json());
  };
  return {
    ...shell,
    ...heard,
    responses,
    post,
    response,
    async request(fields = {}) {
      await response(fields);
      return heard.requests.at(-1)!;
    },
    async refusal(fields) {
      const sent = await post({ input: 'Hi', ...fields });
      if (sent.status !== 400) throw new Error(`${sent.status}: ${sent.body}`);
      const { message, param } = sent.json().error;
      return { message, param };
    },
    async events(fields = {}) {
      const sent = await post({ input: 'Hi', stream: true, ...fields });
      if (sent.status !== 200) throw new Error(sent.body);
      return toResponseEvents(sent.body);
    },
    get: (path, key) => shell.send({ url: `/v1/responses/${path}`, ...(key === undefined ? {} : { key }) }),
  };
}

const shape = createValidator(ResponseObject);

export function holdResponse(value: unknown): Loose {
  if (shape.check(value)) return value;
  const { path, message } = shape.problem(value);
  throw new Error(`not what the route declares: ${path} ${message} in ${JSON.stringify(value)}`);
}

/** The events of a stream: name and one line of data each, numbered from 0, in an order that SDKs can follow. */
export function toResponseEvents(body: string, first = 0): Loose[] {
  if (!body.endsWith('\n\n')) throw new Error(`the stream is cut: ${body.slice(-50)}`);
  const texts = body.slice(0, -2).split('\n\n');
  const events = texts
    .filter((text) => !text.startsWith(':'))
    .map((text, index) => {
      const [, name, data = ''] = /^event: ([\w.]+)\ndata: (\{[^\n]*\})$/.exec(text) ?? [];
      const event = JSON.parse(data);
      if (event.type !== name) throw new Error(`the event ${name} says that it is ${event.type}`);
      if (event.sequence_number !== first + index) throw new Error(`${text} is number ${first + index}`);
      holdKeys(event);
      return event;
    });
  if (first === 0) holdOrder(events);
  return events;
}

const part = ['item_id', 'output_index', 'content_index'];
const summary = ['item_id', 'output_index', 'summary_index'];
const call = ['item_id', 'output_index'];
/** Besides `type` and `sequence_number`. */
const keys: Readonly<Record<string, readonly string[]>> = {
  'response.created': ['response'],
  'response.in_progress': ['response'],
  'response.output_item.added': ['output_index', 'item'],
  'response.output_item.done': ['output_index', 'item'],
  'response.content_part.added': [...part, 'part'],
  'response.content_part.done': [...part, 'part'],
  'response.output_text.delta': [...part, 'delta', 'logprobs'],
  'response.output_text.done': [...part, 'text', 'logprobs'],
  'response.reasoning_text.delta': [...part, 'delta'],
  'response.reasoning_text.done': [...part, 'text'],
  'response.reasoning_summary_part.added': [...summary, 'part'],
  'response.reasoning_summary_part.done': [...summary, 'part'],
  'response.reasoning_summary_text.delta': [...summary, 'delta'],
  'response.reasoning_summary_text.done': [...summary, 'text'],
  'response.function_call_arguments.delta': [...call, 'delta'],
  'response.function_call_arguments.done': [...call, 'name', 'arguments'],
  'response.completed': ['response'],
  'response.incomplete': ['response'],
  'response.failed': ['response'],
  error: ['code', 'message', 'param'],
};

function holdKeys(event: Loose): void {
  const expected = ['type', 'sequence_number', ...(keys[event.type] ?? ['no such event'])];
  const found = Object.keys(event);
  if (found.toSorted().join() !== expected.toSorted().join())
    throw new Error(`${event.type} has ${found.join(', ')}`);
  if (event.response !== undefined) holdResponse(event.response);
}

/** What holds for every stream: SDKs that gather an answer die of anything else. */
function holdOrder(events: readonly Loose[]): void {
  const fail = (event: Loose, problem: string): never => {
    throw new Error(`${problem}: ${JSON.stringify(event)}`);
  };
  const [created, inProgress] = events;
  if (created?.type !== 'response.created') fail(created, 'not created first');
  if (inProgress?.type !== 'response.in_progress') fail(inProgress, 'not in progress next');
  const items: { item: Loose; isOpen: boolean; text: string; done?: Loose }[] = [];
  for (const event of events.slice(2)) {
    const { type, output_index: index } = event;
    if (event.response !== undefined && event.response.id !== created.response.id) fail(event, 'another id');
    if (type === 'response.output_item.added') {
      if (index !== items.length) fail(event, 'an index twice, or out of order');
      items.push({ item: event.item, isOpen: true, text: '' });
      continue;
    }
    if (index === undefined) continue;
    const known = items[index];
    if (known === undefined || !known.isOpen)
      throw fail(event, 'before its item was added, or after its end');
    if (type === 'response.output_item.done') {
      const { id, type: kind, call_id: callId } = event.item;
      if (id !== known.item.id || kind !== known.item.type || callId !== known.item.call_id)
        fail(event, 'not the item that was added');
      known.isOpen = false;
      known.done = event.item;
      continue;
    }
    if (event.item_id !== known.item.id) fail(event, 'another item');
    if (event.delta !== undefined) known.text += event.delta;
    const whole = event.text ?? event.arguments;
    if (whole !== undefined && whole !== known.text) fail(event, 'not what the deltas said');
  }
  const last = events.at(-1);
  if (last.type === 'response.failed') {
    if (events.at(-2).type !== 'error') fail(last, 'no error before it');
    return;
  }
  if (last.type !== 'response.completed' && last.type !== 'response.incomplete') fail(last, 'not an end');
  const done = JSON.stringify(items.map((known) => known.done));
  if (JSON.stringify(last.response.output) !== done) fail(last, `not the items that were done, ${done}`);
}

/** The types in words, repetitions joined: `created in_progress output_item.added …`. */
export function orderOf(events: readonly Loose[]): string {
  const words = events.map(({ type }) => String(type).replace('response.', ''));
  return words.filter((word, index) => word !== words[index - 1]).join(' ');
}
