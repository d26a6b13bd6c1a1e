/** Whether an engine can take a request now. */
import type { EngineHealth } from '../contract/engine.ts';
import type { Address } from './address.ts';
import type { Flavor } from './flavor.ts';

export interface HealthParts {
  address: Address;
  flavor: Flavor;
  /** The status with which a path answers. */
  askStatus: (path: string, signal: AbortSignal) => Promise<number>;
}

/** llama.cpp answers 503 while it loads its model, vLLM when its engine is dead. */
export async function checkHealth(
  { address, flavor, askStatus }: HealthParts,
  signal: AbortSignal,
): Promise<EngineHealth> {
  const path = address[flavor.health.at] + flavor.health.path;
  try {
    const status = await askStatus(path, signal);
    return status >= 200 && status < 300 ? { ok: true } : { ok: false, detail: `${path} answers ${status}` };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}
