/** A media program on a machine where FFmpeg's package is not installed. */
import { serve } from '../../src/platform/media/program/serve.ts';

await serve(() => Promise.reject(new Error("Cannot find package 'node-av'")));
