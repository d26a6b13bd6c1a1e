/** A whole gateway with decision models: one that decides, and some that fail. */
import { builtinEngines } from '../../src/config/builtin-models.ts';
import type { Declaration } from '../../src/platform/catalog/index.ts';
import { createTestGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts';

const decides = { type: 'decision', contextLength: 2_048, pricing: { prompt: '0.000001' } } as const;

/** Failures count against an engine, so a model that fails has one of its own. */
const models: readonly Declaration[] = [
  { ...decides, id: 'judge', engine: 'sandbox' },
  { ...decides, id: 'busy', engine: 'busy', script: { failBefore: 'overload' } },
  { ...decides, id: 'down', engine: 'down', script: { failBefore: 'refuse' } },
  { ...decides, id: 'off', engine: 'sandbox', served: false },
];

export function createDecisionGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const sandbox = { kind: 'sandbox' };
  return createTestGateway({
    ...options,
    settings: { engines: { ...builtinEngines, busy: sandbox, down: sandbox }, models, ...options.settings },
  });
}

export const state = 'I was charged twice, and I want my money back today.';
export const team = { billing: 'charges, money and invoices', tech: 'something is broken', other: null };
export const moods = ['calm', 'annoyed', 'angry'] as const;
