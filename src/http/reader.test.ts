import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createShell, shellKey } from '../../test/support/shell.ts';
import { common } from '../../test/support/shell-routes.ts';
import { expectReader } from './reader.ts';
import { defineRoute } from './route.ts';

const question = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
/** More than the system's own buffers hold. */
const large = Buffer.alloc(16 * 1024 * 1024);

let server: ReturnType<typeof createServer>;
let client: Socket;
let response: ServerResponse;
beforeEach(async () => {
  server = createServer();
  const asked = once(server, 'request');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  client.write(question);
  [, response] = (await asked) as [unknown, ServerResponse];
});
afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

describe('the reader of a whole answer', () => {
  it('is taken for gone when it takes nothing, so that it holds no memory', async () => {
    client.pause();
    expectReader(response, 50);
    response.end(large);
    await once(response, 'close');
    expect(response.writableFinished).toBe(false);
  });

  it('is waited for when it is slow', async () => {
    client.pause();
    // All of it takes longer than that, but no part of it.
    expectReader(response, 600);
    response.end(large);
    const reading = setInterval(() => client.read(128 * 1024), 10);
    await once(response, 'close');
    clearInterval(reading);
    expect(response.writableFinished).toBe(true);
  });

  it('may wait for what is still to come', async () => {
    expectReader(response, 20);
    response.write('a');
    await new Promise((resolve) => setTimeout(resolve, 100));
    response.end('b');
    await once(response, 'close');
    expect(response.writableFinished).toBe(true);
  });

  it('has time again before its next question', async () => {
    expectReader(response, 300);
    response.end(large);
    client.resume();
    await once(response, 'close');
    expect(response.writableFinished).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 400));
    const asked = once(server, 'request');
    client.write(question);
    [, response] = (await asked) as [unknown, ServerResponse];
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(response.destroyed).toBe(false);
  });
});

describe('the shell', () => {
  it('expects a reader of what is large, and of nothing else', async () => {
    const sizes = { small: 1_000, large: 100_000 };
    const shell = createShell(
      Object.entries(sizes).map(([name, size]) =>
        defineRoute({
          ...common,
          method: 'GET',
          path: `/${name}`,
          access: 'key',
          handle: () => ({ text: 'x'.repeat(size) }),
        }),
      ),
    );
    const address = new URL(await shell.listen());
    const timed = vi.spyOn(Socket.prototype, 'setTimeout');
    try {
      for (const name of Object.keys(sizes)) {
        timed.mockClear();
        const asking = connect(Number(address.port), address.hostname);
        asking.write(
          `GET /v1/${name} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${shellKey}\r\nconnection: close\r\n\r\n`,
        );
        asking.resume();
        await once(asking, 'close');
        const times = timed.mock.calls.map(([ms]) => ms);
        expect(times.includes(30_000), name).toBe(name === 'large');
      }
    } finally {
      timed.mockRestore();
      await shell.close();
    }
  });
});
