import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

it.runIf(existsSync('/usr/bin/setpriv'))(
  'a process that hangs ends with a gateway that is killed',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roundhouse-walls-'));
    const hang = join(folder, 'hang.mjs');
    await writeFile(hang, 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);');
    const walls = fileURLToPath(new URL('./walls.ts', import.meta.url));
    const parent = join(folder, 'parent.mjs');
    await writeFile(
      parent,
      `import { spawn } from 'node:child_process';
       import { pathToFileURL } from 'node:url';
       import { toCommand } from ${JSON.stringify(walls)};
       const { file, args } = toCommand({ program: pathToFileURL(${JSON.stringify(hang)}), memoryMb: 256, lifetimeCpuMs: 60_000 });
       const child = spawn(file, args, { stdio: ['pipe', 'inherit', 'inherit', 'ipc'], env: {} });
       console.log(child.pid);`,
    );
    const gateway = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', parent]);
    try {
      const [printed] = (await once(gateway.stdout, 'data')) as [Buffer];
      const pid = Number(printed);
      expect(() => process.kill(pid, 0)).not.toThrow();
      gateway.kill('SIGKILL');
      await once(gateway, 'exit');
      await expect.poll(() => isAlive(pid)).toBe(false);
    } finally {
      gateway.kill('SIGKILL');
      await rm(folder, { recursive: true });
    }
  },
);

/** A dead one that nobody has asked after is still in the table, as a zombie. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
