/** The public face of jobs. */
export { jobErrorCodes } from './failure.ts';
export { createJobs, type JobsParts, type JobsSettings, type WorkingJobs } from './jobs.ts';
export { hasEnded, jobStatuses } from './states.ts';
export type * from './types.ts';
