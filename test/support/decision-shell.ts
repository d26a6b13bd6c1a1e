/** The decision routes over sample models and a decision port of the test's own; every 200 is held against its shape. */
import { decisionRoutes } from '../../src/api/decisions/index.ts';
import type { DecisionRequest, DecisionResult } from '../../src/engines/contract/decision.ts';
import type { Engine } from '../../src/engines/contract/engine.ts';
import { createValidator } from '../../src/lib/schema.ts';
import { priceOf } from '../../src/platform/billing/index.ts';
import type { Platform } from '../../src/platform/index.ts';
import type { Inference, Operation, Settlement } from '../../src/platform/inference/types.ts';
import type { TestAnswer } from './inject.ts';
import { createSampleCatalog, type SampleOptions } from './sample-models.ts';
import { createShell, type Shell } from './shell.ts';

export interface DecisionShellOptions extends SampleOptions {
  /** What the port answers or throws. Default: the first option is the likeliest. */
  decide?: (request: DecisionRequest) => DecisionResult;
}

export interface DecisionShell extends Shell {
  /** A POST with the valid key; an object is sent as JSON, a string as it is. */
  post(url: string, payload: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
  readonly requests: DecisionRequest[];
  readonly operations: Operation[];
  readonly settlements: Settlement[];
}

/** Each option half as likely as the one before it; ten tokens a question. */
export function halving({ questions }: DecisionRequest): DecisionResult {
  const probabilities = questions.map(({ options }) => {
    const weights = options.map((_, index) => 2 ** -index);
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  });
  return { probabilities, promptTokens: questions.length * 10 };
}

export function createDecisionShell({
  decide = halving,
  ...sample
}: DecisionShellOptions = {}): DecisionShell {
  const requests: DecisionRequest[] = [];
  const operations: Operation[] = [];
  const settlements: Settlement[] = [];
  const decision = {
    async decide(request: DecisionRequest) {
      requests.push(request);
      return decide(request);
    },
  };
  const inference: Pick<Inference, 'run'> = {
    async run(operation, model, work, settle) {
      operations.push(operation);
      operation.onRate?.({ limit: 60, remaining: 59, resetMs: 1000 });
      const result = await work({ decision } as unknown as Engine, new AbortController().signal);
      const settlement = settle(result);
      settlements.push(settlement);
      return { result, costPicoUsd: priceOf(model, settlement.quantities) };
    },
  };
  const catalog = createSampleCatalog(sample);
  const shell = createShell(decisionRoutes, {
    platform: { catalog, inference } as unknown as Partial<Platform>,
  });
  const shapes = new Map(
    decisionRoutes.map(({ at, path, response }) => [
      at === '/' ? path : at + path,
      response === undefined ? undefined : createValidator(response),
    ]),
  );
  return {
    ...shell,
    requests,
    operations,
    settlements,
    async post(url, payload, headers = {}) {
      const isRaw = typeof payload === 'string';
      const type = isRaw ? { 'content-type': 'application/json' } : {};
      const sent = await shell.send({ method: 'POST', url, payload, headers: { ...type, ...headers } });
      const shape = shapes.get(url);
      if (sent.status === 200 && shape !== undefined && !shape.check(sent.json())) {
        const { path, message } = shape.problem(sent.json());
        throw new Error(`the answer is not what the route declares: ${path} ${message} in ${sent.body}`);
      }
      return sent;
    },
  };
}
