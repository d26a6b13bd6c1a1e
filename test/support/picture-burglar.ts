/** A picture program whose one job opens what it can, by Node's means and by libvips', and tells how far it came. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import sharp from 'sharp';
import { serve } from '../../src/platform/media/program/serve.ts';

const [path = ''] = process.argv.slice(2);

function attempt(open: () => unknown): string {
  try {
    return String(open());
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

const openWithVips = () =>
  sharp(path)
    .metadata()
    .then(({ width }) => String(width))
    .catch(() => 'failed');

const writeWithVips = (bytes: Buffer) =>
  sharp(bytes)
    .toFile(`${path}.stolen`)
    .then(() => 'written')
    .catch(() => 'failed');

let before: string;

const accept = async (input: Buffer) => ({
  before,
  file: await openWithVips(),
  written: await writeWithVips(input),
  memory: String((await sharp(input).metadata()).width),
  read: attempt(() => readFileSync(path).length),
  write: attempt(() => writeFileSync(`${path}.stolen`, 'x')),
  spawn: attempt(() => spawnSync('/bin/true').status),
});

await serve(async () => {
  before = await openWithVips();
  return { accept };
});
