/** Routes that ask an engine once, over models and an engine of the test's own; every 200 is held against its shape. */
import type { Engine } from '../../src/engines/contract/engine.ts';
import type { Route } from '../../src/http/route.ts';
import { createRouteTable } from '../../src/http/table.ts';
import { toAbortSignal } from '../../src/lib/presence.ts';
import { createValidator } from '../../src/lib/schema.ts';
import type { Declaration } from '../../src/platform/catalog/index.ts';
import type { Platform } from '../../src/platform/index.ts';
import type { Inference, Operation, Settlement } from '../../src/platform/inference/types.ts';
import type { TestAnswer } from './inject.ts';
import { createSampleCatalog } from './sample-models.ts';
import { createShell, type Shell } from './shell.ts';

export interface RunShellOptions {
  routes: readonly Route[];
  models: readonly Declaration[];
  engine: Partial<Engine>;
  costPicoUsd?: bigint;
}

export interface RunShell extends Shell {
  /** `path` is relative to `/v1`. */
  post(path: string, body: unknown, options?: { key?: string | null }): Promise<TestAnswer>;
  readonly operations: Operation[];
  readonly settlements: Settlement[];
}

export function createRunShell(options: RunShellOptions): RunShell {
  const { routes, models, engine, costPicoUsd = 12_345_678n } = options;
  const operations: Operation[] = [];
  const settlements: Settlement[] = [];
  const run: Inference['run'] = async (operation, _, work, settle) => {
    operations.push(operation);
    operation.onRate?.({ limit: 60, remaining: 59, resetMs: 1000 });
    const result = await work(engine as Engine, toAbortSignal(operation.signal));
    settlements.push(settle(result));
    return { result, costPicoUsd };
  };
  const platform = { catalog: createSampleCatalog({ models }), inference: { run } };
  // What the routes use of the platform, and nothing else.
  const shell = createShell(routes, { platform: platform as unknown as Partial<Platform> });
  const table = createRouteTable(routes);
  return {
    ...shell,
    operations,
    settlements,
    async post(path, body, { key } = {}) {
      const answer = await shell.send({
        method: 'POST',
        url: `/v1${path}`,
        payload: body,
        ...(key === undefined ? {} : { key }),
      });
      const response = table.find(path)?.methods.get('POST')?.response;
      if (answer.status !== 200 || response === undefined) return answer;
      const shape = createValidator(response);
      const value: unknown = answer.json();
      if (shape.check(value)) return answer;
      const { path: at, message } = shape.problem(value);
      throw new Error(`POST ${path} does not answer what it declares: ${at} ${message}`);
    },
  };
}
