/** One attempt at a job: the model, an engine and its slot, and the kind's own work. */
import { GatewayError } from '../../lib/errors.ts';
import type { Catalog, Model } from '../catalog/index.ts';
import type { Engines, EngineUse } from '../engines/index.ts';
import type { Media } from '../media/types.ts';
import type { Objects } from '../objects/types.ts';
import type { Recordings } from '../recordings/types.ts';
import { toFailure } from './failure.ts';
import { attemptOf } from './files.ts';
import type { Lease } from './row.ts';
import type { JobKind, JobOutput } from './types.ts';

export interface AttemptParts {
  catalog: Catalog;
  engines: Engines;
  objects: Objects;
  media: Media;
  recordings: Recordings;
}

export interface Attempt {
  readonly kind: JobKind;
  readonly lease: Lease;
  readonly signal: AbortSignal;
  remember(note: { text: string; engine: string }): Promise<void>;
  progress(fraction: number): void;
}

export type Outcome =
  | { readonly type: 'made'; readonly outputs: readonly JobOutput[] }
  /** `engine`: the one that failed, where it came so far. */
  | { readonly type: 'failed'; readonly error: GatewayError; readonly engine: string | undefined };

export async function attemptJob(parts: AttemptParts, attempt: Attempt): Promise<Outcome> {
  const { kind, lease, signal } = attempt;
  const { job } = lease;
  let use: EngineUse | undefined;
  try {
    const model = findModel(parts.catalog, lease);
    use = chooseEngine(parts.engines, model, lease);
    const { name, engine } = use;
    await use.enter(job.subscriptionId, signal);
    signal.throwIfAborted();
    const outputs = await kind.run({
      job,
      model,
      engine,
      signal,
      objects: parts.objects,
      media: parts.media,
      recordings: parts.recordings,
      expectedMs: lease.expectedMs,
      remembered: lease.note?.engine === name ? lease.note.text : undefined,
      remember: (text) => attempt.remember({ text, engine: name }),
      progress: (fraction) => attempt.progress(fraction),
      outputKey: (index, extension) => `${attemptOf(job.id, job.attempt)}/${index}.${extension}`,
    });
    use.release('answered');
    return { type: 'made', outputs };
  } catch (thrown) {
    const error = toFailure(thrown);
    use?.release(signal.aborted ? 'unproven' : error);
    return { type: 'failed', error, engine: use?.name };
  }
}

/** It may be gone since the job was created: that is as if nobody served it. */
function findModel(catalog: Catalog, { job: { kind, modelId } }: Lease): Model {
  try {
    return catalog.resolve(kind, modelId).model;
  } catch (cause) {
    throw new GatewayError('unreachable', `The model ${modelId} is not served any more`, { cause });
  }
}

/** The one that remembers an earlier attempt; else one that has not failed yet; else any again. */
function chooseEngine(engines: Engines, { id, engines: names }: Model, { note, tried }: Lease): EngineUse {
  const remembering = names.filter((name) => name === note?.engine);
  const use =
    (remembering.length > 0 ? tryUse(engines, remembering, tried) : undefined) ??
    tryUse(engines, names, tried) ??
    engines.use(names, '', []);
  if (use !== undefined) return use;
  throw new GatewayError('unreachable', `The model ${id} has no engine at the moment`);
}

/** Undefined also when none of these is trusted now: another may be. */
function tryUse(engines: Engines, names: readonly string[], tried: readonly string[]): EngineUse | undefined {
  try {
    return engines.use(names, '', tried);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
