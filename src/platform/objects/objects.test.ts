import { mkdir, mkdtemp, open, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../lib/log.ts';
import { createObjects, type Objects } from './index.ts';

const log = createLog('silent');
const hourMs = 3_600_000;
/** 2026-11-15T13:20:00Z. */
const begin = Date.UTC(2026, 10, 15, 13, 20);

let folder: string;
let time: number;
let objects: Objects;
const opened: Objects[] = [];

function openObjects(parts: { sweepEveryMs?: number } = {}): Objects {
  const made = createObjects({ folder, log, now: () => time, ...parts });
  opened.push(made);
  return made;
}

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'roundhouse-test-')), 'objects');
  time = begin;
  objects = openObjects();
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const made of opened.splice(0)) await made.close();
  await rm(join(folder, '..'), { recursive: true });
});

const incoming = () => readdir(join(folder, '.incoming'));

describe('objects', () => {
  it('are written from bytes and from streams, and read whole, in part and by stream', async () => {
    expect(await objects.put('videos/video_1/0.mp4', Buffer.from('0123456789'))).toEqual({
      bytes: 10,
      writtenAt: begin,
    });
    const stream = Readable.from([Buffer.from('ab'), Buffer.from(''), Buffer.from('cde')]);
    expect((await objects.put('videos/video_1/1.mp4', stream)).bytes).toBe(5);
    expect(await objects.find('videos/video_1/0.mp4')).toEqual({ bytes: 10, writtenAt: begin });
    expect(String(await objects.read('videos/video_1/1.mp4'))).toBe('abcde');
    const whole = await objects.open('videos/video_1/0.mp4');
    expect(String(await buffer(whole!))).toBe('0123456789');
    const part = await objects.open('videos/video_1/0.mp4', { start: 2, end: 4 });
    expect(String(await buffer(part!))).toBe('234');
    expect(await incoming()).toEqual([]);
  });

  it('that are not there are undefined, folders too', async () => {
    await objects.put('videos/video_1/0.mp4', Buffer.from('x'));
    for (const key of ['videos/video_2/0.mp4', 'videos/video_1', 'videos/video_1/0.mp4/below', 'none']) {
      expect(await objects.find(key), key).toBeUndefined();
      expect(await objects.read(key), key).toBeUndefined();
      expect(await objects.open(key), key).toBeUndefined();
    }
  });

  it('take the place of what stood there, and who reads it reads it to its end', async () => {
    await objects.put('a/b', Buffer.alloc(300_000, 'old'));
    const reading = await objects.open('a/b');
    await objects.put('a/b', Buffer.from('new'));
    expect((await buffer(reading!)).equals(Buffer.alloc(300_000, 'old'))).toBe(true);
    const last = await objects.open('a/b');
    await objects.remove('a/b');
    expect(String(await buffer(last!))).toBe('new');
    expect(await objects.find('a/b')).toBeUndefined();
  });

  it('are removed with everything below the key; nothing there is no failure', async () => {
    await objects.put('videos/video_1/0.mp4', Buffer.from('x'));
    await objects.put('videos/video_1/1.mp4', Buffer.from('x'));
    await objects.put('videos/video_2/0.mp4', Buffer.from('x'));
    await objects.remove('videos/video_1');
    await objects.remove('videos/video_1');
    await objects.remove('videos/video_2/0.mp4/below');
    expect(await objects.find('videos/video_1/0.mp4')).toBeUndefined();
    expect(await objects.find('videos/video_2/0.mp4')).toBeDefined();
  });

  it('have no half: a source that breaks off leaves what stood there and nothing else', async () => {
    await objects.put('a/b', Buffer.from('old'));
    async function* broken() {
      yield Buffer.from('half');
      throw new Error('the encoder died');
    }
    await expect(objects.put('a/b', broken())).rejects.toThrow('the encoder died');
    expect(String(await objects.read('a/b'))).toBe('old');
    expect(await incoming()).toEqual([]);
  });

  it.each(['ENOSPC', 'EDQUOT'])('a full disk (%s) is an internal failure with nothing left', async (code) => {
    await objects.put('a/b', Buffer.from('old'));
    const handle = await open(join(folder, 'a/b'));
    const prototype = Object.getPrototypeOf(handle);
    await handle.close();
    vi.spyOn(prototype, 'appendFile').mockRejectedValueOnce(Object.assign(new Error(code), { code }));
    await expect(objects.put('a/b', Buffer.from('new'))).rejects.toMatchObject({
      name: 'GatewayError',
      kind: 'internal',
      message: 'There is no room left for another file',
    });
    expect(String(await objects.read('a/b'))).toBe('old');
    expect(await incoming()).toEqual([]);
  });

  it('only keys that stay inside the folder are accepted', async () => {
    for (const key of [
      '',
      '/etc/passwd',
      '../x',
      'a/../../x',
      'a//b',
      'a/',
      './a',
      'a/.incoming',
      '.incoming/x',
      'A',
      'a b',
      'a\\b',
      'a\0',
      'ä',
      `${'a'.repeat(201)}`,
      `${'a/'.repeat(256)}a`,
    ]) {
      await expect(objects.put(key, Buffer.from('x')), key).rejects.toThrow(/is not the key/);
      await expect(objects.read(key), key).rejects.toThrow(/is not the key/);
      await expect(objects.remove(key), key).rejects.toThrow(/is not the key/);
    }
  });
});

describe('passing objects', () => {
  it('carry their hour in the key', () => {
    expect(objects.passingKey('images', begin + hourMs, 'ab.png')).toBe('images/until-2026111515/ab.png');
    expect(objects.passingKey('images', Date.UTC(2026, 11, 31, 23, 0, 1), 'a/b')).toBe(
      'images/until-2027010100/a/b',
    );
    expect(objects.passingKey('images', Date.UTC(2026, 11, 31, 23), 'ab')).toBe('images/until-2026123123/ab');
    expect(() => objects.passingKey('a/b', begin, 'x')).toThrow(/one word/);
    expect(() => objects.passingKey('a', begin, '../x')).toThrow(/is not the key/);
  });

  it('are swept after their hour, at the next start too, and nothing else is', async () => {
    const key = objects.passingKey('images', begin + hourMs, 'ab.png');
    const later = objects.passingKey('images', begin + 3 * hourMs, 'ab.png');
    const kept = ['images/2026111514/ab.png', 'images/until-9999999999/x', 'until-2026111514/x/y', 'plain'];
    for (const each of [key, later, ...kept]) await objects.put(each, Buffer.from('x'));
    time = begin + hourMs;
    await openObjects().close();
    expect(await objects.find(key)).toBeDefined();
    time = Date.UTC(2026, 10, 15, 15);
    await openObjects().close();
    expect(await objects.find(key)).toBeUndefined();
    for (const each of [later, ...kept]) expect(await objects.find(each), each).toBeDefined();
  });

  it('are swept at intervals while the gateway runs', async () => {
    const key = objects.passingKey('images', begin, 'ab.png');
    await objects.put(key, Buffer.from('x'));
    openObjects({ sweepEveryMs: 5 });
    time = begin + hourMs;
    await expect.poll(() => objects.find(key)).toBeUndefined();
  });
});

describe('what a dead process left half written', () => {
  it('is swept when nobody has written to it for an hour, but never what is being written', async () => {
    const path = join(folder, '.incoming', 'abandoned');
    await mkdir(join(folder, '.incoming'), { recursive: true });
    await writeFile(path, 'half');
    await utimes(path, begin / 1000, begin / 1000);
    time = begin + hourMs - 1;
    await openObjects().close();
    expect(await incoming()).toEqual(['abandoned']);
    const gate = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.from('a');
      await gate.promise;
      yield Buffer.from('b');
    }
    const writer = openObjects({ sweepEveryMs: 5 });
    const writing = writer.put('a/b', slow());
    await expect.poll(incoming).toHaveLength(2);
    time = Date.now() + begin + 2 * hourMs;
    await expect.poll(incoming).not.toContain('abandoned');
    expect(await incoming()).toHaveLength(1);
    gate.resolve();
    await writing;
    expect(String(await objects.read('a/b'))).toBe('ab');
  });
});
