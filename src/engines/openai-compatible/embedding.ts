/** The embedding port: texts and tokens to vectors, in as many requests as the engine needs. */
import { GatewayError } from '../../lib/errors.ts';
import type {
  EmbeddingInput,
  EmbeddingPort,
  EmbeddingRequest,
  EmbeddingResult,
} from '../contract/embedding.ts';
import { toUnitVector } from '../contract/vector.ts';
import { type Batch, runSome, toBatches } from './batches.ts';
import { failures } from './failures.ts';
import { askFitting, cutText } from './fit.ts';
import type { EmbeddingQuirks, Place } from './flavor.ts';
import type { Questions } from './questions.ts';
import { estimateTextTokens } from './tokens.ts';
import { toUsage, type WireUsage } from './wire.ts';

export interface EmbeddingParts {
  questions: Questions;
  quirks: EmbeddingQuirks;
  maxBatch: number;
}

const route: Place = { at: 'api', path: '/embeddings' };

export function createEmbeddingPort({ questions, quirks, maxBatch }: EmbeddingParts): EmbeddingPort {
  async function embedBatch(
    { items }: Batch<EmbeddingInput>,
    request: EmbeddingRequest,
    signal: AbortSignal,
  ): Promise<EmbeddingResult> {
    let sent: readonly EmbeddingInput[] | undefined;
    const cut = (maxBytes: number) => {
      const shorter = cutInputs(sent ?? items, maxBytes, request.maxTokens);
      if (sent !== undefined && shorter.every((input, index) => input === sent?.[index])) return undefined;
      sent = shorter;
      return shorter;
    };
    return askFitting(request.maxTokens, cut, (input) =>
      questions.post(
        route,
        // A quarter as long as numbers, and cheaper to read. Servers that do not know it send numbers.
        { model: request.model, input, encoding_format: 'base64', ...quirks.truncation },
        ({ json }) => readEmbeddings(json, input, request),
        signal,
      ),
    );
  }

  return {
    async embed(request, signal) {
      signal.throwIfAborted();
      const { inputs } = request;
      if (!quirks.takesTokens && inputs.some((input) => typeof input !== 'string')) {
        const message = 'input must be text: the engine of this model takes no tokens';
        throw new GatewayError('invalid_request', message, { param: 'input' });
      }
      const batches = toBatches(inputs, maxBatch);
      const results = await runSome(
        batches,
        quirks.parallel,
        (batch, either) => embedBatch(batch, request, either),
        signal,
      );
      return {
        vectors: results.flatMap(({ vectors }) => vectors),
        promptTokens: results.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
      };
    },
  };
}

/** At the end; tokens by their number, texts by their bytes. */
function cutInputs(
  inputs: readonly EmbeddingInput[],
  maxBytes: number,
  maxTokens: number,
): readonly EmbeddingInput[] {
  const most = Math.min(maxTokens, maxBytes);
  return inputs.map((input) => {
    if (typeof input === 'string') return cutText(input, maxBytes);
    return input.length > most ? input.slice(0, most) : input;
  });
}

interface WireEmbeddings {
  data?: ({ index?: unknown; embedding?: unknown } | null)[] | null;
  usage?: WireUsage | null;
}

/** Throws when there is not one vector for each input, all of the length that is expected. */
export function readEmbeddings(
  json: unknown,
  inputs: readonly EmbeddingInput[],
  { dimensions, fullDimensions, maxTokens }: Omit<EmbeddingRequest, 'model' | 'inputs'>,
): EmbeddingResult {
  const { data, usage } = json as WireEmbeddings;
  const vectors: Float32Array[] = [];
  for (const [place, item] of (Array.isArray(data) ? data : []).entries()) {
    const index = typeof item?.index === 'number' ? item.index : place;
    const values = toValues(item?.embedding);
    const whole = dimensions === undefined ? fullDimensions : undefined;
    if (whole !== undefined && values.length !== whole)
      throw failures.unreadable(new Error(`a vector of ${values.length} values, not ${whole}`));
    const vector = values.length === 0 ? undefined : toUnitVector(values, dimensions);
    if (vector === undefined) throw failures.unreadable(new Error(`a vector of ${values.length} values`));
    vectors[index] = vector;
  }
  for (let i = 0; i < Math.max(inputs.length, vectors.length); i++) {
    if (vectors[i] === undefined || i >= inputs.length)
      throw failures.unreadable(new Error(`vectors for ${inputs.length} inputs: ${vectors.length}`));
  }
  const { promptTokens } = toUsage(usage ?? {});
  return { vectors, promptTokens: promptTokens > 0 ? promptTokens : estimateTokens(inputs, maxTokens) };
}

/** Little-endian float32 in base64, or a list of numbers; empty when it is neither. */
function toValues(embedding: unknown): Float32Array {
  if (Array.isArray(embedding)) {
    return embedding.every((value) => typeof value === 'number')
      ? Float32Array.from(embedding)
      : new Float32Array();
  }
  if (typeof embedding !== 'string') return new Float32Array();
  const bytes = Buffer.from(embedding, 'base64');
  // A copy of its own: a small buffer is a piece of a larger one, and need not begin at a multiple of four.
  return new Float32Array(new Uint8Array(bytes).buffer, 0, Math.floor(bytes.length / 4));
}

/** For engines that do not say what they read. */
function estimateTokens(inputs: readonly EmbeddingInput[], maxTokens: number): number {
  let tokens = 0;
  for (const input of inputs) {
    const own = typeof input === 'string' ? estimateTextTokens(input) : input.length;
    tokens += Math.min(own, maxTokens);
  }
  return tokens;
}
