/** A picture program without libvips whose job misbehaves as the bytes behind its picture say. */
import { serve } from '../../src/platform/media/program/serve.ts';
import type { PictureJobs } from '../../src/platform/pictures/program/protocol.ts';

const accept: PictureJobs['accept'] = async (input) => {
  if (input.includes('abort')) process.abort();
  if (input.includes('outside')) process.kill(process.pid, 'SIGKILL');
  if (input.includes('hang')) for (;;);
  if (input.includes('mistake')) throw new Error('a mistake');
  const kept: Buffer[] = [];
  while (input.includes('grow')) {
    kept.push(Buffer.alloc(4e6, 1));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { format: 'png', width: 1, height: 1, isKept: true };
};

await serve(async () => ({ accept }));
