/** A chat sink that writes down what it hears, and chat requests to send. */
import type {
  ChatChoice,
  ChatPort,
  ChatRequest,
  ChatResult,
  ChatRun,
  ChatSink,
  Finish,
  TokenLogprob,
  Usage,
} from '../../src/engines/contract/chat.ts';
import { fromJsonBytes, type JsonBytes } from '../../src/engines/contract/json-bytes.ts';
import type { GatewayError } from '../../src/lib/errors.ts';

export type Heard =
  | { type: 'text'; choice: number; piece: string; logprobs: readonly TokenLogprob[] | undefined }
  | { type: 'reasoning'; choice: number; piece: string }
  | {
      type: 'tool';
      choice: number;
      index: number;
      id: string | undefined;
      name: string | undefined;
      piece: string;
    }
  | { type: 'finish'; choice: number; finish: Finish }
  | { type: 'usage'; usage: Usage }
  | { type: 'flush' }
  | { type: 'end' }
  | { type: 'fail'; error: GatewayError };

export interface RecordingSink extends ChatSink {
  readonly heard: readonly Heard[];
  /** The words for what was heard, flushes left out and repetitions joined: `text finish usage end`. */
  order(): string;
  /** Resolves at `end` or `fail`. */
  readonly over: Promise<void>;
  /** Resolves once so many parts (text, reasoning, tool) were heard. */
  parts(count: number): Promise<void>;
  readonly error: GatewayError | undefined;
  readonly usageHeard: Usage | undefined;
  /** What was heard so far as a whole answer. */
  choice(index?: number): ChatChoice;
}

const isPart = ({ type }: Heard) => type === 'text' || type === 'reasoning' || type === 'tool';

export function createRecordingSink(onHeard: (heard: Heard) => void = () => {}): RecordingSink {
  const heard: Heard[] = [];
  const over = Promise.withResolvers<void>();
  const waiting: { count: number; resolve: () => void }[] = [];
  let parts = 0;

  function hear(event: Heard): void {
    heard.push(event);
    if (isPart(event)) parts += 1;
    for (const waiter of waiting) if (parts >= waiter.count) waiter.resolve();
    onHeard(event);
    if (event.type === 'end' || event.type === 'fail') over.resolve();
  }

  return {
    heard,
    over: over.promise,
    order() {
      const words = heard.map(({ type }) => type).filter((type) => type !== 'flush');
      return words.filter((word, index) => word !== words[index - 1]).join(' ');
    },
    parts: (count) =>
      new Promise((resolve) => {
        waiting.push({ count, resolve });
        if (parts >= count) resolve();
      }),
    get error() {
      return heard.find((event) => event.type === 'fail')?.error;
    },
    get usageHeard() {
      return heard.find((event) => event.type === 'usage')?.usage;
    },
    choice: (index = 0) => toChoice(heard, index),
    text: (choice, piece, logprobs) => hear({ type: 'text', choice, piece: fromJsonBytes(piece), logprobs }),
    reasoning: (choice, piece) => hear({ type: 'reasoning', choice, piece: fromJsonBytes(piece) }),
    tool: (choice, index, id, name, args: JsonBytes) =>
      hear({ type: 'tool', choice, index, id, name, piece: fromJsonBytes(args) }),
    finish: (choice, finish) => hear({ type: 'finish', choice, finish }),
    usage: (usage) => hear({ type: 'usage', usage }),
    flush: () => hear({ type: 'flush' }),
    end: () => hear({ type: 'end' }),
    fail: (error) => hear({ type: 'fail', error }),
  };
}

function toChoice(heard: readonly Heard[], index: number): ChatChoice {
  const own = heard.filter((event) => 'choice' in event && event.choice === index);
  const joined = (type: 'text' | 'reasoning') =>
    own.map((event) => (event.type === type ? event.piece : '')).join('');
  const toolCalls: { id: string; name: string; arguments: string }[] = [];
  const logprobs: TokenLogprob[] = [];
  let finish: Finish | undefined;
  for (const event of own) {
    if (event.type === 'tool') {
      toolCalls[event.index] ??= { id: event.id ?? '', name: event.name ?? '', arguments: '' };
      toolCalls[event.index]!.arguments += event.piece;
    } else if (event.type === 'finish') finish = event.finish;
    else if (event.type === 'text') logprobs.push(...(event.logprobs ?? []));
  }
  return {
    text: joined('text'),
    reasoning: joined('reasoning'),
    toolCalls,
    logprobs: logprobs.length > 0 ? logprobs : undefined,
    finish: finish ?? { reason: 'stop', native: 'none heard' },
  };
}

export function chatRequest(text: string, fields: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: 'test-model',
    messages: [{ role: 'user', content: text }],
    continueFinal: false,
    n: 1,
    maxTokens: 32_768,
    affinity: 'test',
    ...fields,
  };
}

/** Streams to the end, or to the failure. */
export async function streamed(port: ChatPort, request: ChatRequest): Promise<RecordingSink> {
  const sink = createRecordingSink();
  port.stream(request, sink);
  await sink.over;
  return sink;
}

export function completed(port: ChatPort, request: ChatRequest): Promise<ChatResult> {
  return new Promise((resolve, reject) => {
    port.complete(request, (error, result) => {
      if (result === undefined) reject(error);
      else resolve(result);
    });
  });
}

/** What a port does for a while after it should have fallen silent: every timer and read of its own has run. */
export async function settled(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise<void>((resolve) => setImmediate(resolve));
}

export type { ChatRun };
