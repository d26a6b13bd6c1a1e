/** What the gateway and a media process say to each other. A process does one job at a time, so nothing has an id. */
import type { AudioFormat, MediaInfo } from '../types.ts';

/** The only containers that are ever opened, by the name that FFmpeg has for each. */
export type Container = 'wav' | 'mp3' | 'flac' | 'mp4' | 'ogg' | 'matroska' | 'aac';

/** Every job there is: what it is told, and what it answers besides the bytes that it emits. */
export interface JobKinds {
  probe: { options: { container: Container }; result: MediaInfo };
  decode: {
    options: { container: Container; sampleRate: number; maxSeconds: number };
    result: undefined;
  };
  encode: {
    options: { format: Exclude<AudioFormat, 'wav'>; sampleRate: number; speed: number };
    result: undefined;
  };
  stretch: { options: { sampleRate: number; speed: number }; result: undefined };
}

export type JobKind = keyof JobKinds;

/** Where a job's bytes go. Nothing more is made than what the other side has room for. */
export interface JobOutput {
  /** Resolves when there is room for more; rejects when nobody wants the job any more. */
  emit(bytes: Uint8Array): Promise<void>;
  /** For work that emits nothing for long. */
  throwIfStopped(): void;
}

export type Job<Options, Result> = (input: Buffer, options: Options, output: JobOutput) => Promise<Result>;

export type Jobs = { [Kind in JobKind]: Job<JobKinds[Kind]['options'], JobKinds[Kind]['result']> };

export type ToProgram =
  /** Exactly `inputBytes` bytes follow on the standard input. */
  | { readonly type: 'run'; readonly kind: string; readonly options: unknown; readonly inputBytes: number }
  /** One part was taken: there is room for another. */
  | { readonly type: 'pull' }
  | { readonly type: 'stop' };

export type FromProgram =
  /** `isSealed`: nothing in the process can open a file or a connection any more. */
  | { readonly type: 'ready'; readonly isSealed: boolean }
  | { readonly type: 'unavailable'; readonly detail: string }
  | { readonly type: 'part'; readonly bytes: Uint8Array }
  | { readonly type: 'done'; readonly result: unknown }
  /** `problem` follows the field's name: "cannot be read as mp3". Absent where the input is not at fault. */
  | { readonly type: 'fail'; readonly problem: string | undefined; readonly detail: string }
  | { readonly type: 'pulse'; readonly peakBytes: number; readonly cpuMs: number };
