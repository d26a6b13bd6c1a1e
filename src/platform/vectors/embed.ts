/**
 * Texts to vectors with the model of a collection, billed like a call of `/embeddings`. What a search can be told apart
 * by: `unreachable` when embedding fails, `overloaded` while it cannot be had (no such model, none of its engines up,
 * its files still being fetched).
 */
import assert from 'node:assert';
import type { EmbeddingResult } from '../../engines/contract/embedding.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Catalog, EmbeddingModel } from '../catalog/index.ts';
import type { Inference } from '../inference/types.ts';
import type { Chunk, Embed } from './parts.ts';

export function createEmbed({ catalog, inference }: { catalog: Catalog; inference: Inference }): Embed {
  return async (operation, modelId, texts, kind) => {
    try {
      const { model } = catalog.resolve('embedding', modelId);
      const { result, costPicoUsd } = await inference.run(
        operation,
        model,
        async ({ embedding }, signal) => {
          assert(embedding !== undefined, 'embedding models have only engines with the port');
          const request = {
            model: model.engineModel,
            inputs: kind === 'query' ? texts.map((text) => withInstruction(text, model)) : texts,
            maxTokens: model.contextLength,
            fullDimensions: model.dimensions,
            ...(model.script === undefined ? {} : { script: model.script }),
          };
          return checked(await embedding.embed(request, signal), texts.length);
        },
        ({ promptTokens }) => ({ quantities: { promptTokens }, outcome: 'stop' }),
      );
      return { vectors: result.vectors.map(toUnit), promptTokens: result.promptTokens, costPicoUsd };
    } catch (error) {
      throw operation.signal.aborted ? error : toEmbeddingFailure(error, modelId);
    }
  };
}

/** What is embedded of a piece: where it stands or what it is about says as much as its words. */
export function toPassage({ description, text }: Chunk): string {
  return description === '' ? text : `${description}\n\n${text}`;
}

function withInstruction(input: string, { queryInstruction }: EmbeddingModel): string {
  if (queryInstruction === undefined || input.startsWith(queryInstruction.marker)) return input;
  return queryInstruction.text + input;
}

function checked(result: EmbeddingResult, count: number): EmbeddingResult {
  const isWhole =
    result.vectors.length === count && result.vectors.every((vector) => vector.every(Number.isFinite));
  if (!isWhole)
    throw new GatewayError('unreachable', 'The engine answered with other vectors than were asked for');
  return result;
}

/** Distances are compared as if every vector had length 1: engines promise it, and rounding is taken out here. */
export function toUnit(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (sum === 0 || Math.abs(sum - 1) < 1e-6) return vector;
  const factor = 1 / Math.sqrt(sum);
  return vector.map((value) => value * factor);
}

function toEmbeddingFailure(error: unknown, modelId: string): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { kind, message, retryAfterSeconds } = error;
  if (kind === 'rate_limited') return error;
  if (kind === 'overloaded' || kind === 'not_found') {
    return new GatewayError('overloaded', `Embeddings are not available at the moment: ${message}`, {
      cause: error,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  }
  return new GatewayError('unreachable', `Embedding with the model ${modelId} failed: ${message}`, {
    cause: error,
  });
}
