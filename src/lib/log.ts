/** The log: JSON lines on standard error, and a short readable form when a person watches a terminal. */
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOutput extends DestinationStream {
  isTTY?: boolean;
}

export function createLog(level: LogLevel, output: LogOutput = createStandardError()): Log {
  const destination =
    output.isTTY === true ? { write: (line: string) => output.write(readable(line)) } : output;
  return pino({ level, base: null, timestamp: stdTimeFunctions.epochTime }, destination);
}

/** How long lines wait to be written together. */
const gatherMs = 50;

/** A person sees a line at once; a machine gets them together, because a write for each is half of their cost. */
function createStandardError(): LogOutput {
  const { stderr } = process;
  if (stderr.isTTY) return stderr;
  let gathered = '';
  let isWatchingExit = false;
  const flush = () => {
    const lines = gathered;
    gathered = '';
    if (lines !== '') stderr.write(lines);
  };
  return {
    write(line) {
      if (!isWatchingExit) process.once('exit', flush);
      isWatchingExit = true;
      if (gathered === '') setTimeout(flush, gatherMs).unref();
      gathered += line;
    },
  };
}

const levelNames: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

function readable(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown> & {
    err?: { stack?: string };
  };
  const clock = new Date(time as number).toISOString().slice(11, 23);
  const fields = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const told = `${clock} ${(levelNames[level as number] ?? '').padEnd(5)} ${msg ?? ''} ${fields.join(' ')}`;
  const stack = err?.stack?.split('\n') ?? [];
  return [told, ...stack].map((text) => `${visible(text)}\n`).join('');
}

/** Texts of clients stand in the log: they must not steer the terminal or look like a line of their own. */
function visible(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
