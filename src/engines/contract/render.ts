/** What a long render is given beside its request. A job may be taken up again by another process. */
export interface RenderContext {
  /** What an earlier attempt remembered, such as the engine's own id of the job: it is waited for, not begun anew. */
  readonly remembered: string | undefined;
  /** Kept with the job before the render goes on. */
  remember(note: string): Promise<void>;
  /** 0 to 1, where the engine can tell. */
  progress(fraction: number): void;
  /** How long such a render is expected to take. */
  readonly expectedMs: number;
}

/** The reason of an abort after which another process goes on with the render: the engine's own job is left running. */
export class RenderHandedOver extends Error {}
