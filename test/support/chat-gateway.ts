/** A gateway with room for many requests and, besides the built-in models, sandbox models that misbehave. */
import { builtinEngines } from '../../src/config/builtin-models.ts';
import type { ScriptOptions } from '../../src/engines/sandbox/script.ts';
import type { Declaration } from '../../src/platform/catalog/index.ts';
import { createTestGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts';

interface Scripted extends Partial<Omit<Declaration<'chat'>, 'script'>> {
  id: string;
  script?: ScriptOptions;
}

const scripted: readonly Scripted[] = [
  { id: 'refusing', script: { failBefore: 'refuse' } },
  { id: 'busy', script: { failBefore: 'overload' } },
  { id: 'late', script: { failBefore: 'timeout' } },
  {
    id: 'telling',
    script: { failBefore: { kind: 'error', message: 'out of memory at 10.0.0.5:8000\nstack' } },
  },
  { id: 'breaking', script: { failAfterTokens: 5 } },
  { id: 'filtered', script: { filterAfterTokens: 5 } },
  { id: 'silent', script: { stall: true }, limits: { concurrent: 1 } },
  { id: 'stalling', script: { stallAfterTokens: 5 }, limits: { concurrent: 1 } },
  { id: 'once-a-minute', limits: { requestsPerMinute: 1 } },
  { id: 'small', contextLength: 300 },
  { id: 'loose-thinker', reasoning: { supportedEfforts: ['none', 'low', 'high'], defaultEnabled: true } },
];

/** Each on an engine of its own: a failing engine is left alone for a while, and the others must not notice. */
export function createChatGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const models = scripted.map((model) => ({
    type: 'chat' as const,
    contextLength: 131_072,
    tools: true,
    structuredOutput: true,
    logprobs: true,
    ...model,
    engine: `sandbox-${model.id}`,
  })) as Declaration[];
  const engines = scripted.map(({ id }) => [`sandbox-${id}`, { kind: 'sandbox' }]);
  return createTestGateway({
    ...options,
    settings: {
      limits: { requestsPerMinute: 100_000, concurrent: 64, maxQueueWaitMs: 20_000 },
      engines: { ...builtinEngines, ...Object.fromEntries(engines) },
      models,
      defaults: { chat: 'sandbox-chat' },
      ...options.settings,
    },
  });
}

export const weatherSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['C', 'F'] } },
  required: ['city', 'unit'],
  additionalProperties: false,
} as const;

/** Structured output of some size: nesting, an enum, a list, bounds. */
export const recipeSchema = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    difficulty: { type: 'string', enum: ['easy', 'hard'] },
    minutes: { type: 'integer', minimum: 1, maximum: 600 },
    steps: {
      type: 'array',
      items: {
        type: 'object',
        properties: { text: { type: 'string' }, optional: { type: 'boolean' } },
        required: ['text', 'optional'],
        additionalProperties: false,
      },
      minItems: 2,
    },
  },
  required: ['title', 'difficulty', 'minutes', 'steps'],
  additionalProperties: false,
} as const;

export async function thrown(work: () => PromiseLike<unknown>): Promise<Error> {
  try {
    await work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was raised');
}
