import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { firstPiece } from '../../lib/content.ts';
import { createLog } from '../../lib/log.ts';
import { createScratch, type Scratch } from './index.ts';

const mb = 1024 * 1024;
let folder: string;
let scratch: Scratch;

function openScratch(): Scratch {
  return createScratch({ folder, log: createLog('silent'), now: Date.now });
}

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'roundhouse-test-')), 'scratch');
  scratch = openScratch();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await scratch.close();
  await rm(join(folder, '..'), { recursive: true });
});

/** In one piece of memory that is used again and again, as senders of pieces may. */
async function* piecesOf(bytes: Buffer, pieceBytes: number): AsyncGenerator<Buffer> {
  const memory = Buffer.alloc(pieceBytes);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const length = bytes.copy(memory, 0, at, at + pieceBytes);
    yield memory.subarray(0, length);
    memory.fill(0);
  }
}

async function read(content: {
  pieces(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of content.pieces()) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** Where the system tells it. */
const openFiles = async () => (await readdir('/proc/self/fd').catch(() => [])).length;
const list = () => readdir(folder).catch(() => []);

describe('what a request brings', () => {
  it.each([
    ['nothing', 0, 1000],
    ['little', 1000, 7],
    ['just too much for memory', 256 * 1024, 64 * 1024],
    ['much, in pieces', 5 * mb + 3, 100_000],
    ['much at once', 3 * mb, 3 * mb],
  ])('%s is read as it was sent, by several at once', async (_, size, pieceBytes) => {
    const bytes = randomBytes(size);
    const kept = await scratch.keep(piecesOf(bytes, pieceBytes));
    expect(kept.length).toBe(size);
    const all = await Promise.all([read(kept), read(kept), kept.toBuffer()]);
    for (const each of all) expect(each.equals(bytes)).toBe(true);
    const first = await firstPiece(kept);
    expect(first.equals(bytes.subarray(0, first.length))).toBe(true);
    await kept.close();
  });

  it('has no name on the disk, so that nothing is left when the process is killed', async () => {
    const kept = await scratch.keep(piecesOf(randomBytes(mb), 100_000));
    expect(await readdir(folder)).toEqual([]);
    expect((await kept.toBuffer()).length).toBe(mb);
    await kept.close();
    await expect(kept.toBuffer()).rejects.toThrow();
  });

  it('that breaks off is let go of, and the failure is its own', async () => {
    const broken = async function* () {
      yield randomBytes(mb);
      throw new Error('the client left');
    };
    const before = await openFiles();
    await expect(scratch.keep(broken())).rejects.toThrow('the client left');
    expect(await openFiles()).toBe(before);
    expect(await list()).toEqual([]);
  });

  it.each(['ENOSPC', 'EDQUOT'])('a full disk (%s) is an internal failure with nothing left', async (code) => {
    const handle = await open(tmpdir());
    const prototype = Object.getPrototypeOf(handle);
    await handle.close();
    vi.spyOn(prototype, 'write').mockRejectedValueOnce(Object.assign(new Error(code), { code }));
    await expect(scratch.keep(piecesOf(randomBytes(mb), 300_000))).rejects.toMatchObject({
      name: 'GatewayError',
      kind: 'internal',
      message: 'There is no room left for another file',
    });
    expect(await list()).toEqual([]);
  });

  it('is whole although a disk that is nearly full takes it in parts', async () => {
    const handle = await open(tmpdir());
    const prototype = Object.getPrototypeOf(handle);
    await handle.close();
    const { write } = prototype;
    vi.spyOn(prototype, 'write').mockImplementation(function (this: unknown, ...given: unknown[]) {
      const [bytes, at, length, position] = given as [Uint8Array, number, number, number];
      return write.call(this, bytes, at, Math.min(length, 70_000), position);
    });
    const bytes = randomBytes(mb);
    const kept = await scratch.keep(piecesOf(bytes, 300_000));
    expect((await read(kept)).equals(bytes)).toBe(true);
    await kept.close();
  });
});

it('names that a killed process left are removed at the next start, those of a living one are not', async () => {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'abandoned'), 'x');
  await writeFile(join(folder, 'fresh'), 'x');
  const hourAgo = Date.now() / 1000 - 3600;
  await utimes(join(folder, 'abandoned'), hourAgo, hourAgo);
  await openScratch().close();
  expect(await readdir(folder)).toEqual(['fresh']);
});
