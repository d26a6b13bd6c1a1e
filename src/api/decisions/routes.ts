/** Questions about a state, answered by how likely each allowed answer is: one operation under several names. */
import assert from 'node:assert';
import type { DecisionQuestion } from '../../engines/contract/decision.ts';
import { toOperation } from '../../http/operation.ts';
import { type Call, defineRoute } from '../../http/route.ts';
import type { Caller } from '../../platform/accounts/types.ts';
import { toUsd } from '../../platform/billing/index.ts';
import type { DecisionModel } from '../../platform/catalog/index.ts';
import type { Platform } from '../../platform/index.ts';
import { toListAnswer, toListUsage } from './list-render.ts';
import { ListDecision, ListDecisionBody } from './list-schema.ts';
import { toInputText, toListQuestion } from './list-translate.ts';
import { toAnswer } from './render.ts';
import { Decision, DecisionBody, type Entry } from './schema.ts';
import { toPartsText, toQuestion, toText } from './translate.ts';

/** All that the names of the operation have in common. */
const common = {
  method: 'POST',
  access: 'key',
  tag: 'Decisions',
  dialect: 'decisions',
  // Read and checked in one go, while nothing else is served.
  maxBodyBytes: 8 * 1024 * 1024,
  failures: ['rate_limited', 'unreachable', 'decision_overloaded', 'timeout'],
  generation: true,
} as const;

const systemone = { ...common, body: DecisionBody, response: Decision } as const;

export const createDecision = defineRoute({
  ...systemone,
  path: '/systemone',
  summary: 'Answer typed questions about a state with probabilities',
  handle: (call, platform) => answer(call, platform, toText),
});

export const createListDecision = defineRoute({
  ...common,
  path: '/decisions',
  summary: 'The same as `/systemone` in the form of the OpenAI SDK: questions and answers as lists',
  body: ListDecisionBody,
  response: ListDecision,
  async handle(call, platform): Promise<ListDecision> {
    const { input, questions } = call.body;
    const { model } = platform.catalog.resolve('decision', call.body.model);
    const asked = questions.map(toListQuestion);
    const { id, probabilities, inputTokens, cost } = await decide(
      call,
      platform,
      model,
      toInputText(input),
      asked,
    );
    return {
      id,
      model: model.id,
      answers: questions.map((question, index) => toListAnswer(question, probabilities[index]!)),
      usage: toListUsage(inputTokens, cost),
    };
  },
});

/** The router's AI SDK provider puts `alpha` in the place of `v1`; its SDK has `/api` before that. */
export const createAlphaDecision = defineRoute({
  ...systemone,
  path: '/alpha/decisions',
  at: '/',
  summary: 'The same as `/systemone`; the state may also be a list of text and JSON parts',
  handle: (call, platform) => answer(call, platform, toPartsText),
});

export const createApiAlphaDecision = defineRoute({
  ...systemone,
  path: '/api/alpha/decisions',
  at: '/',
  summary: 'The same as `/alpha/decisions`',
  handle: (call, platform) => answer(call, platform, toPartsText),
});

type KeyCall<Body> = Call<unknown, unknown, Body, Caller>;

async function answer(
  call: KeyCall<DecisionBody>,
  platform: Platform,
  toStateText: (state: Entry) => string,
): Promise<Decision> {
  const { state, questions } = call.body;
  const { model } = platform.catalog.resolve('decision', call.body.model);
  const asked = Object.entries(questions);
  const { id, probabilities, inputTokens, cost } = await decide(
    call,
    platform,
    model,
    toStateText(state),
    asked.map(([, question]) => toQuestion(question)),
  );
  const answers = asked.map(([name, question], index) => [name, toAnswer(question, probabilities[index]!)]);
  return {
    id,
    model: model.id,
    answers: Object.fromEntries(answers),
    usage: { input_tokens: inputTokens, output_tokens: 0, cost },
  };
}

interface Decided {
  /** `dec-…` */
  readonly id: string;
  readonly probabilities: readonly (readonly number[])[];
  readonly inputTokens: number;
  /** In dollars. */
  readonly cost: number;
}

async function decide(
  call: KeyCall<unknown>,
  { inference }: Platform,
  model: DecisionModel,
  state: string,
  questions: readonly DecisionQuestion[],
): Promise<Decided> {
  const request = {
    model: model.engineModel,
    state,
    questions,
    maxTokens: model.contextLength,
    ...(model.script === undefined ? {} : { script: model.script }),
  };
  const { result, costPicoUsd } = await inference.run(
    toOperation(call, 'decisions'),
    model,
    ({ decision }, signal) => {
      assert(decision !== undefined, 'the catalogue gives decision models only engines that have the port');
      return decision.decide(request, signal);
    },
    ({ promptTokens }) => ({ quantities: { promptTokens }, outcome: 'stop' }),
  );
  return {
    id: `dec-${call.generationId.slice('gen_'.length)}`,
    probabilities: result.probabilities,
    inputTokens: result.promptTokens,
    cost: toUsd(costPicoUsd),
  };
}
