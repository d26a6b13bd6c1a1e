/** Made-up log probabilities that could be real: the alternatives come likeliest first and share what is left. */
import type { TokenLogprob } from '../contract/chat.ts';
import type { Random } from './seed.ts';

type Alternative = Omit<TokenLogprob, 'topLogprobs'>;

const others = [
  ' the',
  ' a',
  ' of',
  ' and',
  ' to',
  ' in',
  ' is',
  ' it',
  ' as',
  ' for',
  ' with',
  ' that',
] as const;
const morePieces = ['.', ',', ';', ':', ' on', ' by', ' or', ' not', ' we', ' so', ' but', ' if'] as const;
const pool = [...others, ...morePieces];

/** The token itself is always the likeliest, as in a confident model. */
export function createLogprobs(random: Random, alternatives: number): (token: string) => TokenLogprob {
  return (token) => {
    const share = 0.5 + random.next() * 0.499;
    const itself = toAlternative(token, share);
    const top: Alternative[] = alternatives > 0 ? [itself] : [];
    let left = 1 - share;
    for (const other of pool) {
      if (top.length >= alternatives) break;
      if (other === token) continue;
      left /= 2;
      top.push(toAlternative(other, left));
    }
    return { ...itself, topLogprobs: top };
  };
}

function toAlternative(token: string, probability: number): Alternative {
  return { token, logprob: Number(Math.log(probability).toFixed(6)), bytes: [...Buffer.from(token, 'utf8')] };
}
