import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createShell, type Shell, shellKey } from '../../test/support/shell.ts';
import { finishSlow, shellRoutes, slowBegun } from '../../test/support/shell-routes.ts';
import { listen } from './server.ts';

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
      socket.setTimeout(20_000, () => socket.destroy(new Error('no answer')));
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

  it('a 529 has a name in the status line, though no RFC gives it one', async () => {
    setUp();
    const body = JSON.stringify({ model: 'overloaded', messages: [{ role: 'user', content: 'hi' }] });
    const answer = await raw(
      `POST /v1/systemone HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${shellKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 529 Overloaded\r\n/);
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
        body: chunked ? new Blob(['x'.repeat(30_000_000)]).stream() : 'x'.repeat(30_000_000),
        ...(chunked ? { duplex: 'half' } : {}),
      } as RequestInit);
      expect(answer.status).toBe(413);
      expect(((await answer.json()) as { error: { message: string } }).error.message).toContain('2000 bytes');
    }
  });

  it('two Host headers and none are a 400 with the envelope', async () => {
    setUp();
    for (const head of [
      'GET /v1/open HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n',
      'GET /v1/open HTTP/1.1\r\n\r\n',
    ]) {
      const answer = await raw(head);
      expect(answer).toMatch(/^HTTP\/1.1 400 /);
      expect(answer).toMatch(/x-request-id: req_/i);
    }
  });

  it('[AUTH-13] a public route ignores a key that is sent twice', async () => {
    setUp();
    const answer = await raw(
      'GET /v1/open HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
  });

  it('CONNECT is a 405', async () => {
    setUp();
    expect(await raw('CONNECT a.example:443 HTTP/1.1\r\nhost: a.example:443\r\n\r\n')).toMatch(
      /^HTTP\/1.1 405 /,
    );
  });

  it('a body is invited only once its key and its size are known to be right', async () => {
    setUp();
    const head = (key: string, length: number) =>
      `POST /v1/chat HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`;
    expect(await raw(head('wrong', 10))).toMatch(/^HTTP\/1.1 401 /);
    expect(await raw(head(shellKey, 99_999))).toMatch(/^HTTP\/1.1 413 /);
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
    expect(await raw(head(shellKey, body.length) + body)).toMatch(
      /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /,
    );
  });

  it('garbage behind a request never overtakes its answer', async () => {
    setUp();
    const { hostname, port } = new URL(await shell.listen());
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    let answer = '';
    socket.on('data', (text) => {
      answer += text;
    });
    socket.write(
      `GET /v1/slow HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${shellKey}\r\n\r\n\0\x01garbage\r\n\r\n`,
    );
    await slowBegun();
    finishSlow();
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer.indexOf('HTTP/1.1 400 ')).toBeGreaterThan(answer.indexOf('\r\n\r\n'));
  });

  it('a body in a million pieces takes no more memory than a body', async () => {
    setUp();
    const { hostname, port } = new URL(await shell.listen());
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const before = process.memoryUsage().rss;
    socket.write(
      `POST /v1/large HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${shellKey}\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const pieces = '1\r\n \r\n'.repeat(20_000);
    for (let i = 0; i < 20; i++) if (!socket.write(pieces)) await once(socket, 'drain');
    socket.write('0\r\n\r\n');
    await once(socket, 'data');
    const grownMb = (process.memoryUsage().rss - before) / 1e6;
    socket.destroy();
    expect(grownMb).toBeLessThan(100);
  });
});

describe('the end', () => {
  it('closes connections that wait for nothing at once, and tells busy ones to leave', async () => {
    const ending = createShell(shellRoutes);
    const { hostname, port } = new URL(await ending.listen());
    const idle = connect(Number(port), hostname);
    const half = connect(Number(port), hostname);
    await Promise.all([once(idle, 'connect'), once(half, 'connect')]);
    half.write('GET /v1/op');
    const busy = connect(Number(port), hostname).setEncoding('utf8');
    busy.write(`GET /v1/slow HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${shellKey}\r\n\r\n`);
    await slowBegun();
    let answer = '';
    busy.on('data', (text) => {
      answer += text;
    });
    const gone = Promise.all(
      [idle, half, busy].map(
        (socket) =>
          new Promise((resolve) =>
            socket
              .on('error', () => {})
              .on('close', resolve)
              .resume(),
          ),
      ),
    );
    const closed = ending.close(5_000);
    finishSlow();
    await Promise.all([gone, closed]);
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
  });

  it('the control socket is for its owner only', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roundhouse-test-'));
    const socketPath = join(folder, 'control.sock');
    const listener = await listen({ handle() {} }, { socketPath });
    expect((await stat(socketPath)).mode & 0o777).toBe(0o600);
    await listener.close(0);
    await rm(folder, { recursive: true });
  });
});
