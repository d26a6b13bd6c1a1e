/** Sends a request through an app without a socket and reads the whole answer. */
import type { App, Origin } from '../../src/http/app.ts';
import { askInMemory } from '../../src/http/in-memory.ts';

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
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
  bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers whose shape is what they check
  json(): any;
}

export async function send(app: App, request: TestRequest): Promise<TestAnswer> {
  const { method = 'GET', url, headers = {}, payload, origin = 'network' } = request;
  const isRaw = payload === undefined || typeof payload === 'string' || Buffer.isBuffer(payload);
  const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const answer = await askInMemory(app, {
    method,
    target: url,
    headers: { ...(isRaw ? {} : { 'content-type': 'application/json' }), ...Object.fromEntries(sent) },
    body: payload === undefined ? undefined : toPayload(payload),
    origin,
  });
  const body = answer.bytes.toString('utf8');
  return { ...answer, body, json: () => JSON.parse(body) };
}

/** A copy, since whoever reads a body may do with it what it wants. */
function toPayload(payload: unknown): Buffer {
  if (Buffer.isBuffer(payload)) return Buffer.from(payload);
  return Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
}
