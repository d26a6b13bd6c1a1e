import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type Asked,
  BodyRecorder,
  ClosedCounter,
  type ConnectionSetup,
  closed,
  type OneConnection,
  openConnection,
} from '../../../../test/support/one-request.ts';
import { turns } from '../../../../test/support/raw-server.ts';
import { Wheel } from '../../wheel.ts';
import { HttpDate } from './answer-head.ts';
import { ServerConnection } from './connection.ts';

let one: OneConnection;
async function open(setup?: ConnectionSetup): Promise<void> {
  one = await openConnection(setup);
}
afterEach(async () => {
  await one.close();
  expect(one.wheel.size).toBe(0);
  expect(one.goneCount).toBe(1);
});

const question = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
/** More than the system's own buffers hold. */
const large = Buffer.alloc(16 * 1024 * 1024, 'x');

/** Answers a request, once its body has come, with all that was understood of it. */
function echo({ request, answer }: Asked): void {
  const sink = new BodyRecorder();
  request.read(sink);
  const { method, target, headers } = request;
  void sink
    .over()
    .then(() => answer.send(200, '', JSON.stringify([method, target, headers['x-a'], sink.body, sink.ends])));
}

function bodies(received: string): string[] {
  return received
    .split('HTTP/1.1 200 OK\r\n')
    .slice(1)
    .map((text) => text.slice(text.indexOf('\r\n\r\n') + 4));
}

describe('a request', () => {
  it.each([
    ['without a body', 'GET /a HTTP/1.1\r\nhost: x\r\nx-a: b\r\n\r\n', ['GET', '/a', 'b', '', ['end']]],
    [
      'with a length',
      'POST /b HTTP/1.1\r\nhost: x\r\nx-a: c\r\ncontent-length: 7\r\n\r\n\r\n{}\r\n\0',
      ['POST', '/b', 'c', '\r\n{}\r\n\0', ['end']],
    ],
    [
      'in chunks',
      'POST /c HTTP/1.1\r\nhost: x\r\nx-a: d\r\ntransfer-encoding: chunked\r\n\r\n' +
        '3;a="b"\r\nabc\r\n0A\r\n0\r\n\r\nGET /\r\n0\r\nx-sum: 1\r\n\r\n',
      ['POST', '/c', 'd', 'abc0\r\n\r\nGET /', ['end']],
    ],
    [
      'in chunks, with nothing in it',
      'POST /d HTTP/1.1\r\nhost: x\r\nx-a: e\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      ['POST', '/d', 'e', '', ['end']],
    ],
  ])('%s is the same wherever it is cut', async (_, text, understood) => {
    await open({ onRequest: echo });
    const { client } = one;
    for (let at = 1; at <= text.length; at++) {
      client.received = '';
      await one.sent(text.slice(0, at));
      if (at < text.length) await one.sent(text.slice(at));
      await client.until(() => client.received.endsWith(']'));
      expect(bodies(client.received).map((body) => JSON.parse(body))).toEqual([understood]);
    }
    client.received = '';
    for (const byte of text) await one.sent(byte);
    await client.until(() => client.received.endsWith(']'));
    expect(bodies(client.received).map((body) => JSON.parse(body))).toEqual([understood]);
    expect(one.count).toBe(text.length + 1);
  });

  it('is handed over when its head has come, before its body', async () => {
    await open();
    await one.sent('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r');
    expect(one.count).toBe(0);
    await one.sent('\n');
    const { request } = await one.next();
    expect([request.isWhole, request.length, request.isHttp10]).toEqual([false, 5, false]);
  });

  it('may stand behind line ends that belong to nothing', async () => {
    await open({ onRequest: ({ answer }) => answer.send(200, '', 'ok') });
    const { client } = one;
    await one.sent('\r\n');
    await one.sent(`\r\n\n\r\n${question}\r\n${question}`);
    await one.sent('\r');
    await one.sent('\n');
    await one.sent(question);
    await client.until(() => bodies(client.received).length === 3);
    expect([one.count, one.refusals]).toEqual([3, []]);
  });

  it.each([
    ['a length', 'content-length: 2\r\n\r\n{}'],
    ['chunks', 'transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'],
  ])('may stand behind a line end that some clients put behind a body with %s', async (_, rest) => {
    const post = `POST / HTTP/1.1\r\nhost: x\r\n${rest}\r\n`;
    for (const isAtOnce of [true, false]) {
      if (!isAtOnce) await one.close();
      await open({
        onRequest({ request, answer }) {
          const send = () => answer.send(200, '', 'ok');
          request.read({ onData() {}, onEnd: () => (isAtOnce ? send() : setImmediate(send)), onBroken() {} });
        },
      });
      const { client } = one;
      await one.sent(post + post);
      await client.until(() => bodies(client.received).length === 2);
      await one.sent(post);
      await client.until(() => bodies(client.received).length === 3);
      expect([one.count, one.refusals]).toEqual([3, []]);
    }
  });

  it('that its application fails on ends the connection, and the failure is told', async () => {
    await open();
    const wheel = new Wheel();
    const socket = new Duplex({ read() {} });
    const gone = once(socket, 'close');
    new ServerConnection(socket as unknown as Socket, {
      wheel,
      date: new HttpDate(),
      times: { headMs: 1, bodyMs: 1, idleMs: 1, lingerMs: 1, stuckReaderMs: 1 },
      maxHeadBytes: 1_024,
      onRequest() {
        throw new Error('a bug');
      },
      toRefusal: () => '',
      onGone() {},
    });
    expect(() => socket.emit('data', Buffer.from(question))).toThrow('a bug');
    await gone;
    expect(wheel.size).toBe(0);
    wheel.close();
  });
});

describe('requests behind one another', () => {
  it('are answered in their order, however many come at once', async () => {
    await open();
    const { client } = one;
    client.write(
      Array.from({ length: 50 }, (_, at) =>
        at % 2 === 0
          ? `GET /${at} HTTP/1.1\r\nhost: x\r\n\r\n`
          : `POST /${at} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}`,
      ).join(''),
    );
    for (let at = 0; at < 50; at++) {
      const { request, answer } = await one.next();
      expect([request.target, one.count]).toEqual([`/${at}`, at + 1]);
      await turns(1);
      expect(one.count).toBe(at + 1);
      answer.send(200, '', request.target);
    }
    await client.until(() => bodies(client.received).length === 50);
    expect(bodies(client.received)).toEqual(Array.from({ length: 50 }, (_, at) => `/${at}`));
  });

  it('are answered in their order, where each is answered at once', async () => {
    await open({ onRequest: ({ request, answer }) => answer.send(200, '', request.target) });
    const { client } = one;
    const count = 1_000;
    client.write(
      Array.from({ length: count }, (_, at) =>
        at % 2 === 0
          ? `GET /${at} HTTP/1.1\r\nhost: x\r\n\r\n`
          : `POST /${at} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}`,
      ).join(''),
    );
    await client.until(() => bodies(client.received).length === count && client.received.endsWith('/999'));
    expect(bodies(client.received)).toEqual(Array.from({ length: count }, (_, at) => `/${at}`));
  });

  it('wait until the answer before them is out, not only written', async () => {
    await open();
    const { client } = one;
    client.socket.pause();
    client.write(question + question);
    const { answer } = await one.next();
    answer.send(200, '', large);
    await turns();
    expect([answer.isEnded, answer.isOut, one.count]).toEqual([true, false, 1]);
    client.socket.resume();
    await closed(answer);
    expect([answer.isOut, one.count]).toEqual([true, 2]);
    await one.next();
  });

  it('wait until the body before them has come, though its answer is out', async () => {
    await open();
    const { client } = one;
    await one.sent('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhe');
    const { request, answer } = await one.next();
    answer.send(200, '', 'early');
    expect([answer.isOut, request.isWhole]).toEqual([true, false]);
    await one.sent('GET');
    expect([request.isWhole, one.count]).toEqual([true, 1]);
    await one.sent(question);
    (await one.next()).answer.send(200, '', 'next');
    await client.until(() => bodies(client.received).length === 2);
    expect(bodies(client.received)).toEqual(['early', 'next']);
  });

  it('wait until the answer before them is out, though its body ends only now', async () => {
    await open();
    const { client } = one;
    client.socket.pause();
    await one.sent('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhe');
    const { request, answer } = await one.next();
    request.read(new BodyRecorder());
    answer.send(200, '', large);
    await one.sent(`llo${question}`);
    expect([request.isWhole, answer.isOut, one.count]).toEqual([true, false, 1]);
    client.socket.resume();
    await closed(answer);
    expect(one.count).toBe(2);
  });

  it('may come in any pieces while they wait', async () => {
    await open();
    const { client } = one;
    await one.sent(question);
    const { answer } = await one.next();
    for (const byte of 'POST /a HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}GET /b HT') await one.sent(byte);
    expect(one.count).toBe(1);
    answer.send(200, '', '');
    const second = await one.next();
    expect(second.request.target).toBe('/a');
    second.answer.send(200, '', '');
    client.write('TP/1.1\r\n\r\n');
    expect((await one.next()).request.target).toBe('/b');
  });

  it('are read away when too many wait: the answer is the last one, and it is seen that the client leaves', async () => {
    await open();
    const { client, socket } = one;
    client.write(question.repeat(400_000));
    const { answer } = await one.next();
    while (socket.bytesRead < 1024 * 1024) await turns(1);
    answer.send(200, '', 'last');
    await client.until(() => client.received.endsWith('last'));
    expect(client.received).toContain('\r\nconnection: close\r\n');
    expect(one.count).toBe(1);
  });

  it('are read in turns, so that others come in between', async () => {
    await open();
    const { client } = one;
    let turnsPassed = 0;
    const pass = () => {
      turnsPassed++;
      if (one.count < 200) setImmediate(pass);
    };
    setImmediate(pass);
    client.write(question.repeat(200));
    for (let at = 0; at < 200; at++) (await one.next()).answer.send(200, '', String(at));
    await client.until(() => client.received.endsWith('199'));
    expect(turnsPassed).toBeGreaterThan(3);
  });

  it('are not touched by what still happens to the answer before them', async () => {
    await open();
    const { client } = one;
    client.write(question);
    const { answer } = await one.next();
    answer.send(200, '', 'first');
    client.write(question);
    const next = (await one.next()).answer;
    answer.destroy();
    next.send(200, '', 'second');
    await client.until(() => client.received.endsWith('second'));
    expect(next.isOut).toBe(true);
  });

  it('are not handed over behind an answer whose write has failed', async () => {
    await open();
    const { client, socket } = one;
    client.write(question.repeat(3));
    const { answer } = await one.next();
    const counter = new ClosedCounter(answer);
    vi.spyOn(socket, 'errored', 'get').mockReturnValue(new Error('broken pipe'));
    answer.send(200, '', 'lost');
    await turns();
    expect([answer.isOut, counter.count, one.count]).toEqual([false, 0, 1]);
    socket.destroy();
    await one.gone();
    expect([answer.isOut, counter.count, one.count]).toEqual([false, 1, 1]);
  });

  it('whose body never comes whole keep no server from ending, once they are answered', async () => {
    await open();
    const { client, connection } = one;
    await one.sent('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nabc');
    (await one.next()).answer.send(401, '', 'no');
    await client.until(() => client.received.endsWith('no'));
    connection.drain();
    await one.gone();
    expect(one.goneCount).toBe(1);
  });

  it('leave nothing behind on the connection', async () => {
    await open();
    const { client, socket } = one;
    const listeners = () => socket.eventNames().map((name) => [name, socket.listenerCount(name)]);
    const before = listeners();
    for (let round = 0; round < 1_000; round++) {
      client.received = '';
      if (round % 2 === 0) client.write(question);
      else client.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}');
      const { request, answer } = await one.next();
      if (round % 4 === 1) request.read(new BodyRecorder());
      if (round % 3 === 0) answer.send(200, '', 'ok');
      else {
        answer.begin(200, '');
        answer.write('o');
        answer.end(Buffer.from('k'));
      }
      await client.until(() => /ok$|k\r\n0\r\n\r\n$/.test(client.received));
      expect(one.wheel.size).toBe(1);
    }
    expect(listeners()).toEqual(before);
    expect(socket.timeout ?? 0).toBe(0);
  });
});

describe('a connection', () => {
  const keptHead = /\r\nconnection: keep-alive\r\nkeep-alive: timeout=60\r\n/;
  const lastHead = /\r\nconnection: close\r\n/;

  it.each([
    [true, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'],
    [true, 'GET / HTTP/1.1\r\nhost: x\r\nconnection: keep-alive\r\n\r\n'],
    [true, 'GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n'],
    [true, 'HEAD / HTTP/1.1\r\nhost: x\r\n\r\n'],
    [false, 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
    [false, 'GET / HTTP/1.0\r\n\r\n'],
    [false, 'GET / HTTP/1.0\r\nconnection: keep-alive, close\r\n\r\n'],
    [false, 'HEAD / HTTP/1.0\r\n\r\n'],
  ])('is kept: %s after %j', async (isKept, text) => {
    await open();
    const { client } = one;
    client.write(text);
    const { answer } = await one.next();
    answer.send(200, '', text.startsWith('HEAD') ? '' : 'ok');
    if (isKept) {
      client.write(question);
      (await one.next()).answer.send(200, '', 'next');
      await client.until(() => client.received.endsWith('next'));
      expect(client.received).toMatch(keptHead);
      expect(client.received).not.toMatch(lastHead);
    } else {
      await client.until(() => client.isEnded);
      await one.gone();
      expect(client.received).toMatch(lastHead);
      expect(client.received).not.toContain('keep-alive');
    }
  });

  it('that is not kept reads nothing behind the request', async () => {
    await open();
    const { client } = one;
    client.write(`GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n${question}garbage`);
    const { answer } = await one.next();
    answer.send(200, '', 'last');
    await one.gone();
    expect([one.count, one.refusals]).toEqual([1, []]);
  });

  it('is ended by an answer that is the last, whatever the client asked for', async () => {
    await open();
    const { client } = one;
    client.write(question);
    const { answer } = await one.next();
    answer.isLast = true;
    answer.send(200, '', 'last');
    await client.until(() => client.isEnded);
    expect(client.received).toMatch(lastHead);
    expect(bodies(client.received)).toEqual(['last']);
  });
});

describe('what never becomes a request', () => {
  it.each([
    ['malformed', 'garbage', 'garbage\r\n\r\n'],
    ['malformed', 'the begin of TLS', '\x16\x03\x01\0\xa5\x01\0\r\n\r\n'],
    ['malformed', 'bare line feeds', 'GET / HTTP/1.1\nhost: x\n\r\n\r\n'],
    ['malformed', 'an unclear header', 'GET / HTTP/1.1\r\nhost : x\r\n\r\n'],
    [
      'malformed',
      'an unclear body',
      'POST / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
    ],
    ['tunnel', 'CONNECT', 'CONNECT a.example:443 HTTP/1.1\r\nhost: a.example:443\r\n\r\n'],
    ['head-too-long', 'a long header', `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`],
  ] as const)('is refused as %s: %s', async (why, _, text) => {
    await open();
    const { client } = one;
    client.write(text);
    await client.until(() => client.isEnded);
    expect(client.received).toMatch(new RegExp(`^HTTP/1.1 400 ${why}\r\n.*\r\n\r\n$`, 's'));
    client.socket.end();
    await one.gone();
    expect([one.count, one.refusals]).toEqual([0, [why]]);
  });

  it.each([
    ['another protocol that greets', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['the first bytes of TLS', '\x16\x03\x01\x02'],
    ['a line of JSON', '{"jsonrpc":"2.0"}\n'],
    ['HTTP/0.9', 'GET /\r\n'],
    ['HTTP/2', 'PRI * HTTP/2'],
    ['a version of another case', 'GET / http'],
    ['a second space', 'GET  '],
    ['a space behind the version', 'GET / HTTP/1.1 '],
    ['a bare line feed behind the request line', 'GET / HTTP/1.1\n'],
    ['a bare carriage return behind the request line', 'GET / HTTP/1.1\rh'],
    ['a bare line feed in a header', 'GET / HTTP/1.1\r\nhost: x\n'],
    ['a bare carriage return in a header', 'GET / HTTP/1.1\r\nhost: x\ry'],
    ['a control character in a header', 'GET / HTTP/1.1\r\nhost: \x01'],
    ['a NUL in a name', 'GET / HTTP/1.1\r\nho\0'],
  ])('is refused before its end, where nothing can make a head of it: %s', async (_, text) => {
    for (const piece of [text.length, 1, 3]) {
      if (piece < text.length) await one.close();
      await open();
      for (let at = 0; at < text.length; at += piece) {
        expect(one.refusals).toEqual([]);
        await one.sent(text.slice(at, at + piece));
        if (one.refusals.length > 0) break;
      }
      expect([one.count, one.refusals]).toEqual([0, ['malformed']]);
      await one.client.until(() => one.client.isEnded);
    }
  });

  it('is refused behind the answer to what came before it', async () => {
    await open();
    const { client } = one;
    client.write(`${question}garbage\r\n\r\n`);
    const { answer } = await one.next();
    await turns();
    expect(one.refusals).toEqual([]);
    answer.send(200, '', 'first');
    await client.until(() => client.isEnded);
    expect(client.received).toMatch(/first(?=HTTP\/1\.1 400 malformed\r\n)/);
    expect(one.refusals).toEqual(['malformed']);
  });

  it('is told why, though its client still sends', async () => {
    await open();
    const { client, socket } = one;
    client.write('garbage\r\n\r\n');
    await client.until(() => client.isEnded);
    // All of it is read away: nothing that waits in the system makes a reset of the end.
    await one.sent('x'.repeat(4 * 1024 * 1024));
    expect(socket.destroyed).toBe(false);
    expect(client.received).toMatch(/^HTTP\/1.1 400 malformed/);
    await one.sent(question);
    expect(one.count).toBe(0);
    client.socket.end();
    await one.gone();
    expect(one.refusals).toEqual(['malformed']);
  });

  it('is given up after a moment, where its client does not stop sending', async () => {
    await open({ times: { lingerMs: 1_000 } });
    const { client, socket } = one;
    client.write('garbage\r\n\r\n');
    await client.until(() => client.isEnded);
    await one.sent('more');
    one.pass(1_249);
    expect(socket.destroyed).toBe(false);
    one.pass(1);
    expect(socket.destroyed).toBe(true);
    await one.gone();
  });
});

describe('a head', () => {
  const limit = 2_000;
  const toHead = (length: number) => {
    const begin = 'GET / HTTP/1.1\r\nx: ';
    return `${begin}${'y'.repeat(length - begin.length)}\r\n\r\n`;
  };

  it.each([
    ['whole', limit * 2],
    ['in two pieces', limit / 2],
    ['in many', 100],
    ['byte by byte', 1],
  ])('that is too long is refused, where it comes %s', async (_, piece) => {
    await open({ maxHeadBytes: limit });
    const { client } = one;
    const fits = toHead(limit - 4);
    for (let at = 0; at < fits.length; at += piece) await one.sent(fits.slice(at, at + piece));
    (await one.next()).answer.send(200, '', '');
    const over = toHead(limit);
    for (let at = 0; at < over.length && one.refusals.length === 0; at += piece)
      await one.sent(over.slice(at, at + piece));
    expect([one.count, one.refusals]).toEqual([1, ['head-too-long']]);
    await client.until(() => client.received.includes('400 head-too-long'));
  });

  it('without an end is refused when it is too long, not when it ends', async () => {
    await open({ maxHeadBytes: limit });
    const { client } = one;
    client.write(`GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(limit)}`);
    await client.until(() => client.isEnded);
    expect(one.refusals).toEqual(['head-too-long']);
  });

  it('may be followed by a body that is longer than a head may be', async () => {
    await open({ maxHeadBytes: limit, onRequest: echo });
    const { client } = one;
    const body = 'z'.repeat(limit * 3);
    client.write(`POST / HTTP/1.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    await client.until(() => client.received.endsWith(']'));
    expect(JSON.parse(bodies(client.received)[0]!)[3]).toBe(body);
  });
});
