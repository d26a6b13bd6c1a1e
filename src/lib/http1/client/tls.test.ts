import { createHash, randomBytes } from 'node:crypto';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.ts';
import { RawServer, RecordingHandler, turns } from '../../../../test/support/raw-server.ts';
import { Wheel } from '../../wheel.ts';
import { ConnectionPool, type Request } from './pool.ts';

const post: Request = { method: 'POST', path: '/', headers: ['authorization', 'Bearer secret'], body: 'ask' };
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const certificate = createCertificate('localhost', '127.0.0.1');
const ca = certificate.cert;

let server: RawServer;
let pool: ConnectionPool;
let now = 0;
let wheel: Wheel;

beforeEach(async () => {
  now = 0;
  wheel = new Wheel({ now: () => now });
  server = await new RawServer({ tls: { ...certificate, ALPNProtocols: ['h2', 'http/1.1'] } }).listen();
  pool = createPool('localhost', server.port, { ca });
});

afterEach(async () => {
  await server.close();
  await pool.close();
  expect(wheel.size).toBe(0);
  wheel.close();
});

function createPool(host: string, port: number, tls?: ConnectionOptions): ConnectionPool {
  return new ConnectionPool({
    origin: `https://${host}:${port}`,
    connectMs: 10_000,
    idleMs: 4_000,
    wheel,
    tls,
  });
}

function send(): RecordingHandler & { connection: NonNullable<ReturnType<ConnectionPool['send']>> } {
  const handler = new RecordingHandler();
  return Object.assign(handler, { connection: pool.send(post, handler)! });
}

async function begun() {
  const call = send();
  const peer = await server.peer(0);
  expect(await peer.request('ask')).toContain('\r\ncontent-length: 3\r\n\r\nask');
  return { call, peer };
}

describe('a connection by TLS', () => {
  it('asks for the name of the server and for HTTP/1.1, and is used again', async () => {
    for (let round = 0; round < 3; round++) {
      const { call, peer } = await begun();
      peer.write(
        round % 2 === 0
          ? ok
          : 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\no\r\n1;a\r\nk\r\n0\r\n\r\n',
      );
      await call.over();
      expect([call.events.at(-1), call.body]).toEqual(['end', 'ok']);
    }
    expect(server.peers).toHaveLength(1);
    const { servername, alpnProtocol } = server.peers[0]!.socket as TLSSocket & { servername: string };
    expect([servername, alpnProtocol]).toEqual(['localhost', 'http/1.1']);
  });

  it('asks for the name that the server goes by, where its address has another', async () => {
    const { port } = server;
    const parts = { connectMs: 10_000, idleMs: 4_000, wheel, tls: { ca } };
    pool = new ConnectionPool({ ...parts, origin: `https://127.0.0.1:${port}`, host: 'localhost:8443' });
    const call = send();
    const peer = await server.peer(0);
    expect(await peer.request('ask')).toContain('\r\nhost: localhost:8443\r\n');
    peer.write(ok);
    await call.over();
    expect(call.events).toEqual(['head', 'body', 'end']);
    expect((peer.socket as TLSSocket & { servername: unknown }).servername).toBe('localhost');
  });

  it('takes up the session of the one before', async () => {
    const closing = ok.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n');
    const reused: boolean[] = [];
    for (let round = 0; round < 2; round++) {
      const call = send();
      const peer = await server.peer(round);
      await peer.request('ask');
      reused.push((peer.socket as TLSSocket).isSessionReused());
      peer.write(closing);
      await call.over();
      expect(call.events).toEqual(['head', 'body', 'end']);
    }
    expect(reused).toEqual([false, true]);
  });

  it('is used again after a large request', async () => {
    const body = 'x'.repeat(4 * 1024 * 1024);
    for (let round = 0; round < 2; round++) {
      const handler = new RecordingHandler();
      pool.send({ ...post, body }, handler);
      const peer = await server.peer(0);
      await peer.request();
      await peer.until(() => peer.received.length === body.length);
      peer.received = '';
      peer.write(ok);
      await handler.heard('end');
    }
    expect(server.peers).toHaveLength(1);
  });

  it('asks for no name where the server has none', async () => {
    pool = createPool('127.0.0.1', server.port, { ca });
    const { call, peer } = await begun();
    peer.write(ok);
    await call.over();
    expect(call.events).toEqual(['head', 'body', 'end']);
    expect((peer.socket as TLSSocket & { servername: unknown }).servername).toBe(false);
  });

  it.each([
    ['nobody has signed', () => undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    [
      'another has signed',
      () => ({ ca: createCertificate('localhost').cert }),
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    ],
    ['is for another name', () => ({ ca, servername: 'other' }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('says nothing to a server whose certificate %s', async (_, tls, code) => {
    pool = createPool('localhost', server.port, tls());
    const call = send();
    await call.over();
    expect(call.events).toEqual(['error']);
    expect(call.error).toMatchObject({ code });
    await pool.close();
    await Promise.all(server.peers.map((peer) => peer.closed()));
    expect(server.peers.map(({ received }) => received).join('')).toBe('');
  });

  it('is given up where the server does not finish the handshake in time', async () => {
    const mute = await new RawServer().listen();
    pool = createPool('localhost', mute.port, { ca });
    const call = send();
    const peer = await mute.peer(0);
    await peer.until(() => peer.reads > 0);
    now += 10_000 + 250;
    wheel.turn();
    await call.over();
    expect(call.error?.message).toBe('the connection could not be made in time');
    await peer.until(() => peer.isEnded || peer.isClosed);
    await mute.close();
  });

  it('is given up where the server speaks something else', async () => {
    const plain = await new RawServer().listen();
    pool = createPool('localhost', plain.port, { ca });
    const call = send();
    const peer = await plain.peer(0);
    await peer.until(() => peer.reads > 0);
    peer.write('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
    peer.socket.end();
    await call.over();
    expect(call.events).toEqual(['error']);
    await plain.close();
  });

  it('can be aborted before it is made', async () => {
    const call = send();
    call.connection.abort(call);
    await pool.close();
    await turns();
    expect(call.events).toEqual([]);
    expect(server.peers.map(({ received }) => received).join('')).toBe('');
  });

  it('holds a large body back, and loses nothing of it', async () => {
    const { call, peer } = await begun();
    const body = randomBytes(24 * 1024 * 1024);
    const hash = createHash('sha256');
    let length = 0;
    let pauses = 0;
    call.onBody = (buffer, start, end) => {
      hash.update(buffer.subarray(start, end));
      length += end - start;
      if (length < (pauses + 1) * 5_000_000) return;
      pauses += 1;
      call.connection.pause(call);
      const atPause = length;
      void turns(20).then(() => {
        expect(length - atPause).toBeLessThan(128 * 1024);
        call.connection.resume(call);
      });
    };
    peer.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
    peer.socket.write(body);
    await call.over();
    expect([call.events, length, pauses]).toEqual([['head', 'end'], body.length, 5]);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(body).digest('hex'));
  });

  it('tells an end that came while it was paused when it goes on', async () => {
    const { call, peer } = await begun();
    call.onBody = () => call.connection.pause(call);
    peer.write(ok);
    await call.heard('head');
    await turns(20);
    expect(call.events).toEqual(['head']);
    call.connection.resume(call);
    expect(call.events).toEqual(['head', 'end']);
  });

  it.each([
    ['ended', (socket: { end(): void }) => socket.end()],
    ['reset', (socket: { destroy(): void }) => socket.destroy()],
  ])('that is %s in the body is an error, told once', async (_, lose) => {
    const { call, peer } = await begun();
    peer.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell');
    await call.heard('body');
    lose(peer.socket);
    await call.over();
    await peer.closed();
    expect(call.events).toEqual(['head', 'body', 'error']);
  });

  it('is forgotten where the server closes it while it is idle', async () => {
    const { call, peer } = await begun();
    peer.write(ok);
    await call.heard('end');
    peer.socket.end();
    await peer.closed();
    const next = send();
    const other = await server.peer(1);
    await other.request('ask');
    other.write(ok);
    await next.over();
    expect(next.events).toEqual(['head', 'body', 'end']);
  });

  it('shares its buffer with others that write and read meanwhile', async () => {
    const calls = Array.from({ length: 4 }, () => send());
    await server.until(() => server.peers.length === 4);
    for (const [number, peer] of server.peers.entries()) {
      await peer.request('ask');
      peer.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      for (let chunk = 0; chunk < 300; chunk++) {
        const data = `${number}:${chunk};`.repeat(1 + ((chunk * 7) % 90));
        peer.write(`${data.length.toString(16)}\r\n${data}\r\n`);
      }
      peer.write('0\r\n\r\n');
    }
    const bodies = (await Promise.all(calls.map((call) => call.heard('end')))).map(({ body }) => body).sort();
    for (const [number, body] of bodies.entries()) {
      let expected = '';
      for (let chunk = 0; chunk < 300; chunk++)
        expected += `${number}:${chunk};`.repeat(1 + ((chunk * 7) % 90));
      expect(body).toBe(expected);
    }
  });
});
