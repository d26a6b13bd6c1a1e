/**
 * Requests with an `Idempotency-Key`: the first of a key is run, and its answer is kept and given again. Only
 * a whole success is kept; after anything else the key is free, so that a client may try once more.
 */

import assert from 'node:assert';
import { createHash } from 'node:crypto';
import { GatewayError } from '../lib/errors.ts';
import type { RequestHeaders } from '../lib/http1/server/request-head.ts';
import type { KeptAnswer, StoredAnswer } from '../platform/idempotency/types.ts';
import type { Platform } from '../platform/index.ts';
import type { Exchange } from './exchange.ts';
import { EventReply, json, Reply, StreamReply } from './reply.ts';
import type { Route } from './route.ts';

const maxKeyLength = 255;
const generationHeader = 'x-generation-id';

export function idempotencyKeyOf(headers: RequestHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (key === '' || key.length > maxKeyLength) {
    throw new GatewayError('invalid_request', `Idempotency-Key must have 1 to ${maxKeyLength} characters`, {
      param: 'Idempotency-Key',
    });
  }
  return key;
}

export async function answerOnce(
  exchange: Exchange,
  { route, platform, key }: { route: Route; platform: Platform; key: string },
): Promise<void> {
  assert(exchange.caller !== undefined, 'a route that keeps its answers needs a key');
  const { subscriptionId } = exchange.caller;
  const claim = await platform.idempotency.claim(subscriptionId, key, await fingerprintOf(exchange, route));
  if (claim.type === 'replay') {
    await replay(exchange, claim.answer);
    return;
  }
  let isSettled = false;
  // A client that lost its connection comes back for the answer: there is one only if the work goes on.
  exchange.concealLeaving();
  try {
    const result = await route.handle(exchange, platform);
    const answer = toWholeAnswer(result, exchange, route);
    if (answer !== undefined) {
      isSettled = true;
      // Before it is answered: who reads that it was refused may try again at once.
      if (answer.status >= 200 && answer.status <= 299) await claim.keep(answer);
      else await claim.release();
    }
    exchange.announceLeaving();
    // A stream is still being made while it is answered, so its key stays taken until then.
    await exchange.answer(result);
  } finally {
    if (!isSettled) await claim.release();
  }
}

async function replay(exchange: Exchange, { status, headers, bytes, open }: StoredAnswer): Promise<void> {
  const { [generationHeader]: generationId, ...own } = headers;
  if (generationId !== undefined) exchange.generationId = generationId;
  const length = { 'content-length': String(bytes), 'idempotent-replayed': 'true' };
  await exchange.answer(new Reply(await open(), { status, headers: { ...own, ...length } }));
}

/** Undefined where the answer is still being made while it is sent. */
function toWholeAnswer(result: unknown, exchange: Exchange, route: Route): KeptAnswer | undefined {
  if (result instanceof EventReply || result instanceof StreamReply) return undefined;
  const reply = result instanceof Reply ? result : result === undefined ? new Reply(undefined) : json(result);
  const { status = route.success, headers, body = '' } = reply;
  if (!(typeof body === 'string' || Buffer.isBuffer(body))) return undefined;
  return {
    status,
    headers: route.generation ? { ...headers, [generationHeader]: exchange.generationId } : headers,
    body: typeof body === 'string' ? Buffer.from(body) : body,
  };
}

/** The same for the same request, however its fields were ordered and its form was cut into parts. */
async function fingerprintOf(
  { params, query, body, uploads }: Exchange,
  { method, path }: Route,
): Promise<string> {
  const hash = createHash('sha256');
  hash.update(toCanonicalJson([method, path, params, query, body]));
  for (const { field, filename, content } of uploads) {
    hash.update(toCanonicalJson([field, filename, content.length]));
    for await (const piece of content.pieces()) hash.update(piece);
  }
  return hash.digest('hex');
}

function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    const names = Object.keys(inner).sort();
    // Pairs and not an object: names that are numbers would be put first again, and `__proto__` would be lost.
    return names.map((name) => [name, (inner as Record<string, unknown>)[name]]);
  });
}
