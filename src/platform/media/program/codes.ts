/** How FFmpeg's calls answer: a negative number is a failure, and two of them are none. */
import { AVERROR_EAGAIN, AVERROR_EOF } from 'node-av/constants';
import { FFmpegError } from 'node-av/lib';

/** Nothing more for now, or at all. */
export function isDrained(code: number): boolean {
  return code === AVERROR_EAGAIN || code === AVERROR_EOF;
}

/** For calls on what we made ourselves: a failure there is our fault, not the file's. */
export function check(code: number, what: string): void {
  if (code < 0) throw new Error(`${what}: ${FFmpegError.strerror(code)}`);
}
