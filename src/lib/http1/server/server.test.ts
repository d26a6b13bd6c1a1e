import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  BodyRecorder,
  ClosedCounter,
  type OneClient,
  openConnection,
  openOneClient,
} from '../../../../test/support/one-request.ts';
import { Peer, turns } from '../../../../test/support/raw-server.ts';

const question = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

let one: OneClient;
let client: Peer;
async function open(): Promise<void> {
  one = await openOneClient();
  client = new Peer(one.client, true);
}
afterEach(() => one.close());

/** Another client of the same server. */
async function another(): Promise<Peer> {
  const { port } = one.server.net.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  return new Peer(socket, true);
}

const ended = (peer: Peer) => peer.until(() => peer.isEnded || peer.isClosed);

describe('a server', () => {
  it('answers many clients, each by itself', async () => {
    await open();
    const peers = [client, ...(await Promise.all(Array.from({ length: 20 }, another)))];
    for (const [at, peer] of peers.entries()) peer.write(`GET /${at} HTTP/1.1\r\nhost: x\r\n\r\n`);
    const asked = await Promise.all(peers.map(() => one.next()));
    for (const { request, answer } of asked.reverse()) answer.send(200, '', `it was ${request.target}.`);
    for (const [at, peer] of peers.entries()) {
      await peer.until(() => peer.received.endsWith('.'));
      expect(peer.received.endsWith(`it was /${at}.`)).toBe(true);
      peer.socket.destroy();
    }
  });

  it('that ends takes nobody new', async () => {
    await open();
    const { port } = one.server.net.address() as AddressInfo;
    await one.server.close(60_000);
    const socket = connect(port, '127.0.0.1');
    const [error] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it.each([
    ['has asked nothing', ''],
    ['has sent half a head', 'GET / HT'],
    ['has sent a line end', '\r\n'],
  ])('that ends closes a connection that %s, at once and without a word', async (_, text) => {
    await open();
    if (text !== '') {
      client.write(text);
      // Taken when this one, which was sent later, is.
      const probe = await another();
      probe.write(question);
      (await one.next()).answer.isLast = true;
      probe.socket.destroy();
    }
    await one.server.close(60_000);
    await ended(client);
    expect(client.received).toBe('');
  });

  it('that ends closes a connection that waits for its next question', async () => {
    await open();
    client.write(question);
    (await one.next()).answer.send(200, '', 'ok');
    await client.until(() => client.received.endsWith('ok'));
    await one.server.close(60_000);
    await ended(client);
    expect(client.received).toContain('connection: keep-alive');
  });

  it('that ends waits for an answer under way, which tells the client to leave', async () => {
    await open();
    client.write(question + question);
    const { answer } = await one.next();
    const over = one.server.close(60_000);
    await turns();
    expect(client.isEnded).toBe(false);
    answer.send(200, '', 'ok');
    await Promise.all([over, ended(client)]);
    expect(client.received).toMatch(/\r\nconnection: close\r\n.*ok$/s);
    expect([answer.isOut, one.count]).toEqual([true, 1]);
  });

  it('that ends waits for an answer that has begun, and closes behind it', async () => {
    await open();
    client.write(question + question);
    const { answer } = await one.next();
    answer.begin(200, '');
    answer.write('a');
    const over = one.server.close(60_000);
    await turns();
    answer.end('b');
    await Promise.all([over, ended(client)]);
    expect(client.received.endsWith('1\r\na\r\n1\r\nb\r\n0\r\n\r\n')).toBe(true);
    expect(one.count).toBe(1);
  });

  it('that ends waits for a body under way', async () => {
    await open();
    client.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhello');
    const { request, answer } = await one.next();
    const sink = new BodyRecorder();
    request.read(sink);
    const over = one.server.close(60_000);
    client.write('world');
    await sink.over();
    answer.send(200, '', sink.body);
    await Promise.all([over, ended(client)]);
    expect(client.received.endsWith('helloworld')).toBe(true);
  });

  it('that ends waits for a large answer that is not out yet', async () => {
    await open();
    client.socket.pause();
    client.write(question);
    const { answer } = await one.next();
    const large = Buffer.alloc(16 * 1024 * 1024, 'x');
    answer.send(200, '', large);
    const over = one.server.close(60_000);
    await turns();
    client.socket.resume();
    await Promise.all([over, ended(client)]);
    expect(client.received.length).toBeGreaterThan(large.length);
    expect(answer.isOut).toBe(true);
  });

  it('that ends cuts what is not over in time', async () => {
    await open();
    client.write(question);
    const { answer } = await one.next();
    const counter = new ClosedCounter(answer);
    answer.begin(200, '');
    answer.write('a');
    await Promise.all([one.server.close(20), counter.first(), ended(client)]);
    expect([answer.isGone, answer.isOut, counter.count]).toEqual([true, false, 1]);
  });
});

describe('a connection whose server ends', () => {
  it.each([
    ['that is fresh', ''],
    ['with half a head', 'GET / HT'],
    ['with an answered request', question],
  ])('%s leaves no deadline behind', async (_, text) => {
    const single = await openConnection();
    if (text !== '') await single.sent(text);
    if (text === question) (await single.next()).answer.send(200, '', '');
    expect(single.wheel.size).toBe(1);
    single.connection.drain();
    await single.gone();
    expect([single.wheel.size, single.goneCount, single.refusals]).toEqual([0, 1, []]);
    await single.close();
    await open();
  });

  it('does not wait for a client that was refused, once it is told why', async () => {
    const single = await openConnection();
    single.client.write('garbage\r\n\r\n');
    await single.client.until(() => single.client.isEnded);
    single.connection.drain();
    await single.gone();
    expect(single.client.received).toMatch(/^HTTP\/1\.1 400 malformed/);
    expect([single.wheel.size, single.goneCount]).toEqual([0, 1]);
    await single.close();
    await open();
  });
});
