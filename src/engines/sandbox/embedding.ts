/** The sandbox's embedding port: the same vector for the same text, and near ones for texts that share words. */
import type { EmbeddingInput, EmbeddingPort } from '../contract/embedding.ts';
import { toUnitVector } from '../contract/vector.ts';
import { createBreath } from './breath.ts';
import { systemTimers, type Timers } from './script.ts';
import { createScripts } from './scripts.ts';
import { toSeed } from './seed.ts';
import { mix, readFeatures } from './text-features.ts';

/** For a model whose length nobody knows. */
const usualDimensions = 384;

export function createSandboxEmbedding(timers: Timers = systemTimers): EmbeddingPort {
  const scriptOf = createScripts(timers);
  return {
    async embed(request, signal) {
      const { model, inputs, maxTokens, fullDimensions = usualDimensions, dimensions } = request;
      const pace = await scriptOf(request).begin(toSeed([model, inputs.length, inputs[0]]), signal);
      const breathe = createBreath(signal);
      const vectors: Float32Array[] = [];
      let promptTokens = 0;
      for (const [index, input] of inputs.entries()) {
        await pace.token(index);
        const { vector, tokens } = toVector(input, maxTokens, fullDimensions, dimensions);
        vectors.push(vector);
        promptTokens += tokens;
        await breathe();
      }
      return { vectors, promptTokens };
    },
  };
}

/**
 * Every feature adds to a few places, half of them anywhere and half towards the beginning, so that the beginning
 * of a vector tells nearly as much as the whole: it can be cut.
 */
function toVector(
  input: EmbeddingInput,
  maxTokens: number,
  fullDimensions: number,
  dimensions = fullDimensions,
): { vector: Float32Array; tokens: number } {
  const values = new Float32Array(fullDimensions);
  const tokens = readFeatures(input, maxTokens, (feature, weight) => {
    let hash = feature;
    for (let place = 0; place < placesPerFeature; place++) {
      hash = mix(hash + 0x9e3779b9);
      const share = (hash >>> 1) / 2 ** 31;
      const at =
        place % 2 === 0 ? Math.floor(share * fullDimensions) : Math.floor((fullDimensions + 1) ** share) - 1;
      values[at]! += (hash & 1) === 0 ? weight : -weight;
    }
  });
  const cut = values.subarray(0, dimensions);
  // Of length 1 even where everything cancels out, or the text is empty.
  if (cut.every((value) => value === 0)) cut[0] = 1;
  return { vector: toUnitVector(cut.slice()) as Float32Array, tokens };
}

const placesPerFeature = 8;
