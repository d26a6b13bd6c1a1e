/** Writes an event stream: one write per event, at the pace of the reader, with a sign of life in silence. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { toGatewayError } from './errors.ts';
import type { EventReply, ServerEvent } from './reply.ts';

const keepAliveMs = 15_000;

export const eventStreamHeaders = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache',
  // nginx would otherwise hold the stream back until its buffer is full.
  'x-accel-buffering',
  'no',
];

function toWire({ event, data }: ServerEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

/**
 * Sends the stream. `begin` sends the head and is called only when the first event is there: what fails
 * before it is thrown and gets its real status. What fails later is told inside the stream and handed back,
 * for the log.
 */
export async function sendEvents(
  response: ServerResponse,
  reply: EventReply,
  begin: () => void,
): Promise<unknown> {
  const iterator = reply.events[Symbol.asyncIterator]();
  let next = await iterator.next();
  begin();
  let lastWriteAt = Date.now();
  const keepAlive = setInterval(() => {
    if (Date.now() - lastWriteAt >= keepAliveMs) response.write(': keep-alive\n\n');
  }, keepAliveMs).unref();
  const write = async (event: ServerEvent) => {
    lastWriteAt = Date.now();
    if (!response.write(toWire(event)) && !response.destroyed) {
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
  };
  try {
    while (next.done !== true && !response.destroyed) {
      await write(next.value);
      next = await iterator.next();
    }
    return undefined;
  } catch (thrown) {
    for (const event of reply.onFailure(toGatewayError(thrown))) await write(event);
    return thrown;
  } finally {
    clearInterval(keepAlive);
    if (next.done !== true) await iterator.return?.();
    response.end();
  }
}
