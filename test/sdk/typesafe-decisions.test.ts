/** The decision SDK against the whole gateway, over a socket. */
import { APIError, choice, noul, score, TypeSafeClient } from '@typesafe-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { thrown } from '../support/chat-gateway.ts';
import { createDecisionGateway, moods, state, team } from '../support/decision-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let base: string;
beforeAll(async () => {
  gateway = await createDecisionGateway();
  base = await gateway.listen();
});
afterAll(() => gateway.close());

const connect = (baseURL = base, apiKey = gateway.key) =>
  new TypeSafeClient({ apiKey, baseURL, defaultModel: 'judge', retry: { maxRetries: 0 } });

const questions = {
  urgent: noul('Is it urgent?'),
  described: noul({ ask: 'Is it urgent?' }, { true: 'Today', false: null }),
  team: choice('Which team?', team),
  mood: score(null, moods),
};

describe('the decision SDK', () => {
  it.each(['with /v1', 'without /v1'])(
    '[ROUTE-32] [DEC-1] [DEC-18] [DEC-19] asks typed questions, base address %s',
    async (kind) => {
      const client = connect(kind === 'with /v1' ? base : base.slice(0, -'/v1'.length));
      const { model, answers, usage } = await client.systemOne({ state, questions });
      expect(model).toBe('judge');
      expect(answers.urgent.noul).toBeGreaterThan(0);
      expect(answers.described.noul).toBeLessThan(1);
      expect(answers.team.choice).toBe('billing');
      expect(Object.keys(answers.team.probabilities).toSorted()).toEqual(Object.keys(team).toSorted());
      expect(answers.mood.legend).toEqual({ 0: 'calm', 1: 'annoyed', 2: 'angry' });
      const { 0: calm, 1: annoyed, 2: angry } = answers.mood.probabilities;
      expect(answers.mood.score).toBeCloseTo(annoyed + 2 * angry, 12);
      expect(calm + annoyed + angry).toBeCloseTo(1, 12);
      expect(usage.input_tokens).toBeGreaterThan(0);
      expect(usage.output_tokens).toBe(0);
    },
  );

  it('[ROUTE-32] [DEC-7] reads structured state, and answers the same each time', async () => {
    const request = { state: { ticket: { text: state, tags: ['vip'] } }, questions };
    const [one, other] = await Promise.all([connect().systemOne(request), connect().systemOne(request)]);
    expect(one.answers).toEqual(other.answers);
  });

  it('[ROUTE-32] [ROUTE-11] reads the id of the request', async () => {
    const { requestId } = await connect().systemOne({ state, questions }).withResponse();
    expect(requestId).toMatch(/^req_[0-9a-f]{24}$/);
  });

  it.each([
    ['no-such-model', 422, 'no-such-model'],
    ['sandbox-chat', 422, 'sandbox-chat'],
    ['busy', 529, 'overloaded'],
    ['off', 529, 'not served'],
    ['down', 502, 'cannot be reached'],
  ])('[ROUTE-32] [DEC-28] raises what went wrong with the model %s as %i', async (model, status, message) => {
    const error = (await thrown(() => connect().systemOne({ model, state, questions }))) as APIError;
    expect(error).toBeInstanceOf(APIError);
    expect([error.status, error.message]).toEqual([status, expect.stringContaining(message)]);
    expect(error.requestId).toMatch(/^req_/);
  });

  it('[ROUTE-32] [DEC-26] raises a 422 for a state that is too long', async () => {
    const long = 'word '.repeat(3_000);
    const error = (await thrown(() => connect().systemOne({ state: long, questions }))) as APIError;
    expect([error.status, error.message]).toEqual([422, expect.stringContaining('2048 tokens')]);
  });

  it('[ROUTE-32] raises a 401 for a wrong key', async () => {
    const error = (await thrown(() => connect(base, 'wrong').systemOne({ state, questions }))) as APIError;
    expect(error.status).toBe(401);
  });
});
