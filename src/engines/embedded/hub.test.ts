import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GatewayError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import { tryLock } from '../packs/lock.ts';
import { createHubFiles, type HubFiles } from './hub.ts';

const bytes = Buffer.alloc(300_000, 'GGUF');

describe('a model file on a hub', () => {
  let folder: string;
  let server: http.Server;
  let hub: HubFiles;
  let time = 0;
  let origin: string;
  let lines: Record<string, unknown>[];
  let variables: Record<string, string>;
  let respond: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roundhouse-hub-'));
    time = 0;
    server = http.createServer((request, response) => respond(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    lines = [];
    variables = {};
    hub = createHubFiles({
      dataFolder: folder,
      log: createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) }),
      // The machine's own npm settings do not count here.
      variable: (name) => variables[name] ?? (/config$/.test(name) ? join(folder, 'no-npmrc') : undefined),
      now: () => time,
      cwd: folder,
      home: folder,
    });
  });
  afterEach(async () => {
    await hub.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  });

  const failure = (address: string) =>
    hub.require(address).then(
      () => undefined,
      (error: unknown) => error as GatewayError,
    );

  async function fetched(address: string): Promise<string> {
    for (;;) {
      const path = await hub.require(address).catch(() => undefined);
      if (path !== undefined) return path;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('is fetched in the background; meanwhile its requests hear how far it is', async () => {
    let finish = () => {};
    const half = new Promise<void>((resolve) => {
      respond = (request, response) => {
        if (request.url === '/repo/model.gguf') {
          response.writeHead(302, { location: '/cdn' }).end();
          return;
        }
        response.writeHead(200, { 'content-length': bytes.length });
        response.write(bytes.subarray(0, 150_000), () => resolve());
        finish = () => response.end(bytes.subarray(150_000));
      };
    });
    const address = `${origin}/repo/model.gguf`;
    expect(await failure(address)).toMatchObject({ kind: 'overloaded', retryAfterSeconds: 10 });
    await half;
    let told = await failure(address);
    while (told?.message.endsWith(' 0 %')) {
      await new Promise((resolve) => setImmediate(resolve));
      told = await failure(address);
    }
    expect(told?.message).toMatch(/^The model model\.gguf is being fetched: [1-9]\d? %$/);
    finish();
    const path = await fetched(address);
    expect(await readFile(path)).toEqual(bytes);
    expect(await hub.require(address)).toBe(path);
  });

  /** Until a fetch has come to its end, whichever. */
  async function ended(address: string): Promise<GatewayError | undefined> {
    for (;;) {
      const told = await failure(address);
      if (!told?.message.includes('is being fetched')) return told;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const folderOf = (address: string) =>
    join(folder, 'models/by-address', createHash('sha256').update(address).digest('hex').slice(0, 16));

  /** What an earlier fetch has left. */
  async function leave(address: string, part: Buffer, version?: { validator: string; totalBytes: number }) {
    await mkdir(folderOf(address), { recursive: true });
    await writeFile(join(folderOf(address), 'model.gguf.partial'), part);
    if (version === undefined) return;
    await writeFile(join(folderOf(address), 'model.gguf.partial.json'), JSON.stringify(version));
  }

  const startOf = ({ headers: { range } }: IncomingMessage) =>
    Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);

  it('goes on where it was cut off, after a pause', async () => {
    const asked: unknown[] = [];
    respond = (request, response) => {
      asked.push([request.headers.range, request.headers['if-range']]);
      const from = startOf(request);
      const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
      response.writeHead(from === 0 ? 200 : 206, {
        etag: '"one"',
        'content-length': bytes.length - from,
        ...(from === 0 ? {} : { 'content-range': range }),
      });
      if (from === 0)
        response.write(bytes.subarray(0, 100_000), () => setTimeout(() => response.destroy(), 50));
      else response.end(bytes.subarray(from));
    };
    const address = `${origin}/model.gguf`;
    expect(await ended(address)).toMatchObject({
      kind: 'overloaded',
      message: 'The model model.gguf could not be fetched: the connection to its hub broke',
      retryAfterSeconds: 30,
    });
    expect(asked).toEqual([[undefined, undefined]]);
    time += 30_000;
    expect(await readFile(await fetched(address))).toEqual(bytes);
    expect(asked).toEqual([
      [undefined, undefined],
      ['bytes=100000-', '"one"'],
    ]);
    await hub.close();
    expect((await readdir(folderOf(address))).sort()).toEqual(['model.gguf', 'model.gguf.lock']);
  });

  const version = { validator: '"one"', totalBytes: 600 };
  const now = bytes.subarray(0, 500);
  const old = Buffer.alloc(400, 'GGUX');

  it.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
    [
      'a whole answer to a range',
      (_, response) => response.writeHead(200, { etag: '"two"', 'content-length': 500 }).end(now),
    ],
    [
      'a part that begins at another byte',
      (_, response) =>
        response
          .writeHead(206, { etag: '"one"', 'content-range': 'bytes 0-599/600' })
          .end(bytes.subarray(0, 600)),
    ],
    [
      'a part of a longer file',
      (_, response) =>
        response
          .writeHead(206, { etag: '"one"', 'content-range': 'bytes 400-999/1000' })
          .end(bytes.subarray(400, 1_000)),
    ],
    [
      'a part of another version, where If-Range is not heeded',
      (_, response) =>
        response
          .writeHead(206, { etag: '"two"', 'content-range': 'bytes 400-599/600' })
          .end(bytes.subarray(400, 600)),
    ],
    [
      'a part that does not say of what',
      (_, response) => response.writeHead(206).end(bytes.subarray(0, 200)),
    ],
    [
      'a file that is shorter than what is here',
      (_, response) => response.writeHead(416, { 'content-range': 'bytes */300' }).end(),
    ],
  ])('that changed upstream is fetched anew: %s', async (_, answer) => {
    const address = `${origin}/model.gguf`;
    await leave(address, old, version);
    respond = (request, response) => {
      if (request.headers.range !== undefined) answer(request, response);
      else response.writeHead(200, { etag: '"two"', 'content-length': 500 }).end(now);
    };
    expect(await readFile(await fetched(address))).toEqual(now);
  });

  it('is fetched anew where nobody knows of which version the part is', async () => {
    const address = `${origin}/model.gguf`;
    await leave(address, old);
    let range: string | undefined;
    respond = (request, response) => {
      range = request.headers.range;
      response.end(now);
    };
    expect(await readFile(await fetched(address))).toEqual(now);
    expect(range).toBeUndefined();
  });

  it('is not asked for again when all of it is here', async () => {
    const address = `${origin}/model.gguf`;
    await leave(address, now, { validator: '"one"', totalBytes: 500 });
    respond = (_, response) => response.writeHead(500).end();
    expect(await readFile(await fetched(address))).toEqual(now);
  });

  it.each([
    [404, 'its hub does not have it'],
    [403, 'its hub refuses this gateway'],
    [503, 'its hub does not work at the moment'],
  ])('is not taken from an answer with %i', async (status, told) => {
    respond = (_, response) => response.writeHead(status).end('no such file');
    const address = `${origin}/model.gguf?signature=secret`;
    expect((await ended(address))?.message).toBe(`The model model.gguf could not be fetched: ${told}`);
    const logged = JSON.stringify(lines.filter(({ msg }) => msg === 'a model could not be fetched'));
    expect(logged).toContain(`The hub answers ${status} for ${origin}/model.gguf`);
    expect(logged).not.toContain('secret');
  });

  it('is not taken from a page, which is not kept', async () => {
    respond = (_, response) => response.end('<html>Please log in</html>');
    const address = `${origin}/model.gguf`;
    expect((await ended(address))?.message).toContain('its address gives no GGUF file');
    expect(await readdir(folderOf(address))).toEqual(['model.gguf.lock']);
  });

  it('has a name whatever its address looks like', async () => {
    respond = (_, response) => response.end(now);
    for (const path of ['/%E0%A4%A', '/a%20b', '/']) {
      expect(await fetched(`${origin}${path}`)).toMatch(/model\.gguf$/);
    }
  });

  it('is not begun when the disk has no room for it', async () => {
    respond = (_, response) => {
      response.writeHead(200, { 'content-length': 4e15 });
      response.write('GGUF');
    };
    const address = `${origin}/model.gguf`;
    const told = await ended(address);
    expect(told?.message).toContain('the disk is full, it needs 4000000000.0 MB');
    expect(told?.cause).toHaveProperty('message', expect.stringContaining(folderOf(address)));
    expect(existsSync(join(folderOf(address), 'model.gguf.partial'))).toBe(false);
  });

  it.runIf(existsSync('/dev/full'))('gives back its room when the disk fills up on the way', async () => {
    const address = `${origin}/model.gguf`;
    await mkdir(folderOf(address), { recursive: true });
    respond = (_, response) =>
      response.writeHead(200, { 'content-length': bytes.length, etag: '"one"' }).end(bytes);
    await symlink('/dev/full', join(folderOf(address), 'model.gguf.partial'));
    expect((await ended(address))?.message).toContain('the disk is full');
    expect(await readdir(folderOf(address))).toEqual(['model.gguf.lock']);
  });

  it('that another process fetches is waited for, and only that one says that it is here', async () => {
    const address = `${origin}/model.gguf`;
    let requests = 0;
    respond = (_, response) => {
      requests += 1;
      response.end(now);
    };
    await leave(address, old, { validator: '"one"', totalBytes: 500 });
    const release = tryLock(join(folderOf(address), 'model.gguf.lock'));
    let told = await failure(address);
    while (told?.message.endsWith(' 0 %')) {
      await new Promise((resolve) => setImmediate(resolve));
      told = await failure(address);
    }
    expect(told?.message).toBe('The model model.gguf is being fetched: 80 %');
    await writeFile(join(folderOf(address), 'model.gguf'), now);
    release?.();
    await hub.close();
    expect(await hub.require(address)).toBe(join(folderOf(address), 'model.gguf'));
    expect(requests).toBe(0);
    expect(lines.map(({ msg }) => msg)).not.toContain('a model is here');
  });

  it('says when it is here, and where', async () => {
    respond = (_, response) => response.end(now);
    const path = await fetched(`${origin}/model.gguf`);
    await hub.close();
    expect(lines).toMatchObject([
      { msg: 'a model is being fetched', model: 'model.gguf' },
      { msg: 'a model is here', model: 'model.gguf', path },
    ]);
  });

  it.each(['npm_config_proxy', 'HTTP_PROXY'])('comes through the proxy that %s names', async (name) => {
    const asked: string[] = [];
    const proxy = http.createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end(now);
    });
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    variables[name] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      await ended('http://hub.example/model.gguf');
      expect(asked.join()).toContain('hub.example');
    } finally {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    }
  });
});
