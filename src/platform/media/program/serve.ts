/**
 * The program's side of a media process: one job at a time, its input from the standard input, its answers over
 * the channel to the gateway. It ends with the gateway, however that ends, and keeps nothing.
 */
import assert from 'node:assert';
import { setPriority } from 'node:os';
import { Missing, Problem } from './problem.ts';
import type { FromProgram, JobOutput, ToProgram } from './protocol.ts';
import { openScale } from './scale.ts';
import { Seal } from './seal.ts';

/** Parts that may be under way before the first one is taken. */
const window = 2;
const pulseMs = 200;
/** The gateway comes first on a busy machine. */
const niceness = 10;

class Stopped extends Error {}

type AnyJob = (input: Buffer, options: unknown, output: JobOutput) => Promise<unknown>;

export async function serve(load: (seal: Seal) => Promise<object>): Promise<void> {
  assert(process.send !== undefined, 'a media program is started by the gateway');
  const send = (message: FromProgram) => void process.send?.(message);
  const { stdin } = process;
  const seal = new Seal();
  const weigh = openScale();
  let room = 0;
  let isStopped = false;
  let wake: (() => void) | undefined;

  const output: JobOutput = {
    async emit(bytes) {
      while (room === 0 && !isStopped) await new Promise<void>((resolve) => (wake = resolve));
      output.throwIfStopped();
      room -= 1;
      send({ type: 'part', bytes });
    },
    throwIfStopped() {
      if (isStopped) throw new Stopped();
    },
  };

  async function run(job: AnyJob, { options, inputBytes }: ToProgram & { type: 'run' }): Promise<void> {
    room = window;
    isStopped = false;
    const cpuBefore = process.cpuUsage();
    const pulse = () => {
      const { user, system } = process.cpuUsage(cpuBefore);
      send({ type: 'pulse', peakBytes: weigh(), cpuMs: (user + system) / 1000 });
    };
    const watch = setInterval(pulse, pulseMs);
    try {
      const input = await readInput(inputBytes);
      output.throwIfStopped();
      const result = await job(input, options, output);
      pulse();
      send({ type: 'done', result });
    } catch (error) {
      const problem = error instanceof Problem ? error.message : undefined;
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      pulse();
      const isMissing = error instanceof Missing;
      send(
        error instanceof Stopped
          ? { type: 'done', result: undefined }
          : { type: 'fail', problem, detail, isMissing },
      );
    } finally {
      clearInterval(watch);
    }
  }

  function readInput(length: number): Promise<Buffer> {
    const input = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    if (length === 0) return Promise.resolve(input);
    return new Promise((resolve) => {
      const take = (chunk: Buffer) => {
        filled += chunk.copy(input, filled);
        if (filled < length) return;
        stdin.pause();
        stdin.off('data', take);
        resolve(input);
      };
      stdin.on('data', take);
      stdin.resume();
    });
  }

  // Not an ordinary exit: that would wait for native threads in the middle of their work.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  let jobs: Readonly<Record<string, AnyJob | undefined>>;
  try {
    lowerPriority();
    jobs = (await load(seal)) as Record<string, AnyJob>;
  } catch (error) {
    send({ type: 'unavailable', detail: error instanceof Error ? error.message : String(error) });
    return;
  }
  process.on('message', (message: ToProgram) => {
    switch (message.type) {
      case 'run': {
        const job = jobs[message.kind];
        assert(job !== undefined, `there is no job ${message.kind}`);
        void run(job, message);
        return;
      }
      case 'pull':
        room += 1;
        break;
      case 'stop':
        isStopped = true;
    }
    wake?.();
  });
  send({ type: 'ready', isSealed: seal.close() });
}

function lowerPriority(): void {
  try {
    setPriority(niceness);
  } catch {
    // Some sandboxes forbid it; the files then compete with the gateway as equals.
  }
}
