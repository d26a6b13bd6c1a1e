/**
 * One batch of a file's pieces to vectors, with its bill. It goes to the engine like a job, not through admission: the
 * upload was the request, and a large file must not use up the limits that the same subscription's searches need.
 *
 * The bill is not recorded here but saved with the vectors, in one transaction: a process that dies before it has
 * neither and embeds the batch again, one that dies after it has both.
 */
import assert from 'node:assert';
import { createHash } from 'node:crypto';
import type { EmbeddingPort, EmbeddingResult } from '../../../engines/contract/embedding.ts';
import { GatewayError } from '../../../lib/errors.ts';
import { type LedgerRow, priceOf } from '../../billing/index.ts';
import type { Catalog, EmbeddingModel } from '../../catalog/index.ts';
import type { Engines } from '../../engines/index.ts';
import { toPassage, toUnit } from '../embed.ts';
import type { BareItem, LeasedFile } from './types.ts';

export interface EmbedBatchParts {
  catalog: Pick<Catalog, 'resolve'>;
  engines: Pick<Engines, 'use'>;
  now: () => number;
}

/** Rejects with what the engine says, or with the signal's reason. */
export type EmbedBatch = (
  file: LeasedFile,
  items: readonly BareItem[],
  signal: AbortSignal,
) => Promise<{ readonly vectors: readonly Float32Array[]; readonly bill: LedgerRow }>;

export function createEmbedBatch({ catalog, engines, now }: EmbedBatchParts): EmbedBatch {
  return async (file, items, signal) => {
    const { subscriptionId, keyId } = file;
    const { model } = catalog.resolve('embedding', file.modelId);
    const texts = items.map(toPassage);
    const startedAt = now();
    const { vectors, promptTokens } = await callEngine(engines, model, subscriptionId, signal, (port) =>
      embedTexts(port, model, texts, signal),
    );
    const quantities = { promptTokens };
    const bill: LedgerRow = {
      id: billIdOf(file.id, items[0]?.index ?? 0),
      subscriptionId,
      keyId,
      modelId: model.id,
      operation: 'embeddings',
      at: now(),
      durationMs: now() - startedAt,
      streamed: false,
      outcome: 'stop',
      quantities,
      costPicoUsd: priceOf(model, quantities),
    };
    return { vectors: vectors.map(toUnit), bill };
  };
}

/** The same for the same batch, however often it is embedded. */
function billIdOf(fileId: string, firstIndex: number): string {
  return `gen_${createHash('sha256').update(`${fileId} ${firstIndex}`).digest('hex').slice(0, 24)}`;
}

async function callEngine<T>(
  engines: Pick<Engines, 'use'>,
  { id, engines: names }: EmbeddingModel,
  subscriptionId: string,
  signal: AbortSignal,
  work: (port: EmbeddingPort) => Promise<T>,
): Promise<T> {
  const use = engines.use(names, '', []);
  if (use === undefined) throw new GatewayError('unreachable', `The model ${id} has no engine at the moment`);
  const port = use.engine.embedding;
  assert(port !== undefined, 'embedding models have only engines with the port');
  try {
    await use.enter(subscriptionId, signal);
    signal.throwIfAborted();
    const result = await work(port);
    use.release('answered');
    return result;
  } catch (error) {
    use.release(error instanceof GatewayError && !signal.aborted ? error : 'unproven');
    throw error;
  }
}

async function embedTexts(
  port: EmbeddingPort,
  { engineModel, contextLength, dimensions, script }: EmbeddingModel,
  inputs: readonly string[],
  signal: AbortSignal,
): Promise<EmbeddingResult> {
  const result = await port.embed(
    {
      model: engineModel,
      inputs,
      maxTokens: contextLength,
      fullDimensions: dimensions,
      ...(script === undefined ? {} : { script }),
    },
    signal,
  );
  const isWhole =
    result.vectors.length === inputs.length &&
    result.vectors.every((vector) => vector.every(Number.isFinite));
  if (!isWhole)
    throw new GatewayError('unreachable', 'The engine answered with other vectors than were asked for');
  return result;
}
