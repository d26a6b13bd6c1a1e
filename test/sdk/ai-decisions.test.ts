/** `decide` of the AI SDK, which checks every distribution, with two providers against the whole gateway. */
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { APICallError, experimental_decide as decide, type Experimental_DecisionModel } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { thrown } from '../support/chat-gateway.ts';
import { createDecisionGateway, moods, state, team } from '../support/decision-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let baseURL: string;
beforeAll(async () => {
  gateway = await createDecisionGateway();
  baseURL = await gateway.listen();
});
afterAll(() => gateway.close());

const providers = [
  {
    name: '@ai-sdk/openai',
    connect: (model: string): Experimental_DecisionModel =>
      createOpenAI({ baseURL, apiKey: gateway.key }).decisionModel(model),
  },
  {
    name: '@openrouter/ai-sdk-provider',
    connect: (model: string) =>
      createOpenRouter({ baseURL, apiKey: gateway.key }).evaluationModel(
        model,
      ) as unknown as Experimental_DecisionModel,
  },
];

describe.each(providers)('decide with $name', ({ connect }) => {
  const ask = (model: string, about: Parameters<typeof decide>[0]['state'] = state) =>
    decide({
      model: connect(model),
      state: about,
      maxRetries: 0,
      questions: {
        urgent: { type: 'boolean', instructions: 'Is it urgent?', criteria: { true: 'Now', false: 'Later' } },
        team: { type: 'choice', instructions: 'Which team?', criteria: team },
        mood: { type: 'score', instructions: 'How angry?', criteria: [...moods] },
      },
    });

  it('[ROUTE-31] [DEC-20] [DEC-21] takes the answers for whole distributions', async () => {
    const { answers, usage } = await ask('judge');
    expect(answers.urgent).toMatchObject({ type: 'boolean', probability: expect.any(Number) });
    expect(answers.team).toMatchObject({ type: 'choice', choice: 'billing' });
    expect(answers.mood).toMatchObject({ type: 'score', score: expect.any(Number) });
    expect(usage?.inputTokens).toBeGreaterThan(0);
  });

  it('[ROUTE-31] [DEC-29] [DEC-30] sends structured state and parts', async () => {
    await ask('judge', { ticket: state });
    await ask('judge', [
      { type: 'text', text: state },
      { type: 'json', value: { vip: true } },
    ]);
  });

  it('[ROUTE-31] [DEC-24] takes a question with many options', async () => {
    const criteria = Object.fromEntries(Array.from({ length: 255 }, (_, index) => [`o${index}`, null]));
    const { answers } = await decide({
      model: connect('judge'),
      state,
      questions: { many: { type: 'choice', instructions: 'Which?', criteria } },
    });
    expect(
      Object.keys(answers.many.type === 'choice' ? (answers.many.probabilities ?? {}) : {}),
    ).toHaveLength(255);
  });

  it.each([
    ['no-such-model', 422],
    ['busy', 529],
    ['down', 502],
  ])('[ROUTE-31] [DEC-28] raises what went wrong with the model %s as %i', async (model, status) => {
    const error = await thrown(() => ask(model));
    // Each provider may have a class of its own by that name.
    expect(APICallError.isInstance(error) && error.statusCode).toBe(status);
  });
});
