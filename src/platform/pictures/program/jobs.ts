/** The list of jobs, and how libvips is set up for them. */
import sharp from 'sharp';
import { accept } from './accept.ts';
import { finish } from './finish.ts';
import { loadHeic } from './heic.ts';
import type { PictureJobs } from './protocol.ts';

/** Of libvips: what opens each kind. HEIC is only measured by it. */
const loaders = ['Png', 'Jpeg', 'Webp', 'Nsgif', 'Heif'].map((name) => `VipsForeignLoad${name}`);

export function createJobs(): PictureJobs {
  // A process has one picture at a time and never the same twice: a cache only holds memory.
  sharp.cache(false);
  sharp.concurrency(1);
  // Whatever a file pretends to be, libvips finds no other reader for it: no SVG, no PDF, no TIFF.
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: loaders });
  const readHeic = loadHeic();
  return {
    accept: (input, options, output) => accept({ readHeic }, input, options, output),
    finish: (input, options, output) => finish({ readHeic }, input, options, output),
  };
}
