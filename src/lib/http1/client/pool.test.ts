import { getActiveResourcesInfo } from 'node:process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Peer, RawServer, RecordingHandler, turns } from '../../../../test/support/raw-server.ts';
import { Wheel } from '../../wheel.ts';
import type { Connection } from './connection.ts';
import { ConnectionPool, type Request } from './pool.ts';

const get: Request = { method: 'GET', path: '/', headers: [] };
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const tickMs = 250;
const idleMs = 4_000;

let server: RawServer;
let now = 0;
let wheel: Wheel;
const pools: ConnectionPool[] = [];

beforeEach(async () => {
  server = await new RawServer().listen();
  now = 0;
  wheel = new Wheel({ tickMs, now: () => now });
});

afterEach(async () => {
  await server.close();
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  expect(wheel.size).toBe(0);
  wheel.close();
});

function createPool(host = '127.0.0.1', port = server.port): ConnectionPool {
  const pool = new ConnectionPool({ origin: `http://${host}:${port}`, connectMs: 10_000, idleMs, wheel });
  pools.push(pool);
  return pool;
}

/** Time goes by, as the wheel sees it. */
function pass(ms: number): void {
  now += ms;
  wheel.turn();
}

function send(
  pool: ConnectionPool,
  request = get,
): RecordingHandler & { connection: Connection | undefined } {
  const handler = new RecordingHandler();
  const connection = pool.send(request, handler);
  expect(handler.events, 'nothing is told before `send` has returned').toEqual([]);
  return Object.assign(handler, { connection });
}

/** A request that is answered on the connection with this number. */
async function ask(pool: ConnectionPool, number: number, answer = ok): Promise<RecordingHandler> {
  const handler = send(pool);
  const peer = await server.peer(number);
  await peer.request();
  peer.write(answer);
  return handler.heard('end');
}

describe('a request', () => {
  it('is written as its head, its length in bytes and its body, by one write', async () => {
    const body = '{"text":"Grüße, 世界 🚂 \ud800"}';
    const headers = ['content-type', 'application/json', 'authorization', 'Bearer k'];
    const handler = send(createPool(), { method: 'POST', path: '/v1/chat?a=%20', headers, body });
    const peer = await server.peer(0);
    await peer.until(() => peer.received.endsWith('}'));
    const bytes = Buffer.from(body);
    expect(peer.received).toBe(
      `POST /v1/chat?a=%20 HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\n` +
        'content-type: application/json\r\nauthorization: Bearer k\r\n' +
        `content-length: ${bytes.length}\r\n\r\n${bytes.toString('latin1')}`,
    );
    expect(peer.reads).toBe(1);
    peer.write(ok);
    await handler.heard('end');
    expect(handler.events).toEqual(['head', 'body', 'end']);
    expect([handler.head?.status, handler.body]).toEqual([200, 'ok']);
  });

  it('has no length without a body, and the length 0 with an empty one', async () => {
    const pool = createPool();
    const first = send(pool, { method: 'DELETE', path: '/v1/x', headers: ['x-a', 'b'] });
    const peer = await server.peer(0);
    const host = `host: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\n`;
    expect(await peer.request()).toBe(`DELETE /v1/x HTTP/1.1\r\n${host}x-a: b\r\n\r\n`);
    peer.write('HTTP/1.1 204 No Content\r\n\r\n');
    expect((await first.heard('end')).events).toEqual(['head', 'end']);
    send(pool, { method: 'POST', path: '/', headers: [], body: '' });
    expect(await peer.request()).toBe(`POST / HTTP/1.1\r\n${host}content-length: 0\r\n\r\n`);
  });

  it('writes each head anew where it differs from the one before', async () => {
    const pool = createPool();
    const headers = ['x-a', 'b'];
    const requests: [Request, string][] = [
      [{ method: 'GET', path: '/a', headers }, 'GET /a'],
      [{ method: 'GET', path: '/a', headers }, 'GET /a'],
      [{ method: 'POST', path: '/a', headers, body: '' }, 'POST /a'],
      [{ method: 'POST', path: '/b', headers, body: '' }, 'POST /b'],
      [{ method: 'POST', path: '/b', headers: ['x-a', 'c'], body: '' }, 'x-a: c'],
    ];
    for (const [request, text] of requests) {
      const handler = send(pool, request);
      const peer = await server.peer(0);
      expect(await peer.request()).toContain(text);
      peer.write(ok);
      await handler.heard('end');
    }
  });

  it('names the host with its port, in brackets where it is an IPv6 address', async () => {
    const local = await new RawServer().listen('::1');
    const pool = createPool('[::1]', local.port);
    const handler = send(pool);
    const peer = await local.peer(0);
    expect(await peer.request()).toContain(`\r\nhost: [::1]:${local.port}\r\n`);
    peer.write(ok);
    await handler.heard('end');
    await pool.close();
    await local.close();
  });

  it('finds a name of several addresses that are not all answered at', async () => {
    const handler = send(createPool('localhost'));
    const peer = await server.peer(0);
    expect(await peer.request()).toContain(`\r\nhost: localhost:${server.port}\r\n`);
    peer.write(ok);
    expect((await handler.heard('end')).body).toBe('ok');
  });

  it.each([
    ['a path', { ...get, path: '/a\r\nx: y' }],
    ['a path with a NUL', { ...get, path: '/\0' }],
    ['a header', { ...get, headers: ['x-a', 'b\r\nx-c: d'] }],
    ['a header with a NUL', { ...get, headers: ['x-a', '\0'] }],
    ['a header beyond latin-1', { ...get, headers: ['x-a', '\u010d\u010a'] }],
    ['a header of the connection', { ...get, headers: ['Content-Length', '5'] }],
  ])('that holds another one in %s is refused and never written', async (_, request) => {
    const pool = createPool();
    const handler = send(pool, request);
    expect(handler.connection).toBeUndefined();
    await handler.over();
    expect(handler.events).toEqual(['error']);
    await ask(pool, 0);
    expect(server.peers).toHaveLength(1);
    expect(server.peers[0]?.received).toBe('');
  });
});

describe('a pool', () => {
  it('uses a connection again, first the one that rested last', async () => {
    const pool = createPool();
    const handlers = ['/0', '/1', '/2'].map((path) => send(pool, { ...get, path }));
    await server.until(() => server.peers.length === 3);
    const peers = new Map<number, Peer>();
    for (const peer of server.peers) peers.set(Number((await peer.request())[5]), peer);
    for (const number of [1, 2, 0]) {
      peers.get(number)!.write(ok);
      await handlers[number]!.heard('end');
    }
    for (const number of [0, 2, 1]) {
      send(pool);
      await peers.get(number)!.request();
    }
    expect(server.peers).toHaveLength(3);
  });

  it('lets a handler use the very same connection from within its end', async () => {
    const pool = createPool();
    const second = new RecordingHandler();
    const connections: (Connection | undefined)[] = [];
    const first = new RecordingHandler();
    first.onEnd = () => connections.push(pool.send(get, second));
    connections.push(pool.send(get, first));
    const peer = await server.peer(0);
    await peer.request();
    peer.write(ok);
    await peer.request();
    peer.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nme\r\n0\r\n\r\n');
    await second.heard('end');
    expect(second.body).toBe('me');
    expect(connections[0]).toBe(connections[1]);
    expect(server.peers).toHaveLength(1);
  });

  it.each([
    ['the server says so', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nConnection: close\r\n\r\nok'],
    ['the answer is HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'],
    ['more came than was asked for', `${ok}${ok}`],
    [
      'the server keeps it no longer than it takes to ask',
      'HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok',
    ],
  ])('does not use a connection again where %s', async (_, answer) => {
    const pool = createPool();
    const handler = await ask(pool, 0, answer);
    expect(handler.events).toEqual(['head', 'body', 'end']);
    await server.peers[0]!.until(() => server.peers[0]!.isEnded);
    expect((await ask(pool, 1)).body).toBe('ok');
    expect(server.peers[0]!.received).toBe('');
  });

  it('forgets an idle connection that the server ends', async () => {
    const pool = createPool();
    const handler = await ask(pool, 0);
    const [peer] = server.peers;
    peer!.socket.end();
    await peer!.closed();
    await ask(pool, 1);
    expect(handler.events, 'who used it last is told nothing').toEqual(['head', 'body', 'end']);
  });

  it('forgets an idle connection that the server resets', async () => {
    const pool = createPool();
    await ask(pool, 0);
    server.peers[0]!.socket.resetAndDestroy();
    await turns();
    await ask(pool, 1);
  });

  it('forgets an idle connection on which something comes that nobody asked for', async () => {
    const pool = createPool();
    await ask(pool, 0);
    const [peer] = server.peers;
    peer!.write(ok.replace('ok', 'no'));
    await peer!.until(() => peer!.isEnded);
    expect((await ask(pool, 1)).body).toBe('ok');
  });

  it('never gives away a connection whose end is still on its way', async () => {
    const pool = createPool();
    const first = send(pool);
    const peer = await server.peer(0);
    await peer.request();
    peer.write(ok);
    await first.heard('end');
    first.connection!.destroy();
    expect((await ask(pool, 1)).body).toBe('ok');
  });

  it('closes a connection that was idle for too long, and never gives it to a request of the same moment', async () => {
    const pool = createPool();
    await ask(pool, 0);
    pass(idleMs + tickMs - 1);
    await ask(pool, 0);
    pass(idleMs + tickMs);
    expect((await ask(pool, 1)).body).toBe('ok');
    expect(server.peers[0]!.isEnded).toBe(true);
  });

  it('keeps a connection for a second less than the server does', async () => {
    const pool = createPool();
    const answer = 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=3, max=9\r\ncontent-length: 2\r\n\r\nok';
    await ask(pool, 0, answer);
    pass(2_000 + tickMs - 1);
    await ask(pool, 0, answer);
    pass(2_000 + tickMs);
    await ask(pool, 1, answer);
  });

  it('keeps a connection no longer than it was told to, whatever the server says', async () => {
    const pool = createPool();
    await ask(pool, 0, 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=600\r\ncontent-length: 2\r\n\r\nok');
    pass(idleMs + tickMs);
    await ask(pool, 1);
  });

  it.each(['end', 'reset', 'bytes'])(
    'sends a request by a new connection where the old one was lost in the same moment (%s)',
    async (how) => {
      const pool = createPool();
      await ask(pool, 0);
      pass(1_000);
      const peer = server.peers[0]!;
      // At once, and before the loop can look.
      if (how === 'end') peer.socket.destroy();
      else if (how === 'reset') peer.socket.resetAndDestroy();
      else peer.write(ok);
      const handler = send(pool, { method: 'POST', path: '/', headers: [], body: 'again' });
      const next = await server.peer(1);
      await next.request('again');
      next.write(ok);
      await handler.heard('end');
      expect(handler.events).toEqual(['head', 'body', 'end']);
      expect(peer.received).toBe('');
      // And it is a connection like any other.
      await ask(pool, 1);
    },
  );

  it('tells a request that has waited for such a look, and then finds no server', async () => {
    const pool = createPool();
    await ask(pool, 0);
    pass(1_000);
    const handler = new RecordingHandler();
    await server.close();
    pool.send(get, handler);
    await handler.over();
    expect(handler.events).toEqual(['error']);
    expect(handler.error).toMatchObject({ code: 'ECONNREFUSED' });
    server = await new RawServer().listen();
  });

  it('writes nothing of a request that is aborted while it waits for such a look', async () => {
    const pool = createPool();
    await ask(pool, 0);
    pass(1_000);
    const handler = send(pool);
    handler.connection!.abort(handler);
    await server.peers[0]!.until(() => server.peers[0]!.isEnded);
    await pool.close();
    expect([handler.events, server.peers[0]!.received, server.peers.length]).toEqual([[], '', 1]);
  });

  it('waits for what is under way when it closes, and leaves nothing', async () => {
    await turns();
    const before = sockets();
    const own = await new RawServer().listen();
    // With a wheel of its own, which has to stand still then.
    const stop = vi.spyOn(Wheel.prototype, 'close');
    const pool = new ConnectionPool({ origin: `http://127.0.0.1:${own.port}`, connectMs: 10_000, idleMs });
    const [idle, busy] = [send(pool), send(pool)];
    await own.until(() => own.peers.length === 2);
    await own.peers[0]!.request();
    own.peers[0]!.write(ok);
    await Promise.race([idle.heard('end'), busy.heard('end')]);
    let isClosed = false;
    const closing = pool.close().then(() => {
      isClosed = true;
    });
    await own.peers[0]!.until(() => own.peers[0]!.isEnded);
    await own.peers[1]!.request();
    await turns(20);
    expect(isClosed).toBe(false);
    own.peers[1]!.write(ok);
    await Promise.all([closing, pool.close(), busy.heard('end'), idle.heard('end')]);
    expect(stop).toHaveBeenCalledTimes(1);
    stop.mockRestore();
    const late = send(pool);
    await late.over();
    expect(late.error?.message).toBe('the pool is closed');
    expect(late.events).toEqual(['error']);
    await own.close();
    expect(own.peers).toHaveLength(2);
    await turns();
    expect(sockets()).toEqual(before);
  });

  it('closes at once where there is nothing, however often', async () => {
    const pool = createPool();
    await Promise.all([pool.close(), pool.close()]);
    await pool.close();
  });
});

/** Sockets that are there. */
function sockets(): string[] {
  return getActiveResourcesInfo()
    .filter((name) => /TCP|TLS|Connect/.test(name))
    .sort();
}
