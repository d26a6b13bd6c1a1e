/** All of FFmpeg that a studio uses, loaded by one name when it is first needed. */
import { AV_LOG_QUIET } from 'node-av/constants';
import { Log } from 'node-av/lib';

export { Film } from './film.ts';
export { openInput } from './input.ts';
export { readFilm } from './read-film.ts';
export { readSamples } from './samples.ts';

// What FFmpeg prints repeats the file's own words: nothing for the log.
Log.setLevel(AV_LOG_QUIET);
