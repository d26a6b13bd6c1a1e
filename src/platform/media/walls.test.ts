import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MediaProcess } from './process.ts';
import { toCommand } from './walls.ts';
import { toWav } from './wav.ts';

it('stands around a process: even FFmpeg with every protocol allowed opens no file and no connection', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roundhouse-walls-'));
  const path = join(folder, 'bait.wav');
  await writeFile(path, toWav(new Int16Array(16_000), 16_000));
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/bait.wav`;
  const program = new URL('../../../test/support/media-burglar.ts', import.meta.url);
  const { file, args } = toCommand({ program, memoryMb: 512, lifetimeCpuMs: 60_000 });
  const burglar = new MediaProcess({ file, args: [...args, path, url] }, { memoryMb: 512, cpuMs: 30_000 });
  try {
    expect(await burglar.report()).toEqual({ type: 'ready', isSealed: true });
    burglar.begin('probe', {}, Buffer.alloc(0));
    const answer = await burglar.next(10_000);
    expect(answer.type).toBe('done');
    const { result } = answer as { result: { container: string } };
    const found = JSON.parse(result.container);
    // It could, until the process was sealed.
    expect(found.before).toBeGreaterThanOrEqual(0);
    expect(found.file).toBeLessThan(0);
    expect(found.server).toBeLessThan(0);
    // And JavaScript could not at any time.
    expect(found.read).toBe('ERR_ACCESS_DENIED');
    expect(found.write).toBe('ERR_ACCESS_DENIED');
    expect(found.spawn).toBe('ERR_ACCESS_DENIED');
    expect(connections).toBe(0);
  } finally {
    burglar.kill(new Error('the test is over'));
    await burglar.ended;
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true, force: true });
  }
});

it('keeps FFmpeg, a GPL build, in a program of its own: nothing else names its package', () => {
  const root = new URL('../../../', import.meta.url).pathname;
  const users = globSync('src/**/*.ts', { cwd: root }).filter((path) => {
    const source = readFileSync(join(root, path), 'utf8');
    return !path.endsWith('.test.ts') && /(from|import\()\s*'node-av/.test(source);
  });
  expect(users.length).toBeGreaterThan(5);
  for (const path of users) expect(path).toMatch(/^src\/platform\/media\/program\//);
  const importers = globSync('src/**/*.ts', { cwd: root }).filter((path) => {
    const source = readFileSync(join(root, path), 'utf8');
    return (
      !/^src\/platform\/(media|pictures)\/program\//.test(path) &&
      /^import (?!type)[^;]*media\/program|^import (?!type)[^;]*'\.\/program\//m.test(source)
    );
  });
  expect(importers).toEqual([]);
});
