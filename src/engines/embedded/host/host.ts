/**
 * The gateway's side of a runtime's models: it starts the model process for the first task and another one
 * after a crash, bounds what may wait for each model, and replaces a process that has grown too large.
 *
 *   no process ──task──▶ running ──larger than memoryMb──▶ retiring ──its last task ends──▶ no process
 *                        running ──nothing loaded, nothing to do────────────────────────▶ no process
 *                        running, retiring ──crash, hang, far too large: its tasks fail──▶ no process
 */
import { GatewayError } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import { ModelProcess, type ProcessEnd } from './process.ts';
import { type FromProgram, fromFailure, type ProgramSettings, toModelKey } from './protocol.ts';
import type { ModelHost, Task } from './types.ts';

export interface ModelHostParts {
  /** The program that the process runs: a module that calls `serve`. */
  readonly program: URL;
  /** The runtime, for the log. */
  readonly name: string;
  readonly log: Log;
  /** Larger than this it is replaced between two tasks; larger than one and a half times this, at once. */
  readonly memoryMb: number;
  /** A model that had nothing to do for so long is let go, and with the last one the process. */
  readonly idleMs: number;
  /** How many tasks may wait for one model, besides those that run. */
  readonly queueLength: number;
  /** The longest silence of a task, before its first part and between two. */
  readonly timeoutMs?: number;
  /** What the program is told besides. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly nice?: number;
  readonly pulseMs?: number;
  readonly hangMs?: number;
  /** How long an aborted task may take to stop before the process is taken for stuck. */
  readonly abortGraceMs?: number;
  readonly now?: () => number;
}

export interface RunningHost extends ModelHost {
  /** Resolves once nothing is under way. */
  drained(): Promise<void>;
  /** Tasks under way, those included that were aborted and have not stopped yet. */
  readonly active: number;
  /** The process that runs now. */
  readonly pid: number | undefined;
}

type Listener = Parameters<ModelHost['start']>[1];

interface Entry {
  readonly id: number;
  readonly key: string;
  readonly task: Task;
  readonly startedAt: number;
  /** Absent once nobody listens any more. */
  on: Listener | undefined;
  /** The silence that it may keep; after an abort, the time to stop. */
  timer: NodeJS.Timeout | undefined;
}

interface Place {
  tasks: number;
  concurrency: number;
  /** How long tasks took lately, their waiting included. */
  averageMs: number;
}

const bytesPerMb = 1024 * 1024;
const longestBackOffMs = 60_000;

export function createModelHost(parts: ModelHostParts): RunningHost {
  const { program, name, log, memoryMb, queueLength, timeoutMs = 280_000 } = parts;
  const { hangMs = 60_000, abortGraceMs = 20_000, now = () => performance.now() } = parts;
  const settings: ProgramSettings = {
    idleMs: parts.idleMs,
    pulseMs: parts.pulseMs ?? 1_000,
    // On two cores, while a model wrote, the gateway's p99 rose by 6 ms with 19 and by 20 ms with 10.
    nice: parts.nice ?? 19,
    options: parts.options ?? {},
  };
  const places = new Map<string, Place>();
  const sent = new Map<number, Entry>();
  /** Held back until a process that retires is gone. */
  let held: Entry[] = [];
  const loaded = new Set<string>();
  const drains: (() => void)[] = [];
  let current: ModelProcess | undefined;
  let isRetiring = false;
  let isClosed = false;
  let lastId = 0;
  /** In a row, without a task in between that ended well. */
  let crashes = 0;
  let startableAt = 0;

  function open(): ModelProcess {
    const opened: ModelProcess = new ModelProcess({
      program,
      settings,
      hangMs,
      heard: (message) => opened === current && hear(message),
      exited: (end) => opened === current && crashed(end),
    });
    log.debug({ runtime: name, pid: opened.pid }, 'model process started');
    return opened;
  }

  function hear(message: FromProgram): void {
    switch (message.type) {
      case 'parts': {
        const entry = sent.get(message.id);
        if (entry?.on === undefined) return;
        entry.timer?.refresh();
        // Whoever hears one may abort.
        for (const part of message.parts) entry.on?.part(part);
        return;
      }
      case 'done':
        crashes = 0;
        settle(message.id, (on) => on.done(message.result));
        return;
      case 'fail': {
        const { failure } = message;
        const isOurs = failure.kind === 'internal';
        if (isOurs) log.error({ runtime: name, detail: failure.detail }, failure.message);
        settle(message.id, (on) => on.fail(fromFailure(failure)));
        return;
      }
      case 'loaded': {
        loaded.add(message.key);
        const place = places.get(message.key);
        if (place !== undefined) place.concurrency = message.concurrency;
        return;
      }
      case 'pulse':
        weigh(message.rssBytes, message.models);
    }
  }

  function weigh(rssBytes: number, models: number): void {
    const megabytes = Math.round(rssBytes / bytesPerMb);
    if (megabytes > memoryMb * 1.5) {
      log.error({ runtime: name, megabytes, memoryMb }, 'a model process is far too large and is stopped');
      void current?.kill('it used too much memory');
    } else if (megabytes > memoryMb && !isRetiring) {
      log.warn({ runtime: name, megabytes, memoryMb }, 'a model process is too large and is replaced');
      isRetiring = true;
    }
    if (sent.size === 0 && (isRetiring || models === 0)) leave();
  }

  /** Only between two tasks. */
  function leave(): void {
    const left = current;
    forget();
    void left?.kill('it is not needed');
    for (const entry of held.splice(0)) dispatch(entry);
  }

  function forget(): void {
    current = undefined;
    isRetiring = false;
    loaded.clear();
  }

  function crashed({ reason, code, signal, lastWords }: ProcessEnd): void {
    forget();
    crashes += 1;
    const backOffMs = crashes < 2 ? 0 : Math.min(longestBackOffMs, 1_000 * 2 ** (crashes - 2));
    startableAt = now() + backOffMs;
    const tasks = sent.size;
    log.error(
      { runtime: name, reason, code, signal, tasks, crashes, lastWords },
      'a model process ended unexpectedly',
    );
    for (const id of [...sent.keys()]) settle(id, (on) => on.fail(gone(reason)));
    for (const entry of held.splice(0)) dispatch(entry);
  }

  function dispatch(entry: Entry): void {
    if (isRetiring || current?.isLeaving === true) {
      held.push(entry);
      return;
    }
    if (current === undefined) {
      const waitMs = startableAt - now();
      if (waitMs > 0) {
        release(entry);
        process.nextTick(() => entry.on?.fail(failsToStart(waitMs)));
        return;
      }
      current = open();
    }
    if (sent.size === 0) current.ref();
    sent.set(entry.id, entry);
    current.send({ type: 'run', id: entry.id, key: entry.key, task: entry.task });
  }

  function settle(id: number, tell: (on: Listener) => void): void {
    const entry = sent.get(id);
    if (entry === undefined) return;
    sent.delete(id);
    release(entry);
    if (sent.size === 0) current?.unref();
    const { on } = entry;
    entry.on = undefined;
    if (on !== undefined) tell(on);
    if (isRetiring && sent.size === 0) leave();
  }

  /** Its place is free again. */
  function release(entry: Entry): void {
    clearTimeout(entry.timer);
    const place = places.get(entry.key);
    if (place !== undefined) {
      place.tasks -= 1;
      place.averageMs += (now() - entry.startedAt - place.averageMs) / 4;
    }
    if (sent.size + held.length === 0) for (const drain of drains.splice(0)) drain();
  }

  function abort(entry: Entry): void {
    if (entry.on === undefined) return;
    entry.on = undefined;
    clearTimeout(entry.timer);
    if (held.includes(entry)) {
      held = held.filter((each) => each !== entry);
      release(entry);
    } else if (sent.has(entry.id)) {
      const busy = current;
      busy?.send({ type: 'abort', id: entry.id });
      entry.timer = setTimeout(() => void busy?.kill('a task does not stop'), abortGraceMs).unref();
    }
  }

  function expire(entry: Entry): void {
    const { on } = entry;
    const isLoaded = loaded.has(entry.key);
    abort(entry);
    if (!isLoaded && !isRetiring) void current?.kill(`${entry.task.model.name} does not load`);
    on?.fail(new GatewayError('timeout', `The model ${entry.task.model.name} took too long to answer`));
  }

  function start(task: Task, on: Listener): Entry {
    const key = toModelKey(task.model);
    let place = places.get(key);
    if (place === undefined) {
      place = { tasks: 0, concurrency: 1, averageMs: 1_000 };
      places.set(key, place);
    }
    lastId += 1;
    const entry: Entry = { id: lastId, key, task, startedAt: now(), on, timer: undefined };
    const isFull = place.tasks >= place.concurrency + queueLength;
    if (isClosed || isFull) {
      const failure = isClosed ? stopping() : tooMany(task.model.name, place);
      process.nextTick(() => entry.on?.fail(failure));
      return entry;
    }
    place.tasks += 1;
    entry.timer = setTimeout(() => expire(entry), timeoutMs).unref();
    dispatch(entry);
    return entry;
  }

  return {
    get active() {
      return sent.size + held.length;
    },
    get pid() {
      return current?.pid;
    },
    start(task, on) {
      const entry = start(task, on);
      return { abort: () => abort(entry) };
    },
    run: <T>(task: Task, signal: AbortSignal) =>
      new Promise<T>((resolve, reject) => {
        signal.throwIfAborted();
        const stop = () => {
          abort(entry);
          reject(signal.reason);
        };
        const over = () => signal.removeEventListener('abort', stop);
        const entry = start(task, {
          part() {},
          done(result) {
            over();
            resolve(result as T);
          },
          fail(error) {
            over();
            reject(error);
          },
        });
        signal.addEventListener('abort', stop, { once: true });
      }),
    drained: () =>
      new Promise((resolve) => {
        if (sent.size + held.length === 0) resolve();
        else drains.push(resolve);
      }),
    async close() {
      isClosed = true;
      const left = current;
      const ending = left?.kill('the gateway stops');
      forget();
      for (const entry of held.splice(0)) {
        release(entry);
        entry.on?.fail(stopping());
      }
      for (const id of [...sent.keys()]) settle(id, (on) => on.fail(stopping()));
      await ending;
    },
  };
}

function gone(reason: string | undefined): GatewayError {
  const why = reason === undefined ? '' : `: ${reason}`;
  return new GatewayError('unreachable', `The model's process ended before the answer was complete${why}`);
}

function stopping(): GatewayError {
  return new GatewayError('unreachable', 'The models are being stopped');
}

function failsToStart(waitMs: number): GatewayError {
  return new GatewayError('unreachable', "The model's process keeps failing; it is tried again soon", {
    retryAfterSeconds: waitMs / 1_000,
  });
}

function tooMany(name: string, { averageMs }: Place): GatewayError {
  return new GatewayError('overloaded', `Too many requests wait for the model ${name}`, {
    retryAfterSeconds: averageMs / 1_000,
  });
}
