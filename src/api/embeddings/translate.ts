/** An embeddings request as the canonical one, for the model that was resolved. Pure. */
import type { EmbeddingInput, EmbeddingRequest } from '../../engines/contract/embedding.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { EmbeddingModel } from '../../platform/catalog/index.ts';
import { type EmbeddingsBody, maxInputs } from './schema.ts';

export function toEmbeddingRequest(body: EmbeddingsBody, model: EmbeddingModel): EmbeddingRequest {
  const dimensions = toDimensions(body.dimensions ?? undefined, model);
  return {
    model: model.engineModel,
    inputs: withInstruction(toInputs(body.input), body.input_type ?? undefined, model),
    maxTokens: model.contextLength,
    fullDimensions: model.dimensions,
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(model.script === undefined ? {} : { script: model.script }),
  };
}

/** A list of numbers is one input; any other list has one input for each item. */
function toInputs(input: EmbeddingsBody['input']): readonly EmbeddingInput[] {
  if (typeof input === 'string') return [input];
  if (isTokens(input)) return [input];
  if (input.length > maxInputs) {
    const message = `input must have at most ${maxInputs} items, and has ${input.length}`;
    throw new GatewayError('invalid_request', message, { param: 'input' });
  }
  return input;
}

function isTokens(input: readonly unknown[]): input is number[] {
  return typeof input[0] === 'number';
}

/** What cannot be cut is refused, also to its own length: the model was not trained for it. */
function toDimensions(dimensions: number | undefined, model: EmbeddingModel): number | undefined {
  if (dimensions === undefined) return undefined;
  const refuse = (problem: string) =>
    new GatewayError('invalid_request', `dimensions ${problem}`, { param: 'dimensions' });
  if (model.flexibleDimensions !== true) throw refuse(`is not supported by the model ${model.id}`);
  if (dimensions > model.dimensions) throw refuse(`must be at most ${model.dimensions}`);
  return dimensions;
}

const queryTypes: ReadonlySet<string> = new Set(['search_query', 'query']);

/**
 * "`search_query` or `query` makes instruction-aware models prepend their query instruction unless the text already
 * starts with the instruction marker." Tokens cannot be put behind a text, and stay as they are.
 */
function withInstruction(
  inputs: readonly EmbeddingInput[],
  inputType: string | undefined,
  { queryInstruction }: EmbeddingModel,
): readonly EmbeddingInput[] {
  if (queryInstruction === undefined || inputType === undefined || !queryTypes.has(inputType)) return inputs;
  const { text, marker } = queryInstruction;
  return inputs.map((input) =>
    typeof input !== 'string' || input.startsWith(marker) ? input : text + input,
  );
}
