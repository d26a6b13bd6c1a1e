/** Tokens as text. A character may be made of several tokens, and only comes out once it is whole. */
import type { LlamaModel, Token } from 'node-llama-cpp';
import type { TokenLogprob } from '../../contract/chat.ts';
import type { Sampled } from './sampling.ts';
import type { Piece } from './stops.ts';

export interface TokenReader {
  read(sampled: Sampled): Piece;
  /** What never became a whole character. */
  rest(): Piece;
}

export interface TokenReaderParts {
  readonly model: Pick<LlamaModel, 'detokenize'>;
  readonly hasMarks: boolean;
  readonly topLogprobs: number | undefined;
  /** What the text goes on from; none where it begins anew. */
  readonly before: readonly Token[];
}

const replacement = '\ufffd';
/** How many tokens of a character can be missing before it is taken for broken. */
const longestCharacter = 8;
/** Some vocabularies write a word differently at the beginning: tokens are read in the light of those before. */
const memory = 16;

export function createTokenReader(parts: TokenReaderParts): TokenReader {
  const { model, hasMarks, topLogprobs } = parts;
  let before = parts.before.slice(-memory);
  let waiting: Token[] = [];
  let logprobs: TokenLogprob[] = [];

  const toText = (tokens: readonly Token[]) => model.detokenize(tokens, hasMarks, before);

  function release(text: string): Piece {
    const piece: Piece = topLogprobs === undefined ? { text } : { text, logprobs };
    before = [...before, ...waiting].slice(-memory);
    waiting = [];
    logprobs = [];
    return piece;
  }

  return {
    read({ token, probabilities }) {
      if (probabilities !== undefined && topLogprobs !== undefined) {
        logprobs.push(
          toLogprob(token, probabilities, topLogprobs, (each) => toText([...waiting, each]), toText(waiting)),
        );
      }
      waiting.push(token);
      const text = toText(waiting);
      if (text.endsWith(replacement) && waiting.length < longestCharacter) return { text: '' };
      return release(text);
    },
    rest: () => release(waiting.length === 0 ? '' : toText(waiting)),
  };
}

/** The probabilities are those after temperature and penalties: what the token was really drawn from. */
function toLogprob(
  token: Token,
  probabilities: ReadonlyMap<Token, number>,
  top: number,
  read: (token: Token) => string,
  begun: string,
): TokenLogprob {
  const describe = (each: Token, probability: number) => {
    const text = read(each);
    const own = text.startsWith(begun) ? text.slice(begun.length) : text;
    return {
      token: own,
      // Never -Infinity, for which JSON has no form.
      logprob: Math.max(-9999, Math.log(probability)),
      bytes: own.includes(replacement) ? null : [...Buffer.from(own)],
    };
  };
  const topLogprobs: Omit<TokenLogprob, 'topLogprobs'>[] = [];
  for (const [each, probability] of probabilities) {
    if (topLogprobs.length >= top) break;
    topLogprobs.push(describe(each, probability));
  }
  return { ...describe(token, probabilities.get(token) ?? 0), topLogprobs };
}
