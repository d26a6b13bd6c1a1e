/** Pushes bytes into a reader of answers, cut in any way, and keeps what it tells. */
import { ResponseReader } from '../../src/lib/http1/client/response-reader.ts';

export interface ReadAnswer {
  status: number | undefined;
  body: string;
  /** Whether there was more behind the end; undefined where no end was told. */
  isMore: boolean | undefined;
  error?: string;
  /** What must never happen, whatever is sent. */
  fault?: string;
}

/** What a connection reads at most at once. */
export const readBytes = 64 * 1024;

/** The buffer of the reads still holds what earlier ones have left. Then the connection ends, unless it stays open. */
export function readAnswer(answer: Buffer, lengths: Iterable<number>, staysOpen = false): ReadAnswer {
  const told: ReadAnswer = { status: undefined, body: '', isMore: undefined };
  const buffer = Buffer.alloc(Math.min(readBytes, answer.length + 64), '\r\nf\r\nstale');
  let pieces = 0;
  const reader = new ResponseReader({
    onHead({ status }) {
      if (told.status !== undefined) told.fault = 'a second head';
      told.status = status;
    },
    onBody(from, start, end) {
      if (told.status === undefined || told.isMore !== undefined) told.fault = 'a body before or behind';
      if (end <= start) told.fault = 'an empty piece';
      if (++pieces > 1) told.fault = 'a second piece of one read';
      told.body += from.toString('latin1', start, end);
    },
    onEnd(isMore) {
      if (told.status === undefined || told.isMore !== undefined) told.fault = 'an end before or behind';
      told.isMore = isMore;
    },
  });
  reader.expect();
  let at = 0;
  try {
    for (const length of lengths) {
      if (at >= answer.length) break;
      const end = Math.min(answer.length, at + length);
      answer.copy(buffer, 0, at, end);
      pieces = 0;
      reader.push(buffer, end - at);
      at = end;
    }
  } catch (error) {
    told.error = (error as Error).message;
    return told;
  }
  if (!staysOpen && reader.close()) told.isMore = false;
  return told;
}

export function* endless(length: number): Generator<number> {
  for (;;) yield length;
}

export function* randomLengths(random: () => number, longest: number): Generator<number> {
  for (;;) yield 1 + Math.floor(random() * longest);
}
