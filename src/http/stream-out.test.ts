import { afterEach, describe, expect, it } from 'vitest';
import { closed, type OneClient, openOneClient } from '../../test/support/one-request.ts';
import type { ServerAnswer } from '../lib/http1/server/answer.ts';
import { AnswerOut } from './stream-out.ts';

let one: OneClient;
let answer: ServerAnswer;
afterEach(() => one.close());

const chunk = 'x'.repeat(256 * 1024);

async function open(stuckReaderMs: number): Promise<{ out: AnswerOut; told: string[] }> {
  one = await openOneClient({ stuckReaderMs });
  one.client.pause();
  one.client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  ({ answer } = await one.next());
  const told: string[] = [];
  const out = new AnswerOut(answer, () => answer.begin(200, ''), ': alive\n\n');
  out.onPressure({ pause: () => told.push('pause'), resume: () => told.push('resume') });
  return { out, told };
}

/** Until the system's own buffers are full, too. */
function fill(out: AnswerOut, told: readonly string[]): void {
  while (!told.includes('pause')) out.write(chunk);
}

describe('a reader', () => {
  it('that takes nothing at all is taken for gone, so that it holds no engine', async () => {
    const { out, told } = await open(50);
    fill(out, told);
    await closed(answer);
    expect(told).toEqual(['pause']);
    expect(answer.isOut).toBe(false);
    out.stop();
  });

  it('that is slow but reads is waited for', async () => {
    const { out, told } = await open(1_000);
    fill(out, told);
    const reading = setInterval(() => one.client.read(128 * 1024), 5);
    while (!told.includes('resume')) await new Promise((resolve) => setTimeout(resolve, 20));
    clearInterval(reading);
    expect(answer.isGone).toBe(false);
    out.end('last');
  });
});
