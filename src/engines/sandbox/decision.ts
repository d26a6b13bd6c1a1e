/**
 * The sandbox's decision port: a distribution drawn from the request, in which answers that share words with the
 * state are likelier. An option's share depends on what it says and not on where it stands.
 */
import { type DecisionOption, type DecisionPort, promptTooLong } from '../contract/decision.ts';
import { createBreath } from './breath.ts';
import { countTextTokens, toTokens } from './chat-tokens.ts';
import { systemTimers, type Timers } from './script.ts';
import { createScripts } from './scripts.ts';
import { createRandom, toSeed } from './seed.ts';
import { wordWeight } from './text-features.ts';

/** What stands around a prompt, and around each option. */
const perPrompt = 4;
const perOption = 2;
const tokensPerBreath = 1_000;
/** How far chance and shared words move an answer, as logarithms of odds. */
const chance = 3;
const kinship = 4;

export function createSandboxDecision(timers: Timers = systemTimers): DecisionPort {
  const scriptOf = createScripts(timers);
  return {
    async decide(request, signal) {
      const { model, state, questions, maxTokens } = request;
      const seed = toSeed([model, state]);
      const pace = await scriptOf(request).begin(toSeed([`${seed}`, questions]), signal);
      const breathe = createBreath(signal);
      const words = new Set<string>();
      let stateTokens = 0;
      for (const token of toTokens(state)) {
        stateTokens += 1;
        if (stateTokens > maxTokens) throw promptTooLong(0, maxTokens);
        words.add(toWord(token));
        if (stateTokens % tokensPerBreath === 0) await breathe();
      }
      let promptTokens = 0;
      for (const [index, { instructions, options }] of questions.entries()) {
        const tokens = perPrompt + stateTokens + countTextTokens(instructions) + countOptions(options);
        if (tokens > maxTokens) throw promptTooLong(index, maxTokens);
        promptTokens += tokens;
        await breathe();
      }

      const probabilities: number[][] = [];
      for (const [index, { type, instructions, options }] of questions.entries()) {
        await pace.token(index);
        const scores = options.map(({ label, description }) => {
          const own = toSeed([`${seed}`, type, instructions, label, description]);
          return chance * createRandom(own).next() + kinship * sharedWords(label, description, words);
        });
        probabilities.push(toDistribution(scores));
        await breathe();
      }
      return { probabilities, promptTokens };
    },
  };
}

const toWord = (token: string) => token.trim().toLowerCase();

function countOptions(options: readonly DecisionOption[]): number {
  let tokens = 0;
  for (const { label, description = '' } of options)
    tokens += perOption + countTextTokens(label) + countTextTokens(description);
  return tokens;
}

/** The share of an option's words that the state has. */
function sharedWords(label: string, description = '', state: ReadonlySet<string>): number {
  let all = 0;
  let found = 0;
  for (const token of toTokens(`${label} ${description}`)) {
    const word = toWord(token);
    const weight = wordWeight(word);
    all += weight;
    if (state.has(word)) found += weight;
  }
  return all === 0 ? 0 : found / all;
}

function toDistribution(scores: readonly number[]): number[] {
  const weights = scores.map((score) => Math.exp(score - Math.max(...scores)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
