/** `alpha.decisions` of the OpenRouter SDK against the whole gateway: it validates every answer it reads. */
import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { thrown } from '../support/chat-gateway.ts';
import { createDecisionGateway, moods, state, team } from '../support/decision-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let host: string;
beforeAll(async () => {
  gateway = await createDecisionGateway();
  host = (await gateway.listen()).slice(0, -'/v1'.length);
});
afterAll(() => gateway.close());

/** For these routes the SDK has an address of its own, which is given with the call. */
function ask(model: string) {
  const client = new OpenRouter({ apiKey: gateway.key, retryConfig: { strategy: 'none' } });
  const questions = {
    urgent: { type: 'noul' as const, instructions: 'Is it urgent?' },
    team: { type: 'choice' as const, instructions: 'Which team?', criteria: team },
    mood: { type: 'score' as const, instructions: { ask: 'How angry?' }, criteria: [...moods] },
  };
  const request = { decisionsRequest: { model, state, questions, user: 'u', sessionId: 's' } };
  return client.alpha.decisions.create(request, { serverURL: host });
}

describe('decisions of the OpenRouter SDK', () => {
  it('[ROUTE-30] [DEC-29] parse without a validation error', async () => {
    const { id, model, answers, usage } = await ask('judge');
    expect([id?.slice(0, 4), model]).toEqual(['dec-', 'judge']);
    expect(answers['urgent']).toEqual({ type: 'noul', noul: expect.any(Number) });
    expect(answers['team']).toMatchObject({ type: 'choice', choice: 'billing' });
    expect(answers['mood']).toMatchObject({
      type: 'score',
      legend: { 0: 'calm', 1: 'annoyed', 2: 'angry' },
      score: expect.any(Number),
    });
    expect(usage).toEqual({ inputTokens: expect.any(Number), outputTokens: 0, cost: expect.any(Number) });
  });

  it('[ROUTE-30] [DEC-28] fail with the class of the status', async () => {
    expect(await thrown(() => ask('busy'))).toBeInstanceOf(errors.ProviderOverloadedResponseError);
    expect(await thrown(() => ask('down'))).toBeInstanceOf(errors.BadGatewayResponseError);
    // It has no class for a 422 here.
    const unknown = (await thrown(() => ask('no-such-model'))) as errors.OpenRouterDefaultError;
    expect(unknown).toBeInstanceOf(errors.OpenRouterDefaultError);
    expect(unknown.statusCode).toBe(422);
  });
});
