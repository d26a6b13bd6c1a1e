/** The public face of recordings. */
export { createRecordings, type RecordingsParts } from './recordings.ts';
export type * from './types.ts';
