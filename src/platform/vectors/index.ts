/** The public face of vectors. */
export { acceptedFiles, toFilename } from './read/index.ts';
export type * from './types.ts';
export { createVectors, type VectorsParts } from './vectors.ts';
