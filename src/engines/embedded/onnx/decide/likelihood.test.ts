import { describe, expect, it } from 'vitest';
import type { DecisionQuestion } from '../../../contract/decision.ts';
import { normalize } from '../vectors.ts';
import { createLikelihood } from './likelihood.ts';

function unit(...values: number[]): Float32Array {
  const vector = Float32Array.from(values);
  normalize(vector);
  return vector;
}

/** A world of three directions: one topic, another one, and how pleased somebody is. */
const likelihood = createLikelihood({
  ordinary: [unit(1, 1, 0.1), unit(1, -1, -0.1), unit(-1, 1, -0.1), unit(-1, -1, 0.1)],
  pleased: [unit(0, 0, 1)],
  displeased: [unit(0, 0, -1)],
});

const ask = (
  question: DecisionQuestion,
  vectors: Record<string, Float32Array>,
  ...passages: Float32Array[]
) =>
  likelihood.of(
    question,
    (text) => {
      const key = Object.keys(vectors).find((each) => text.includes(each)) as string;
      return likelihood.toSentence(vectors[key] as Float32Array);
    },
    passages,
  );

const choice = (...labels: string[]): DecisionQuestion => ({
  type: 'choice',
  instructions: 'Which?',
  options: labels.map((label) => ({ label })),
});
const noul = (yes?: string, no?: string): DecisionQuestion => ({
  type: 'noul',
  instructions: 'Is this red?',
  options: [
    { label: 'yes', ...(yes === undefined ? {} : { description: yes }) },
    { label: 'no', ...(no === undefined ? {} : { description: no }) },
  ],
});

const red = unit(1, 0, 0);
const blue = unit(0, 1, 0);

describe('a choice', () => {
  it('goes to the answer that is nearest to the state', () => {
    const [first, second] = ask(choice('red', 'blue'), { red, blue }, unit(1, 0.2, 0)) as [number, number];
    expect(first).toBeGreaterThan(second);
    expect(first + second).toBeCloseTo(1, 12);
  });

  it('is even where nothing tells the answers apart', () => {
    expect(ask(choice('red', 'blue'), { red, blue }, unit(1, 1, 0))[0]).toBeCloseTo(0.5, 6);
  });

  it('hears one passage of many', () => {
    const beside = unit(-1, -1, 0);
    const [first] = ask(choice('red', 'blue'), { red, blue }, beside, beside, red) as [number];
    expect(first).toBeGreaterThan(0.5);
  });

  it('between answers that differ in how pleased they sound goes by how pleased the state sounds', () => {
    const answers = { good: unit(1, 0, 0.3), awful: unit(1, 0, -0.3) };
    const [good] = ask(choice('good', 'awful'), answers, unit(0, 1, 0.4)) as [number];
    const [bad] = ask(choice('good', 'awful'), answers, unit(0, 1, -0.4)) as [number];
    expect(good).toBeGreaterThan(0.9);
    expect(bad).toBeLessThan(0.1);
  });
});

describe('yes or no', () => {
  it('is yes when the state stands out from ordinary texts towards the question', () => {
    expect(ask(noul(), { red }, unit(1, 0.1, 0))[0]).toBeGreaterThan(0.5);
    expect(ask(noul(), { red }, unit(0, 1, 0))[0]).toBeLessThan(0.5);
  });

  it('is decided mostly by the descriptions where there are any', () => {
    const sentences = { 'it blushes': blue, 'it fades': unit(0, -1, 0), red };
    expect(ask(noul('it blushes', 'it fades'), sentences, unit(0.5, -1, 0))[0]).toBeLessThan(0.5);
    expect(ask(noul('it blushes', 'it fades'), sentences, unit(-0.5, 1, 0))[0]).toBeGreaterThan(0.5);
  });
});
