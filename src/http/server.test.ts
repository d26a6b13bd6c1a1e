import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createShell, type Shell, shellKey } from '../../test/support/shell.ts';
import { shellRoutes } from '../../test/support/shell-routes.ts';

let shell: Shell;
const setUp = () => {
  shell = createShell(shellRoutes, { adminToken: 'operator-token' });
  return shell;
};
afterEach(() => shell.close());

describe('what is hardly HTTP, over a socket', () => {
  async function raw(text: string): Promise<string> {
    const { hostname, port } = new URL(await shell.listen());
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(text));
      let answer = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        answer += chunk;
        if (/\r\n\r\n[\s\S]*\}$/.test(answer)) socket.end();
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
      socket.setTimeout(5000, () => socket.destroy(new Error('no answer')));
    });
  }

  it.each([
    ['garbage', 'NONSENSE\r\n\r\n', 400],
    [
      'a duplicate Content-Length',
      `POST /v1/chat HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}`,
      400,
    ],
    [
      'both Content-Length and chunked',
      'POST /v1/chat HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n',
      400,
    ],
    ['oversize headers', `GET /v1/open HTTP/1.1\r\nhost: x\r\nx-big: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ['a header with a control character', 'GET /v1/open HTTP/1.1\r\nhost: x\r\nx-a: b\x01c\r\n\r\n', 400],
  ])('%s is a clear 4xx with an envelope and a request id', async (_what, text, status) => {
    setUp();
    const answer = await raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/x-request-id: req_[0-9a-f]{24}/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).error.code).toBe(status);
  });

  it('two Authorization headers are a 400', async () => {
    setUp();
    const answer = await raw(
      `GET /v1/closed HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${shellKey}\r\nauthorization: Bearer b\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('authorization was sent twice');
  });

  it('a body over its limit is refused while it is still being sent, and the client can read why', async () => {
    setUp();
    const address = await shell.listen();
    for (const chunked of [true, false]) {
      const answer = await fetch(`${address}/v1/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${shellKey}`, 'content-type': 'application/json' },
        body: chunked ? new Blob(['x'.repeat(8_000_000)]).stream() : 'x'.repeat(8_000_000),
        ...(chunked ? { duplex: 'half' } : {}),
      } as RequestInit);
      expect(answer.status).toBe(413);
      expect(((await answer.json()) as { error: { message: string } }).error.message).toContain('2000 bytes');
    }
  });
});
