import { afterEach, describe, expect, it } from 'vitest';
import {
  type Asked,
  BodyRecorder,
  ClosedCounter,
  type OneConnection,
  openConnection,
} from '../../../../test/support/one-request.ts';
import { turns } from '../../../../test/support/raw-server.ts';

let one: OneConnection;
afterEach(async () => {
  await one.close();
  expect(one.wheel.size).toBe(0);
  expect(one.goneCount).toBe(1);
});

const question = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const half = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhello';
/** More than the system's own buffers hold. */
const large = Buffer.alloc(16 * 1024 * 1024, 'x');

interface Told extends Asked {
  readonly counter: ClosedCounter;
  readonly sink: BodyRecorder;
  losses: number;
}

/** A request whose reader and watchers count what they hear. */
async function ask(text: string): Promise<Told> {
  one = await openConnection();
  await one.sent(text);
  const { request, answer } = await one.next();
  const told = { request, answer, counter: new ClosedCounter(answer), sink: new BodyRecorder(), losses: 0 };
  answer.onLost(() => told.losses++);
  return told;
}

/** How clients leave. */
const ways: [string, () => void][] = [
  ['by closing', () => one.client.socket.destroy()],
  ['by a reset', () => one.client.socket.resetAndDestroy()],
  ['by closing its side', () => one.client.socket.end()],
];

describe.each(ways)('a client that leaves %s', (_, leave) => {
  it('while its request is worked on is seen at once', async () => {
    const told = await ask(question);
    const { request, answer, counter, sink } = told;
    request.read(sink);
    leave();
    await one.gone();
    await turns();
    expect([answer.isGone, answer.isOut, answer.isEnded, answer.isBegun]).toEqual([true, false, true, false]);
    expect([counter.count, sink.events]).toEqual([1, ['end']]);
    answer.send(200, '', 'late');
    await turns();
    expect([counter.count, told.losses, answer.isBegun]).toEqual([1, 1, false]);
  });

  it('with another request behind it that waits takes both along', async () => {
    const { answer, counter } = await ask(question + question);
    leave();
    await one.gone();
    expect([answer.isGone, counter.count, one.count]).toEqual([true, 1, 1]);
  });

  it('while its body comes breaks it', async () => {
    const told = await ask(half);
    const { request, answer, counter, sink } = told;
    request.read(sink);
    leave();
    await one.gone();
    await turns();
    expect([sink.events, sink.body, request.isWhole]).toEqual([['data', 'left'], 'hello', false]);
    expect([answer.isGone, counter.count, told.losses]).toEqual([true, 1, 1]);
    // Who comes later is told the same.
    const late = new BodyRecorder();
    request.read(late);
    expect(late.events).toEqual(['left']);
    request.pause();
    request.resume();
    let overs = 0;
    request.discard(() => overs++);
    expect([overs, sink.ends]).toEqual([1, ['left']]);
  });

  it('before anybody reads its body is told to who does', async () => {
    const { request, answer, counter, sink } = await ask(half);
    leave();
    await one.gone();
    request.read(sink);
    expect([sink.events, answer.isGone, counter.count]).toEqual([['left'], true, 1]);
  });

  it('while its answer streams takes the rest of it along', async () => {
    const told = await ask(question);
    const { answer, counter } = told;
    answer.begin(200, '');
    answer.write('hello');
    await one.client.until(() => one.client.received.endsWith('hello\r\n'));
    leave();
    await one.gone();
    expect([answer.isGone, answer.isOut, counter.count, told.losses]).toEqual([true, false, 1, 1]);
    expect(answer.write('more')).toBe(true);
    answer.end('end');
    await turns();
    expect([counter.count, answer.isOut]).toEqual([1, false]);
  });

  it('while what was written waits for it is told once, and there is never room', async () => {
    const told = await ask(question);
    const { answer, counter } = told;
    one.client.socket.pause();
    answer.begin(200, '');
    expect(answer.write(large)).toBe(false);
    let rooms = 0;
    answer.onRoom(() => rooms++);
    leave();
    await one.gone();
    await turns();
    expect([answer.isOut, counter.count, told.losses, rooms]).toEqual([false, 1, 1, 0]);
  });

  it('when it has its answer leaves nothing to tell', async () => {
    const told = await ask(question);
    const { answer, counter } = told;
    answer.send(200, '', 'ok');
    await one.client.until(() => one.client.received.endsWith('ok'));
    leave();
    await one.gone();
    await turns();
    expect([answer.isOut, counter.count, told.losses]).toEqual([true, 1, 0]);
  });

  it('when it has its answer, but not sent its body, leaves nothing to tell of the answer', async () => {
    const told = await ask(half);
    const { request, answer, counter, sink } = told;
    request.read(sink);
    answer.send(200, '', 'ok');
    await one.client.until(() => one.client.received.endsWith('ok'));
    leave();
    await one.gone();
    await turns();
    expect([answer.isOut, counter.count, told.losses, sink.ends]).toEqual([true, 1, 0, ['left']]);
  });

  it.each([
    ['before it has asked', ''],
    ['in the middle of a head', 'GET / HT'],
  ])('%s is asked nothing', async (_when, text) => {
    one = await openConnection();
    if (text !== '') await one.sent(text);
    leave();
    await one.gone();
    expect([one.count, one.refusals]).toEqual([0, []]);
  });

  it('when it was refused takes what is left along', async () => {
    one = await openConnection();
    one.client.write('garbage\r\n\r\n');
    await one.client.until(() => one.client.isEnded);
    leave();
    await one.gone();
    expect(one.refusals).toEqual(['malformed']);
  });
});

describe('a whole answer that waits', () => {
  it.each(ways.slice(0, 2))(
    'is lost with a client that leaves %s, and that is told once',
    async (_, leave) => {
      const told = await ask(question);
      const { answer, counter } = told;
      one.client.socket.pause();
      answer.send(200, '', large);
      await turns();
      leave();
      await one.gone();
      await turns();
      expect([answer.isEnded, answer.isOut, counter.count, told.losses]).toEqual([true, false, 1, 1]);
    },
  );

  it('goes out whole to a client that has closed its side, and the connection ends behind it', async () => {
    const told = await ask(question);
    const { answer, counter } = told;
    const { client } = one;
    client.socket.pause();
    answer.send(200, '', large);
    client.socket.end();
    await turns(20);
    expect([answer.isGone, counter.count]).toEqual([false, 0]);
    client.socket.resume();
    await client.until(() => client.isEnded);
    await one.gone();
    expect(client.received.slice(client.received.indexOf('\r\n\r\n') + 4).length).toBe(large.length);
    expect([answer.isOut, counter.count, told.losses]).toEqual([true, 1, 0]);
  });

  it('to a client that has closed its side is the last: what waits behind it is not handed over', async () => {
    const { answer } = await ask(question + question);
    const { client } = one;
    client.socket.pause();
    answer.send(200, '', large);
    client.socket.end();
    await turns(20);
    client.socket.resume();
    await one.gone();
    // Nobody could be told its answer.
    expect([answer.isOut, one.count]).toEqual([true, 1]);
  });
});
