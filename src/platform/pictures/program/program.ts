/** The program that a picture process runs: libvips and libheif are loaded before the process is sealed. */
import { serve } from '../../media/program/serve.ts';

await serve(async () => (await import('./jobs.ts')).createJobs());
