/**
 * A media program whose one job opens what it can, by Node's means and by FFmpeg's with every protocol allowed.
 * It tries once before the process is sealed, to show that it could.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { FormatContext, InputFormat } from 'node-av/lib';
import type { Jobs } from '../../src/platform/media/program/protocol.ts';
import { serve } from '../../src/platform/media/program/serve.ts';

const [path = '', url = ''] = process.argv.slice(2);

function attempt(open: () => unknown): string {
  try {
    return String(open());
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

async function openWithFfmpeg(name: string): Promise<number> {
  const format = new FormatContext();
  const code = await format.openInput(name, InputFormat.findInputFormat('wav'));
  if (code >= 0) await format.closeInput();
  return code;
}

let before: number;

const probe: Jobs['probe'] = async () => {
  const found = {
    before,
    file: await openWithFfmpeg(path),
    server: await openWithFfmpeg(url),
    read: attempt(() => readFileSync(path).length),
    write: attempt(() => writeFileSync(`${path}.stolen`, 'x')),
    spawn: attempt(() => spawnSync('/bin/true').status),
  };
  return { container: JSON.stringify(found), durationSeconds: 0, audio: undefined, video: undefined };
};

await serve(async () => {
  before = await openWithFfmpeg(path);
  return { probe };
});
