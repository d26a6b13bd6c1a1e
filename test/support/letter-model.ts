/**
 * A chat model for tests of decisions, played by the mock engine: it reads the options off the prompt, likes each
 * as much as it is told, prefers some letters, and answers with the log probabilities of its first token.
 */
import { completion, type MockExchange, type MockScript } from './mock-engine.ts';

export interface LetterModel {
  /** How it likes an option, by the option's line in the prompt; as a logarithm. */
  liking(line: string, prompt: string): number;
  /** How much likelier a letter is whatever stands behind it; as a logarithm. */
  preference?(letter: string): number;
  /** Other tokens, with their part of the whole probability. */
  others?: Readonly<Record<string, number>>;
  /** How many tokens it tells at most. Default as many as it is asked for. */
  tells?: number;
  /** How a letter is written. Default as it is. */
  write?(letter: string): string;
  promptTokens?: number;
}

export function promptOf({ request: { body } }: Pick<MockExchange, 'request'>): string {
  const { messages } = body as { messages: { content: string }[] };
  return messages[0]?.content ?? '';
}

/** The options' lines by their letters. */
export function optionsOf(prompt: string): Map<string, string> {
  const asked = prompt.slice(prompt.lastIndexOf('"""'));
  return new Map([...asked.matchAll(/^([A-P]|\d+)\. (.*)$/gm)].map(([, letter, line]) => [letter!, line!]));
}

export function letterModel(model: LetterModel): MockScript {
  const { liking, preference = () => 0, others = {}, write = (letter) => letter } = model;
  return (exchange) => {
    const prompt = promptOf(exchange);
    const { top_logprobs: asked } = exchange.request.body as { top_logprobs: number };
    const weights = [...optionsOf(prompt)].map(
      ([letter, line]) => [write(letter), Math.exp(liking(line, prompt) + preference(letter))] as const,
    );
    const sum = weights.reduce((total, [, weight]) => total + weight, 0);
    const left = 1 - Object.values(others).reduce((total, share) => total + share, 0);
    const tokens = [
      ...weights.map(([token, weight]) => [token, (left * weight) / sum] as const),
      ...Object.entries(others),
    ]
      .sort(([, one], [, other]) => other - one)
      .map(([token, share]) => ({ token, logprob: Math.log(share), bytes: [...Buffer.from(token)] }));
    const answer = completion({ content: tokens[0]?.token ?? '' }, 'length', {
      prompt_tokens: model.promptTokens ?? Math.ceil(prompt.length / 4),
      completion_tokens: 1,
    }) as { choices: { logprobs: unknown }[] };
    answer.choices[0]!.logprobs = {
      content: [{ ...tokens[0], top_logprobs: tokens.slice(0, model.tells ?? asked) }],
    };
    exchange.json(200, answer);
  };
}
