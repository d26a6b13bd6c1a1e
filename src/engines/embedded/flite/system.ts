/**
 * The little of an operating system that flite asks for (WASI preview 1), in memory: its arguments, a clock and
 * one file that it may write. There is no disk behind it, no environment and no network, whatever it opens.
 */

/** As the WASI specification numbers them. */
const ok = 0;
const badFile = 8;
const invalid = 28;
const noEntry = 44;

const standardError = 2;
const folder = 3;
const output = 4;
const folderType = 3;
const fileType = 4;
const allRights = 0xffff_ffff_ffff_ffffn;
/** A folder and its name: `path_open` is relative to it. */
const folderName = Buffer.from('/');
const longestComplaint = 4_000;
/** Ten minutes of a sentence: what writes more is not speaking any more. */
const longestOutput = 24_000_000;

export class ProgramExit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`the program ended with ${code}`);
    this.code = code;
  }
}

export interface MemorySystem {
  readonly imports: {
    readonly wasi_snapshot_preview1: Readonly<Record<string, (...args: never[]) => unknown>>;
  };
  /** To be told once the program is there. */
  attach(memory: WebAssembly.Memory): void;
  /** What it has written to its file. */
  output(): Buffer;
  /** What it has written to its standard error. */
  complaints(): string;
}

export function createMemorySystem(args: readonly string[]): MemorySystem {
  const strings = args.map((arg) => Buffer.from(`${arg}\0`));
  let memory: WebAssembly.Memory | undefined;
  let written = Buffer.alloc(0);
  let length = 0;
  let position = 0;
  let isOpen = false;
  let complaints = '';

  // Memory moves when it grows: never kept.
  const view = () => new DataView((memory as WebAssembly.Memory).buffer);
  const bytes = () => Buffer.from((memory as WebAssembly.Memory).buffer);
  const isFile = (file: number) => file === output && isOpen;

  function write(chunk: Buffer): boolean {
    const end = position + chunk.length;
    if (end > longestOutput) return false;
    if (end > written.length) {
      const larger = Buffer.alloc(Math.max(end, written.length * 2));
      written.copy(larger, 0, 0, length);
      written = larger;
    }
    chunk.copy(written, position);
    position = end;
    length = Math.max(length, end);
    return true;
  }

  const calls = {
    args_sizes_get(countAt: number, sizeAt: number): number {
      view().setUint32(countAt, strings.length, true);
      view().setUint32(
        sizeAt,
        strings.reduce((sum, text) => sum + text.length, 0),
        true,
      );
      return ok;
    },
    args_get(pointersAt: number, textAt: number): number {
      let at = textAt;
      for (const [index, text] of strings.entries()) {
        view().setUint32(pointersAt + 4 * index, at, true);
        text.copy(bytes(), at);
        at += text.length;
      }
      return ok;
    },
    clock_time_get(_clock: number, _precision: bigint, at: number): number {
      view().setBigUint64(at, 0n, true);
      return ok;
    },
    fd_prestat_get(file: number, at: number): number {
      if (file !== folder) return badFile;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, folderName.length, true);
      return ok;
    },
    fd_prestat_dir_name(file: number, at: number): number {
      if (file !== folder) return badFile;
      folderName.copy(bytes(), at);
      return ok;
    },
    fd_fdstat_get(file: number, at: number): number {
      if (file > folder && !isFile(file)) return badFile;
      view().setUint8(at, file === folder ? folderType : fileType);
      view().setUint16(at + 2, 0, true);
      view().setBigUint64(at + 8, allRights, true);
      view().setBigUint64(at + 16, allRights, true);
      return ok;
    },
    fd_fdstat_set_flags: (): number => ok,
    path_open(
      from: number,
      _lookup: number,
      _path: number,
      _pathLength: number,
      openFlags: number,
      _rights: bigint,
      _inherited: bigint,
      _flags: number,
      at: number,
    ): number {
      // Nothing is there to be read; what is created is the one file, whatever it is called.
      const isCreated = (openFlags & 1) !== 0;
      if (from !== folder || !isCreated || isOpen) return noEntry;
      isOpen = true;
      view().setUint32(at, output, true);
      return ok;
    },
    fd_close: (): number => ok,
    fd_seek(file: number, offset: bigint, whence: number, at: number): number {
      if (!isFile(file)) return badFile;
      const base = [0, position, length][whence];
      const target = base === undefined ? -1 : base + Number(offset);
      if (target < 0 || target > longestOutput) return invalid;
      position = target;
      view().setBigUint64(at, BigInt(target), true);
      return ok;
    },
    fd_read(_file: number, _vectors: number, _count: number, at: number): number {
      view().setUint32(at, 0, true);
      return ok;
    },
    fd_write(file: number, vectors: number, count: number, at: number): number {
      let total = 0;
      for (let index = 0; index < count; index += 1) {
        const start = view().getUint32(vectors + 8 * index, true);
        const size = view().getUint32(vectors + 8 * index + 4, true);
        const chunk = bytes().subarray(start, start + size);
        if (isFile(file)) {
          if (!write(chunk)) return invalid;
        } else if (file === standardError)
          complaints = (complaints + chunk.toString('latin1')).slice(-longestComplaint);
        total += size;
      }
      view().setUint32(at, total, true);
      return ok;
    },
    proc_exit(code: number): never {
      throw new ProgramExit(code);
    },
  };

  return {
    imports: { wasi_snapshot_preview1: calls },
    attach(given) {
      memory = given;
    },
    output: () => written.subarray(0, length),
    complaints: () => complaints.trim(),
  };
}
