import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ClosedCounter,
  type ConnectionSetup,
  closed,
  type OneConnection,
  openConnection,
} from '../../../../test/support/one-request.ts';
import { turns } from '../../../../test/support/raw-server.ts';
import type { ServerAnswer } from './answer.ts';

let one: OneConnection;
async function open(setup?: ConnectionSetup): Promise<void> {
  one = await openConnection(setup);
}
afterEach(async () => {
  await one.close();
  expect(one.wheel.size).toBe(0);
});

const question = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const kibibyte64 = 'x'.repeat(64 * 1024);
/** More than the system's own buffers hold. */
const large = Buffer.alloc(16 * 1024 * 1024, 'x');

async function ask(text = question): Promise<ServerAnswer> {
  await open();
  one.client.write(text);
  return (await one.next()).answer;
}

/** What comes to the client until this is its end: the head, and the body as latin1. */
async function received(end: string): Promise<[head: string, body: string]> {
  const { client } = one;
  await client.until(() => client.received.endsWith(end));
  const at = client.received.indexOf('\r\n\r\n') + 4;
  return [client.received.slice(0, at), client.received.slice(at)];
}

/** The writes that go to the system, by their names. */
function watchWrites(): string[] {
  const writes: string[] = [];
  const { _handle: handle } = one.socket as unknown as {
    _handle: Record<string, (...args: never[]) => unknown>;
  };
  for (const name of ['writeBuffer', 'writeLatin1String', 'writeUtf8String', 'writeAsciiString', 'writev']) {
    const write = handle[name]!;
    handle[name] = (...args: never[]) => {
      writes.push(name);
      return write.apply(handle, args);
    };
  }
  return writes;
}

describe('a whole answer', () => {
  it.each([
    ['ASCII', 'hello', 'hello'],
    ['nothing', '', ''],
    ['letters of latin-1', 'h\xe4', 'h\xc3\xa4'],
    ['letters beyond', 'ключ 🔑', Buffer.from('ключ 🔑').toString('latin1')],
    ['bytes', Buffer.from([0, 13, 10, 255]), '\0\r\n\xff'],
    ['no bytes', Buffer.alloc(0), ''],
  ])('says its length, and leaves in one write: %s', async (_, body, expected) => {
    const answer = await ask();
    const writes = watchWrites();
    answer.send(200, 'x-text: \xfc\r\n', body);
    expect([answer.isOut, answer.isEnded, answer.status]).toEqual([true, true, 200]);
    expect(writes).toHaveLength(1);
    const [head, told] = await received(expected === '' ? '\r\n\r\n' : expected);
    expect(told).toBe(expected);
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\nx-text: \xfc\r\ndate: [^\r]* GMT\r\n/);
    expect(head).toMatch(new RegExp(`\r\ncontent-length: ${expected.length}\r\n`));
    expect(head).not.toContain('transfer-encoding');
  });

  it.each([204, 304])('of %i has neither a body nor a length', async (status) => {
    const answer = await ask();
    answer.send(status, '', 'ignored');
    one.client.write(question);
    (await one.next()).answer.send(200, '', 'next');
    const [head, rest] = await received('next');
    expect(head).not.toContain('content-length');
    expect(rest).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('to HEAD says the length of the body that it leaves out', async () => {
    const answer = await ask('HEAD / HTTP/1.1\r\nhost: x\r\n\r\n');
    answer.send(200, '', 'hellö');
    one.client.write(question);
    (await one.next()).answer.send(200, '', 'next');
    const [head, rest] = await received('next');
    expect(head).toContain('\r\ncontent-length: 6\r\n');
    expect(rest).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('in more bytes than the system takes at once is out when the last one is', async () => {
    const answer = await ask();
    const { client } = one;
    const counter = new ClosedCounter(answer);
    client.socket.pause();
    answer.send(200, '', large);
    await turns();
    expect([answer.isEnded, answer.isOut, counter.count]).toEqual([true, false, 0]);
    expect(answer.waitingBytes).toBeGreaterThan(0);
    client.socket.resume();
    await client.until(() => client.received.length > large.length);
    while (!answer.isOut) await turns(1);
    expect([counter.count, answer.waitingBytes]).toEqual([1, 0]);
    await turns();
    expect([counter.count, one.wheel.size]).toEqual([1, 1]);
  });
});

describe('an answer in pieces', () => {
  it('is sent in chunks: the head leaves with the first of them, the end with the last', async () => {
    const answer = await ask();
    const writes = watchWrites();
    answer.begin(200, 'x-text: a\r\n');
    expect([answer.isBegun, answer.status, writes.length]).toEqual([true, 200, 0]);
    answer.write('hello');
    expect(writes).toHaveLength(1);
    const [head] = await received('5\r\nhello\r\n');
    expect(head).toContain('\r\nx-text: a\r\n');
    expect(head).toContain('\r\ntransfer-encoding: chunked\r\n');
    expect(head).toContain('\r\nconnection: keep-alive\r\n');
    expect(head).not.toContain('content-length');
    answer.end('x'.repeat(26));
    expect([writes.length, answer.isOut]).toEqual([2, true]);
    const [, body] = await received('0\r\n\r\n');
    expect(body).toBe(`5\r\nhello\r\n1a\r\n${'x'.repeat(26)}\r\n0\r\n\r\n`);
  });

  it('takes strings as latin1 and buffers as they are, each in one write', async () => {
    const answer = await ask();
    const writes = watchWrites();
    answer.begin(200, '');
    answer.write('\x80\xa0\xfc\xff\r\n');
    answer.write(Buffer.from('ü'));
    answer.end(Buffer.from([0, 255]));
    expect(writes).toHaveLength(3);
    const [, body] = await received('0\r\n\r\n');
    expect(body).toBe('6\r\n\x80\xa0\xfc\xff\r\n\r\n2\r\n\xc3\xbc\r\n2\r\n\0\xff\r\n0\r\n\r\n');
  });

  it.each([
    ['nothing at all', () => {}],
    [
      'pieces of nothing, which would end it',
      (answer: ServerAnswer) => void [answer.write(''), answer.write(Buffer.alloc(0))],
    ],
  ])('may hold %s', async (_, write) => {
    const answer = await ask();
    const writes = watchWrites();
    answer.begin(200, '');
    write(answer);
    expect(writes).toHaveLength(0);
    answer.end();
    expect([writes.length, answer.isOut]).toEqual([1, true]);
    expect(await received('0\r\n\r\n')).toEqual([expect.stringContaining('chunked'), '0\r\n\r\n']);
  });

  it('is over at its end, whatever is written behind it', async () => {
    const answer = await ask();
    const counter = new ClosedCounter(answer);
    answer.begin(200, '');
    answer.end('a');
    answer.end('b');
    expect(answer.write('c')).toBe(true);
    one.client.write(question);
    (await one.next()).answer.send(200, '', 'next');
    const [, body] = await received('next');
    expect(body).toMatch(/^1\r\na\r\n0\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    expect(counter.count).toBe(1);
  });

  it('to HTTP/1.0 ends with the connection', async () => {
    const answer = await ask('GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n');
    answer.begin(200, '');
    answer.write('hel');
    answer.end(Buffer.from('lo'));
    await one.client.until(() => one.client.isEnded);
    const [head, body] = await received('lo');
    expect(body).toBe('hello');
    expect(head).toContain('\r\nconnection: close\r\n');
    expect(head).not.toMatch(/transfer-encoding|content-length|keep-alive/);
  });

  it.each(['1.1', '1.0'])('to HEAD in HTTP/%s is a head', async (version) => {
    const answer = await ask(`HEAD / HTTP/${version}\r\nhost: x\r\nconnection: keep-alive\r\n\r\n`);
    answer.begin(200, '');
    expect(answer.write('hello')).toBe(true);
    answer.end('world');
    one.client.write(question);
    (await one.next()).answer.send(200, '', 'next');
    const [head, rest] = await received('next');
    expect(head).not.toMatch(/transfer-encoding|content-length/);
    expect(rest).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('to HEAD says the length that its body would have', async () => {
    const answer = await ask('HEAD / HTTP/1.1\r\nhost: x\r\n\r\n');
    answer.begin(200, '', 1_000);
    answer.end();
    expect(answer.isOut).toBe(true);
    const [head] = await received('\r\n\r\n');
    expect(head).toContain('\r\ncontent-length: 1000\r\n');
  });

  it.each([204, 304])('of %i is a head', async (status) => {
    const answer = await ask();
    answer.begin(status, '');
    answer.write('hello');
    answer.end('world');
    one.client.write(question);
    (await one.next()).answer.send(200, '', 'next');
    const [head, rest] = await received('next');
    expect(head).not.toMatch(/transfer-encoding|content-length/);
    expect(rest).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

describe('an answer whose length was said', () => {
  it('is sent as it is', async () => {
    const answer = await ask();
    answer.begin(200, '', 10);
    answer.write('hel');
    answer.write(Buffer.from('lo'));
    answer.end('wörld'.slice(0, 5));
    expect(answer.isOut).toBe(true);
    const [head, body] = await received('rld');
    expect(body).toBe('hellow\xf6rld');
    expect(head).toContain('\r\ncontent-length: 10\r\n');
    expect(head).not.toContain('chunked');
  });

  it('may be nothing', async () => {
    const answer = await ask();
    answer.begin(200, '', 0);
    answer.end();
    expect(answer.isOut).toBe(true);
    const [head] = await received('\r\n\r\n');
    expect(head).toContain('\r\ncontent-length: 0\r\n');
  });

  it.each([
    ['longer, in a piece', (answer: ServerAnswer) => void answer.write('helloworld')],
    ['longer, at its end', (answer: ServerAnswer) => answer.end('helloworld')],
    ['longer by one', (answer: ServerAnswer) => void [answer.write('hello'), answer.write('!')]],
    ['shorter', (answer: ServerAnswer) => answer.end('hell')],
    ['nothing', (answer: ServerAnswer) => answer.end()],
  ])('breaks off where it is %s, and is told once', async (_, write) => {
    const answer = await ask(question + question);
    const counter = new ClosedCounter(answer);
    answer.begin(200, '', 5);
    write(answer);
    await one.gone();
    await one.client.until(() => one.client.isEnded || one.client.isClosed);
    expect([answer.isGone, answer.isOut, counter.count, one.count]).toEqual([true, false, 1, 1]);
    const { received: text } = one.client;
    expect(text.slice(text.indexOf('\r\n\r\n') + 4).length).toBeLessThanOrEqual(5);
  });
});

describe('a slow reader', () => {
  it('makes what is written wait, and there is room once it has read', async () => {
    const answer = await ask();
    const { client } = one;
    client.socket.pause();
    answer.begin(200, '');
    expect(answer.write('a few')).toBe(true);
    expect(answer.write(large)).toBe(false);
    let rooms = 0;
    const room = new Promise<void>((resolve) =>
      answer.onRoom(() => {
        rooms++;
        resolve();
      }),
    );
    await turns(20);
    expect(rooms).toBe(0);
    expect(answer.waitingBytes).toBeGreaterThanOrEqual(large.length);
    client.socket.resume();
    await room;
    expect(answer.waitingBytes).toBe(0);
    answer.end('last');
    const [, body] = await received('4\r\nlast\r\n0\r\n\r\n');
    expect(body.length).toBe(`5\r\na few\r\n1000000\r\n\r\n4\r\nlast\r\n0\r\n\r\n`.length + large.length);
    await turns();
    expect(rooms).toBe(1);
  });

  it('has room once for each time that it was asked for', async () => {
    const answer = await ask();
    const { client } = one;
    const rooms: number[] = [];
    answer.begin(200, '');
    for (let round = 0; round < 3; round++) {
      client.socket.pause();
      while (answer.write(kibibyte64));
      const drained = once(one.socket, 'drain');
      // Nobody asks the second time.
      if (round !== 1) answer.onRoom(() => rooms.push(round));
      client.received = '';
      client.socket.resume();
      await drained;
    }
    expect(rooms).toEqual([0, 2]);
    answer.end();
    await received('0\r\n\r\n');
  });

  it('of one answer has its time of its own: none is left for the next one', async () => {
    const answer = await ask();
    const { client, wheel } = one;
    client.socket.pause();
    answer.send(200, '', large);
    while (wheel.size === 0) await turns(1);
    client.socket.resume();
    await closed(answer);
    client.received = '';
    client.write(question);
    const next = (await one.next()).answer;
    expect(wheel.size).toBe(0);
    one.pass(100_000);
    expect(next.isGone).toBe(false);
    next.send(200, '', 'next');
    await received('next');
  });

  it('is not taken for gone because of what it sends meanwhile', async () => {
    const answer = await ask();
    const { client } = one;
    client.socket.pause();
    answer.begin(200, '');
    while (answer.write(kibibyte64));
    for (let second = 0; second < 31; second++) {
      await one.sent('G');
      one.pass(1_000);
    }
    expect(answer.isGone).toBe(true);
    await one.gone();
  });

  it('counts as gone when it takes nothing, and only then', async () => {
    const answer = await ask();
    const { client } = one;
    const counter = new ClosedCounter(answer);
    client.socket.pause();
    answer.begin(200, '');
    one.pass(40_000);
    expect(answer.isGone).toBe(false);
    while (answer.write(kibibyte64));
    one.pass(30_000);
    expect(answer.isGone).toBe(false);
    one.pass(500);
    expect(answer.isGone).toBe(true);
    await one.gone();
    expect([answer.isOut, counter.count]).toEqual([false, 1]);
  });
});

describe('an answer that breaks off', () => {
  it('is seen by its reader, and told once', async () => {
    const answer = await ask();
    const told: string[] = [];
    answer.watch({ onClosed: () => told.push('closed') });
    answer.onLost(() => told.push('lost'));
    answer.begin(200, '');
    answer.write('hello');
    await received('5\r\nhello\r\n');
    answer.destroy();
    answer.destroy();
    await one.gone();
    await one.client.until(() => one.client.isEnded || one.client.isClosed);
    expect(one.client.received).not.toContain('0\r\n\r\n');
    expect(told).toEqual(['closed', 'lost']);
    expect([answer.isOut, answer.isEnded]).toEqual([false, true]);
  });

  it('takes nothing more, and complains of nothing', async () => {
    const answer = await ask();
    const over = closed(answer);
    answer.destroy();
    await over;
    answer.begin(200, '');
    expect([answer.isBegun, answer.write('a')]).toEqual([false, true]);
    answer.end('b');
    answer.send(200, '', 'c');
    expect([answer.isBegun, answer.isOut]).toEqual([false, false]);
    const told: string[] = [];
    answer.onLost(() => told.push('lost'));
    expect(told).toEqual([]);
    await turns(1);
    expect(told).toEqual(['lost']);
  });
});
