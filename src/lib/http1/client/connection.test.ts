import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRandom } from '../../../../test/support/random.ts';
import { RawServer, RecordingHandler, turns } from '../../../../test/support/raw-server.ts';
import { Wheel } from '../../wheel.ts';
import type { Connection, RequestBody } from './connection.ts';
import { ConnectionPool } from './pool.ts';

const head = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n';
const chunkedHead = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
/** What may come after a pause: one read, and one more that was already on its way. */
const mostAfterPause = 128 * 1024;

let server: RawServer;
let pool: ConnectionPool;
let now = 0;
let wheel: Wheel;

beforeEach(async () => {
  server = await new RawServer().listen();
  now = 0;
  wheel = new Wheel({ now: () => now });
  pool = createPool(server.port);
});

afterEach(async () => {
  await server.close();
  await pool.close();
  expect(wheel.size).toBe(0);
  wheel.close();
});

function createPool(port: number): ConnectionPool {
  return new ConnectionPool({ origin: `http://127.0.0.1:${port}`, connectMs: 10_000, idleMs: 4_000, wheel });
}

class Call extends RecordingHandler {
  connection!: Connection;

  send(body?: RequestBody): this {
    const request = { method: 'POST' as const, path: '/', headers: [] };
    this.connection = pool.send(body === undefined ? request : { ...request, body }, this)!;
    return this;
  }

  abort(): void {
    this.connection.abort(this);
  }

  pause(): void {
    this.connection.pause(this);
  }

  resume(): void {
    this.connection.resume(this);
  }
}

/** A call whose request has come to the server. */
async function begun(number = 0) {
  const call = new Call().send();
  const peer = await server.peer(number);
  await peer.request();
  return { call, peer };
}

describe('a connection that is lost', () => {
  it('could not be made: the handler hears it once', async () => {
    const none = createServer();
    await new Promise<void>((resolve) => none.listen(0, '127.0.0.1', resolve));
    const { port } = none.address() as { port: number };
    await new Promise((resolve) => none.close(resolve));
    pool = createPool(port);
    const call = new Call().send('{}');
    expect(call.events).toEqual([]);
    await call.over();
    await pool.close();
    expect(call.events).toEqual(['error']);
    expect(call.error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('could not be made in time: the handler hears it once', async () => {
    const call = new Call().send('{}');
    // The loop has not turned, so nothing has come of it yet.
    now += 10_000 + 250;
    wheel.turn();
    await call.over();
    await pool.close();
    expect(call.events).toEqual(['error']);
    expect(call.error?.message).toBe('the connection could not be made in time');
  });

  it.each([
    ['before the head', '', ['error']],
    ['in the head', 'HTTP/1.1 200 OK\r\ncontent-le', ['error']],
    ['behind an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n', ['error']],
    ['before the body', head, ['head', 'error']],
    ['in the body', `${head}hello`, ['head', 'body', 'error']],
    ['between chunks', `${chunkedHead}5\r\nhello\r\n`, ['head', 'body', 'error']],
    ['before the last line', `${chunkedHead}5\r\nhello\r\n0\r\n`, ['head', 'body', 'error']],
  ])('%s is an error, told once', async (_, sent, events) => {
    for (const how of ['end', 'reset'] as const) {
      const { call, peer } = await begun(how === 'end' ? 0 : 1);
      if (sent !== '') peer.write(sent);
      if (events.length > 1) await call.heard(events.at(-2)!);
      if (how === 'end') peer.socket.end();
      else peer.socket.resetAndDestroy();
      await call.heard('error');
      await peer.closed();
      await turns();
      expect(call.events).toEqual(events);
    }
  });

  it('ends a body that has no other end', async () => {
    const { call, peer } = await begun();
    peer.write('HTTP/1.1 200 OK\r\n\r\nhello');
    await call.heard('body');
    peer.socket.end(' world');
    await call.over();
    expect([call.events.at(-1), call.body]).toEqual(['end', 'hello world']);
    await begun(1);
  });

  it('breaks a body that has no other end where it is reset', async () => {
    const { call, peer } = await begun();
    peer.write('HTTP/1.1 200 OK\r\n\r\nhello');
    await call.heard('body');
    peer.socket.resetAndDestroy();
    await call.over();
    expect(call.events).toEqual(['head', 'body', 'error']);
  });

  it('is given up where the answer is none', async () => {
    const { call, peer } = await begun();
    peer.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\nhello');
    await call.over();
    await peer.until(() => peer.isEnded);
    expect(call.events).toEqual(['error']);
    expect(call.error?.name).toBe('MessageError');
  });
});

describe('a handler that aborts', () => {
  it('before the connection is made hears nothing, and nothing is written', async () => {
    const call = new Call().send('{}');
    call.abort();
    await pool.close();
    await turns();
    expect(call.events).toEqual([]);
    expect(server.peers.map(({ received }) => received).join('')).toBe('');
  });

  it.each([
    ['while it waits', '', undefined],
    ['in the head', 'HTTP/1.1 200 OK\r\n', undefined],
    ['behind the head', head, 'head'],
    ['in the body', `${head}hello`, 'body'],
    ['in chunks', `${chunkedHead}5\r\nhello\r\n5\r\n`, 'body'],
    ['in a body without length', 'HTTP/1.1 200 OK\r\n\r\nhello', 'body'],
  ])('%s hears nothing more, and the server sees the end', async (_, sent, event) => {
    const { call, peer } = await begun();
    if (sent !== '') peer.write(sent);
    if (event !== undefined) await call.heard(event);
    call.abort();
    const { events } = call;
    const heard = [...events];
    peer.write('hello');
    await peer.until(() => peer.isEnded || peer.isClosed);
    await pool.close();
    expect(events).toEqual(heard);
  });

  it.each(['onHead', 'onBody'] as const)('from within %s hears nothing more', async (when) => {
    const { call, peer } = await begun();
    const tell = call[when].bind(call) as (...told: unknown[]) => void;
    call[when] = (...told: unknown[]) => {
      tell(...told);
      call.abort();
    };
    peer.write(`${head}helloworld`);
    await peer.until(() => peer.isEnded);
    await pool.close();
    expect(call.events).toEqual(when === 'onHead' ? ['head'] : ['head', 'body']);
  });

  it('or pauses when its request is over does nothing to the next owner', async () => {
    const { call, peer } = await begun();
    peer.write(ok);
    await call.heard('end');
    const next = await begun();
    expect(next.call.connection).toBe(call.connection);
    call.pause();
    call.abort();
    call.resume();
    peer.write(ok);
    await next.call.over();
    expect([next.call.events, next.call.body]).toEqual([['head', 'body', 'end'], 'ok']);
  });
});

describe('a handler that throws', () => {
  it.each(['onHead', 'onBody'] as const)(
    'in %s is told its own error, and the connection is closed',
    async (when) => {
      const { call, peer } = await begun();
      call[when] = () => {
        throw new Error('a bug');
      };
      peer.write(`${head}helloworld`);
      await call.over();
      expect([call.events.at(-1), call.error?.message]).toEqual(['error', 'a bug']);
      await peer.until(() => peer.isEnded);
    },
  );

  it.each([
    ['a length', ok],
    ['chunks', `${chunkedHead}2\r\nok\r\n0\r\n\r\n`],
    ['no length', 'HTTP/1.1 200 OK\r\n\r\nok'],
  ])('in onEnd after %s does no harm to the request that follows on the connection', async (_, answer) => {
    const { call, peer } = await begun();
    const next = new Call();
    call.onEnd = () => {
      next.send();
      throw new Error('a bug');
    };
    peer.write(answer);
    const isKept = /length|chunked/.test(answer);
    if (!isKept) peer.socket.end();
    await call.over();
    expect(call.error?.message).toBe('a bug');
    const other = await server.peer(isKept ? 0 : 1);
    await other.request();
    other.write(ok);
    await next.over();
    expect([next.events, next.body]).toEqual([['head', 'body', 'end'], 'ok']);
  });
});

describe('a handler that pauses', () => {
  it('holds a large body back, and loses nothing of it', async () => {
    const { call, peer } = await begun();
    const body = randomBytes(32 * 1024 * 1024);
    peer.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
    await call.heard('head');
    const hash = createHash('sha256');
    let length = 0;
    let pauses = 0;
    call.onBody = (buffer, start, end) => {
      hash.update(buffer.subarray(start, end));
      length += end - start;
      if (length >= (pauses + 1) * 6_000_000) {
        pauses += 1;
        call.pause();
        const atPause = length;
        void turns(20).then(() => {
          expect(length - atPause).toBeLessThan(mostAfterPause);
          // To and fro, which must not open the tap.
          for (let time = 0; time < 5; time++) {
            call.resume();
            call.pause();
          }
          void turns(20).then(() => {
            expect(length - atPause).toBeLessThan(2 * mostAfterPause);
            call.resume();
          });
        });
      }
    };
    peer.socket.write(body);
    await call.over();
    expect([call.events, length, pauses]).toEqual([['head', 'end'], body.length, 5]);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(body).digest('hex'));
  });

  it('before the connection is made hears all when it goes on', async () => {
    const call = new Call().send();
    call.pause();
    const peer = await server.peer(0);
    await peer.request();
    peer.write(ok);
    await turns(20);
    expect(call.events).toEqual([]);
    call.resume();
    await call.over();
    expect([call.events, call.body]).toEqual([['head', 'body', 'end'], 'ok']);
  });

  it('hears of an end that has come meanwhile when it goes on, and not twice', async () => {
    const { call, peer } = await begun();
    call.onBody = () => {
      call.events.push('body');
      call.pause();
    };
    peer.write(ok);
    await call.heard('head');
    await turns(20);
    expect(call.events).toEqual(['head', 'body']);
    call.resume();
    expect(call.events).toEqual(['head', 'body', 'end']);
    call.resume();
    // The connection can be used again, by a handler that does not pause.
    const next = await begun();
    peer.write(ok);
    await next.call.heard('end');
    expect(call.events).toEqual(['head', 'body', 'end']);
  });

  it('hears of the end also where the server has closed meanwhile', async () => {
    const { call, peer } = await begun();
    call.onBody = () => {
      call.events.push('body');
      call.pause();
    };
    peer.write(ok);
    peer.socket.end();
    await call.heard('head');
    await turns(20);
    call.resume();
    await call.over();
    expect(call.events).toEqual(['head', 'body', 'end']);
    await begun(1);
  });

  it('and asks again in its end does so by a new connection where the server has closed meanwhile', async () => {
    const { call, peer } = await begun();
    const next = new Call();
    call.onBody = () => call.pause();
    call.onEnd = () => next.send('again');
    peer.write(ok);
    await call.heard('head');
    peer.socket.destroy();
    await turns();
    call.resume();
    const other = await server.peer(1);
    await other.request('again');
    other.write(ok);
    await next.over();
    expect(next.events).toEqual(['head', 'body', 'end']);
  });

  it('hears all of a body without length, and its end, when it goes on', async () => {
    const { call, peer } = await begun();
    peer.write('HTTP/1.1 200 OK\r\n\r\n');
    await call.heard('head');
    call.pause();
    peer.socket.end('x'.repeat(1_000_000));
    await turns(20);
    expect(call.length).toBeLessThan(mostAfterPause);
    expect(call.events).not.toContain('end');
    call.resume();
    await call.over();
    expect([call.events.at(-1), call.length]).toEqual(['end', 1_000_000]);
  });

  it('hears of a lost connection when it goes on at the latest', async () => {
    const { call, peer } = await begun();
    peer.write(`${head}hello`);
    await call.heard('body');
    call.pause();
    peer.socket.resetAndDestroy();
    await turns();
    call.resume();
    await call.over();
    expect(call.events).toEqual(['head', 'body', 'error']);
  });

  it('and aborts hears nothing more', async () => {
    const { call, peer } = await begun();
    call.onBody = () => call.pause();
    peer.write(ok);
    await call.heard('head');
    await turns();
    call.abort();
    call.resume();
    await peer.until(() => peer.isEnded || peer.isClosed);
    await pool.close();
    expect(call.events).toEqual(['head']);
  });
});

describe('a request with a stream', () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'x');

  it('is sent as fast as the server takes it', async () => {
    const slow = await new RawServer({ isReading: false }).listen();
    pool = createPool(slow.port);
    let produced = 0;
    const stream = Readable.from(
      (async function* () {
        for (let count = 0; count < 32; count++) {
          produced += 1;
          yield megabyte;
        }
      })(),
      { objectMode: false },
    );
    const call = new Call().send({ stream, length: 32 * megabyte.length });
    const { socket } = await slow.peer(0);
    await turns(50);
    // What the system's buffers take, not all of it.
    expect(produced).toBeLessThan(32);
    let received = 0;
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      if (received === 0) text = bytes.toString('latin1', 0, bytes.indexOf('\r\n\r\n') + 4);
      received += bytes.length;
      if (received === text.length + 32 * megabyte.length) socket.write(ok);
    });
    await call.over();
    expect(call.events).toEqual(['head', 'body', 'end']);
    expect(text).toContain(`content-length: ${32 * megabyte.length}\r\n\r\n`);
    await slow.close();
  });

  it('leaves its connection for the next one, with nothing of it', async () => {
    for (let round = 0; round < 15; round++) {
      const call = new Call().send({ stream: Readable.from([Buffer.from('hello')]), length: 5 });
      const peer = await server.peer(0);
      expect(await peer.request('hello')).toContain('content-length: 5\r\n\r\nhello');
      peer.write(ok);
      await call.heard('end');
    }
    expect(server.peers).toHaveLength(1);
  });

  it('of one large piece leaves its connection too', async () => {
    const body = 'x'.repeat(8 * 1024 * 1024);
    for (let round = 0; round < 2; round++) {
      const call = new Call().send(body);
      const peer = await server.peer(0);
      await peer.request();
      await peer.until(() => peer.received.length === body.length);
      peer.received = '';
      peer.write(ok);
      await call.heard('end');
    }
    expect(server.peers).toHaveLength(1);
  });

  it('that is answered before it is sent is over, and its connection and its stream are closed', async () => {
    const stream = new Readable({ read: () => {} });
    stream.push('some');
    const call = new Call().send({ stream, length: 1_000 });
    const peer = await server.peer(0);
    await peer.request('some');
    peer.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno');
    await call.over();
    expect([call.events, call.head?.status]).toEqual([['head', 'body', 'end'], 413]);
    expect(stream.destroyed).toBe(true);
    await peer.until(() => peer.isEnded);
    await begun(1);
  });

  it('that is answered before it is sent tells its end to who has paused, though the connection is lost', async () => {
    const stream = new Readable({ read: () => {} });
    stream.push('some');
    const call = new Call().send({ stream, length: 1_000_000 });
    const peer = await server.peer(0);
    await peer.request('some');
    call.onBody = () => call.pause();
    peer.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno');
    await call.heard('head');
    peer.socket.resetAndDestroy();
    await peer.closed();
    stream.push('more');
    await pool.close();
    expect([call.events, stream.destroyed]).toEqual([['head'], true]);
    call.resume();
    expect(call.events).toEqual(['head', 'end']);
  });

  it('of one piece that is answered before it is sent closes its connection too', async () => {
    const slow = await new RawServer({ isReading: false }).listen();
    pool = createPool(slow.port);
    const call = new Call().send('x'.repeat(32 * 1024 * 1024));
    const peer = await slow.peer(0);
    peer.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno');
    await call.over();
    expect([call.events, call.head?.status]).toEqual([['head', 'body', 'end'], 413]);
    await pool.close();
    await slow.close();
  });

  it.each([
    ['fails', (stream: Readable) => stream.destroy(new Error('the disk is gone')), 'the disk is gone'],
    ['is closed', (stream: Readable) => stream.destroy(), 'Premature close'],
    [
      'is too short',
      (stream: Readable) => stream.push(null),
      'the body of the request is shorter than was said',
    ],
    [
      'is too long',
      (stream: Readable) => stream.push('more than'),
      'the body of the request is longer than was said',
    ],
  ])('that %s fails, and not a byte too much is sent', async (_, fault, message) => {
    const stream = new Readable({ read: () => {} });
    stream.push('some');
    const call = new Call().send({ stream, length: 10 });
    const peer = await server.peer(0);
    await peer.request('some');
    fault(stream);
    await call.over();
    await peer.until(() => peer.isEnded || peer.isClosed);
    expect([call.events, call.error?.message]).toEqual([['error'], message]);
    expect([stream.destroyed, peer.received]).toEqual([true, '']);
  });

  it('that was closed before fails', async () => {
    const stream = Readable.from(['x']);
    stream.destroy();
    const call = await new Call().send({ stream, length: 1 }).over();
    expect(call.events).toEqual(['error']);
  });

  it('whose stream fails when it is answered does no harm to the next one', async () => {
    let finish: (error: Error) => void = () => {};
    const stream = new Readable({
      read: () => {},
      destroy: (_, done) => {
        finish = done;
      },
    });
    stream.push('hello');
    stream.push(null);
    const call = new Call().send({ stream, length: 5 });
    const peer = await server.peer(0);
    await peer.request('hello');
    await turns();
    peer.write(ok);
    await call.heard('end');
    const next = await begun();
    finish(new Error('too late'));
    await turns();
    peer.write(ok);
    await next.call.over();
    expect(next.call.events).toEqual(['head', 'body', 'end']);
  });

  it('that is aborted or refused destroys its stream', async () => {
    const streams = Array.from({ length: 3 }, () => new Readable({ read: () => {} }));
    const [sent, waiting, refused] = streams as [Readable, Readable, Readable];
    const first = new Call().send({ stream: sent, length: 5 });
    await server.peer(0);
    first.abort();
    const { call, peer } = await begun(1);
    peer.write(ok);
    await call.heard('end');
    now += 1_000;
    wheel.turn();
    new Call().send({ stream: waiting, length: 5 }).abort();
    pool.send(
      { method: 'POST', path: 'none', headers: [], body: { stream: refused, length: 5 } },
      new Call(),
    );
    expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
  });
});

describe('many connections', () => {
  it('read into one buffer and never mix what they bring', { timeout: 60_000 }, async () => {
    const random = createRandom(11);
    const below = (count: number) => Math.floor(random() * count);
    const count = 8;
    const calls = Array.from({ length: count }, () => new Call().send());
    await server.until(() => server.peers.length === count);
    const sent = Array.from({ length: count }, () => [] as Buffer[]);
    await Promise.all(server.peers.map((peer) => peer.request()));
    for (let round = 0; round < 12; round++) {
      for (const [number, peer] of server.peers.entries()) {
        sent[number] = [];
        peer.write(chunkedHead);
      }
      for (let step = 0; step < 60; step++) {
        for (const [number, peer] of server.peers.entries()) {
          const wire: Buffer[] = [];
          for (let chunks = below(8); chunks > 0; chunks--) {
            const data = Buffer.alloc(1 + below(random() < 0.1 ? 40_000 : 60), `${number}-${round}-${step};`);
            sent[number]!.push(data);
            wire.push(Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n'));
          }
          const bytes = Buffer.concat(wire);
          const cut = below(bytes.length);
          peer.socket.write(bytes.subarray(0, cut));
          peer.socket.write(bytes.subarray(cut));
          const call = calls[below(count)]!;
          if (random() < 0.1) call.pause();
          else call.resume();
        }
        if (random() < 0.3) await turns(1);
      }
      for (const peer of server.peers) peer.write('0\r\n\r\n');
      for (const call of calls) call.resume();
      const heard = await Promise.all(calls.map((call) => call.heard('end')));
      // Which connection is whose is told by what it brought.
      const bodies = heard.map(({ bytes }) => bytes.toString('latin1')).sort();
      expect(bodies).toEqual(sent.map((pieces) => Buffer.concat(pieces).toString('latin1')).sort());
      for (const [number] of calls.entries()) calls[number] = new Call().send();
      await Promise.all(server.peers.map((peer) => peer.request()));
    }
    expect(server.peers).toHaveLength(count);
  });
});
