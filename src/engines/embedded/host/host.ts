/**
 * The gateway's side of a runtime's models: it starts the model process for the first task and another one
 * after a crash, and replaces a process that has grown too large. The line stands here and not in the process:
 * that gets only as many tasks as a model takes at once, so one that leaves the line is gone at once, and those
 * in line outlive a crash.
 *
 *   no process ──task──▶ running ──larger than memoryMb──▶ retiring ──its last task ends──▶ no process
 *                        running ──nothing loaded, nothing to do────────────────────────▶ no process
 *                        running, retiring ──crash, hang, far too large: its tasks fail──▶ no process
 *
 * Whatever ends a process is told as `overloaded`: the next one starts by itself, and one runtime's trouble
 * must not count against an engine that has several.
 */
import { GatewayError } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import { failsToStart, interrupted, stopping, tooBusy, tooLarge, tooMany } from './host-failures.ts';
import type { Entry, Listener, Place } from './place.ts';
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

const bytesPerMb = 1024 * 1024;
const longestBackOffMs = 60_000;
/** Replacing helps against growth, and not where the models are as large as that from the start. */
const tasksBetweenReplacements = 16;

export function createModelHost(parts: ModelHostParts): RunningHost {
  const { program, name, log, memoryMb, queueLength, timeoutMs = 280_000 } = parts;
  const { hangMs = 60_000, abortGraceMs = 20_000, now = () => performance.now() } = parts;
  const settings: ProgramSettings = {
    idleMs: parts.idleMs,
    pulseMs: parts.pulseMs ?? 1_000,
    // On two cores, while a model wrote, the gateway's p99 rose by 6 ms with 19 and by 20 ms with 10.
    nice: parts.nice ?? 19,
    memoryMb,
    options: parts.options ?? {},
  };
  const places = new Map<string, Place>();
  const sent = new Map<number, Entry>();
  const loaded = new Set<string>();
  /** Models that do not fit into `memoryMb`: to load them again would end in the same. */
  const oversized = new Map<string, GatewayError>();
  const drains: (() => void)[] = [];
  let current: ModelProcess | undefined;
  let isRetiring = false;
  let isClosed = false;
  let lastId = 0;
  /** In a row, without a task in between that ended well. */
  let crashes = 0;
  let startableAt = 0;
  /** By the process that runs now. */
  let tasksDone = 0;
  let wasReplaced = false;
  let isTightTold = false;

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
        tasksDone += 1;
        settle(message.id, (on) => on.done(message.result));
        return;
      case 'fail': {
        const { failure } = message;
        const isOurs = failure.kind === 'internal' && sent.has(message.id);
        if (isOurs) log.error({ runtime: name, detail: failure.detail }, failure.message);
        settle(message.id, (on) => on.fail(fromFailure(failure)));
        return;
      }
      case 'loaded': {
        loaded.add(message.key);
        const place = places.get(message.key);
        if (place === undefined) return;
        place.concurrency = message.concurrency;
        place.quick = message.quick;
        advance(place);
        return;
      }
      case 'oversized':
        refuse(message.key, message.megabytes);
        return;
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
      if (!wasReplaced || tasksDone >= tasksBetweenReplacements) {
        log.warn({ runtime: name, megabytes, memoryMb }, 'a model process is too large and is replaced');
        isRetiring = true;
        wasReplaced = true;
      } else if (!isTightTold) {
        log.warn({ runtime: name, megabytes, memoryMb }, 'the models need more than memoryMb allows them');
        isTightTold = true;
      }
    }
    if (sent.size === 0 && (isRetiring || models === 0)) leave();
  }

  /** A model that can never be loaded here: who asks for it is told so at once, now and later. */
  function refuse(key: string, megabytes: number): void {
    const [first] = [...sent.values(), ...(places.get(key)?.line ?? [])].filter((entry) => entry.key === key);
    if (first === undefined) return;
    const failure = tooLarge(first.task.model.name, megabytes, memoryMb);
    log.error({ runtime: name, megabytes, memoryMb }, failure.message);
    oversized.set(key, failure);
    // What it took of the memory may be in use still.
    isRetiring = true;
    for (const entry of first.place.line.splice(0)) finish(entry, failed(failure));
    for (const entry of [...sent.values()]) if (entry.key === key) settle(entry.id, failed(failure));
  }

  /** Only between two tasks. */
  function leave(): void {
    const left = current;
    forget();
    void left?.kill('it is not needed');
    advanceAll();
  }

  function forget(): void {
    current = undefined;
    isRetiring = false;
    tasksDone = 0;
    loaded.clear();
  }

  function crashed({ reason, code, signal, lastWords }: ProcessEnd): void {
    forget();
    crashes += 1;
    const backOffMs = crashes < 2 ? 0 : Math.min(longestBackOffMs, 1_000 * 2 ** (crashes - 2));
    startableAt = now() + backOffMs;
    const lost = [...sent.values()];
    log.error(
      { runtime: name, reason, code, signal, tasks: lost.length, crashes, lastWords },
      'a model process ended unexpectedly',
    );
    sent.clear();
    for (const entry of lost) finish(entry, failed(interrupted(entry.task.model.name, backOffMs)));
    advanceAll();
  }

  function advanceAll(): void {
    for (const place of places.values()) advance(place);
  }

  /** Hands over as many as the model takes. */
  function advance(place: Place): void {
    if (isClosed || isRetiring || current?.isLeaving === true) return;
    const waitMs = current === undefined ? startableAt - now() : 0;
    if (waitMs > 0) {
      for (const entry of place.line.splice(0)) {
        process.nextTick(() => finish(entry, failed(failsToStart(entry.task.model.name, waitMs))));
      }
      return;
    }
    place.line = place.line.filter((entry) => {
      const isQuick = loaded.has(entry.key) && place.quick.includes(entry.task.kind);
      if (!isQuick && place.running >= place.concurrency) return true;
      entry.takesPlace = !isQuick;
      send(entry);
      return false;
    });
  }

  function send(entry: Entry): void {
    const { id, key, task, place } = entry;
    current ??= open();
    if (sent.size === 0) current.ref();
    sent.set(id, entry);
    if (entry.takesPlace) place.running += 1;
    if (task.deadlineMs !== undefined) {
      entry.deadline = setTimeout(() => {
        const { on } = entry;
        abort(entry);
        on?.fail(tooBusy(task.model.name, place));
      }, task.deadlineMs).unref();
    }
    current.send({ type: 'run', id, key, task });
  }

  function settle(id: number, tell: (on: Listener) => void): void {
    const entry = sent.get(id);
    if (entry === undefined) return;
    sent.delete(id);
    if (sent.size === 0) current?.unref();
    finish(entry, tell);
    if (isRetiring && sent.size === 0) leave();
    else advance(entry.place);
  }

  /** It is over: its place is free again, and who listens still is told. */
  function finish(entry: Entry, tell: (on: Listener) => void): void {
    const { place, on } = entry;
    clearTimeout(entry.timer);
    clearTimeout(entry.deadline);
    entry.on = undefined;
    if (entry.takesPlace) place.running -= 1;
    place.tasks -= 1;
    place.averageMs += (now() - entry.startedAt - place.averageMs) / 4;
    if (on !== undefined) tell(on);
    if (active() === 0) for (const drain of drains.splice(0)) drain();
  }

  function active(): number {
    let count = 0;
    for (const { tasks } of places.values()) count += tasks;
    return count;
  }

  function abort(entry: Entry): void {
    if (entry.on === undefined) return;
    entry.on = undefined;
    clearTimeout(entry.timer);
    clearTimeout(entry.deadline);
    const { place } = entry;
    if (sent.has(entry.id)) {
      const busy = current;
      busy?.send({ type: 'abort', id: entry.id });
      entry.timer = setTimeout(() => void busy?.kill('a task does not stop'), abortGraceMs).unref();
    } else if (place.line.includes(entry)) {
      place.line = place.line.filter((each) => each !== entry);
      finish(entry, () => {});
    }
  }

  function expire(entry: Entry): void {
    const { on, key, task, place } = entry;
    const model = task.model.name;
    const isLoaded = loaded.has(key);
    const isSent = sent.has(entry.id);
    abort(entry);
    if (!isSent) {
      on?.fail(tooBusy(model, place));
    } else if (isLoaded) {
      on?.fail(new GatewayError('timeout', `The model ${model} took too long to answer`));
    } else {
      void current?.kill(`${model} does not load`);
      on?.fail(interrupted(model, longestBackOffMs));
    }
  }

  function start(task: Task, on: Listener): Entry {
    const key = toModelKey(task.model);
    let place = places.get(key);
    if (place === undefined) {
      place = { line: [], tasks: 0, running: 0, concurrency: 1, quick: [], averageMs: 1_000 };
      places.set(key, place);
    }
    lastId += 1;
    const timing = { startedAt: now(), timer: undefined, deadline: undefined };
    const entry: Entry = { id: lastId, key, task, place, ...timing, on, takesPlace: false };
    const isFull = task.isContinued !== true && place.tasks >= place.concurrency + queueLength;
    const refusal = isClosed
      ? stopping()
      : (oversized.get(key) ?? (isFull ? tooMany(task.model.name, place) : undefined));
    if (refusal !== undefined) {
      process.nextTick(() => entry.on?.fail(refusal));
      return entry;
    }
    place.tasks += 1;
    entry.timer = setTimeout(() => expire(entry), timeoutMs).unref();
    place.line.push(entry);
    advance(place);
    return entry;
  }

  return {
    get active() {
      return active();
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
        if (active() === 0) resolve();
        else drains.push(resolve);
      }),
    async close() {
      isClosed = true;
      const left = current;
      const ending = left?.kill('the gateway stops');
      forget();
      const lost = [...sent.values(), ...[...places.values()].flatMap(({ line }) => line.splice(0))];
      sent.clear();
      for (const entry of lost) finish(entry, failed(stopping()));
      await ending;
    },
  };
}

function failed(error: GatewayError): (on: Listener) => void {
  return (on) => on.fail(error);
}
