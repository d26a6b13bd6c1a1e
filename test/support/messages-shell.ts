/** The messages routes over sample models and an inference of the test's own; every 200 is held against its shape. */
import { messagesRoutes } from '../../src/api/messages/index.ts';
import { Message, MessageEvent, TokenCount } from '../../src/api/messages/schema.ts';
import type { ChatRequest } from '../../src/engines/contract/chat.ts';
import { createValidator } from '../../src/lib/schema.ts';
import type { Platform } from '../../src/platform/index.ts';
import type { Operation } from '../../src/platform/inference/types.ts';
import type { Signatures } from '../../src/platform/signatures/types.ts';
import { type ChatShellOptions, createChatParts, hello } from './chat-shell.ts';
import type { TestAnswer } from './inject.ts';
import { createShell, type Shell } from './shell.ts';

/** Knows again what it has signed: the text stands in the signature. */
export const plainSignatures: Signatures = {
  sign: (purpose, text) => Buffer.from(`${purpose}:${text}`).toString('base64'),
  verify: (purpose, text, signature) => signature === Buffer.from(`${purpose}:${text}`).toString('base64'),
};

export const signatureOf = (thinking: string) => plainSignatures.sign('thinking', thinking);

// biome-ignore lint/suspicious/noExplicitAny: tests read events whose shape is what they check
export type AnyEvent = any;

export interface MessagesShell extends Shell {
  /** `model` and `max_tokens` stand beside what is given. */
  post(
    body: object,
    options?: { key?: string | null; headers?: Record<string, string>; search?: string },
  ): Promise<TestAnswer>;
  count(body: object): Promise<TestAnswer>;
  /** `post` with the usual user message beside the given fields; answers what reached inference. */
  request(fields?: object): Promise<ChatRequest>;
  /** The message of a `post` with the usual user message. */
  message(fields?: object): Promise<Message>;
  /** What a 400 says. */
  refusal(fields: object): Promise<string>;
  /** `post` with `stream: true`: the events in their order, held against the order that is promised. */
  events(fields?: object): Promise<AnyEvent[]>;
  readonly requests: ChatRequest[];
  readonly operations: Operation[];
  readonly counted: ChatRequest[];
}

export function createMessagesShell(
  options: ChatShellOptions & { platform?: Partial<Platform> } = {},
): MessagesShell {
  const { platform, ...heard } = createChatParts(options);
  const shell = createShell(messagesRoutes, {
    platform: { ...platform, signatures: plainSignatures, ...options.platform },
  });

  const post: MessagesShell['post'] = async (body, { key, headers = {}, search = '' } = {}) => {
    const sent = await shell.send({
      method: 'POST',
      url: `/v1/messages${search}`,
      headers,
      payload: { model: 'plain', max_tokens: 100, ...body },
      ...(key === undefined ? {} : { key }),
    });
    const isStream = String(sent.headers['content-type']).startsWith('text/event-stream');
    if (isStream) for (const event of toEvents(sent.body)) holdEvent(event);
    else if (sent.status === 200) hold(Message, sent.json());
    return sent;
  };
  return {
    ...shell,
    ...heard,
    post,
    async count(body) {
      const sent = await shell.send({
        method: 'POST',
        url: '/v1/messages/count_tokens',
        payload: { model: 'plain', messages: hello, ...body },
      });
      if (sent.status === 200) hold(TokenCount, sent.json());
      return sent;
    },
    async request(fields = {}) {
      const sent = await post({ messages: hello, ...fields });
      if (sent.status !== 200) throw new Error(sent.body);
      return heard.requests.at(-1)!;
    },
    async message(fields = {}) {
      const sent = await post({ messages: hello, ...fields });
      if (sent.status !== 200) throw new Error(sent.body);
      return sent.json() as Message;
    },
    async refusal(fields) {
      const sent = await post({ messages: hello, ...fields });
      if (sent.status !== 400) throw new Error(`${sent.status}: ${sent.body}`);
      return sent.json().error.message;
    },
    async events(fields = {}) {
      const sent = await post({ messages: hello, stream: true, ...fields });
      if (sent.status !== 200) throw new Error(sent.body);
      const events = toEvents(sent.body);
      holdOrder(events);
      return events;
    },
  };
}

const shapes = new Map([Message, TokenCount].map((schema) => [schema as object, createValidator(schema)]));
const eventShape = createValidator(MessageEvent);

function hold(schema: object, value: unknown): void {
  const shape = shapes.get(schema);
  if (shape === undefined || shape.check(value)) return;
  const { path, message } = shape.problem(value);
  throw new Error(
    `the answer is not what the route declares: ${path} ${message} in ${JSON.stringify(value)}`,
  );
}

function holdEvent(value: unknown): void {
  if (eventShape.check(value)) return;
  const { path, message } = eventShape.problem(value);
  throw new Error(`the event is not what the route declares: ${path} ${message} in ${JSON.stringify(value)}`);
}

/** The events of a stream. Each has exactly two lines, and its name is its type. */
export function toEvents(body: string): AnyEvent[] {
  if (!body.endsWith('\n\n')) throw new Error(`the stream is cut: ${body.slice(-50)}`);
  return body
    .slice(0, -2)
    .split('\n\n')
    .map((text) => {
      const [, name, data = ''] = /^event: (\w+)\ndata: (\{[^\n]*\})$/.exec(text) ?? [];
      if (name === undefined) throw new Error(`not an event with a name and one line of data: ${text}`);
      const event = JSON.parse(data);
      if (event.type !== name) throw new Error(`the event ${name} says that it is ${event.type}`);
      return event;
    });
}

/** Blocks one after the other, numbered from 0; nothing behind the end. Answers the order in words. */
export function holdOrder(events: readonly AnyEvent[]): string {
  const order = events.map(({ type }) => type).filter((type) => type !== 'ping');
  const isWhole =
    /^message_start( content_block_start( content_block_delta)* content_block_stop)* message_delta message_stop$/;
  const isFailed =
    /^message_start( content_block_start( content_block_delta)* content_block_stop)*( content_block_start( content_block_delta)*)? error message_stop$/;
  const words = order.join(' ');
  if (!isWhole.test(words) && !isFailed.test(words)) throw new Error(`the order is ${words}`);
  let open = -1;
  for (const event of events) {
    if (event.type === 'content_block_start') open += 1;
    if (event.index !== undefined && event.index !== open)
      throw new Error(`${event.type} speaks of block ${event.index}, but ${open} is open`);
  }
  return words;
}
