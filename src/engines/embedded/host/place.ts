/** What the host keeps of a task, and of a model that has some. */
import type { ModelHost, Task } from './types.ts';

export type Listener = Parameters<ModelHost['start']>[1];

export interface Entry {
  readonly id: number;
  readonly key: string;
  readonly task: Task;
  readonly place: Place;
  readonly startedAt: number;
  /** Absent once nobody listens any more. */
  on: Listener | undefined;
  /** The silence that it may keep; after an abort, the time to stop. */
  timer: NodeJS.Timeout | undefined;
  /** The whole time that it may run. */
  deadline: NodeJS.Timeout | undefined;
  /** The process has it, and it takes one of the model's places there. */
  takesPlace: boolean;
}

/** One model, as the process knows it. */
export interface Place {
  line: Entry[];
  /** Those in line, and those that the process has. */
  tasks: number;
  /** Of those that the process has, how many take one of the model's places. */
  running: number;
  concurrency: number;
  quick: readonly string[];
  /** How long tasks took lately, their waiting included. */
  averageMs: number;
}
