import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DecisionQuestion } from '../contract/decision.ts';
import { letters, toDecisionPrompt, toGroups, toOrders } from './decision-prompt.ts';

const optionsOf = (count: number) => Array.from({ length: count }, (_, index) => ({ label: `o${index}` }));
const choiceOf = (count: number): DecisionQuestion => ({
  type: 'choice',
  instructions: '',
  options: optionsOf(count),
});

describe('the prompt of a decision', () => {
  it('has the state, the question and the options behind letters', () => {
    const question: DecisionQuestion = {
      type: 'choice',
      instructions: 'Which team?',
      options: [{ label: 'billing', description: 'money\n and such' }, { label: 'sales' }],
    };
    const prompt = toDecisionPrompt('I was charged twice.', question, question.options, true);
    expect(prompt).toContain('"""\nI was charged twice.\n"""\n\nQuestion: Which team?\n\nOptions:\n');
    expect(prompt).toContain('\nA. billing: money and such\nB. sales\n\n');
  });

  it('begins alike for all questions about a state, so that engines read it once', () => {
    const state = 'x'.repeat(100);
    const one = toDecisionPrompt(state, choiceOf(2), optionsOf(2), true);
    const other = toDecisionPrompt(state, { ...choiceOf(3), type: 'score' }, optionsOf(3), true);
    expect(other.slice(0, one.indexOf('Question:'))).toBe(one.slice(0, one.indexOf('Question:')));
  });

  it('asks something even when no question is put, and says which way levels go', () => {
    for (const type of ['noul', 'choice', 'score'] as const) {
      const prompt = toDecisionPrompt('s', { ...choiceOf(2), type }, optionsOf(2), true);
      expect(prompt).toMatch(/Question: \w.*\?\n/);
    }
    const levels = (isRising: boolean) =>
      toDecisionPrompt('s', { ...choiceOf(2), type: 'score' }, optionsOf(2), isRising);
    expect(levels(true)).toContain('from the lowest to the highest');
    expect(levels(false)).toContain('from the highest to the lowest');
  });
});

describe('the options', () => {
  it('of a choice stand in groups of at most 16, of about one size, and 255 make no more than 16 groups', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 255 }), (count) => {
        const groups = toGroups(choiceOf(count));
        const sizes = groups.map(({ length }) => length);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(letters.length);
        expect(groups.length).toBeLessThanOrEqual(letters.length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(groups.flat().toSorted((a, b) => a - b)).toEqual(optionsOf(count).map((_, index) => index));
      }),
    );
  });

  it('stand in an order of their own, whatever the order in which they came; levels keep theirs', () => {
    const labels = ['delta', 'alpha', 'charlie', 'bravo'];
    const shown = (names: string[], type: 'choice' | 'score') => {
      const question: DecisionQuestion = {
        type,
        instructions: '',
        options: names.map((label) => ({ label })),
      };
      return toGroups(question).map((places) => places.map((place) => names[place]));
    };
    expect(shown(labels, 'choice')).toEqual([labels.toSorted()]);
    expect(shown(labels.toReversed(), 'choice')).toEqual([labels.toSorted()]);
    expect(shown(labels, 'score')).toEqual([labels]);
  });

  it('up to four stand behind every letter once; levels and more options go forth and back', () => {
    expect(toOrders('noul', [0, 1])).toEqual([
      [0, 1],
      [1, 0],
    ]);
    const turned = toOrders('choice', [3, 1, 2]);
    expect(turned).toHaveLength(3);
    for (let place = 0; place < 3; place++)
      expect(turned.map((order) => order[place]).toSorted()).toEqual([1, 2, 3]);
    expect(toOrders('choice', [0, 1, 2, 3, 4])).toEqual([
      [0, 1, 2, 3, 4],
      [4, 3, 2, 1, 0],
    ]);
    expect(toOrders('score', [0, 1, 2])).toEqual([
      [0, 1, 2],
      [2, 1, 0],
    ]);
    expect(toOrders('choice', [7])).toEqual([]);
  });
});
