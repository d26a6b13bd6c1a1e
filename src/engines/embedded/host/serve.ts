/**
 * The program's side of a model process: takes work from the gateway, one queue per model. It ends with the
 * gateway, however that ends, and keeps nothing that would have to be saved.
 */
import assert from 'node:assert';
import { stat } from 'node:fs/promises';
import { setPriority } from 'node:os';
import type { FromProgram, ProgramSettings, ToProgram } from './protocol.ts';
import { ModelQueue } from './queue.ts';
import type { LoadedModel, ModelFiles, Runtime } from './types.ts';

export function serve(createRuntime: (options: Readonly<Record<string, unknown>>) => Runtime): void {
  assert(process.send !== undefined, 'a model program is started by the gateway');
  const queues = new Map<string, ModelQueue>();
  const queueOf = new Map<number, ModelQueue>();
  /** Parts that came together go out together: a message costs more than what is in it. */
  const gathered = new Map<number, unknown[]>();
  let runtime: Runtime;
  let settings: ProgramSettings;
  let hasLoaded = false;

  const send = (message: FromProgram) => void process.send?.(message);

  function begin(given: ProgramSettings): void {
    settings = given;
    lowerPriority(settings.nice);
    runtime = createRuntime(settings.options);
    setInterval(pulse, settings.pulseMs);
  }

  function pulse(): void {
    send({ type: 'pulse', rssBytes: process.memoryUsage.rss(), models: queues.size });
  }

  function openQueue(key: string, name: string): ModelQueue {
    const opened = new ModelQueue({
      name,
      idleMs: settings.idleMs,
      load: (model) => load(key, model),
      loaded: (concurrency, quick) => send({ type: 'loaded', key, concurrency, quick }),
      unloaded() {
        queues.delete(key);
        pulse();
      },
      part: gather,
      done: (id, result) => over(id, { type: 'done', id, result }),
      fail: (id, failure) => over(id, { type: 'fail', id, failure }),
    });
    queues.set(key, opened);
    return opened;
  }

  /** A model that does not fit is told of before it fails: the gateway then asks for it no more. */
  async function load(key: string, model: ModelFiles): Promise<LoadedModel> {
    const isFirst = !hasLoaded;
    hasLoaded = true;
    const refuse = (megabytes: number) => {
      if (megabytes <= settings.memoryMb) return;
      send({ type: 'oversized', key, megabytes });
      throw new Error(`${model.name} needs ${megabytes} MB`);
    };
    refuse(await sizeOf(model));
    const opened = await runtime.load(model);
    try {
      // Only of the first it is known that all of the memory is for it.
      if (isFirst && queues.size === 1) refuse(toMegabytes(process.memoryUsage.rss()));
    } catch (error) {
      await opened.dispose();
      throw error;
    }
    return opened;
  }

  function gather(id: number, part: unknown): void {
    const parts = gathered.get(id);
    if (parts !== undefined) parts.push(part);
    else gathered.set(id, [part]);
    if (parts === undefined) queueMicrotask(() => release(id));
  }

  function release(id: number): void {
    const parts = gathered.get(id);
    gathered.delete(id);
    if (parts !== undefined) send({ type: 'parts', id, parts });
  }

  function over(id: number, message: FromProgram): void {
    queueOf.delete(id);
    release(id);
    send(message);
  }

  process.on('message', (message: ToProgram) => {
    switch (message.type) {
      case 'begin':
        begin(message.settings);
        break;
      case 'run': {
        const { id, key, task } = message;
        const queue = queues.get(key) ?? openQueue(key, task.model.name);
        queueOf.set(id, queue);
        queue.add(id, task);
        break;
      }
      case 'abort':
        queueOf.get(message.id)?.abort(message.id);
    }
  });
  // Not an ordinary exit: that would wait for native threads in the middle of their work.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
}

/** Of its files, which are read or mapped whole. One that is missing is the runtime's to tell of. */
async function sizeOf({ files }: ModelFiles): Promise<number> {
  const sizes = await Promise.all(
    Object.values(files).map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return toMegabytes(sizes.reduce((sum, size) => sum + size, 0));
}

function toMegabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

/** Before any native library is loaded: threads inherit the priority of the one that starts them. */
function lowerPriority(nice: number): void {
  try {
    setPriority(nice);
  } catch {
    // Some sandboxes forbid it; the models then compete with the gateway as equals.
  }
}
