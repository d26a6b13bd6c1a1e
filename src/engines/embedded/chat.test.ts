import { afterEach, describe, expect, it } from 'vitest';
import { describeChatPort } from '../../../test/support/chat-port-conformance.ts';
import { chatRequest, completed, createRecordingSink, settled } from '../../../test/support/chat-sink.ts';
import { GatewayError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import { createChatPort } from './chat.ts';
import { createModelHost, type RunningHost } from './host/index.ts';

const program = new URL('../../../test/support/fake-runtime.ts', import.meta.url);
const log = createLog('silent');
const contextTokens = 8_192;

function openHost(): RunningHost {
  return createModelHost({ program, name: 'fake', log, memoryMb: 1_000, idleMs: 60_000, queueLength: 4 });
}

const files = async (name: string) => ({ name, files: {}, options: {} });

describeChatPort('embedded', {
  open() {
    const host = openHost();
    return { port: createChatPort({ host, resolve: files, contextTokens }), close: () => host.close() };
  },
});

describe('chat by a model process', () => {
  const hosts: RunningHost[] = [];
  afterEach(() => Promise.all(hosts.splice(0).map((host) => host.close())));
  function open(resolve = files) {
    const host = openHost();
    hosts.push(host);
    return { host, port: createChatPort({ host, resolve, contextTokens }) };
  }

  it('a model whose files are not here fails as its files say', async () => {
    const { port, host } = open(async () => {
      throw new GatewayError('overloaded', 'The model is being fetched: 12 %', { retryAfterSeconds: 5 });
    });
    const failure = { kind: 'overloaded', message: 'The model is being fetched: 12 %' };
    await expect(completed(port, chatRequest('Hello'))).rejects.toMatchObject(failure);
    const sink = createRecordingSink();
    port.stream(chatRequest('Hello'), sink);
    await sink.over;
    expect(sink.heard).toMatchObject([{ type: 'fail', error: failure }]);
    const { signal } = new AbortController();
    await expect(port.countTokens(chatRequest('Hello'), signal)).rejects.toMatchObject(failure);
    expect(host.pid).toBeUndefined();
  });

  it('an abort before the files are found starts nothing', async () => {
    const found = Promise.withResolvers<Awaited<ReturnType<typeof files>>>();
    const { port, host } = open(() => found.promise);
    const sink = createRecordingSink();
    port.stream(chatRequest('Hello'), sink).abort();
    found.resolve(await files('late'));
    await settled();
    expect([sink.heard, host.active]).toEqual([[], 0]);
  });

  it('a process that is killed in the middle of an answer fails it in the stream, and the next one works', async () => {
    const { port, host } = open();
    const sink = createRecordingSink(({ type }) => {
      if (type !== 'text' || host.pid === undefined) return;
      process.kill(host.pid, 'SIGKILL');
      run.pause();
    });
    const run = port.stream(chatRequest('Count to 40, please.', { n: 500 }), sink);
    await sink.parts(1);
    const { pid } = host;
    while (host.pid === pid) await settled();
    run.resume();
    await sink.over;
    expect(sink.order()).toMatch(/^text (finish text )*(finish )?fail$/);
    expect(sink.error).toMatchObject({ kind: 'overloaded' });
    expect((await completed(port, chatRequest('Count to 40, please.'))).choices).toHaveLength(1);
  });

  it('a prompt that cannot fit is refused before it is handed over, and counted by an estimate', async () => {
    const { port, host } = open();
    const long = chatRequest('ab '.repeat(10_000_000));
    await expect(completed(port, long)).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'messages',
      message: expect.stringContaining('at most 8192'),
    });
    const { signal } = new AbortController();
    expect(await port.countTokens(long, signal)).toBe(7_500_000);
    expect(host.pid).toBeUndefined();
    expect(await port.countTokens(chatRequest('one two'), signal)).toBeLessThan(10);
  });

  it('another request gets its turn between two answers of one', async () => {
    const { port, host } = open();
    const sink = createRecordingSink();
    const many = port.stream(chatRequest('Count to 40, please.', { n: 128 }), sink);
    await sink.parts(1);
    await completed(port, chatRequest('Count to 40, please.'));
    expect(sink.order()).not.toContain('end');
    many.abort();
    await host.drained();
  });
});
