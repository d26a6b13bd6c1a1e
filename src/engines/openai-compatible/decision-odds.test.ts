import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { average, joinGroups, normalize, readLetters } from './decision-odds.ts';

const top = (logprobs: Record<string, number>) =>
  Object.entries(logprobs).map(([token, logprob]) => ({ token, logprob, bytes: null }));

function answerOf(logprobs: Record<string, number>, chosen = Object.keys(logprobs)[0]!) {
  const first = { token: chosen, logprob: logprobs[chosen] ?? -20, top_logprobs: top(logprobs) };
  return { choices: [{ logprobs: { content: [first] } }] };
}

const shares = (odds: { logprobs: readonly number[] }) => odds.logprobs.map(Math.exp);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('the letters of a first token', () => {
  it('are read with what stands around them, and forms of one letter count together', () => {
    const odds = readLetters(
      answerOf({
        A: Math.log(0.3),
        ' A': Math.log(0.2),
        '▁B': Math.log(0.25),
        'B\n': Math.log(0.05),
        The: -3,
      }),
      2,
    );
    expect(shares(odds)[0]).toBeCloseTo(0.5 / 0.8, 12);
    expect(shares(odds)[1]).toBeCloseTo(0.3 / 0.8, 12);
    expect(odds.share).toBeCloseTo(0.8, 12);
  });

  it('do not count words that begin with one, small letters, or letters that were not offered', () => {
    const odds = readLetters(answerOf({ As: -0.1, a: -3, C: -3, A: -4, B: -5 }), 2);
    expect(odds.share).toBeCloseTo(Math.exp(-4) + Math.exp(-5), 12);
    expect(shares(odds)[0]).toBeCloseTo(1 / (1 + Math.exp(-1)), 12);
  });

  it('that are missing have what is left, and never more than the least that was told', () => {
    const roomy = readLetters(answerOf({ A: Math.log(0.6), B: Math.log(0.3) }), 4);
    expect(shares(roomy)[2]).toBeCloseTo(0.05, 12);
    expect(shares(roomy)[3]).toBeCloseTo(0.05, 12);
    const tight = readLetters(answerOf({ A: Math.log(0.4), B: Math.log(0.01) }), 3);
    expect(shares(tight)[2]).toBeCloseTo(0.01 / 0.42, 12);
    const none = readLetters(answerOf({ A: 0 }), 2);
    expect(shares(none)[1]).toBeCloseTo(1e-6, 9);
  });

  it('all have a floor, also where an engine writes -9999 for never', () => {
    const odds = readLetters(answerOf({ A: 0, B: -9999 }), 2);
    expect(shares(odds)[1]).toBeCloseTo(1e-6, 9);
    expect(odds.logprobs.every(Number.isFinite)).toBe(true);
  });

  it('are even when none of them is told', () => {
    const odds = readLetters(answerOf({ '<think>': -0.001, I: -8 }), 3);
    for (const share of shares(odds)) expect(share).toBeCloseTo(1 / 3, 12);
    expect(odds.share).toBe(0);
  });

  it('count the chosen token once, listed or not', () => {
    expect(readLetters(answerOf({ A: Math.log(0.5), B: Math.log(0.5) }, 'A'), 2).share).toBeCloseTo(1, 12);
    const apart = { ...answerOf({ A: Math.log(0.9) }) };
    apart.choices[0]!.logprobs.content[0]!.token = 'B';
    apart.choices[0]!.logprobs.content[0]!.logprob = Math.log(0.1);
    expect(shares(readLetters(apart, 2))[1]).toBeCloseTo(0.1, 12);
  });

  it.each([
    {},
    { choices: [] },
    { choices: [{ logprobs: null }] },
    { choices: [{ logprobs: { content: [] } }] },
  ])('that are not told at all are no answer: %j', (answer) => {
    expect(() => readLetters(answer, 2)).toThrow(/no log probabilities/);
  });
});

describe('what is made of them', () => {
  const logprob = fc.double({ min: -30, max: 0, noNaN: true });

  it('always adds up to 1', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(logprob, logprob), { minLength: 1, maxLength: 16 }),
        fc.integer({ min: 1, max: 16 }),
        (pairs, size) => {
          const [one, other] = [pairs.map(([a]) => a), pairs.map(([, b]) => b)];
          expect(sum(average([normalize(one), normalize(other)]).map(Math.exp))).toBeCloseTo(1, 9);
          const places = pairs.map((_, index) => index);
          const groups: { places: number[]; logprobs: number[] }[] = [];
          for (let at = 0; at < places.length; at += size) {
            const own = places.slice(at, at + size);
            groups.push({ places: own, logprobs: normalize(own.map((place) => one[place]!)) });
          }
          const winners = normalize(groups.map((_, index) => other[index]!));
          expect(sum(joinGroups(groups, winners))).toBeCloseTo(1, 12);
        },
      ),
    );
  });

  it('of two orders takes a preference for a place away', () => {
    // Both are liked alike, and the first place is four times as likely.
    const shown = normalize([Math.log(4), 0]);
    const turned = normalize([0, Math.log(4)]);
    for (const value of average([shown, turned]).map(Math.exp)) expect(value).toBeCloseTo(0.5, 12);
  });

  it('of groups is the distribution that all options together would have', () => {
    const likings = [0.3, -1, 2, 0, 1.5, -0.7, 0.9];
    const whole = normalize(likings).map(Math.exp);
    const groups = [
      [0, 3, 6],
      [1, 2],
      [4, 5],
    ].map((places) => ({ places, logprobs: normalize(places.map((place) => likings[place]!)) }));
    const winners = normalize([0.9, 2, 1.5]);
    for (const [place, share] of joinGroups(groups, winners).entries())
      expect(share).toBeCloseTo(whole[place]!, 12);
  });
});
