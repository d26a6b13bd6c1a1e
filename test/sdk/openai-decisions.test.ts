/** `decisions` of the OpenAI SDK against the whole gateway, over a socket. */
import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { thrown } from '../support/chat-gateway.ts';
import { createDecisionGateway, moods, state, team } from '../support/decision-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let client: OpenAI;
beforeAll(async () => {
  gateway = await createDecisionGateway();
  client = new OpenAI({ baseURL: await gateway.listen(), apiKey: gateway.key, maxRetries: 0 });
});
afterAll(() => gateway.close());

const questions = [
  { type: 'predicate' as const, name: 'urgent', instructions: 'It is urgent.' },
  {
    type: 'choice' as const,
    name: 'team',
    instructions: 'Which team?',
    choices: Object.entries(team).map(([value, description]) => ({ value, description: description ?? '' })),
  },
  {
    type: 'score' as const,
    instructions: [{ type: 'input_text' as const, text: 'How angry?' }],
    levels: moods.map((label) => ({ label })),
  },
];

describe('decisions of the OpenAI SDK', () => {
  it('[DEC-30] [DEC-31] are answered in the order of the questions', async () => {
    const { model, answers, usage } = await client.decisions.create({
      model: 'judge',
      input: state,
      questions,
    });
    expect(model).toBe('judge');
    const [urgent, chosen, mood] = answers;
    if (urgent?.type !== 'predicate' || chosen?.type !== 'choice' || mood?.type !== 'score')
      throw new Error('the answers are of other types than the questions');
    expect([urgent.name, chosen.name, mood.name]).toEqual(['urgent', 'team', null]);
    expect(chosen.choice).toBe('billing');
    expect(chosen.probabilities.map(({ value }) => value)).toEqual(Object.keys(team));
    expect(mood.probabilities.map(({ value, label }) => [value, label])).toEqual([...moods.entries()]);
    const mean = mood.probabilities.reduce((sum, { value, probability }) => sum + value * probability, 0);
    expect(mood.score).toBeCloseTo(mean, 12);
    expect(usage).toMatchObject({ output_tokens: 0, total_tokens: usage.input_tokens });
  });

  it('[DEC-30] take a conversation for input', async () => {
    const { answers } = await client.decisions.create({
      model: 'judge',
      input: [
        { role: 'developer', content: 'Tickets of a shop.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: state },
            { type: 'input_json', data: { vip: true } },
          ],
        },
      ],
      questions,
    });
    expect(answers).toHaveLength(3);
  });

  it.each([
    ['no-such-model', 422],
    ['busy', 529],
    ['down', 502],
  ])('[DEC-28] raise what went wrong with the model %s as %i', async (model, status) => {
    const error = await thrown(() => client.decisions.create({ model, input: state, questions }));
    expect(error).toBeInstanceOf(APIError);
    expect((error as APIError).status).toBe(status);
  });
});
