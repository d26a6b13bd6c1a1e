import { describe, expect, it } from 'vitest';
import { computing } from '../../../../../test/support/computing.ts';
import type { DecisionQuestion } from '../../../contract/decision.ts';
import {
  toAnswerPhrases,
  toMatter,
  toNoulPhrases,
  toPassages,
  toQuestionText,
  toSentenceTokens,
} from './phrases.ts';

const question: DecisionQuestion = {
  type: 'choice',
  instructions: 'What does the user want?',
  options: [
    { label: 'track_order', description: 'Find a parcel' },
    { label: 'cancelOrder' },
    { label: 'VPN' },
  ],
};

describe('the sentences of an answer', () => {
  it('say its label in words, with its description, alone and after the question', () => {
    expect(question.options.map((option) => toAnswerPhrases(question, option))).toEqual([
      ['track order: Find a parcel', 'What does the user want? track order: Find a parcel.'],
      ['cancel Order', 'What does the user want? cancel Order.'],
      ['VPN', 'What does the user want? VPN.'],
    ]);
  });

  it('of yes and no are what is asked about, and what the criteria say', () => {
    const options = [{ label: 'yes', description: 'It cannot wait' }, { label: 'no' }];
    expect(toNoulPhrases({ type: 'noul', instructions: 'Is this message urgent?', options })).toEqual({
      asked: ['urgent', 'This is urgent.'],
      yes: 'It cannot wait',
      no: undefined,
    });
  });

  it('keep a question whole that opens in another way', () => {
    expect(toMatter('Does the customer want a refund?')).toBe('want a refund');
    expect(toMatter('Ist das dringend?')).toBe('Ist das dringend');
    expect(toMatter('Is this?')).toBe('Is this');
    expect(toMatter('')).toBe('');
  });
});

describe('what a question asks about', () => {
  it('is found in time that grows with its length only', () => {
    const spaced = (count: number) => `y${' ?'.repeat(count)}${' '.repeat(count)}x`;
    const computed = computing();
    expect(toMatter(spaced(1_000_000)).endsWith(' x')).toBe(true);
    expect(toMatter(`y${' '.repeat(1_000_000)}?`)).toBe('y');
    // The square of it would be an hour.
    expect(computed()).toBeLessThan(5_000);
    expect(toMatter('  Is  this\tmessage urgent ?! \n')).toBe('urgent');
  });
});

describe('the work of a question', () => {
  it('has its instructions once for every option, each sentence cut where the model stops to read', () => {
    expect(toSentenceTokens(question, 6, 16, 512)).toBe(3 * 6 + 2 * 10);
    expect(toSentenceTokens(question, 1_000, 1_010, 512)).toBe(3 * 512 + 2 * 10);
    expect(toSentenceTokens({ ...question, type: 'noul' }, 6, 16, 512)).toBe(2 * 6 + 10);
  });
});

describe('the prompt of a question', () => {
  it('has the question and every option', () => {
    expect(toQuestionText(question)).toBe(
      'What does the user want?\ntrack order: Find a parcel\ncancel Order\nVPN',
    );
  });
});

describe('the passages of a state', () => {
  it('are one for a short state, an empty one too', () => {
    expect(toPassages(' A short one. ')).toEqual(['A short one.']);
    expect(toPassages('')).toEqual(['']);
  });

  it('end with sentences, and together are the whole', () => {
    const state = 'A sentence of nine words that says nothing new. '.repeat(40).trim();
    const passages = toPassages(state);
    expect(passages.length).toBeGreaterThan(3);
    for (const passage of passages) expect(passage).toMatch(/^A sentence.*new\.$/);
    for (const passage of passages) expect(passage.length).toBeLessThanOrEqual(500);
    expect(passages.join(' ')).toBe(state);
  });

  it('are cut somewhere where there is neither sentence nor word', () => {
    const state = 'x'.repeat(1_200);
    expect(toPassages(state).join('')).toBe(state);
  });
});
