/** The public face of the reading of files. */
export { type CutFile, type CutLimits, type Cutter, createCutter, cutLimits } from './cutter.ts';
export { toFilename } from './filename.ts';
export { acceptedFiles } from './kind.ts';
export { toRefusal } from './refusal.ts';
