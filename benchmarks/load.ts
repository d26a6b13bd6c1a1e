/**
 * The clients, as a process of their own: a fixed number of connections that are kept, one request at a time on
 * each. Closed loop: the next request follows the answer. Open loop: requests come at a rate whether or not the
 * last ones were answered; one that finds no free connection waits, and its wait counts as latency.
 */
import { connect, type Socket } from 'node:net';

export interface LoadOrder {
  port: number;
  /** The whole HTTP request. */
  request: string;
  connections: number;
  /** Ends at whichever comes first. */
  durationMs: number;
  maxRequests: number;
  /** Open loop at this rate; absent: closed loop. */
  perSecond?: number;
  /** An answer with fewer bytes is a failure: it broke off. */
  leastBytes: number;
}

export interface Percentiles {
  p50: number;
  p99: number;
}

export interface LoadResult {
  requests: number;
  durationMs: number;
  firstByteMs: Percentiles;
  wholeMs: Percentiles;
  /** Of the last answer, head included. */
  answer: string;
  failure?: string;
}

/** Over every answer that can be expected: what takes longer is stuck. */
const stuckMs = 20_000;
const headEnd = '\r\n\r\n';
const lastChunk = '\r\n0\r\n\r\n';

class Client {
  readonly #socket: Socket;
  readonly #request: Buffer;
  readonly #onAnswer: (client: Client) => void;
  readonly #onFailure: (message: string) => void;
  arrivedAt = 0;
  firstByteMs = 0;
  chunks: Buffer[] = [];
  bytes = 0;
  isBusy = false;
  /** How many bytes the answer has; 0 until its head is read, Infinity when it is chunked. */
  #size = 0;
  #tail = '';

  constructor(order: LoadOrder, onAnswer: (client: Client) => void, onFailure: (message: string) => void) {
    this.#request = Buffer.from(order.request);
    this.#onAnswer = onAnswer;
    this.#onFailure = onFailure;
    this.#socket = connect({ port: order.port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', (error) => onFailure(error.message));
    this.#socket.on('end', () => onFailure('the server closed a connection'));
  }

  ready(): Promise<void> {
    return new Promise((resolve) => this.#socket.once('connect', resolve));
  }

  send(arrivedAt: number): void {
    this.arrivedAt = arrivedAt;
    this.firstByteMs = 0;
    this.chunks.length = 0;
    this.bytes = 0;
    this.#size = 0;
    this.isBusy = true;
    this.#socket.write(this.#request);
  }

  close(): void {
    this.#socket.removeAllListeners('end');
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (!this.isBusy) {
      this.#onFailure('bytes came after the answer');
      return;
    }
    if (this.firstByteMs === 0) this.firstByteMs = performance.now() - this.arrivedAt;
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    if (this.#size === 0) this.#readHead();
    if (this.#size === Number.POSITIVE_INFINITY) {
      // Compared across reads: the terminator may be cut.
      this.#tail = (
        this.#tail + chunk.toString('latin1', Math.max(0, chunk.length - lastChunk.length))
      ).slice(-lastChunk.length);
      if (this.#tail !== lastChunk) return;
    } else if (this.#size === 0 || this.bytes < this.#size) return;
    this.isBusy = false;
    this.#tail = '';
    this.#onAnswer(this);
  }

  #readHead(): void {
    const bytes = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    const end = bytes.indexOf(headEnd);
    if (end < 0) return;
    const head = bytes.toString('latin1', 0, end);
    if (!head.startsWith('HTTP/1.1 200 ')) {
      this.#onFailure(`an answer that is not 200: ${bytes.toString('utf8').slice(0, 1_000)}`);
      return;
    }
    const length = /content-length: (\d+)/i.exec(head)?.[1];
    this.#size = length === undefined ? Number.POSITIVE_INFINITY : end + headEnd.length + Number(length);
  }
}

async function run(order: LoadOrder): Promise<LoadResult> {
  const { connections, durationMs, maxRequests, perSecond, leastBytes } = order;
  const firstByte: number[] = [];
  const whole: number[] = [];
  const idle: Client[] = [];
  /** When the requests arrived that wait for a connection. */
  const waiting: number[] = [];
  let served = 0;
  let sent = 0;
  let answer = '';
  const over = Promise.withResolvers<string | undefined>();

  const hasTime = () => sent < maxRequests && performance.now() - startedAt < durationMs;
  const send = (client: Client, arrivedAt: number) => {
    sent++;
    client.send(arrivedAt);
  };
  const onAnswer = (client: Client) => {
    const now = performance.now();
    firstByte.push(client.firstByteMs);
    whole.push(now - client.arrivedAt);
    if (client.bytes < leastBytes) over.resolve(`an answer broke off after ${client.bytes} bytes`);
    if (perSecond === undefined && hasTime()) send(client, now);
    else if (perSecond !== undefined && served < waiting.length) send(client, waiting[served++]!);
    else {
      idle.push(client);
      answer = Buffer.concat(client.chunks).toString('utf8');
      if (idle.length === connections && !hasTime()) over.resolve(undefined);
    }
  };

  const clients = Array.from({ length: connections }, () => new Client(order, onAnswer, over.resolve));
  await Promise.race([Promise.all(clients.map((client) => client.ready())), over.promise]);
  const startedAt = performance.now();
  const stuck = setTimeout(() => over.resolve('answers did not come'), durationMs + stuckMs);
  let ticker: NodeJS.Timeout | undefined;
  if (perSecond === undefined) for (const client of clients) send(client, startedAt);
  else {
    idle.push(...clients);
    let arrived = 0;
    ticker = setInterval(() => {
      const now = performance.now();
      const due = Math.min(
        maxRequests,
        Math.floor((Math.min(now - startedAt, durationMs) / 1000) * perSecond),
      );
      for (; arrived < due; arrived++) {
        const client = idle.pop();
        if (client === undefined) waiting.push(now);
        else send(client, now);
      }
      if (idle.length === connections && !hasTime()) over.resolve(undefined);
    }, 1);
  }
  const failure = await over.promise;
  const endedAt = performance.now();
  clearTimeout(stuck);
  clearInterval(ticker);
  for (const client of clients) client.close();
  return {
    requests: whole.length,
    durationMs: endedAt - startedAt,
    firstByteMs: toPercentiles(firstByte),
    wholeMs: toPercentiles(whole),
    answer,
    ...(failure === undefined ? {} : { failure }),
  };
}

function toPercentiles(values: number[]): Percentiles {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

process.on('message', (order: LoadOrder) => {
  run(order).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
process.send?.({ port: 0 });
