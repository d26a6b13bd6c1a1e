/** A small npm registry on loopback, with what can go wrong on the way to a tarball, and packages to put into it. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { create } from 'tar';
import type { PackDeclaration, PackTarball } from '../../src/engines/packs/types.ts';

export interface TestPackage {
  readonly tarball: PackTarball;
  readonly bytes: Buffer;
}

/** `files` in the order in which the tarball holds them, and a link and a script that nobody asked for. */
export async function makePackage(name: string, files: Record<string, Buffer>): Promise<TestPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'roundhouse-package-'));
  try {
    for (const [path, content] of Object.entries({ ...files, 'install.js': Buffer.from('throw 1') })) {
      await mkdir(join(folder, 'package', dirname(path)), { recursive: true });
      await writeFile(join(folder, 'package', path), content);
    }
    await symlink('/etc/passwd', join(folder, 'package/link'));
    const paths = ['link', 'install.js', ...Object.keys(files)].map((path) => `package/${path}`);
    const bytes = create({ cwd: folder, gzip: true, portable: true, sync: true }, paths).read() as Buffer;
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    return { tarball: { package: name, version: '1.0.0', bytes: bytes.length, integrity }, bytes };
  } finally {
    await rm(folder, { recursive: true });
  }
}

export interface TestPack {
  readonly declaration: PackDeclaration;
  readonly packages: readonly TestPackage[];
  readonly model: Buffer;
  readonly tokenizer: Buffer;
}

/** A pack of two tarballs whose model comes in three parts, two of them in the wrong order. */
export async function makePack(name: string, scope = ''): Promise<TestPack> {
  const parts = [randomBytes(700_000), randomBytes(200_000), randomBytes(300_000)] as const;
  const tokenizer = Buffer.from('{"version":"1.0"}');
  const packages = [
    await makePackage(`${scope}${name}-part1`, { 'model.part': parts[0], 'tokenizer.json': tokenizer }),
    await makePackage(`${scope}${name}-part2`, { 'data/c.part': parts[2], 'data/b.part': parts[1] }),
  ];
  const model = Buffer.concat(parts);
  const sumOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');
  const declaration: PackDeclaration = {
    name,
    runtime: 'llama',
    licence: 'MIT',
    tarballs: packages.map(({ tarball }) => tarball),
    files: [
      {
        role: 'model',
        name: 'model.gguf',
        parts: [
          { tarball: 0, path: 'model.part' },
          { tarball: 1, path: 'data/b.part' },
          { tarball: 1, path: 'data/c.part' },
        ],
        bytes: model.length,
        sha256: sumOf(model),
      },
      {
        role: 'tokenizer',
        name: 'tokenizer.json',
        parts: [{ tarball: 0, path: 'tokenizer.json' }],
        bytes: tokenizer.length,
        sha256: sumOf(tokenizer),
      },
    ],
  };
  return { declaration, packages, model, tokenizer };
}

/** What goes wrong with tarballs. Tests change it while the registry runs. */
export interface Mishaps {
  /** Without it in the request: 401. */
  token?: string;
  ignoresRange?: boolean;
  /** Connections end here, each time one passes it. */
  cutsAt?: number;
  /** Nothing more is sent from here on until the mishap is taken away and `resume` called. */
  holdsAt?: number;
  /** This byte of every tarball arrives wrong. */
  flips?: number;
  status?: number;
  /** What the packument says of the tarball's address, instead of this registry's own. */
  tarballBase?: string;
  integrity?: string;
}

export interface PackRegistry {
  readonly url: string;
  readonly mishaps: Mishaps;
  /** Bytes of tarballs that were sent. */
  readonly servedBytes: number;
  /** `GET /path` with the range that was asked for. */
  readonly requests: readonly string[];
  /** Lets held answers go on. */
  resume(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startPackRegistry(packages: readonly TestPackage[]): Promise<PackRegistry> {
  const mishaps: Mishaps = {};
  const requests: string[] = [];
  let servedBytes = 0;
  let held: (() => void)[] = [];

  async function send(response: ServerResponse, bytes: Buffer, from: number): Promise<void> {
    const piece = 16_384;
    for (let at = from; at < bytes.length; ) {
      if (mishaps.holdsAt !== undefined && at >= mishaps.holdsAt) {
        await new Promise<void>((resolve) => held.push(resolve));
        continue;
      }
      if (mishaps.cutsAt !== undefined && from < mishaps.cutsAt && at >= mishaps.cutsAt) {
        return void response.destroy();
      }
      const stops = [mishaps.holdsAt, mishaps.cutsAt].filter((stop) => stop !== undefined && stop > at);
      const end = Math.min(at + piece, bytes.length, ...(stops as number[]));
      const chunk = Buffer.from(bytes.subarray(at, end));
      const { flips } = mishaps;
      if (flips !== undefined && flips >= at && flips < end)
        chunk.writeUInt8(chunk.readUInt8(flips - at) ^ 1, flips - at);
      servedBytes += chunk.length;
      // What is not flushed when a connection is cut would be lost.
      const error = await new Promise((resolve) => response.write(chunk, resolve));
      if (error) return;
      at = end;
    }
    response.end();
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // As a proxy it is asked for whole addresses.
    const { pathname } = new URL(request.url ?? '', url);
    const { range, authorization } = request.headers;
    requests.push(`GET ${pathname}${range === undefined ? '' : ` ${range}`}`);
    if (mishaps.token !== undefined && authorization !== `Bearer ${mishaps.token}`) {
      return void response.writeHead(401).end('{}');
    }
    const found = packages.find(
      ({ tarball }) =>
        pathname === `/tarballs/${tarball.package}.tgz` ||
        pathname === `/${tarball.package.replace('/', '%2f')}`,
    );
    if (found === undefined) return void response.writeHead(404).end('{}');
    const { tarball, bytes } = found;
    if (!pathname.endsWith('.tgz')) {
      const dist = {
        tarball: `${mishaps.tarballBase ?? url}tarballs/${tarball.package}.tgz`,
        integrity: mishaps.integrity ?? tarball.integrity,
      };
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ versions: { [tarball.version]: { dist } } }));
    }
    if (mishaps.status !== undefined) return void response.writeHead(mishaps.status).end('{}');
    const from = mishaps.ignoresRange === true ? 0 : Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    response.writeHead(from > 0 ? 206 : 200, {
      'content-type': 'application/octet-stream',
      'content-length': bytes.length - from,
      ...(from > 0 ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}),
    });
    await send(response, bytes, from);
  }

  const server = createServer((request, response) => void answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const resume = () => {
    const waiting = held;
    held = [];
    for (const go of waiting) go();
  };
  return {
    url,
    mishaps,
    requests,
    get servedBytes() {
      return servedBytes;
    },
    resume,
    async [Symbol.asyncDispose]() {
      for (const name of Object.keys(mishaps)) delete mishaps[name as keyof Mishaps];
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      resume();
      await closed;
    },
  };
}
