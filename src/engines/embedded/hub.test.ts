import { mkdtemp, readFile, rm } from 'node:fs/promises';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GatewayError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import { createHubFiles, type HubFiles } from './hub.ts';

const bytes = Buffer.alloc(300_000, 'GGUF');

describe('a model file on a hub', () => {
  let folder: string;
  let server: http.Server;
  let hub: HubFiles;
  let time = 0;
  let origin: string;
  let respond: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roundhouse-hub-'));
    time = 0;
    server = http.createServer((request, response) => respond(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    hub = createHubFiles({ dataFolder: folder, log: createLog('silent'), now: () => time });
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

  it('goes on where it was cut off, after a pause', async () => {
    const ranges: (string | undefined)[] = [];
    respond = (request, response) => {
      ranges.push(request.headers.range);
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
      response.writeHead(from === 0 ? 200 : 206, { 'content-length': bytes.length - from });
      if (from === 0)
        response.write(bytes.subarray(0, 100_000), () => setTimeout(() => response.destroy(), 50));
      else response.end(bytes.subarray(from));
    };
    const address = `${origin}/model.gguf`;
    let told = await failure(address);
    while (told?.message.includes('is being fetched')) {
      await new Promise((resolve) => setImmediate(resolve));
      told = await failure(address);
    }
    expect(told).toMatchObject({ kind: 'overloaded', retryAfterSeconds: 30 });
    expect(told?.message).toContain('could not be fetched');
    expect(ranges).toEqual([undefined]);
    time += 30_000;
    expect(await readFile(await fetched(address))).toEqual(bytes);
    expect(ranges).toEqual([undefined, 'bytes=100000-']);
  });

  it('is not taken from an answer that is none', async () => {
    respond = (_, response) => response.writeHead(404).end('no such file');
    const address = `${origin}/model.gguf`;
    await failure(address);
    while ((await failure(address))?.message.includes('is being fetched')) await new Promise(setImmediate);
    expect((await failure(address))?.message).toContain('could not be fetched');
  });
});
