import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RawServer, turns } from '../../../test/support/raw-server.ts';
import { ConnectionPool } from '../../lib/http1/client/pool.ts';
import { askStatus } from './ask-status.ts';

let server: RawServer;
let pool: ConnectionPool;

beforeEach(async () => {
  server = await new RawServer().listen();
  pool = new ConnectionPool({ origin: `http://127.0.0.1:${server.port}`, connectMs: 10_000, idleMs: 4_000 });
});

afterEach(async () => {
  await server.close();
  await pool.close();
});

function ask(signal = new AbortController().signal): Promise<number> {
  return askStatus(pool, { path: '/health', headers: ['authorization', 'Bearer k'] }, signal);
}

describe('the status of an engine', () => {
  it.each([
    [200, 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'],
    [200, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
    [204, 'HTTP/1.1 204 No Content\r\n\r\n'],
    [307, 'HTTP/1.1 307 Temporary Redirect\r\nlocation: http://other/\r\ncontent-length: 0\r\n\r\n'],
    [503, 'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 7\r\n\r\nloading'],
  ])('is %i, asked by a GET, and the connection is used again', async (status, answer) => {
    for (let round = 0; round < 2; round++) {
      const asked = ask();
      const peer = await server.peer(0);
      expect(await peer.request()).toBe(
        `GET /health HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\n` +
          'authorization: Bearer k\r\n\r\n',
      );
      peer.write(answer);
      expect(await asked).toBe(status);
    }
    expect(server.peers).toHaveLength(1);
  });

  it('is there also where the engine closes behind it', async () => {
    const asked = ask();
    const peer = await server.peer(0);
    await peer.request();
    peer.socket.end('HTTP/1.0 200 OK\r\n\r\nok');
    expect(await asked).toBe(200);
  });

  it.each([
    ['a length', 'content-length: 1000000000000', 'x'.repeat(100_000)],
    ['chunks', 'transfer-encoding: chunked', `fffff\r\n${'x'.repeat(100_000)}`],
    ['no length', 'connection: close', 'x'.repeat(100_000)],
  ])(
    'is told without waiting for an endless body with %s, whose connection is closed',
    async (_, field, body) => {
      const asked = ask();
      const peer = await server.peer(0);
      await peer.request();
      peer.write(`HTTP/1.1 200 OK\r\n${field}\r\n\r\n${body}`);
      expect(await asked).toBe(200);
      await peer.until(() => peer.isEnded || peer.isClosed);
      const next = ask();
      const other = await server.peer(1);
      await other.request();
      other.write('HTTP/1.1 204 No Content\r\n\r\n');
      expect(await next).toBe(204);
    },
  );

  it('is not asked for when the signal is aborted already', async () => {
    await expect(ask(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    await turns();
    expect(server.peers).toHaveLength(0);
  });

  it.each(['', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel'])(
    'is given up when the signal is aborted behind %j',
    async (sent) => {
      const controller = new AbortController();
      const asked = ask(controller.signal);
      const peer = await server.peer(0);
      await peer.request();
      if (sent !== '') peer.write(sent);
      await turns();
      controller.abort(new Error('enough'));
      await expect(asked).rejects.toThrow('enough');
      await peer.until(() => peer.isEnded || peer.isClosed);
    },
  );

  it('does not close a connection that is used by another when its signal is aborted later', async () => {
    const controller = new AbortController();
    const asked = ask(controller.signal);
    const peer = await server.peer(0);
    await peer.request();
    peer.write('HTTP/1.1 204 No Content\r\n\r\n');
    await asked;
    const next = ask();
    await peer.request();
    controller.abort();
    peer.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    expect(await next).toBe(200);
  });

  it('is an error where the engine breaks off, answers with no HTTP, or is not there', async () => {
    const broken = ask();
    const first = await server.peer(0);
    await first.request();
    first.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel');
    await expect(broken).rejects.toThrow('the server closed the connection');
    const odd = ask();
    const second = await server.peer(1);
    await second.request();
    second.write('+OK ready\r\n\r\n');
    await expect(odd).rejects.toThrow('the answer does not begin like HTTP/1');
    await server.close();
    await expect(ask()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    server = await new RawServer().listen();
  });
});
