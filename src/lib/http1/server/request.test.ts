import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import {
  BodyRecorder,
  ClosedCounter,
  type ConnectionSetup,
  type OneConnection,
  openConnection,
} from '../../../../test/support/one-request.ts';
import { turns } from '../../../../test/support/raw-server.ts';
import type { ServerRequest } from './request.ts';

let one: OneConnection;
async function open(setup?: ConnectionSetup): Promise<void> {
  one = await openConnection(setup);
}
afterEach(async () => {
  await one.close();
  expect(one.wheel.size).toBe(0);
});

const mebibyte = 1024 * 1024;
/** What is read at most of a body that nobody wants: what may wait, and two reads. */
const mostUnread = 256 * 1024;

const question = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const post = (...fields: string[]) => `POST / HTTP/1.1\r\nhost: x\r\n${fields.join('\r\n')}\r\n\r\n`;
const toChunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

function read(request: ServerRequest): BodyRecorder {
  const sink = new BodyRecorder();
  request.read(sink);
  return sink;
}

describe('a body', () => {
  it.each([
    ['by its length', post('content-length: 5'), 'hello'],
    ['by chunks', post('transfer-encoding: chunked'), '2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\n\r\n'],
  ])('flows to its reader as it comes, delimited %s', async (_, head, body) => {
    await open();
    await one.sent(head + body.slice(0, 4));
    const { request, answer } = await one.next();
    const sink = read(request);
    expect(sink.events).toEqual(['data']);
    await one.sent(body.slice(4));
    expect([sink.body, sink.ends]).toEqual(['hello', ['end']]);
    expect(request.isWhole).toBe(true);
    answer.send(200, '', '');
  });

  it('comes in one piece with its head', async () => {
    await open();
    await one.sent(`${post('content-length: 5')}hello`);
    const { request } = await one.next();
    expect(request.isWhole).toBe(false);
    expect(read(request)).toMatchObject({ body: 'hello', events: ['data', 'end'] });
  });

  it('comes to a reader that was there at once', async () => {
    const sink = new BodyRecorder();
    await open({ onRequest: ({ request }) => request.read(sink) });
    one.client.write(`${post('transfer-encoding: chunked')}${toChunk('hel')}${toChunk('lo')}0\r\n\r\n`);
    await sink.over();
    expect([sink.body, sink.events]).toEqual(['hello', ['data', 'end']]);
  });

  it('of nothing has an end, and no piece', async () => {
    await open();
    await one.sent(question);
    const { request, answer } = await one.next();
    expect([request.isWhole, request.length]).toEqual([true, 0]);
    expect(read(request).events).toEqual(['end']);
    // Nobody has to read it either.
    answer.send(200, '', '');
    await one.sent(post('transfer-encoding: chunked'));
    expect((await one.next()).request.length).toBeUndefined();
  });

  it('belongs to its reader, and is not written over by what follows', async () => {
    const sink = new BodyRecorder();
    await open({ onRequest: ({ request }) => request.read(sink) });
    const pieces = Array.from({ length: 200 }, (_, at) => `${at};`.repeat(100));
    await one.sent(post('transfer-encoding: chunked'));
    for (const piece of pieces) await one.sent(toChunk(piece));
    await one.sent('0\r\n\r\n');
    expect(sink.body).toBe(pieces.join(''));
    expect(sink.ends).toEqual(['end']);
  });

  it.each([
    ['length', post(`content-length: ${32 * mebibyte}`), 'x'.repeat(32 * mebibyte)],
    ['chunks', post('transfer-encoding: chunked'), `${toChunk('x'.repeat(64 * 1024)).repeat(512)}0\r\n\r\n`],
  ])('that nobody reads waits where it is, and flows once it is read (%s)', async (_, head, body) => {
    await open();
    const { client, socket } = one;
    const paused = once(socket, 'pause');
    client.write(head + body);
    const { request } = await one.next();
    await paused;
    await turns(20);
    expect(socket.bytesRead).toBeLessThan(mostUnread);
    expect(client.socket.writableLength).toBeGreaterThan(mebibyte);
    const sink = await read(request).over();
    expect([sink.length, sink.ends]).toEqual([32 * mebibyte, ['end']]);
    expect(socket.bytesRead).toBe(client.socket.bytesWritten);
  });

  it('stops while its reader has paused, beyond what one read has brought', async () => {
    await open();
    const { client, socket } = one;
    client.write(post(`content-length: ${8 * mebibyte}`) + 'x'.repeat(8 * mebibyte));
    const { request } = await one.next();
    const sink = read(request);
    for (let round = 0; round < 5; round++) {
      await sink.until(() => sink.length > round * 512 * 1024);
      request.pause();
      request.pause();
      const { length } = sink;
      await turns(20);
      expect([request.isPaused, socket.isPaused(), sink.length]).toEqual([true, true, length]);
      request.resume();
      request.resume();
    }
    await sink.over();
    expect([sink.length, sink.ends]).toEqual([8 * mebibyte, ['end']]);
  });

  it('that is paused from within a piece waits behind it', async () => {
    await open();
    const { client, socket } = one;
    const sink = new BodyRecorder();
    const take = sink.onData.bind(sink);
    sink.onData = (piece) => {
      take(piece);
      request.pause();
    };
    client.write(post(`content-length: ${8 * mebibyte}`) + 'x'.repeat(8 * mebibyte));
    const { request } = await one.next();
    request.read(sink);
    await turns(20);
    expect([sink.events, socket.isPaused()]).toEqual([['data'], true]);
    sink.onData = take;
    request.resume();
    await sink.over();
    expect([sink.length, sink.ends]).toEqual([8 * mebibyte, ['end']]);
  });

  it('that is paused and resumed from within a piece flows on', async () => {
    const sink = new BodyRecorder();
    const take = sink.onData.bind(sink);
    await open({
      onRequest({ request }) {
        sink.onData = (piece) => {
          take(piece);
          request.pause();
          request.resume();
        };
        request.read(sink);
      },
    });
    one.client.write(post(`content-length: ${mebibyte}`) + 'x'.repeat(mebibyte));
    await sink.over();
    expect([sink.length, sink.ends]).toEqual([mebibyte, ['end']]);
  });

  it('that was paused before anybody read it waits for both', async () => {
    await open();
    await one.sent(`${post('content-length: 5')}hello`);
    const { request } = await one.next();
    request.pause();
    const sink = read(request);
    await turns();
    expect(sink.events).toEqual([]);
    request.resume();
    expect(sink.events).toEqual(['data', 'end']);
  });

  it('is at its end though its last piece was too much: the next request is found', async () => {
    await open();
    const sink = new BodyRecorder();
    await one.sent(`${post('content-length: 5')}hello${question}`);
    const { request, answer } = await one.next();
    sink.onData = () => request.pause();
    request.read(sink);
    expect([request.isWhole, request.isPaused, sink.ends]).toEqual([true, false, ['end']]);
    request.pause();
    expect(request.isPaused).toBe(false);
    answer.send(200, '', '');
    (await one.next()).answer.send(200, '', '');
  });

  it('whose last piece was too much does not hide that the client leaves', async () => {
    const sink = new BodyRecorder();
    await open({
      onRequest({ request }) {
        sink.onData = () => request.pause();
        request.read(sink);
      },
    });
    await one.sent(`${post('content-length: 5')}hello`);
    expect([sink.ends, one.socket.isPaused()]).toEqual([['end'], false]);
    one.client.socket.destroy();
    await one.gone();
  });

  it('that was read is at its end for whoever reads it again', async () => {
    await open();
    await one.sent(`${post('content-length: 5')}hello`);
    const { request } = await one.next();
    read(request);
    expect(read(request).events).toEqual(['end']);
    let overs = 0;
    request.discard(() => overs++);
    expect(overs).toBe(1);
  });
});

describe('a body that nobody wants', () => {
  it.each([
    ['that has come', `${post('content-length: 5')}hello`],
    ['in chunks', `${post('transfer-encoding: chunked')}${toChunk('hello')}0\r\nx: y\r\n\r\n`],
    ['with a request in it', `${post(`content-length: ${question.length}`)}${question}`],
  ])('%s is read away, and the connection is kept', async (_, text) => {
    await open();
    const { client } = one;
    await one.sent(text);
    (await one.next()).answer.send(200, '', 'first');
    await one.sent('GET /next HTTP/1.1\r\nhost: x\r\n\r\n');
    const next = await one.next();
    expect(next.request.target).toBe('/next');
    next.answer.send(200, '', 'second');
    await client.until(() => client.received.endsWith('second'));
    expect(client.received.match(/connection: keep-alive/g)).toHaveLength(2);
    expect(one.count).toBe(2);
  });

  it('is read away though it is still to come, and though it is paused', async () => {
    await open();
    const { client } = one;
    client.write(post(`content-length: ${4 * mebibyte}`));
    const { request, answer } = await one.next();
    const sink = read(request);
    client.write('x'.repeat(2 * mebibyte));
    await sink.until(() => sink.length > 0);
    request.pause();
    answer.send(200, '', '');
    client.write('x'.repeat(2 * mebibyte) + question);
    await one.next();
    // Who has paused it hears no more of it.
    expect(sink.ends).toEqual([]);
  });

  it('flows on to its reader, though the answer is out', async () => {
    await open();
    const { client } = one;
    await one.sent(`${post('content-length: 10')}hello`);
    const { request, answer } = await one.next();
    const sink = read(request);
    answer.send(200, '', 'early');
    client.write(`world${question}`);
    await one.next();
    expect([sink.body, sink.ends]).toEqual(['helloworld', ['end']]);
  });

  it.each([
    ['at its end', (rest: string) => one.sent(rest)],
    ['when the client leaves', async () => void one.client.socket.destroy()],
  ])('tells when it is over: %s', async (_, finish) => {
    await open();
    await one.sent(`${post('content-length: 10')}hello`);
    const { request } = await one.next();
    let overs = 0;
    const over = new Promise<void>((resolve) =>
      request.discard(() => {
        overs++;
        resolve();
      }),
    );
    await turns();
    expect(overs).toBe(0);
    await finish('world');
    await over;
    await one.close();
    expect(overs).toBe(1);
  });
});

describe('a client that waits to be told to send its body', () => {
  const waiting = (...fields: string[]) => post('expect: 100-continue', ...fields);
  const invitation = 'HTTP/1.1 100 Continue\r\n\r\n';

  it('is told when it is read', async () => {
    await open();
    const { client } = one;
    client.write(waiting('content-length: 5'));
    const { request, answer } = await one.next();
    await turns();
    expect(client.received).toBe('');
    const sink = read(request);
    await client.until(() => client.received === invitation);
    await one.sent('hello');
    await sink.over();
    answer.send(200, '', 'ok');
    await client.until(() => client.received.endsWith('ok'));
    expect(client.received.slice(invitation.length)).toMatch(
      /^HTTP\/1\.1 200 OK\r\n.*connection: keep-alive/s,
    );
    await one.sent(question);
    expect(one.count).toBe(2);
  });

  it('is told though it did not wait, and its body is read', async () => {
    await open();
    const { client } = one;
    await one.sent(`${waiting('transfer-encoding: chunked')}${toChunk('hello')}0\r\n\r\n`);
    const { request, answer } = await one.next();
    expect(read(request)).toMatchObject({ body: 'hello', ends: ['end'] });
    answer.send(200, '', 'ok');
    await client.until(() => client.received.endsWith('ok'));
    expect(client.received.startsWith(invitation)).toBe(true);
    await one.sent(question);
    expect(one.count).toBe(2);
  });

  it.each(['answered', 'discarded'])('is not told where its body is not wanted: it is %s', async (way) => {
    await open();
    const { client } = one;
    client.write(waiting('content-length: 5'));
    const { request, answer } = await one.next();
    if (way === 'discarded') request.discard();
    answer.send(413, '', 'too large');
    await client.until(() => client.isEnded);
    expect(client.received).toMatch(/^HTTP\/1\.1 413 .*\r\nconnection: close\r\n.*too large$/s);
    await one.gone();
    // What it may send, or not, is never taken for a request.
    expect([one.count, one.refusals]).toEqual([1, []]);
  });

  it('and has sent it all the same is kept', async () => {
    await open();
    await one.sent(`${waiting('content-length: 5')}hello`);
    const { request, answer } = await one.next();
    request.discard();
    expect(request.isWhole).toBe(true);
    answer.send(200, '', '');
    await one.sent(question);
    expect(one.count).toBe(2);
  });

  it('is kept once it was told, though its answer does not wait for all of the body', async () => {
    await open();
    const { client } = one;
    client.write(waiting('content-length: 5'));
    const { request, answer } = await one.next();
    read(request);
    answer.send(200, '', 'early');
    await client.until(() => client.received.endsWith('early'));
    expect(client.received).toContain('\r\nconnection: keep-alive\r\n');
    await one.sent(`hello${question}`);
    expect(one.count).toBe(2);
  });

  it('owes nothing to the next one, which does not wait', async () => {
    await open();
    const { client } = one;
    await one.sent(`${waiting('content-length: 5')}hello`);
    const first = await one.next();
    first.request.discard();
    first.answer.send(200, '', 'first');
    await one.sent(post('content-length: 5'));
    (await one.next()).answer.send(200, '', 'second');
    await client.until(() => client.received.endsWith('second'));
    expect(client.received.match(/connection: keep-alive/g)).toHaveLength(2);
    await one.sent(`hello${question}`);
    expect(one.count).toBe(3);
  });

  it('in HTTP/1.0 does not know of it, and is not told', async () => {
    await open();
    const { client } = one;
    client.write('POST / HTTP/1.0\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n');
    const { request, answer } = await one.next();
    read(request);
    await one.sent('hello');
    answer.send(200, '', 'ok');
    await one.gone();
    await client.until(() => client.isEnded);
    expect(client.received).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('is told once, however its reader goes on', async () => {
    await open();
    const { client } = one;
    client.write(waiting('content-length: 5'));
    const { request } = await one.next();
    read(request);
    request.pause();
    request.resume();
    await one.sent('he');
    request.discard();
    await one.sent('llo');
    expect([request.isWhole, client.received]).toEqual([true, invitation]);
  });
});

describe('a body that is no HTTP', () => {
  const broken = `${post('transfer-encoding: chunked')}${toChunk('hello')}`;

  it.each(['x\r\n', '-1\r\n', '0x1\r\n', '5\nhello', '1\r\nhello\r\n', '0\r\ncontent-length: 3\r\n\r\n'])(
    'breaks, and can still be answered: %j',
    async (garbage) => {
      await open();
      const { client } = one;
      await one.sent(broken);
      const { request, answer } = await one.next();
      const counter = new ClosedCounter(answer);
      const sink = read(request);
      await one.sent(garbage + question);
      expect([sink.ends, request.isWhole]).toEqual([['malformed'], false]);
      expect(sink.body.startsWith('hello')).toBe(true);
      await turns();
      answer.send(400, '', 'no HTTP');
      expect([answer.isOut, counter.count]).toEqual([true, 1]);
      await client.until(() => client.isEnded);
      expect(client.received).toMatch(/^HTTP\/1\.1 400 .*\r\nconnection: close\r\n.*no HTTP$/s);
      await one.gone();
      // Nothing behind it is taken for a request.
      expect([one.count, one.refusals, counter.count]).toEqual([1, [], 1]);
    },
  );

  it('can be answered from within, and in one piece with its head', async () => {
    await open({
      onRequest: ({ request, answer }) =>
        request.read({ onData() {}, onEnd() {}, onBroken: (why) => answer.send(400, '', why) }),
    });
    const { client } = one;
    client.write(`${broken}garbage`);
    await client.until(() => client.isEnded);
    expect(client.received).toMatch(/^HTTP\/1\.1 400 .*\r\nconnection: close\r\n.*malformed$/s);
  });

  it('is told to who reads it later, or discards it', async () => {
    await open();
    await one.sent(`${broken}garbage`);
    const { request } = await one.next();
    expect(read(request).ends).toEqual(['malformed']);
    expect(read(request).events).toEqual(['malformed']);
    let overs = 0;
    request.discard(() => overs++);
    expect(overs).toBe(1);
  });

  it('ends the connection where the answer is out already', async () => {
    await open();
    const { client } = one;
    await one.sent(broken);
    const { answer } = await one.next();
    const counter = new ClosedCounter(answer);
    answer.send(200, '', 'early');
    await one.sent('garbage');
    await client.until(() => client.isEnded);
    await one.gone();
    expect([counter.count, client.received.endsWith('early'), one.refusals]).toEqual([1, true, []]);
  });

  it('ends the connection with the answer that is on its way', async () => {
    await open();
    const { client } = one;
    const large = Buffer.alloc(16 * mebibyte, 'y');
    client.socket.pause();
    await one.sent(broken);
    const { request, answer } = await one.next();
    const counter = new ClosedCounter(answer);
    const sink = read(request);
    answer.send(200, '', large);
    await one.sent('garbage');
    expect([sink.ends, answer.isOut]).toEqual([['malformed'], false]);
    client.socket.resume();
    await counter.first();
    await client.until(() => client.isEnded);
    expect([answer.isOut, client.received.endsWith('yyy')]).toEqual([true, true]);
    expect(client.received.length).toBeGreaterThan(large.length);
    await one.gone();
    expect(counter.count).toBe(1);
  });
});
