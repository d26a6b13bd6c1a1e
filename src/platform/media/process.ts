/**
 * One media process and the job that it has. It is thrown away, never repaired: a limit, a crash or a hang ends
 * it, the job in it fails, and the pool starts another one for the next.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { type Bytes, type Content, toContent } from '../../lib/content.ts';
import { JobFailure } from './failure.ts';
import type { FromProgram, ToProgram } from './program/protocol.ts';
import type { Command } from './walls.ts';

export interface ProcessLimits {
  readonly memoryMb: number;
  /** Of processor time for one job. */
  readonly cpuMs: number;
}

/** One file, or several that are handed over one behind the other. */
export type JobInput = Bytes | readonly Bytes[];

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last that it wrote to its standard error. */
  readonly lastWords: string;
}

/** What a job says, one after the other. */
export type Answer = Extract<FromProgram, { type: 'part' | 'done' | 'fail' }>;
type Report = Extract<FromProgram, { type: 'ready' | 'unavailable' }>;

const lastWordsLength = 2_000;
/** What is said instead of the rest of an input that nobody wants any more. */
const silence = Buffer.alloc(64 * 1024);
const bytesPerMb = 1024 * 1024;
/**
 * glibc keeps what large buffers had once it has seen a few, and the next job begins with it: 15 to 40 MB of a picture
 * process, so that now and then a good picture met the limit of memory. With a fixed threshold they go back at once.
 */
const allocator = { MALLOC_MMAP_THRESHOLD_: '1048576', MALLOC_ARENA_MAX: '2' };

export class MediaProcess {
  readonly #child: ChildProcess;
  readonly #limits: ProcessLimits;
  readonly #report = Promise.withResolvers<Report>();
  readonly #ended = Promise.withResolvers<ProcessEnd>();
  readonly #answers: Answer[] = [];
  /** Two for a moment, when a job is given up while its next part is waited for. */
  #sleepers: (() => void)[] = [];
  #lastWords = '';
  #end: ProcessEnd | undefined;
  #killed: Error | undefined;
  #peakBytes = 0;
  #cpuMs = 0;
  #jobCpuMs = 0;
  #mostCpuMs: number;
  #isStopped = false;

  constructor(command: Command, limits: ProcessLimits) {
    this.#limits = limits;
    this.#mostCpuMs = limits.cpuMs;
    this.#child = spawn(command.file, command.args, {
      // Nothing of the gateway's environment: it holds secrets.
      env: allocator,
      cwd: '/',
      serialization: 'advanced',
      stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    });
    // A process that goes away in the middle of its input fails its job by its end.
    this.#child.stdin?.on('error', () => {});
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-lastWordsLength);
    });
    this.#child.on('message', (message: FromProgram) => this.#hear(message));
    // `close` and not `exit`: what it wrote last has been read by then. A process that never started has neither.
    this.#child.on('close', (code, signal) => this.#over(code, signal));
    this.#child.on('error', (error) => {
      this.#lastWords += error.message;
      if (this.#child.pid === undefined) this.#over(null, null);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get ended(): Promise<ProcessEnd> {
    return this.#ended.promise;
  }

  get isOver(): boolean {
    return this.#end !== undefined || this.#killed !== undefined;
  }

  /** Not by us: by the operator, or by the kernel of a machine that is short of memory. */
  get isKilledFromOutside(): boolean {
    return this.#end?.signal === 'SIGKILL' && this.#killed === undefined;
  }

  get peakBytes(): number {
    return this.#peakBytes;
  }

  /** Of processor time in its whole life, start aside. */
  get cpuMs(): number {
    return this.#cpuMs + this.#jobCpuMs;
  }

  /** What it says once it has loaded FFmpeg, or could not. */
  report(): Promise<Report> {
    return this.#report.promise;
  }

  begin(kind: string, options: unknown, input: JobInput, mostCpuMs = this.#limits.cpuMs): void {
    this.#answers.length = 0;
    this.#cpuMs += this.#jobCpuMs;
    this.#jobCpuMs = 0;
    this.#mostCpuMs = mostCpuMs;
    this.#isStopped = false;
    const isOne = input instanceof Uint8Array || 'pieces' in input;
    const contents = (isOne ? [input] : input).map(toContent);
    const inputBytes = contents.reduce((sum, { length }) => sum + length, 0);
    this.#send({ type: 'run', kind, options, inputBytes });
    void this.#hand(contents, inputBytes);
  }

  /**
   * Hands the input over as fast as it is taken. A job that is stopped meanwhile still gets as many bytes as it was told,
   * so that its process finds the beginning of the next one's.
   */
  async #hand(contents: readonly Content[], inputBytes: number): Promise<void> {
    let left = inputBytes;
    try {
      for (const content of contents)
        for await (const piece of content.pieces()) {
          if (this.#isStopped || this.isOver) break;
          await this.#write(piece);
          left -= piece.byteLength;
        }
    } catch (error) {
      // Whoever stops a job may take its input away.
      if (!this.#isStopped) this.kill(new JobFailure('job', `its input cannot be read: ${error}`));
    }
    for (; left > 0 && !this.isOver; left -= silence.length) await this.#write(silence.subarray(0, left));
  }

  /** Resolves when it has been taken, or there is nobody to take it. */
  #write(piece: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#child.stdin === null) resolve();
      else this.#child.stdin.write(piece, () => resolve());
    });
  }

  /** The next answer. A silence of `timeoutMs` is a hang, and ends the process. */
  async next(timeoutMs: number, signal?: AbortSignal): Promise<Answer> {
    const timer = setTimeout(() => this.kill(new JobFailure('time', 'it took too long')), timeoutMs);
    const wake = () => this.#wake();
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        signal?.throwIfAborted();
        if (this.#killed !== undefined) throw this.#killed;
        const answer = this.#answers.shift();
        if (answer !== undefined) return answer;
        if (this.#end !== undefined) throw toCrash(this.#end);
        await new Promise<void>((resolve) => this.#sleepers.push(resolve));
      }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
    }
  }

  /** There is room for another part. */
  pull(): void {
    this.#send({ type: 'pull' });
  }

  /** Nobody wants the job any more; it answers with its end. */
  stop(): void {
    this.#isStopped = true;
    this.#send({ type: 'stop' });
  }

  /** `why` is what the job in it fails with. */
  kill(why: Error): void {
    this.#killed ??= why;
    // Who waits for its end must get to hear of it.
    this.ref();
    this.#child.kill('SIGKILL');
    this.#wake();
  }

  /** While it has work, the gateway waits for it; an idle one does not keep the gateway alive. */
  ref(): void {
    this.#child.ref();
    this.#child.channel?.ref();
    (this.#child.stderr as Socket | null)?.ref();
    (this.#child.stdin as Socket | null)?.ref();
  }

  unref(): void {
    this.#child.unref();
    this.#child.channel?.unref();
    (this.#child.stderr as Socket | null)?.unref();
    (this.#child.stdin as Socket | null)?.unref();
  }

  #wake(): void {
    for (const wake of this.#sleepers.splice(0)) wake();
  }

  #send(message: ToProgram): void {
    // A process that is about to be gone fails its job when it is.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #hear(message: FromProgram): void {
    switch (message.type) {
      case 'ready':
      case 'unavailable':
        this.#report.resolve(message);
        return;
      case 'pulse':
        this.#weigh(message.peakBytes, message.cpuMs);
        return;
      default:
        this.#answers.push(message);
        this.#wake();
    }
  }

  #weigh(peakBytes: number, cpuMs: number): void {
    this.#peakBytes = peakBytes;
    this.#jobCpuMs = cpuMs;
    const { memoryMb } = this.#limits;
    const mostCpuMs = this.#mostCpuMs;
    if (peakBytes > memoryMb * bytesPerMb)
      this.kill(new JobFailure('memory', `it used more than ${memoryMb} MB of memory`));
    if (cpuMs > mostCpuMs)
      this.kill(new JobFailure('time', `it used more than ${mostCpuMs} ms of processor time`));
  }

  #over(code: number | null, signal: string | null): void {
    if (this.#end !== undefined) return;
    this.#end = { code, signal, lastWords: this.#lastWords.trim() };
    this.#ended.resolve(this.#end);
    const detail = this.#end.lastWords || `it ended at once (${signal ?? code})`;
    this.#report.resolve({ type: 'unavailable', detail });
    this.#wake();
  }
}

function toCrash({ code, signal }: ProcessEnd): JobFailure {
  // Not by us, and nothing in it does that: the operator, or the kernel of a machine that is short of memory.
  const reason = signal === 'SIGKILL' ? 'outside' : 'crash';
  return new JobFailure(reason, `it ended in the middle (${signal ?? code})`);
}
