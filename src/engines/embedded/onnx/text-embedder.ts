/**
 * A text embedding model in memory. Work goes through it in slices of one batch each, and other requests and
 * cancels get their turn between two, so that 2,048 inputs do not hold up a short one.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { GatewayError } from '../../../lib/errors.ts';
import type { EmbeddingInput } from '../../contract/embedding.ts';
import { toVectors } from '../embedding.ts';
import type { LoadedModel } from '../host/types.ts';
import { createDecider } from './decide/decider.ts';
import { type TextModel, unusable } from './model-files.ts';
import { pool } from './pooling.ts';
import { createTextTokenizer, type TextTokenizer } from './text-tokenizer.ts';
import type { DecideInput, EmbedInput, EmbedOutput } from './types.ts';

/**
 * Requests that take turns. Each waits for one slice of every other: more would make all of them slow, and fewer
 * than one subscription may have at once (8) would let it keep everybody else out.
 */
const concurrency = 12;
/** Inputs that are sorted by length together, so that a batch has little padding. */
const windowInputs = 64;
/** Padding included. About a tenth of a second of a small model on one thread. */
const batchTokens = 1_024;
/** How long tokenizing may hold the process before the others get their turn. */
const longestHoldMs = 25;
/** A sign of life for the host, whose patience is with silence and not with length. */
const progressEveryMs = 1_000;

/** One input, ready for the model. */
interface Prepared {
  readonly index: number;
  readonly ids: readonly number[];
}

export async function loadTextEmbedder(model: TextModel, threads: number): Promise<LoadedModel> {
  const tokenizer = createTextTokenizer(model.tokenizerJson, model.tokenizerConfig);
  const session = await InferenceSession.create(model.model, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const embedder = new TextEmbedder(model, tokenizer, session);
  const decider = createDecider();
  return {
    concurrency,
    run: async (task, emit, signal) => {
      switch (task.kind) {
        case 'embed':
          return embedder.embed(task.input as EmbedInput, emit, signal);
        case 'decide':
          return decider.decide(task.input as DecideInput, {
            marks: tokenizer.before.length + tokenizer.after.length,
            maxTokens: model.maxTokens,
            signal,
            count: (texts, limit) => embedder.count(texts, limit, signal),
            async embed(inputs) {
              const input: EmbedInput = { inputs, maxTokens: model.maxTokens, isIsolated: true };
              return toVectors(await embedder.embed(input, emit, signal));
            },
          });
        default:
          throw new GatewayError('internal', `The model ${model.name} does not do ${task.kind}`);
      }
    },
    dispose: () => session.release(),
  };
}

class TextEmbedder {
  readonly #model: TextModel;
  readonly #tokenizer: TextTokenizer;
  readonly #session: InferenceSession;
  readonly #output: string;
  readonly #width: number;
  readonly #isPooled: boolean;
  /** No input yields no token at all: a model cannot read nothing. */
  readonly #filler: readonly number[];

  constructor(model: TextModel, tokenizer: TextTokenizer, session: InferenceSession) {
    this.#model = model;
    this.#tokenizer = tokenizer;
    this.#session = session;
    this.#filler = [model.padId];
    const unknown = session.inputNames.filter((name) => !(name in feeds));
    if (unknown.length > 0) throw unusable(model.name, `it wants ${unknown.join(', ')}`);
    const output = findOutput(model.name, session);
    this.#output = output.name;
    this.#width = output.width;
    this.#isPooled = output.isPooled;
  }

  async embed(
    { inputs, maxTokens, dimensions = this.#width, firstIndex = 0, isIsolated = false }: EmbedInput,
    emit: (part: unknown) => void,
    signal: AbortSignal,
  ): Promise<EmbedOutput> {
    if (dimensions > this.#width) {
      throw new GatewayError('invalid_request', `dimensions must be at most ${this.#width}`, {
        param: 'dimensions',
      });
    }
    const limit = Math.min(maxTokens, this.#model.maxTokens);
    const mostTokens = this.#model.canBatch && !isIsolated ? batchTokens : 0;
    const vectors = new Float32Array(inputs.length * dimensions);
    const hold = createHold(signal);
    let tokens = 0;
    let told = performance.now();
    for (let start = 0; start < inputs.length; start += windowInputs) {
      const window: Prepared[] = [];
      for (let index = start; index < Math.min(start + windowInputs, inputs.length); index += 1) {
        await hold();
        window.push({
          index,
          ids: this.#prepare(inputs[index] as EmbeddingInput, firstIndex + index, limit),
        });
      }
      for (const batch of toBatches(window, mostTokens)) {
        signal.throwIfAborted();
        await this.#run(batch, vectors, dimensions);
        for (const { ids } of batch) tokens += ids.length;
        if (performance.now() - told < progressEveryMs) continue;
        told = performance.now();
        emit({ tokens });
      }
    }
    return { vectors, dimensions, tokens };
  }

  /** Without marks; `limit + 1` for a text that has more, or that has too many characters for so few tokens. */
  async count(texts: readonly string[], limit: number, signal: AbortSignal): Promise<number[]> {
    const hold = createHold(signal);
    const counts: number[] = [];
    for (const text of texts) {
      await hold();
      counts.push(this.#tokenizer.count(text, limit));
    }
    return counts;
  }

  #prepare(input: EmbeddingInput, index: number, limit: number): readonly number[] {
    const ids =
      typeof input === 'string' ? this.#tokenizer.encode(input, limit).ids : this.#check(input, index);
    const wrapped = this.#tokenizer.wrap(ids, limit);
    return wrapped.length === 0 ? this.#filler : wrapped;
  }

  #check(ids: readonly number[], index: number): readonly number[] {
    const size = this.#model.vocabularySize ?? this.#tokenizer.vocabularySize;
    const wrong = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= size);
    if (wrong === undefined) return ids;
    throw new GatewayError(
      'invalid_request',
      `input[${index}]: ${wrong} is not a token of this model (0 to ${size - 1})`,
      {
        param: 'input',
      },
    );
  }

  async #run(batch: readonly Prepared[], vectors: Float32Array, dimensions: number): Promise<void> {
    // By `toBatches` the last is the longest.
    const columns = batch.at(-1)?.ids.length ?? 0;
    const outputs = await this.#session.run(this.#feed(batch, columns), [this.#output]);
    const output = outputs[this.#output] as Tensor;
    // Half precision is converted by the reading of it.
    const states = output.data as unknown as ArrayLike<number>;
    batch.forEach(({ index, ids }, row) => {
      const vector = vectors.subarray(index * dimensions, (index + 1) * dimensions);
      if (this.#isPooled) pool('cls', states, row * this.#width, 1, this.#width, vector);
      else pool(this.#model.pooling, states, row * columns * this.#width, ids.length, this.#width, vector);
    });
    output.dispose();
  }

  #feed(batch: readonly Prepared[], columns: number): Record<string, Tensor> {
    const named: Record<string, Tensor> = {};
    for (const name of this.#session.inputNames) {
      const fill = feeds[name] as Feed;
      const values = new BigInt64Array(batch.length * columns).fill(
        name === 'input_ids' ? BigInt(this.#model.padId) : 0n,
      );
      batch.forEach(({ ids }, row) => {
        ids.forEach((id, column) => {
          values[row * columns + column] = fill(id, column);
        });
      });
      named[name] = new Tensor('int64', values, [batch.length, columns]);
    }
    return named;
  }
}

type Feed = (id: number, column: number) => bigint;

/** What such models take, by the names that every exporter uses. */
const feeds: Readonly<Record<string, Feed>> = {
  input_ids: (id) => BigInt(id),
  attention_mask: () => 1n,
  token_type_ids: () => 0n,
  position_ids: (_, column) => BigInt(column),
};

/** Of those a model has: one vector per text is taken before one per token. */
const outputNames = ['sentence_embedding', 'last_hidden_state', 'token_embeddings'];

function findOutput(
  name: string,
  session: InferenceSession,
): { name: string; width: number; isPooled: boolean } {
  const wanted = outputNames.find((each) => session.outputNames.includes(each)) ?? session.outputNames[0];
  const output = session.outputMetadata.find((each) => each.name === wanted);
  if (output === undefined || !output.isTensor) throw unusable(name, 'its output is not a tensor');
  const width = output.shape.at(-1);
  const hasRank = output.shape.length === 2 || output.shape.length === 3;
  if (!hasRank || typeof width !== 'number' || !/^float(16|32)$/.test(output.type)) {
    throw unusable(name, `its output ${output.name} holds no vectors`);
  }
  return { name: output.name, width, isPooled: output.shape.length === 2 };
}

/** Of similar length, and together no more than `mostTokens` with their padding; at least one each. */
function toBatches(window: readonly Prepared[], mostTokens: number): Prepared[][] {
  const sorted = window.toSorted((a, b) => a.ids.length - b.ids.length);
  const batches: Prepared[][] = [];
  let current: Prepared[] = [];
  for (const prepared of sorted) {
    if (current.length > 0 && (current.length + 1) * prepared.ids.length > mostTokens) {
      batches.push(current);
      current = [];
    }
    current.push(prepared);
  }
  batches.push(current);
  return batches;
}

/** Gives the others a turn when the process was held for too long, and ends the work when it is not wanted. */
function createHold(signal: AbortSignal): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    signal.throwIfAborted();
    if (performance.now() - since < longestHoldMs) return undefined;
    return turn().then(() => {
      signal.throwIfAborted();
      since = performance.now();
    });
  };
}
