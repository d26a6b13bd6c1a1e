import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DecisionQuestion, DecisionRequest } from '../contract/decision.ts';
import { createSandboxDecision } from './decision.ts';

const { signal } = new AbortController();
const team: DecisionQuestion = {
  type: 'choice',
  instructions: 'Which team?',
  options: [
    { label: 'billing', description: 'invoices, refunds and charges' },
    { label: 'support', description: 'broken or slow' },
    { label: 'sales' },
  ],
};
const request: DecisionRequest = {
  model: 'sandbox-decision',
  state: 'I was charged twice and want refunds for both invoices.',
  questions: [team],
  maxTokens: 8192,
};
const decide = (changes: Partial<DecisionRequest> = {}) =>
  createSandboxDecision().decide({ ...request, ...changes }, signal);

const label = fc.string({ minLength: 1, maxLength: 12 });
const question: fc.Arbitrary<DecisionQuestion> = fc.record({
  type: fc.constantFrom('choice' as const, 'score' as const),
  instructions: fc.string(),
  options: fc.uniqueArray(
    fc
      .tuple(label, fc.option(label, { nil: undefined }))
      .map(([name, description]) =>
        description === undefined ? { label: name } : { label: name, description },
      ),
    { minLength: 1, maxLength: 40, selector: (option) => option.label },
  ),
});

describe('decisions of the sandbox', () => {
  it('[DEC-20] add up to 1, whatever is asked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.array(question, { minLength: 1 }), async (state, questions) => {
        const { probabilities } = await decide({ state, questions });
        expect(probabilities.map(({ length }) => length)).toEqual(
          questions.map(({ options }) => options.length),
        );
        for (const each of probabilities) {
          expect(each.every((value) => value > 0 && value <= 1)).toBe(true);
          expect(each.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 12);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('are the same for the same request, and do not depend on the order of the options', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), question, fc.integer(), async (state, asked, seed) => {
        const order = asked.options
          .map((option, index) => ({ option, index }))
          .sort((a, b) => ((a.index * 7919 + seed) % 101) - ((b.index * 7919 + seed) % 101));
        const [plain] = (await decide({ state, questions: [asked] })).probabilities;
        const [again] = (await decide({ state, questions: [asked] })).probabilities;
        const shuffled = { ...asked, options: order.map(({ option }) => option) };
        const [moved] = (await decide({ state, questions: [shuffled] })).probabilities;
        expect(again).toEqual(plain);
        for (const [place, { index }] of order.entries())
          expect(moved?.[place]).toBeCloseTo(plain?.[index] ?? -1, 12);
      }),
      { numRuns: 50 },
    );
  });

  it('lean to the answers whose words the state has, and change with it', async () => {
    const [charged] = (await decide()).probabilities;
    expect(charged?.[0]).toBe(Math.max(...(charged ?? [])));
    const [other] = (await decide({ state: 'Something else altogether.' })).probabilities;
    expect(other).not.toEqual(charged);
  });

  it('[BILL-25] count the whole prompt, state and all, for every question', async () => {
    const one = (await decide()).promptTokens;
    const two = (await decide({ questions: [team, team] })).promptTokens;
    expect(two).toBe(2 * one);
    const longer = (await decide({ state: `${request.state} again again`, questions: [team, team] }))
      .promptTokens;
    expect(longer).toBe(two + 4);
  });

  it('[DEC-26] refuse a prompt that is longer than the model reads, and name the question', async () => {
    const { promptTokens } = await decide();
    await decide({ maxTokens: promptTokens });
    await expect(decide({ maxTokens: promptTokens - 1 })).rejects.toMatchObject({
      kind: 'invalid_request',
      message: expect.stringContaining('question 1 '),
    });
    const short: DecisionQuestion = { type: 'noul', instructions: '', options: [{ label: 'yes' }] };
    await expect(decide({ questions: [short, team], maxTokens: promptTokens - 1 })).rejects.toMatchObject({
      message: expect.stringContaining('question 2 '),
    });
    await expect(decide({ state: 'a '.repeat(200_000), maxTokens: 100 })).rejects.toMatchObject({
      kind: 'invalid_request',
    });
  });

  it.each([
    ['refuse', 'unreachable'],
    ['overload', 'overloaded'],
    ['timeout', 'timeout'],
  ] as const)('[DEC-28] fail as the script says: %s is %s', async (failBefore, kind) => {
    await expect(decide({ script: { failBefore } })).rejects.toMatchObject({ kind });
  });

  it('take their time as the script says, and end when they are not wanted any more', async () => {
    let now = 0;
    const waits: number[] = [];
    const port = createSandboxDecision({
      now: () => now,
      after(delayMs, callback) {
        waits.push(delayMs);
        now += delayMs;
        queueMicrotask(callback);
        return () => {};
      },
    });
    const script = { delayMs: 500, tokensPerSecond: 10 };
    await port.decide({ ...request, questions: [team, team, team], script }, signal);
    expect(waits).toEqual([500, 100, 100]);
    const controller = new AbortController();
    const stalled = decideWith(controller.signal);
    controller.abort(new Error('gone'));
    await expect(stalled).rejects.toThrow('gone');
  });
});

function decideWith(left: AbortSignal) {
  return createSandboxDecision().decide({ ...request, script: { stall: true } }, left);
}
