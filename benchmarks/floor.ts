/**
 * The floor: `node:http` → undici `Pool.dispatch`, which parses, checks, limits, bills and logs nothing. Chunks
 * are passed on as they come. What a gateway in Node costs beyond it is what the gateway does.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Dispatcher, Pool } from 'undici';

const pool = new Pool(process.argv[2]!, { headersTimeout: 0, bodyTimeout: 0, allowH2: false });

class PassThrough implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  onRequestStart(): void {}

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    { 'content-type': type = '', 'content-length': length }: Record<string, string | string[] | undefined>,
  ): void {
    const head = ['content-type', type as string];
    if (length !== undefined) head.push('content-length', length as string);
    this.#response.writeHead(status, head);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#response.write(chunk);
  }

  onResponseEnd(): void {
    this.#response.end();
  }

  onResponseError(): void {
    this.#response.destroy();
  }
}

const headers = ['content-type', 'application/json'];
const server = createServer({ noDelay: true, keepAliveTimeout: 65_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    pool.dispatch({ method: 'POST', path: request.url ?? '/', headers, body }, new PassThrough(response));
  });
});
server.listen(0, '127.0.0.1', 1024, () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
// An end in order, so that a profile is written.
process.on('SIGTERM', () => process.exit());
