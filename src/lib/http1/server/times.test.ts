import { afterEach, describe, expect, it } from 'vitest';
import {
  BodyRecorder,
  ClosedCounter,
  type OneConnection,
  openConnection,
} from '../../../../test/support/one-request.ts';
import { turns } from '../../../../test/support/raw-server.ts';

const times = { headMs: 1_000, bodyMs: 2_000, idleMs: 4_000, lingerMs: 500 };
/** How much later than said the wheel may be. */
const tickMs = 250;
const question = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const half = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhello';

let one: OneConnection;
async function open(): Promise<void> {
  one = await openConnection({ times });
}
afterEach(async () => {
  await one.close();
  expect(one.wheel.size).toBe(0);
  expect(one.goneCount).toBe(1);
});

/** Passes all but the last millisecond, and sees that nothing has happened. */
function almost(ms: number): void {
  one.pass(ms + tickMs - 1);
  expect([one.socket.destroyed, one.socket.writableEnded, one.refusals]).toEqual([false, false, []]);
}

async function answered(): Promise<void> {
  const { client } = one;
  await one.sent(question);
  (await one.next()).answer.send(200, '', 'first');
  await client.until(() => client.received.endsWith('first'));
  client.received = '';
}

describe('a head that is late', () => {
  it.each([
    ['of which nothing has come', ''],
    ['of which a part has come', 'GET / HTTP/1.1\r\n'],
    ['of which line ends have come', '\r\n\r\n'],
  ])('is refused, and the client can read why: one %s', async (_, text) => {
    await open();
    const { client } = one;
    if (text !== '') await one.sent(text);
    almost(times.headMs);
    one.pass(1);
    expect(one.refusals).toEqual(['late']);
    await client.until(() => client.isEnded);
    expect(client.received).toMatch(/^HTTP\/1\.1 400 late\r\n/);
    // What comes too late is not read.
    await one.sent(question);
    expect(one.count).toBe(0);
    one.pass(times.lingerMs + tickMs);
    await one.gone();
    expect(one.refusals).toEqual(['late']);
  });

  it('is late however busily it comes', async () => {
    await open();
    for (let at = 0; at < 4; at++) {
      await one.sent(question.slice(at, at + 1));
      one.pass(250);
      expect(one.refusals).toEqual([]);
    }
    await one.sent(question.slice(4, 5));
    one.pass(tickMs);
    expect(one.refusals).toEqual(['late']);
  });

  it('is late behind a request too, counted from its first byte', async () => {
    await open();
    const { client } = one;
    await answered();
    almost(times.idleMs);
    await one.sent('\r\n');
    await one.sent('G');
    almost(times.headMs);
    await one.sent('E');
    one.pass(1);
    expect(one.refusals).toEqual(['late']);
    await client.until(() => client.isEnded);
    expect(client.received).toMatch(/^HTTP\/1\.1 400 late\r\n/);
  });

  it('is late where it came with the request before it', async () => {
    await open();
    await one.sent(`${question}GET /`);
    const { answer } = await one.next();
    // It waits for the answer, which is not its fault.
    almost(60_000);
    answer.send(200, '', '');
    almost(times.headMs);
    one.pass(1);
    expect(one.refusals).toEqual(['late']);
  });

  it('is not late when it has come', async () => {
    await open();
    almost(times.headMs);
    await one.sent(question);
    expect(one.wheel.size).toBe(0);
    const { answer } = await one.next();
    // An answer may take as long as it takes.
    almost(3_600_000);
    answer.send(200, '', 'ok');
    await one.client.until(() => one.client.received.endsWith('ok'));
  });
});

describe('a connection that nobody uses', () => {
  it('is closed without a word', async () => {
    await open();
    const { client } = one;
    await answered();
    almost(times.idleMs);
    one.pass(1);
    await one.gone();
    await client.until(() => client.isEnded || client.isClosed);
    expect([client.received, one.refusals]).toEqual(['', []]);
  });

  it('has its time again behind each request', async () => {
    await open();
    for (let round = 0; round < 3; round++) {
      await answered();
      almost(times.idleMs);
    }
    one.pass(1);
    await one.gone();
  });

  it('is not used by line ends', async () => {
    await open();
    await answered();
    almost(times.idleMs);
    await one.sent('\r\n');
    one.pass(1);
    await one.gone();
    expect(one.refusals).toEqual([]);
  });
});

describe('a body that is late', () => {
  it('breaks, and can still be answered as the last one', async () => {
    await open();
    const { client } = one;
    await one.sent(half);
    const { request, answer } = await one.next();
    const sink = new BodyRecorder();
    const counter = new ClosedCounter(answer);
    request.read(sink);
    almost(times.bodyMs);
    expect(sink.ends).toEqual([]);
    // However busily it comes.
    await one.sent('w');
    one.pass(1);
    expect([sink.body, sink.ends]).toEqual(['hellow', ['late']]);
    await one.sent(`orld${question}`);
    answer.send(408, '', 'late');
    await client.until(() => client.isEnded);
    expect(client.received).toMatch(/^HTTP\/1\.1 408 .*\r\nconnection: close\r\n.*late$/s);
    await one.gone();
    expect([sink.ends, request.isWhole, counter.count, one.count]).toEqual([['late'], false, 1, 1]);
  });

  it('is told to who reads it later', async () => {
    await open();
    await one.sent(half);
    const { request, answer } = await one.next();
    one.pass(times.bodyMs + tickMs);
    const sink = new BodyRecorder();
    request.read(sink);
    expect(sink.events).toEqual(['late']);
    answer.send(408, '', '');
    await one.gone();
  });

  it('is late though it waits for its reader, and though it is paused', async () => {
    await open();
    await one.sent(half);
    const { request, answer } = await one.next();
    const sink = new BodyRecorder();
    request.read(sink);
    request.pause();
    one.pass(times.bodyMs + tickMs);
    expect(sink.ends).toEqual(['late']);
    answer.send(408, '', '');
    await one.gone();
  });

  it('ends the connection where its answer is out', async () => {
    await open();
    const { client } = one;
    await one.sent(half);
    const { answer } = await one.next();
    const counter = new ClosedCounter(answer);
    answer.send(200, '', 'early');
    almost(times.bodyMs);
    one.pass(1);
    await one.gone();
    await client.until(() => client.isEnded || client.isClosed);
    expect([client.received.endsWith('early'), counter.count, one.refusals]).toEqual([true, 1, []]);
  });

  it('lets an answer that streams come to its end', async () => {
    await open();
    const { client } = one;
    await one.sent(half);
    const { answer } = await one.next();
    answer.begin(200, '');
    answer.write('a');
    one.pass(times.bodyMs + tickMs);
    await turns();
    expect(answer.isGone).toBe(false);
    answer.end('b');
    await client.until(() => client.isEnded);
    expect(client.received.endsWith('1\r\na\r\n1\r\nb\r\n0\r\n\r\n')).toBe(true);
    await one.gone();
  });

  it('is not late when it has come, nor is the next one sooner', async () => {
    await open();
    for (let round = 0; round < 2; round++) {
      await one.sent(half);
      const { request, answer } = await one.next();
      const sink = new BodyRecorder();
      request.read(sink);
      almost(times.bodyMs);
      await one.sent('world');
      expect([sink.ends, one.wheel.size]).toEqual([['end'], 0]);
      almost(3_600_000);
      answer.send(200, '', '');
    }
    expect(one.count).toBe(2);
  });
});
