import { afterEach, describe, expect, it } from 'vitest';
import { closed, type OneClient, openOneClient } from '../../../../test/support/one-request.ts';
import type { ServerAnswer } from './answer.ts';

const question = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
/** More than the system's own buffers hold. */
const large = Buffer.alloc(16 * 1024 * 1024);

let one: OneClient;
let answer: ServerAnswer;
async function ask(stuckReaderMs: number): Promise<void> {
  one = await openOneClient({ stuckReaderMs });
  one.client.write(question);
  ({ answer } = await one.next());
}
afterEach(() => one.close());

describe('the reader of a whole answer', () => {
  it('is taken for gone when it takes nothing, so that it holds no memory', async () => {
    await ask(50);
    one.client.pause();
    answer.send(200, '', large);
    await closed(answer);
    expect(answer.isOut).toBe(false);
  });

  it('is waited for when it is slow', async () => {
    // All of it takes longer than that, but no part of it.
    await ask(600);
    const { client } = one;
    client.pause();
    answer.send(200, '', large);
    const reading = setInterval(() => client.read(128 * 1024), 10);
    await closed(answer);
    clearInterval(reading);
    expect(answer.isOut).toBe(true);
  });

  it('may wait for what is still to come', async () => {
    await ask(20);
    answer.begin(200, '');
    answer.write('a');
    await new Promise((resolve) => setTimeout(resolve, 100));
    answer.end('b');
    expect(answer.isOut).toBe(true);
  });

  it('has time again before its next question', async () => {
    await ask(300);
    const { client } = one;
    answer.send(200, '', large);
    client.resume();
    await closed(answer);
    expect(answer.isOut).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 400));
    client.write(question);
    const next = await one.next();
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(next.answer.isGone).toBe(false);
  });
});
