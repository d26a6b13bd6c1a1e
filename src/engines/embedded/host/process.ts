/**
 * One model process and the work it has. It is thrown away, never repaired: when it ends, for whatever reason,
 * the work it still had fails, and the host starts another one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { FromProgram, ProgramSettings, ToProgram } from './protocol.ts';

export interface ProcessParts {
  readonly program: URL;
  readonly settings: ProgramSettings;
  /** Silence for so long means that it hangs. */
  readonly hangMs: number;
  heard(message: FromProgram): void;
  /** It is gone. `reason` says why it had to go, where it was sent away. */
  exited(end: ProcessEnd): void;
}

export interface ProcessEnd {
  readonly reason: string | undefined;
  readonly code: number | null;
  readonly signal: string | null;
  /** The last that it wrote to its standard error. */
  readonly lastWords: string;
}

const lastWordsLength = 4_000;
const hangTicks = 4;

export class ModelProcess {
  readonly #child: ChildProcess;
  readonly #watch: NodeJS.Timeout;
  readonly #gone = Promise.withResolvers<void>();
  readonly #exited: (end: ProcessEnd) => void;
  #lastWords = '';
  #silentTicks = 0;
  #reason: string | undefined;
  #isGone = false;

  constructor({ program, settings, hangMs, heard, exited }: ProcessParts) {
    this.#exited = exited;
    const cache = getCompileCacheDir();
    this.#child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', fileURLToPath(program)], {
      // Nothing of the gateway's environment: it holds secrets.
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
      // Typed arrays cross as bytes: 2,048 vectors cost the gateway 6 ms, as JSON 40.
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    // In several ticks: after the whole machine slept, one is over before anything could be heard.
    this.#watch = setInterval(() => {
      this.#silentTicks += 1;
      if (this.#silentTicks > hangTicks) void this.kill('it hangs');
    }, hangMs / hangTicks).unref();
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-lastWordsLength);
    });
    this.#child.on('message', (message: FromProgram) => {
      this.#silentTicks = 0;
      if (this.#reason === undefined) heard(message);
    });
    // `close` and not `exit`: what it wrote last has been read by then. A process that never started has neither.
    this.#child.on('close', (code, signal) => this.#end(code, signal));
    this.#child.on('error', (error) => {
      this.#lastWords += error.message;
      if (this.#child.pid === undefined) this.#end(null, null);
    });
    this.send({ type: 'begin', settings });
    this.unref();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** It was sent away, and takes nothing more. */
  get isLeaving(): boolean {
    return this.#reason !== undefined;
  }

  send(message: ToProgram): void {
    // A process that is about to be gone fails its work when it is.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** While it has work, the gateway waits for it; an idle one does not keep the gateway alive. */
  ref(): void {
    this.#child.ref();
    this.#child.channel?.ref();
    (this.#child.stderr as Socket | null)?.ref();
  }

  unref(): void {
    this.#child.unref();
    this.#child.channel?.unref();
    (this.#child.stderr as Socket | null)?.unref();
  }

  /** Nothing more is heard of it but that it is gone. */
  kill(reason: string): Promise<void> {
    this.#reason ??= reason;
    // Who waits for its end must get to hear of it.
    this.ref();
    this.#child.kill('SIGKILL');
    return this.#gone.promise;
  }

  #end(code: number | null, signal: string | null): void {
    if (this.#isGone) return;
    this.#isGone = true;
    clearInterval(this.#watch);
    this.#gone.resolve();
    this.#exited({ reason: this.#reason, code, signal, lastWords: this.#lastWords.trim() });
  }
}
