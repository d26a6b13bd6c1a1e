/**
 * The one door to pictures: tells what a file is, hands the work to a process, and says in our words what went wrong.
 * Keeps nothing and needs no store.
 */
import type { PictureFormat } from '../../engines/contract/picture.ts';
import { type Bytes, type Content, firstPiece, inMemory, toContent } from '../../lib/content.ts';
import { GatewayError, refusal } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { JobFailure } from '../media/failure.ts';
import { createPool, type Job, type MediaLimits, type PoolWords } from '../media/pool.ts';
import { sniffPicture, toKindList } from './kind.ts';
import type { PictureJobKinds } from './program/protocol.ts';
import type { AcceptOptions, PictureKind, Pictures } from './types.ts';

/** Two are enough: most pictures take less than half a second. */
export const pictureLimits: MediaLimits = {
  processes: 2,
  queueMs: 20_000,
  timeoutMs: 30_000,
  cpuMs: 20_000,
  memoryMb: 288,
  idleMs: 60_000,
};

/** More than any route takes from a client; an engine's png may be as large. */
const mostInputMb = 64;
const mostOutputBytes = 80 * 1024 * 1024;
const bytesPerMb = 1024 * 1024;
const packages = ['sharp', 'heic-decode'];

const words: PoolWords = {
  notLoaded:
    'sharp cannot be loaded, so pictures cannot be processed: are its packages for this platform there?',
  unavailable: 'Pictures cannot be processed on this installation',
  busy: 'Too many pictures are being worked on; try again soon',
};

export interface PicturesParts {
  readonly log: Log;
  readonly limits?: Partial<MediaLimits>;
  /** Tests put one of their own here. */
  readonly program?: URL;
}

export interface RunningPictures extends Pictures {
  /** The processes there are. */
  readonly pids: readonly number[];
}

export function createPictures({
  log,
  limits: given,
  program = ownProgram(),
}: PicturesParts): RunningPictures {
  const limits = { ...pictureLimits, ...given };
  const pool = createPool<PictureJobKinds>({ log, limits, program, walls: { packages }, words });

  async function run<Kind extends keyof PictureJobKinds>(
    kind: Kind,
    options: PictureJobKinds[Kind]['options'],
    input: Bytes,
    signal: AbortSignal,
  ): Promise<{ made: Content; result: PictureJobKinds[Kind]['result'] }> {
    const job: Job<Kind, PictureJobKinds> = { kind, options, input, maxBytes: mostOutputBytes };
    const parts: Uint8Array[] = [];
    const answers = pool.run(job, signal);
    for (;;) {
      const step = await answers.next();
      if (step.done) return { made: inMemory(parts), result: step.value };
      parts.push(step.value);
    }
  }

  return {
    get pids() {
      return pool.pids;
    },

    async accept(file, options, signal) {
      signal.throwIfAborted();
      const { param } = options;
      const content = toContent(file);
      const kind = toAccepted(await firstPiece(content), options);
      checkLength(content, (problem) => refusal(param, problem));
      try {
        const { made, result } = await run('accept', { kind }, content, signal);
        const { isKept, format, width, height } = result;
        return { content: isKept ? content : made, mediaType: toMediaType(format), width, height };
      } catch (error) {
        throw toFailure(error, limits, (problem, cause) => refusal(param, problem, cause));
      }
    },

    async finish(bytes, { format, compression, isOpaque }, signal) {
      signal.throwIfAborted();
      const kind = sniffPicture(bytes);
      if (kind === undefined) throw badAnswer('is none of a known kind');
      checkLength(bytes, badAnswer);
      try {
        const { made, result } = await run('finish', { kind, format, compression, isOpaque }, bytes, signal);
        const { isKept, width, height, isTransparent } = result;
        const finished = isKept ? bytes : await made.toBuffer();
        return { bytes: finished, mediaType: toMediaType(format), width, height, isTransparent };
      } catch (error) {
        throw toFailure(error, limits, badAnswer);
      }
    },

    close: () => pool.close(),
  };
}

function ownProgram(): URL {
  return new URL('./program/program.ts', import.meta.url);
}

/** `start`: its first bytes. */
function toAccepted(start: Buffer, { param, kinds }: AcceptOptions): PictureKind {
  if (start.length === 0) throw refusal(param, 'is empty');
  const kind = sniffPicture(start);
  if (kind === undefined || !kinds.includes(kind))
    throw refusal(param, `is not a picture of an accepted kind: ${toKindList(kinds)}`);
  return kind;
}

function checkLength({ length }: Pick<Content, 'length'>, toError: ToError): void {
  if (length > mostInputMb * bytesPerMb) throw toError(`is larger than the limit of ${mostInputMb} MB`);
}

type ToError = (problem: string, cause?: unknown) => GatewayError;

/** What becomes of a picture is its own doing, a crash included: nobody must be told to try it again. */
function toFailure(error: unknown, { timeoutMs, memoryMb }: MediaLimits, toError: ToError): unknown {
  if (!(error instanceof JobFailure)) return error;
  switch (error.reason) {
    case 'input':
      return toError(error.problem ?? 'cannot be decoded', error);
    case 'crash':
    case 'output':
      return toError('cannot be decoded', error);
    case 'time':
      return toError(`takes too long to decode: the limit is ${timeoutMs / 1000} s`, error);
    case 'memory':
      return toError(`takes more than ${memoryMb} MB of memory to decode`, error);
    case 'outside':
      return new GatewayError('unreachable', 'The picture was not processed to its end; try again', {
        cause: error,
      });
    default:
      return new GatewayError('internal', 'The picture could not be processed', { cause: error });
  }
}

function badAnswer(problem: string, cause?: unknown): GatewayError {
  return new GatewayError('unreachable', `The picture that the engine made ${problem}`, { cause });
}

function toMediaType(format: PictureFormat): string {
  return `image/${format}`;
}
