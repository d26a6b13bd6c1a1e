import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { watchMemory } from './thread-memory.ts';

const module = fileURLToPath(new URL('./thread-memory.ts', import.meta.url));
const properties = 'const kept = {}; for (let n = 0; ; n++) kept["a" + n] = 0;';

/** In a process of its own: one that does not survive it would take the tests along. */
const program = (code: string) => `
  import { Worker } from 'node:worker_threads';
  import { watchedThread, watchMemory } from ${JSON.stringify(module)};
  const worker = new Worker(${JSON.stringify(code)}, { eval: true, resourceLimits: watchedThread });
  const stop = watchMemory(worker, 300e6, () => {
    stop();
    void worker.terminate().then(() => console.log('ended', process.resourceUsage().maxRSS < 1.5e6));
  });`;

describe('a thread that takes too much memory is ended, and its process lives on', () => {
  it.each([
    ['a table of properties that doubles', properties],
    ['a list that grows', 'const kept = []; for (;;) kept.push(0.5);'],
    ['many small objects', 'const kept = []; for (;;) kept.push({ text: Math.random() });'],
    ['a text without end', "let kept = ''; for (;;) kept += 'some text';"],
    ['buffers outside of its heap', 'const kept = []; for (;;) kept.push(new Uint8Array(8e6).fill(1));'],
  ])('%s', { timeout: 60_000 }, async (_, code) => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '--eval',
      program(code),
    ]);
    expect(stdout).toBe('ended true\n');
  });
});

it('what one thread takes is not held against another', async () => {
  const greedy = new Worker(properties, { eval: true });
  const modest = new Worker('setInterval(() => {}, 1_000)', { eval: true });
  const exceeded: string[] = [];
  const stopModest = watchMemory(modest, 150e6, () => exceeded.push('modest'));
  const ended = once(greedy, 'exit');
  const stopGreedy = watchMemory(greedy, 150e6, () => {
    stopGreedy();
    exceeded.push('greedy');
    void greedy.terminate();
  });
  await ended;
  stopModest();
  await modest.terminate();
  expect(exceeded).toEqual(['greedy']);
});
