/** Sends a request through an app without a socket and reads the whole answer. */
import type { OutgoingHttpHeaders } from 'node:http';
import inject from 'light-my-request';
import type { App, Origin } from '../../src/http/app.ts';

export interface TestRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  url: string;
  headers?: Record<string, string>;
  /** An object is sent as JSON, a string or Buffer as it is. */
  payload?: unknown;
  origin?: Origin;
}

export interface TestAnswer {
  status: number;
  headers: OutgoingHttpHeaders;
  body: string;
  bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers whose shape is what they check
  json(): any;
}

export async function send(app: App, request: TestRequest): Promise<TestAnswer> {
  const { method = 'GET', url, headers = {}, payload, origin = 'network' } = request;
  const isRaw = payload === undefined || typeof payload === 'string' || Buffer.isBuffer(payload);
  const answer = await inject((req, res) => app.handle(req as never, res as never, origin), {
    method,
    url,
    headers: isRaw ? headers : { 'content-type': 'application/json', ...headers },
    ...(payload === undefined ? {} : { payload: toPayload(payload) as string }),
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: answer.payload,
    bytes: answer.rawPayload,
    json: () => JSON.parse(answer.payload),
  };
}

/** A copy, since whoever reads a body may do with it what it wants. */
function toPayload(payload: unknown): string | Buffer {
  if (typeof payload === 'string') return payload;
  return Buffer.isBuffer(payload) ? Buffer.from(payload) : JSON.stringify(payload);
}
