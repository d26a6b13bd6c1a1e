/**
 * The media processes: few, started for the first job that finds none free, each with one job at a time, ended
 * when idle. Jobs wait in line, first come, first served.
 *
 *   starting ──ready──▶ busy ──done, failed, stopped in time──▶ idle ──job──▶ busy
 *   starting ──FFmpeg does not load, killed from outside────────────────────▶ gone
 *   busy ──crash, limit, hang, does not stop────────────────────────────────▶ gone
 *   busy, idle ──large, used up, idle for long──────────────────────────────▶ gone
 */
import { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { JobFailure } from './failure.ts';
import { type JobInput, MediaProcess } from './process.ts';
import type { JobKinds } from './program/protocol.ts';
import { type Command, toCommand, type Walls } from './walls.ts';

export interface MediaLimits {
  /** At once. A reader that takes its time holds one, so there are more of them than processors. */
  readonly processes: number;
  /** The longest wait for a process; absent: as long as the signal lets it. */
  readonly queueMs?: number;
  /** The longest wait for a job's next part. */
  readonly timeoutMs: number;
  /** Of processor time for one job. */
  readonly cpuMs: number;
  readonly memoryMb: number;
  /** A process without work stays for so long. */
  readonly idleMs: number;
}

export interface PoolParts {
  readonly log: Log;
  readonly limits: MediaLimits;
  readonly program: URL;
  /** Besides the program and FFmpeg. */
  readonly walls?: Pick<Walls, 'readable' | 'packages' | 'heapMb'>;
  /** Whose program it is, if not FFmpeg's. */
  readonly words?: PoolWords;
}

/** What a pool says of its program. */
export interface PoolWords {
  /** To the operator, when the program cannot be loaded. */
  readonly notLoaded: string;
  /** To the client, then. */
  readonly unavailable: string;
  /** To the client, when the wait for a process was too long. */
  readonly busy: string;
}

/** The jobs of a program: what each is told, and what it answers besides its bytes. */
export type AnyKinds<Kinds> = { [Kind in keyof Kinds]: { options: unknown; result: unknown } };

export interface Job<Kind extends keyof Kinds, Kinds extends AnyKinds<Kinds> = JobKinds> {
  readonly kind: Kind;
  readonly options: Kinds[Kind]['options'];
  readonly input: JobInput;
  /** More than so many bytes of output are a failure. */
  readonly maxBytes: number;
  /** Of processor time, where it may take less than others. */
  readonly maxCpuMs?: number;
  /** The longest wait for its next part, where it may take longer than others. */
  readonly timeoutMs?: number;
}

export interface MediaPool<Kinds extends AnyKinds<Kinds> = JobKinds> {
  /** Yields the job's bytes as they come and returns its result. What is not taken is not made. */
  run<Kind extends keyof Kinds & string>(
    job: Job<Kind, Kinds>,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, Kinds[Kind]['result']>;
  close(): Promise<void>;
  /** The processes there are, for tests. */
  readonly pids: readonly number[];
}

interface Waiting {
  readonly take: (process: MediaProcess) => void;
  readonly fail: (error: unknown) => void;
}

const startMs = 20_000;
/** How long a stopped job may take before its process is taken for stuck. */
const stopMs = 2_000;
/** After a start that failed the next is not tried at once. */
const restMs = 5_000;
/** A machine that is short of memory kills those that grow: as often in a row another one is started at once. */
const maxLostStarts = 3;
const bytesPerMb = 1024 * 1024;
/** Of its memory: what has taken more is replaced, since its next job would begin near the limit. A start stalls the gateway for some milliseconds, so it is not done lightly. */
const largestShare = 0.85;

const ffmpegWords: PoolWords = {
  notLoaded:
    'FFmpeg cannot be loaded, so audio cannot be processed: is the optional package node-av installed?',
  unavailable: 'Audio cannot be processed on this installation',
  busy: 'Too many media files are being worked on; try again soon',
};

export function createPool<Kinds extends AnyKinds<Kinds> = JobKinds>(parts: PoolParts): MediaPool<Kinds> {
  const { log, limits, program, walls, words = ffmpegWords } = parts;
  const { cpuMs, memoryMb, idleMs, queueMs, timeoutMs } = limits;
  /** With a last job that uses all it may, the kernel's limit still is not reached. */
  const retireCpuMs = cpuMs * 4;
  let command: Command | undefined;
  const processes = new Set<MediaProcess>();
  /** The last one is the one that worked last: the others grow old. */
  const idle = new Map<MediaProcess, NodeJS.Timeout>();
  const waiting: Waiting[] = [];
  let isClosed = false;
  let rest = { until: 0, toError: unavailable };
  /** In a row. */
  let lostStarts = 0;
  let toldUnsealed = false;

  /** Starts one more if there is somebody for whom it would be. */
  function start(): void {
    if (waiting.length === 0 || processes.size >= limits.processes) return;
    command ??= toCommand({ ...walls, program, memoryMb, lifetimeCpuMs: retireCpuMs + cpuMs * 2 });
    const opened = new MediaProcess(command, { memoryMb, cpuMs });
    processes.add(opened);
    const late = setTimeout(() => opened.kill(new JobFailure('time', 'it does not start')), startMs);
    void opened.ended.then(() => {
      processes.delete(opened);
      clearTimeout(idle.get(opened));
      idle.delete(opened);
      start();
    });
    void opened.report().then((report) => {
      clearTimeout(late);
      if (report.type === 'unavailable')
        return opened.isKilledFromOutside ? lose() : refuse(opened, report.detail);
      lostStarts = 0;
      if (!report.isSealed && !toldUnsealed) {
        toldUnsealed = true;
        log.warn('media processes could open files on this machine: no limit on descriptors can be set');
      }
      log.debug({ pid: opened.pid }, 'media process started');
      offer(opened);
    });
  }

  /** Nobody is left waiting for what cannot start; the next one who asks tries again. */
  function refuse(failed: MediaProcess, detail: string): void {
    failed.kill(new JobFailure('job', 'it could not start'));
    if (isClosed) return;
    log.error({ detail }, words.notLoaded);
    refuseAll(unavailable);
  }

  /** Says nothing of the program: its end has begun the next start, unless it happens again and again. */
  function lose(): void {
    if (isClosed) return;
    log.error('a media process was killed from outside while it started');
    lostStarts += 1;
    if (lostStarts < maxLostStarts) return;
    lostStarts = 0;
    refuseAll(tooBusy);
  }

  function refuseAll(toError: typeof unavailable): void {
    rest = { until: performance.now() + restMs, toError };
    for (const { fail } of waiting.splice(0)) fail(toError(words));
  }

  function offer(free: MediaProcess): void {
    if (free.isOver) return;
    const isSpent = free.peakBytes > memoryMb * bytesPerMb * largestShare || free.cpuMs > retireCpuMs;
    if (isClosed || isSpent) {
      free.kill(new JobFailure('job', 'it has done enough'));
      return;
    }
    const next = waiting.shift();
    if (next !== undefined) {
      next.take(free);
      return;
    }
    free.unref();
    const end = () => {
      idle.delete(free);
      free.kill(new JobFailure('job', 'it is not needed'));
    };
    idle.set(free, setTimeout(end, idleMs).unref());
  }

  function acquire(signal: AbortSignal): Promise<MediaProcess> {
    signal.throwIfAborted();
    if (isClosed) throw stopping();
    const [newest] = [...idle.keys()].slice(-1);
    if (newest !== undefined) {
      clearTimeout(idle.get(newest));
      idle.delete(newest);
      newest.ref();
      return Promise.resolve(newest);
    }
    if (performance.now() < rest.until) throw rest.toError(words);
    const { promise, resolve, reject } = Promise.withResolvers<MediaProcess>();
    const one: Waiting = { take: resolve, fail: reject };
    const leave = (reason: unknown) => {
      const place = waiting.indexOf(one);
      if (place >= 0) waiting.splice(place, 1);
      // Its turn may just have come: then there is nothing to leave.
      if (place >= 0) reject(reason);
    };
    const timer = queueMs === undefined ? undefined : setTimeout(() => leave(tooBusy(words)), queueMs);
    const onAbort = () => leave(signal.reason);
    signal.addEventListener('abort', onAbort);
    waiting.push(one);
    start();
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    });
  }

  /** The job ends on its own when it is told so, or with its process. */
  async function abandon(busy: MediaProcess): Promise<void> {
    try {
      busy.stop();
      while ((await busy.next(stopMs)).type === 'part') busy.pull();
      offer(busy);
    } catch {
      // It is gone, and the next job gets another one.
    }
  }

  return {
    get pids() {
      return [...processes].flatMap(({ pid }) => pid ?? []);
    },
    async *run<Kind extends keyof Kinds & string>(job: Job<Kind, Kinds>, signal: AbortSignal) {
      const { kind, options, input, maxBytes, maxCpuMs = cpuMs } = job;
      const mostWaitMs = job.timeoutMs ?? timeoutMs;
      const busy = await acquire(signal);
      let isOver = false;
      const leave = () => {
        if (!isOver) void abandon(busy);
        isOver = true;
      };
      // Also while nobody reads: it must not hold a process until somebody does.
      signal.addEventListener('abort', leave, { once: true });
      try {
        signal.throwIfAborted();
        busy.begin(kind, options, input, Math.min(maxCpuMs, cpuMs));
        let made = 0;
        for (;;) {
          signal.throwIfAborted();
          const answer = await busy.next(mostWaitMs, signal);
          if (answer.type === 'part') {
            made += answer.bytes.byteLength;
            if (made > maxBytes) throw new JobFailure('output', `it made more than ${maxBytes} bytes`);
            yield answer.bytes;
            if (!isOver) busy.pull();
            continue;
          }
          isOver = true;
          offer(busy);
          if (answer.type === 'done') return answer.result as Kinds[Kind]['result'];
          const reason = answer.isMissing ? 'missing' : answer.problem === undefined ? 'job' : 'input';
          throw new JobFailure(reason, answer.detail, answer.problem);
        }
      } catch (error) {
        // One that answered and was put away afterwards is not lost.
        if (busy.isOver && !isOver && !signal.aborted && !isClosed) {
          isOver = true;
          const { pid } = busy;
          const { code, signal: by, lastWords } = await busy.ended;
          const reason = error instanceof Error ? error.message : String(error);
          log.error(
            { pid, job: kind, reason, code, signal: by, lastWords },
            'a media process was lost with its job',
          );
        }
        throw error;
      } finally {
        signal.removeEventListener('abort', leave);
        leave();
      }
    },
    async close() {
      isClosed = true;
      for (const { fail } of waiting.splice(0)) fail(stopping());
      const ends = [...processes].map((each) => {
        each.kill(stopping());
        return each.ended;
      });
      await Promise.all(ends);
    },
  };
}

function tooBusy({ busy }: PoolWords): GatewayError {
  return new GatewayError('overloaded', busy, { retryAfterSeconds: 5 });
}

function unavailable({ unavailable: message }: PoolWords): GatewayError {
  return new GatewayError('unreachable', message, { permanent: true });
}

function stopping(): GatewayError {
  return new GatewayError('unreachable', 'The gateway is being stopped');
}
