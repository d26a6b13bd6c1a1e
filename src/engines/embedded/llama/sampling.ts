/** How the next token is chosen, out of what a request asks for. */
import {
  type LlamaContextSequence,
  type LlamaGrammar,
  LlamaGrammarEvaluationState,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp';
import type { ChatInput } from './types.ts';

export interface Sampled {
  readonly token: Token;
  /** What it was chosen from, likeliest first; only with log probabilities. */
  readonly probabilities?: ReadonlyMap<Token, number>;
}

export interface SamplingParts {
  readonly input: ChatInput;
  readonly sequence: LlamaContextSequence;
  readonly model: LlamaModel;
  /** What is left of the prompt. */
  readonly first: Token[];
  readonly seed: number;
  readonly grammar: LlamaGrammar | undefined;
}

/** llama.cpp looks so far back for what to punish for repeating itself; the other two penalties count all. */
const repetitionWindow = 64;
const countedWindow = 1_024;

export function sampleTokens(parts: SamplingParts): AsyncIterable<Sampled> {
  const { input, sequence, model, first, seed, grammar } = parts;
  const { temperature = 1, topP = 1, topK = 0, topLogprobs } = input;
  const { repetitionPenalty: penalty = 1, frequencyPenalty = 0, presencePenalty = 0 } = input;
  const isCounted = frequencyPenalty !== 0 || presencePenalty !== 0;
  const window = isCounted ? countedWindow : repetitionWindow;
  const start = sequence.nextTokenIndex + first.length;
  return sequence.evaluateWithMetadata(
    first,
    { probabilities: topLogprobs !== undefined },
    {
      temperature,
      topP,
      topK,
      minP: 0,
      // Unsigned 32 bits, whatever a client sends.
      seed: seed >>> 0,
      ...(grammar === undefined
        ? {}
        : { grammarEvaluationState: new LlamaGrammarEvaluationState({ model, grammar }) }),
      ...(penalty === 1 && !isCounted
        ? {}
        : {
            repeatPenalty: {
              punishTokens: () => sequence.contextTokens.slice(start).slice(-window),
              maxPunishTokens: window,
              penalty,
              frequencyPenalty,
              presencePenalty,
            },
          }),
    },
  );
}
