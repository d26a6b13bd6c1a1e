/** One engine after the other, until one answers or a failure is not the engine's own. */
import { GatewayError } from '../../lib/errors.ts';
import type { Model } from '../catalog/index.ts';
import type { EngineUse } from '../engines/index.ts';
import { logEngineFailure } from './engine-failure.ts';
import { isWorthAnotherEngine, type Pipeline } from './pipeline.ts';

export interface Attempt<T> {
  work(use: EngineUse): Promise<T>;
  /** Absent: always. */
  mayTryAnother?(): boolean;
}

export async function tryEngines<T>(
  pipeline: Pipeline,
  model: Model,
  affinity: string,
  signal: AbortSignal,
  { work, mayTryAnother = () => true }: Attempt<T>,
): Promise<T> {
  const tried: string[] = [];
  let failure: GatewayError | undefined;
  for (;;) {
    const use = pipeline.nextEngine(model, affinity, tried, failure);
    tried.push(use.name);
    try {
      const result = await work(use);
      use.release('answered');
      return result;
    } catch (error) {
      failure = error instanceof GatewayError ? error : undefined;
      const isOwn = failure !== undefined && !signal.aborted;
      use.release(isOwn && failure !== undefined ? failure : 'unproven');
      if (failure === undefined || signal.aborted) throw error;
      if (!isWorthAnotherEngine(failure) || !mayTryAnother()) throw error;
      logEngineFailure(pipeline.log, model, use.name, failure);
    }
  }
}
