/**
 * Runs after `npm ci`: starts the gateway once in a temporary folder and stops it, so that its compiled code is
 * in the cache and the first real start is as quick and small as every later one (measured: 0.5 s instead of
 * 0.9 s, and 111 MB instead of 150). Whatever goes wrong here only means a slower first start.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const patienceMs = 20_000;
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'roundhouse-warm-'));

const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, 'src/main.ts')], {
  cwd: folder,
  // Nothing of the operator's own settings: no database of theirs is touched.
  env: {
    PATH: process.env['PATH'],
    PORT: '0',
    LOG_LEVEL: 'silent',
    ROUNDHOUSE_DATA: join(folder, 'data'),
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/roundhouse'),
  },
  stdio: ['ignore', 'pipe', 'ignore'],
});
const limit = setTimeout(() => child.kill('SIGKILL'), patienceMs);
child.stdout.setEncoding('utf8').on('data', (text: string) => {
  if (text.includes('listens on')) child.kill('SIGTERM');
});
const [code] = (await once(child, 'exit')) as [number | null];
clearTimeout(limit);
rmSync(folder, { recursive: true, force: true });
console.log(
  code === 0 ? 'the first start is prepared' : 'the first start could not be prepared; it will be slower',
);
