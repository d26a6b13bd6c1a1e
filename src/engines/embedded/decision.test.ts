import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pullTimeoutMs } from '../../../test/support/packs.ts';
import { openTextModels, type TextModels } from '../../../test/support/text-models.ts';
import type { DecisionPort, DecisionQuestion } from '../contract/decision.ts';
import { createDecisionPort } from './decision.ts';
import { heldOut } from './onnx/decide/fixtures/held-out.ts';
import type { LabelledQuestion } from './onnx/decide/fixtures/questions.ts';

const model = 'all-minilm-l6-v2';
const { signal } = new AbortController();

let models: TextModels;
let port: DecisionPort;

beforeAll(async () => {
  models = await openTextModels(model);
  port = createDecisionPort(models);
}, pullTimeoutMs);
afterAll(() => models?.close());

const decide = (state: string, questions: readonly DecisionQuestion[], maxTokens = 2_048) =>
  port.decide({ model, state, questions, maxTokens }, signal);

const topic: DecisionQuestion = {
  type: 'choice',
  instructions: 'What is the text about?',
  options: [{ label: 'cooking' }, { label: 'football' }, { label: 'astronomy' }],
};
const urgent: DecisionQuestion = {
  type: 'noul',
  instructions: 'Is this message urgent?',
  options: [{ label: 'yes' }, { label: 'no' }],
};

/** How many of the labelled cases have their answer as the most likely one. */
async function countRight(sets: readonly LabelledQuestion[]): Promise<{ right: number; asked: number }> {
  let right = 0;
  let asked = 0;
  for (const { question, cases } of sets) {
    for (const [state, label] of cases) {
      const { probabilities } = await decide(state, [question]);
      const of = probabilities[0] as readonly number[];
      asked += 1;
      if (question.options[of.indexOf(Math.max(...of))]?.label === label) right += 1;
    }
  }
  return { right, asked };
}

const pick = (instructions: string, ...labels: string[]): DecisionQuestion => ({
  type: 'choice',
  instructions,
  options: labels.map((label) => ({ label })),
});
const desk = pick(
  'Which department should answer?',
  'shipping',
  'billing',
  'technical support',
  'human resources',
);
const section = pick(
  'Which section of the newspaper is this from?',
  'sport',
  'business',
  'science',
  'travel',
);
const opinion = pick('What does the customer think of the product?', 'positive', 'negative');
const aboutAnimals: DecisionQuestion = { ...urgent, instructions: 'Is the text about animals?' };

/** Of the kinds that the decision record calls fit for use. The calibration never saw them. */
const ten: readonly LabelledQuestion[] = [
  {
    name: 'routing',
    question: desk,
    cases: [
      ['My parcel has not arrived yet.', 'shipping'],
      ['The invoice shows the wrong amount.', 'billing'],
      ['The program crashes when I save a file.', 'technical support'],
      ['I would like to take parental leave from May on.', 'human resources'],
    ],
  },
  {
    name: 'topic',
    question: section,
    cases: [
      ['The goalkeeper saved two penalties in the semi-final.', 'sport'],
      ['Physicists found a new particle at the collider.', 'science'],
    ],
  },
  {
    name: 'sentiment',
    question: opinion,
    cases: [
      ['I am delighted with it and would buy it again.', 'positive'],
      ['It stopped working after a week, very annoying.', 'negative'],
    ],
  },
  {
    name: 'yes or no',
    question: aboutAnimals,
    cases: [
      ['The dog chased a rabbit across the field.', 'yes'],
      ['The meeting starts at three in room four.', 'no'],
    ],
  },
];

describe('labelled decisions', () => {
  it('are at least eight of ten right', async () => {
    const { right, asked } = await countRight(ten);
    expect(asked).toBe(10);
    expect(right).toBeGreaterThanOrEqual(8);
  });

  it('are as often right as the decision record says', async () => {
    const { right, asked } = await countRight(heldOut);
    expect(asked).toBe(53);
    expect(right).toBeGreaterThanOrEqual(36);
  });
});

describe('an answer', () => {
  it('[DEC-20] is a distribution over the options', async () => {
    const { probabilities } = await decide('Fry the onions in butter.', [topic, urgent]);
    expect(probabilities.map((of) => of.length)).toEqual([3, 2]);
    for (const of of probabilities) expect(of.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
  });

  it('is the same to the last digit whenever and beside whatever it is asked', async () => {
    const state = 'The telescope saw a new galaxy.';
    const first = await decide(state, [topic]);
    const beside = await decide(state, [urgent, topic]);
    expect(beside.probabilities[1]).toEqual(first.probabilities[0]);
    expect(await decide(state, [topic])).toEqual(first);
  });

  it('finds what matters in a state of many passages', async () => {
    const filler = 'The office is open from nine to five, and visitors sign a list at the door. '.repeat(15);
    const { probabilities } = await decide(
      `${filler}The goalkeeper saved a penalty in the cup final. ${filler}`,
      [topic],
    );
    const [cooking, football, astronomy] = probabilities[0] as [number, number, number];
    expect(football).toBeGreaterThan(cooking);
    expect(football).toBeGreaterThan(astronomy);
  });

  it('over one option is certain', async () => {
    const { probabilities } = await decide('Anything', [{ ...topic, options: [{ label: 'only' }] }]);
    expect(probabilities).toEqual([[1]]);
  });
});

describe('the prompt', () => {
  it('[BILL-25] of state, question and options counts once per question', async () => {
    const one = await decide('hello world', [topic]);
    // hello world · what is the text about ? · cooking · football · astronomy · two marks
    expect(one.promptTokens).toBe(2 + 6 + 3 + 2);
    const two = await decide('hello world', [topic, topic]);
    expect(two.promptTokens).toBe(2 * one.promptTokens);
  });

  it('[DEC-26] that is longer than the maximum is refused, to the token', async () => {
    await decide('hello world', [topic], 13);
    await expect(decide('hello world', [topic], 12)).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'state',
      message: expect.stringContaining('12 tokens'),
    });
    await expect(decide('word '.repeat(500_000), [topic])).rejects.toMatchObject({ kind: 'invalid_request' });
  });
});

describe('work without end', () => {
  const options = Array.from({ length: 255 }, (_, i) => ({ label: `o${i}` }));
  const refused = { kind: 'invalid_request', param: 'questions' };

  it('of long instructions before many options is refused', async () => {
    const questions = [1, 2].map((i): DecisionQuestion => {
      return { type: 'choice', instructions: `${i} ${'word '.repeat(200)}`, options };
    });
    await expect(decide('x', questions)).rejects.toMatchObject(refused);
    const short: DecisionQuestion = {
      type: 'choice',
      instructions: 'Which one?',
      options: options.slice(0, 64),
    };
    expect((await decide('x', [short])).probabilities[0]).toHaveLength(64);
  });

  it('of spaces is refused, or done as quickly as other text', async () => {
    const spaces = (count: number) => `y${' '.repeat(count)}x`;
    await expect(decide('x', [{ ...urgent, instructions: spaces(250_000) }])).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'state',
    });
    const most = spaces(60_000);
    expect((await decide('x', [{ ...urgent, instructions: most }])).probabilities).toHaveLength(1);
    await expect(decide('x', [{ type: 'choice', instructions: most, options }])).rejects.toMatchObject(
      refused,
    );
  });
});
