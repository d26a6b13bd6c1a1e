import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SocketOut } from './stream-out.ts';

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
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  [, response] = (await asked) as [unknown, ServerResponse];
});
afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

const chunk = 'x'.repeat(256 * 1024);

function open(stuckReaderMs: number): { out: SocketOut; told: string[] } {
  const told: string[] = [];
  const out = new SocketOut(response, () => response.writeHead(200), ': alive\n\n', stuckReaderMs);
  out.onPressure({ pause: () => told.push('pause'), resume: () => told.push('resume') });
  return { out, told };
}

/** Until the system's own buffers are full, too. */
function fill(out: SocketOut, told: readonly string[]): void {
  while (!told.includes('pause')) out.write(chunk);
}

describe('a reader', () => {
  it('that takes nothing at all is taken for gone, so that it holds no engine', async () => {
    client.pause();
    const { out, told } = open(50);
    fill(out, told);
    await once(response, 'close');
    expect(told).toEqual(['pause']);
    expect(response.writableFinished).toBe(false);
    out.stop();
  });

  it('that is slow but reads is waited for', async () => {
    client.pause();
    const { out, told } = open(1_000);
    fill(out, told);
    const reading = setInterval(() => client.read(128 * 1024), 5);
    while (!told.includes('resume')) await new Promise((resolve) => setTimeout(resolve, 20));
    clearInterval(reading);
    expect(response.destroyed).toBe(false);
    out.end('last');
  });
});
