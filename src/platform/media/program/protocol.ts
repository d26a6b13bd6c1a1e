/** What the gateway and a media process say to each other. A process does one job at a time, so nothing has an id. */
import type { AudioFormat, MediaInfo } from '../types.ts';

/** The only containers that are ever opened, by the name that FFmpeg has for each. */
export type Container = 'wav' | 'mp3' | 'flac' | 'mp4' | 'mov' | 'ogg' | 'matroska' | 'aac';

/** Interleaved where there are two. */
export type Channels = 1 | 2;

/** Every job there is: what it is told, and what it answers besides the bytes that it emits. */
export interface JobKinds {
  /** As a film: its pictures count, and are looked at. */
  probe: { options: { container: Container; isFilm?: boolean }; result: MediaInfo };
  decode: {
    options: {
      container: Container;
      sampleRate: number;
      maxSeconds: number;
      channels?: Channels;
      /** Only this stretch, as far as there is so much. */
      stretch?: { startSeconds: number; endSeconds: number };
    };
    result: undefined;
  };
  encode: {
    options: {
      format: Exclude<AudioFormat, 'wav'>;
      sampleRate: number;
      channels: Channels;
      speed: number;
    };
    result: undefined;
  };
  stretch: { options: { sampleRate: number; channels: Channels; speed: number }; result: undefined };
  render: {
    /** The input is so many files, one behind the other. */
    options: { module: string; request: unknown; inputLengths: readonly number[] };
    result: unknown;
  };
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
  | {
      readonly type: 'fail';
      readonly problem: string | undefined;
      readonly detail: string;
      /** A package is not installed. */
      readonly isMissing: boolean;
    }
  | { readonly type: 'pulse'; readonly peakBytes: number; readonly cpuMs: number };
