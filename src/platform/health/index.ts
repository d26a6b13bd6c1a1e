/**
 * Whether the service works. An unusable catalogue or a gateway that is shutting down is a 503, so that a load
 * balancer turns away; a store or an engine that fails makes the service degraded, because cached keys and
 * other models keep working.
 */
import { GatewayError } from '../../lib/errors.ts';
import type { Database } from '../../storage/database.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Engines } from '../engines/index.ts';

export type CheckResult = 'ok' | 'failing';

export interface HealthReport {
  isWell: boolean;
  /** Unix seconds. */
  time: number;
  uptimeSeconds: number;
  storage: CheckResult;
  /** By model: whether at least one of its engines answers. */
  engines: Record<string, CheckResult>;
}

export interface Health {
  check(): Promise<HealthReport>;
  /** From now on the service says that it is going away. */
  drain(): void;
}

export interface HealthParts {
  catalog: Catalog;
  database: Pick<Database, 'query'>;
  engines: Pick<Engines, 'check'>;
  now: () => number;
}

const storageTimeoutMs = 2_000;

export function createHealth({ catalog, database, engines, now }: HealthParts): Health {
  const startedAt = now();
  let isDraining = false;
  return {
    async check() {
      if (isDraining)
        throw new GatewayError('overloaded', 'The service is shutting down', { retryAfterSeconds: 5 });
      const models = readCatalog(catalog);
      const [storage, answering] = await Promise.all([checkStorage(database), engines.check()]);
      const byModel = models.map((model): [string, CheckResult] => {
        const isServed = model.engines.some((name) => answering.get(name) === true);
        return [model.id, isServed ? 'ok' : 'failing'];
      });
      return {
        isWell: storage === 'ok' && byModel.every(([, result]) => result === 'ok'),
        time: Math.floor(now() / 1000),
        uptimeSeconds: Math.floor((now() - startedAt) / 1000),
        storage,
        engines: Object.fromEntries(byModel),
      };
    },
    drain() {
      isDraining = true;
    },
  };
}

function readCatalog(catalog: Catalog) {
  try {
    return catalog.listed();
  } catch (cause) {
    throw new GatewayError('overloaded', 'The model catalogue cannot be read', { cause });
  }
}

async function checkStorage(database: Pick<Database, 'query'>): Promise<CheckResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<CheckResult>((resolve) => {
    timer = setTimeout(resolve, storageTimeoutMs, 'failing');
  });
  const answer = database.query('select 1 as one').then(
    (): CheckResult => 'ok',
    (): CheckResult => 'failing',
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
