/** The list of jobs: a new one is a file and a line here and in `protocol.ts`. */
import { AV_LOG_QUIET } from 'node-av/constants';
import { Log } from 'node-av/lib';
import { decode } from './decode.ts';
import { encode } from './encode.ts';
import { probe } from './probe.ts';
import type { Jobs } from './protocol.ts';
import { stretch } from './stretch.ts';

export function createJobs(): Pick<Jobs, 'probe' | 'decode' | 'encode' | 'stretch'> {
  // What FFmpeg prints repeats the file's own words: nothing for the log.
  Log.setLevel(AV_LOG_QUIET);
  return { probe, decode, encode, stretch };
}
