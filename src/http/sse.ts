/** Writes an event stream: one write per event, at the pace of the reader, with a sign of life in silence. */
import type { ServerAnswer } from '../lib/http1/server/answer.ts';
import { toGatewayError } from './errors.ts';
import type { EventReply, ServerEvent } from './reply.ts';

const keepAliveMs = 15_000;

function toWire({ event, data }: ServerEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

/**
 * Sends the stream. `begin` gives the head and is called only when the first event is there: what fails
 * before it is thrown and gets its real status. What fails later is told inside the stream, and to `onFailure`.
 */
export async function sendEvents(
  answer: ServerAnswer,
  reply: EventReply,
  begin: () => void,
  onFailure: (thrown: unknown) => void,
): Promise<void> {
  const iterator = reply.events[Symbol.asyncIterator]();
  let next = await iterator.next();
  begin();
  let lastWriteAt = Date.now();
  const keepAlive = setInterval(() => {
    if (Date.now() - lastWriteAt >= keepAliveMs) answer.write(': keep-alive\n\n');
  }, keepAliveMs).unref();
  const write = async (event: ServerEvent) => {
    lastWriteAt = Date.now();
    if (!answer.write(Buffer.from(toWire(event)))) await roomOf(answer);
  };
  try {
    while (next.done !== true && !answer.isGone) {
      await write(next.value);
      next = await iterator.next();
    }
  } catch (thrown) {
    onFailure(thrown);
    for (const event of reply.onFailure(toGatewayError(thrown))) await write(event);
  } finally {
    clearInterval(keepAlive);
    if (next.done !== true) await iterator.return?.();
    answer.end();
  }
}

/** Until there is room for more, or nobody who would read it. */
function roomOf(answer: ServerAnswer): Promise<void> {
  return new Promise((resolve) => {
    answer.onRoom(resolve);
    answer.onLost(resolve);
  });
}
