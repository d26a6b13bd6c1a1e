/** The program that a media process runs: the only one that loads FFmpeg. */
import { serve } from './serve.ts';

await serve(async () => (await import('./jobs.ts')).createJobs());
