import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { blankPng, makePicture } from '../../../test/support/picture-files.ts';
import { createLog } from '../../lib/log.ts';
import { MediaProcess } from '../media/process.ts';
import { toCommand } from '../media/walls.ts';
import { createPictures, type RunningPictures } from './index.ts';

const signal = new AbortController().signal;
const stub = new URL('../../../test/support/picture-stub.ts', import.meta.url);
const limits = { processes: 1, memoryMb: 200 };
let pictures: RunningPictures | undefined;

afterEach(() => pictures?.close());

function told(what: string): Buffer {
  return Buffer.concat([blankPng({ width: 1, height: 1 }), Buffer.from(what)]);
}

describe('a picture process', () => {
  it.each([
    ['abort', 'invalid_request', 'image cannot be decoded'],
    ['hang', 'invalid_request', 'image takes too long to decode: the limit is 2 s'],
    ['grow', 'invalid_request', 'image takes more than 200 MB of memory to decode'],
    ['mistake', 'internal', 'The picture could not be processed'],
    ['outside', 'unreachable', 'The picture was not processed to its end; try again'],
  ])('that does %s fails its own picture (%s), and the next one is taken', async (what, kind, message) => {
    // Short only where the time is what ends it.
    const timeoutMs = what === 'hang' ? 2_000 : 30_000;
    pictures = createPictures({ log: createLog('silent'), limits: { ...limits, timeoutMs }, program: stub });
    const options = { param: 'image', kinds: ['png'] } as const;
    await expect(pictures.accept(told(what), options, signal)).rejects.toMatchObject({ kind, message });
    expect(await pictures.accept(told('well'), options, signal)).toMatchObject({ width: 1 });
  });

  it('is weighed by what it takes itself, however large the gateway is', async () => {
    const gateway = Buffer.alloc(300 * 1024 * 1024, 1);
    pictures = createPictures({ log: createLog('silent'), limits });
    const taken = await pictures.accept(await makePicture('png'), { param: 'image', kinds: ['png'] }, signal);
    expect(taken.width).toBe(64);
    expect(gateway[0]).toBe(1);
    // It did not grow old by it either.
    expect(pictures.pids).toHaveLength(1);
  });

  it('says to clients that pictures are not there when sharp is not, and to the operator why', async () => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line) => lines.push(line) });
    pictures = createPictures({
      log,
      program: new URL('../../../test/support/media-missing.ts', import.meta.url),
    });
    await expect(
      pictures.accept(await makePicture('png'), { param: 'image', kinds: ['png'] }, signal),
    ).rejects.toMatchObject({
      kind: 'unreachable',
      permanent: true,
      message: 'Pictures cannot be processed on this installation',
    });
    expect(lines.join('')).toContain('sharp cannot be loaded');
  });

  it('opens and writes no file, by no means, once it has begun', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roundhouse-pictures-'));
    const path = join(folder, 'bait.png');
    await writeFile(path, await makePicture('png'));
    const program = new URL('../../../test/support/picture-burglar.ts', import.meta.url);
    const { file, args } = toCommand({ program, memoryMb: 288, lifetimeCpuMs: 60_000, packages: ['sharp'] });
    const burglar = new MediaProcess({ file, args: [...args, path] }, { memoryMb: 288, cpuMs: 30_000 });
    try {
      expect(await burglar.report()).toEqual({ type: 'ready', isSealed: true });
      burglar.begin('accept', {}, await makePicture('png'));
      expect(await burglar.next(10_000)).toEqual({
        type: 'done',
        result: {
          // It could, until the process was sealed.
          before: '64',
          file: 'failed',
          written: 'failed',
          memory: '64',
          read: 'ERR_ACCESS_DENIED',
          write: 'ERR_ACCESS_DENIED',
          spawn: 'ERR_ACCESS_DENIED',
        },
      });
      expect(existsSync(`${path}.stolen`)).toBe(false);
    } finally {
      burglar.kill(new Error('the test is over'));
      await burglar.ended;
      await rm(folder, { recursive: true, force: true });
    }
  });
});

it('keeps libvips and libheif in programs of their own: nothing else names their packages', () => {
  const root = new URL('../../../', import.meta.url).pathname;
  const users = globSync('src/**/*.ts', { cwd: root }).filter((path) => {
    const source = readFileSync(join(root, path), 'utf8');
    return (
      !path.endsWith('.test.ts') &&
      /(^import (?!type)[^;]*from|import\(|require\()\s*'(sharp|heic-decode|libheif)/m.test(source)
    );
  });
  expect(users.length).toBeGreaterThan(2);
  for (const path of users) expect(path).toMatch(/^src\/platform\/(pictures|media)\/program\//);
});
