/**
 * An engine for tests: an HTTP server that speaks OpenAI's chat completions, answers exactly as it is told, and
 * tells what it was asked and when a client left.
 */
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One request as the engine saw it. */
export interface MockRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON body; undefined when there was none, or one of another type. */
  readonly body: Record<string, unknown> | undefined;
  /** The body as it came, for what is not JSON. */
  readonly bytes: Buffer;
  /** The client closed the connection before the answer was complete. */
  isAborted: boolean;
  /** Resolves when the client leaves early; stays pending otherwise. */
  readonly aborted: Promise<void>;
}

/** What a script answers with. Everything is written at once; pauses are the script's own awaits. */
export interface MockExchange {
  readonly request: MockRequest;
  json(status: number, body: unknown, headers?: Record<string, string>): void;
  text(status: number, body: string, headers?: Record<string, string>): void;
  /** Opens an event stream: the head goes out at once. */
  head(headers?: Record<string, string>): void;
  /** Writes to the stream, resolves when the socket took it. */
  write(bytes: string | Buffer): Promise<void>;
  /** One event of a chat stream. */
  event(data: unknown): Promise<void>;
  /** `[DONE]` and the end. */
  done(): void;
  /** Ends the response as it is. */
  end(): void;
  /** Breaks the connection. */
  reset(): void;
}

export type MockScript = (exchange: MockExchange) => void | Promise<void>;

export interface MockEngine {
  /** `http://127.0.0.1:<port>/v1` */
  readonly url: string;
  /** Chat requests, oldest first. */
  readonly requests: MockRequest[];
  /** Requests to any other route. */
  readonly others: MockRequest[];
  /** Resolves with the chat request of this number, once it has come. */
  request(number: number): Promise<MockRequest>;
  /** What chat requests are answered with from now on; without one: `answers.hello`. */
  respond(script: MockScript): void;
  /** What the next chat requests are answered with, one script each, before the lasting one. */
  respondOnce(...scripts: MockScript[]): void;
  /** What a route beside chat answers, such as `/health` or `/tokenize`. */
  route(path: string, script: MockScript): void;
  /** Open connections. */
  connections(): Promise<number>;
  /** Refuses connections from now on, at the same port, until `open`. */
  refuse(): Promise<void>;
  open(): Promise<void>;
  close(): Promise<void>;
}

export async function createMockEngine(): Promise<MockEngine> {
  const requests: MockRequest[] = [];
  const others: MockRequest[] = [];
  const routes = new Map<string, MockScript>();
  const next: MockScript[] = [];
  const waiting: { number: number; resolve: (request: MockRequest) => void }[] = [];
  const sockets = new Set<Socket>();
  let lasting: MockScript = answers.hello;
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;

  function listen(at: number): Promise<http.Server> {
    const created = http.createServer(onRequest);
    created.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    return new Promise((resolve) => created.listen(at, '127.0.0.1', () => resolve(created)));
  }

  async function onRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming, response);
    const isChat = request.path.endsWith('/chat/completions');
    (isChat ? requests : others).push(request);
    if (isChat) {
      for (const { number, resolve } of waiting) if (number < requests.length) resolve(requests[number]!);
    }
    const script = isChat ? (next.shift() ?? lasting) : (routes.get(request.path) ?? answers.notFound);
    try {
      await script(toExchange(request, response));
    } catch {
      // The client left while the script was writing.
      response.destroy();
    }
  }

  async function stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    others,
    request(number) {
      const there = requests[number];
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => waiting.push({ number, resolve }));
    },
    respond(script) {
      lasting = script;
    },
    respondOnce(...scripts) {
      next.push(...scripts);
    },
    route(path, script) {
      routes.set(path, script);
    },
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
      ),
    refuse: stop,
    async open() {
      server = await listen(port);
    },
    close: stop,
  };
}

async function readRequest(incoming: IncomingMessage, response: ServerResponse): Promise<MockRequest> {
  let leave = () => {};
  const aborted = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const isForm = incoming.headers['content-type']?.startsWith('multipart/') === true;
  const text = isForm ? '' : bytes.toString('utf8');
  const request: MockRequest = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>),
    bytes,
    isAborted: false,
    aborted,
  };
  response.on('close', () => {
    if (response.writableFinished) return;
    request.isAborted = true;
    leave();
  });
  return request;
}

function toExchange(request: MockRequest, response: ServerResponse): MockExchange {
  const whole = (status: number, type: string, body: string, headers: Record<string, string> = {}) => {
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(body);
  };
  const head = (headers: Record<string, string> = {}) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    response.flushHeaders();
  };
  const write = (bytes: string | Buffer) =>
    new Promise<void>((resolve, reject) => {
      if (!response.headersSent) head();
      response.write(bytes, (error) => (error == null ? resolve() : reject(error)));
    });
  return {
    request,
    json: (status, body, headers) => whole(status, 'application/json', JSON.stringify(body), headers),
    text: (status, body, headers) => whole(status, 'text/plain', body, headers),
    head,
    write,
    event: (data) => write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`),
    done() {
      response.end('data: [DONE]\n\n');
    },
    end() {
      response.end();
    },
    reset() {
      // A reset, not an orderly end, so that clients see the connection break.
      response.socket?.resetAndDestroy();
    },
  };
}

const base = { id: 'chatcmpl-mock', created: 1_760_000_000, model: 'mock' };
const mockUsage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };

/** A chunk of one choice, as vLLM writes it. */
export function chunk(delta: object, finishReason: string | null = null, index = 0): object {
  const choice = { index, delta, logprobs: null, finish_reason: finishReason };
  return { ...base, object: 'chat.completion.chunk', choices: [choice] };
}

/** The last chunk, which has the usage and no choice. */
export function usageChunk(usage: object = mockUsage): object {
  return { ...base, object: 'chat.completion.chunk', choices: [], usage };
}

export function completion(message: object, finishReason = 'stop', usage: object = mockUsage): object {
  const choice = {
    index: 0,
    message: { role: 'assistant', ...message },
    logprobs: null,
    finish_reason: finishReason,
  };
  return { ...base, object: 'chat.completion', choices: [choice], usage };
}

/** Ready-made scripts: the good answer, and everything that goes wrong with engines. */
export const answers = {
  /** Whole or streamed, as it was asked. */
  hello: saying('Hello', ' world'),
  notFound: ({ json }: MockExchange) => json(404, { error: { message: 'Not Found', code: 404 } }),
  resetBeforeHeaders: ({ reset }: MockExchange) => reset(),
  html500: ({ text }: MockExchange) =>
    text(500, '<html><body>Internal Server Error at 10.0.0.5</body></html>', { 'content-type': 'text/html' }),
  stallAtOnce: ({ request }: MockExchange) => request.aborted,
  stallAfterHeaders({ head, request }: MockExchange) {
    head();
    return request.aborted;
  },
  async stallMidStream({ event, request }: MockExchange) {
    await event(chunk({ role: 'assistant', content: '' }));
    await event(chunk({ content: 'Hello' }));
    await request.aborted;
  },
  async errorInStream({ event, done }: MockExchange) {
    await event(chunk({ content: 'Hello' }));
    await event({
      error: { message: 'CUDA error on gpu-3.internal:8000', type: 'InternalServerError', code: 500 },
    });
    done();
  },
  async endWithoutFinish({ event, end }: MockExchange) {
    await event(chunk({ content: 'Hello' }));
    end();
  },
  async resetMidStream({ event, reset }: MockExchange) {
    await event(chunk({ content: 'Hello' }));
    reset();
  },
  async garbageInStream({ event, done }: MockExchange) {
    await event(chunk({ content: 'Hello' }));
    await event('{"choices":[{');
    done();
  },
  garbage: ({ text }: MockExchange) => text(200, '{"choices":[{', { 'content-type': 'application/json' }),
  /** Whatever was asked, one line of this many bytes. */
  longLine:
    (bytes: number): MockScript =>
    async ({ event, done }) => {
      await event(chunk({ content: 'x'.repeat(bytes) }));
      await event(chunk({}, 'stop'));
      done();
    },
  busy:
    (status: 429 | 503, retryAfter?: string): MockScript =>
    ({ json }) =>
      json(
        status,
        { error: { message: 'Too many requests', code: status } },
        retryAfter === undefined ? {} : { 'retry-after': retryAfter },
      ),
  invalid:
    (message = 'max_tokens is too large'): MockScript =>
    ({ json }) =>
      json(400, { error: { message, type: 'BadRequestError', param: null, code: 400 } }),
} as const;

/** Answers with these pieces of text, whole or streamed, as it was asked. */
export function saying(...pieces: string[]): MockScript {
  const usage = { ...mockUsage, completion_tokens: pieces.length, total_tokens: 7 + pieces.length };
  return async ({ request, json, event, done }) => {
    if (request.body?.['stream'] !== true) {
      json(200, completion({ content: pieces.join('') }, 'stop', usage));
      return;
    }
    await event(chunk({ role: 'assistant', content: '' }));
    for (const content of pieces) await event(chunk({ content }));
    await event(chunk({}, 'stop'));
    await event(usageChunk(usage));
    done();
  };
}
