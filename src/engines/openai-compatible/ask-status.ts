/** The smallest question to an engine: with which status it answers a GET. */
import type { AnswerHandler, Connection } from '../../lib/http1/client/connection.ts';
import type { ConnectionPool } from '../../lib/http1/client/pool.ts';
import type { ResponseHead } from '../../lib/http1/client/response-head.ts';

/** What comes along is read away, so that the connection can be used again, unless it is more than this. */
const mostReadAway = 64 * 1024;

/** Rejects when there is no answer: not reached, or aborted. */
export function askStatus(
  pool: ConnectionPool,
  { path, headers }: { path: string; headers: readonly string[] },
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const question = new StatusQuestion((error, status) => {
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) resolve(status);
      else reject(error);
    });
    const onAbort = () => question.abort(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    question.connection = pool.send({ method: 'GET', path, headers }, question);
  });
}

class StatusQuestion implements AnswerHandler {
  connection: Connection | undefined;
  readonly #done: (error: Error | undefined, status: number) => void;
  #status = 0;
  #bytes = 0;

  constructor(done: (error: Error | undefined, status: number) => void) {
    this.#done = done;
  }

  abort(reason: Error): void {
    this.connection?.abort(this);
    this.#done(reason, 0);
  }

  onHead({ status }: ResponseHead): void {
    this.#status = status;
  }

  onBody(_: Buffer, start: number, end: number): void {
    this.#bytes += end - start;
    if (this.#bytes <= mostReadAway) return;
    this.connection?.abort(this);
    this.onEnd();
  }

  onEnd(): void {
    this.#done(undefined, this.#status);
  }

  onError(error: Error): void {
    this.#done(error, 0);
  }
}
