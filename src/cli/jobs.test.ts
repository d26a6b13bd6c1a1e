import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BenchProcess, createJobsBench, type JobsBench } from '../../test/support/jobs-bench.ts';
import { runCommand } from '../../test/support/run-command.ts';
import { createShell, type Shell } from '../../test/support/shell.ts';
import { adminRoutes } from '../api/admin/index.ts';
import type { CommandCall } from './command.ts';
import { jobCommands } from './jobs.ts';

let bench: JobsBench;
let process: BenchProcess;
let shell: Shell;

beforeEach(async () => {
  bench = await createJobsBench();
  process = bench.open();
  shell = createShell(adminRoutes, { platform: { jobs: process.jobs } });
});
afterEach(async () => {
  await shell.close();
  await bench.close();
});

const run = (word: string, operands: string[] = [], options: CommandCall['options'] = {}) =>
  runCommand(shell, { commands: jobCommands, word, operands, options });

describe('roundhouse jobs', () => {
  it('list shows how far each one is', async () => {
    const { id } = await process.jobs.create(bench.newJob());
    expect(await run('list')).toBe(
      `ID                              MODEL  STATUS   PROGRESS  ATTEMPT  CREATED           ERROR\n` +
        `${id}  vid-1  pending  0 ahead   0        2026-11-15 03:00  -\n`,
    );
    expect(JSON.parse(await run('list', [], { json: true, status: 'pending' }))).toMatchObject([{ id }]);
    expect(JSON.parse(await run('list', [], { json: true, kind: 'music' }))).toEqual([]);
    expect(JSON.parse(await run('list', [], { json: true, limit: '0' }))).toHaveLength(1);
    await expect(run('list', [], { status: 'lost' })).rejects.toThrow('--status takes pending, in_progress');
    await expect(run('list', [], { limit: 'many' })).rejects.toThrow('--limit takes a number up to 1000');
  });

  it('show tells all that is known of one', async () => {
    const { id } = await process.jobs.create(bench.newJob());
    const shown = await run('show', [id]);
    expect(shown).toContain(`id               ${id}\n`);
    expect(shown).toContain('created_at       2026-11-15 03:00\n');
    expect(JSON.parse(await run('show', [id], { json: true }))).toMatchObject({ id, object: 'job' });
    await expect(run('show', ['video_none'])).rejects.toThrow('There is no job "video_none"');
  });

  it('cancel cancels one', async () => {
    const { id } = await process.jobs.create(bench.newJob());
    expect(await run('cancel', [id])).toContain('cancelled');
    expect(await bench.status(id)).toBe('cancelled');
    await expect(run('cancel', [id])).rejects.toThrow('it cannot be cancelled');
  });
});
