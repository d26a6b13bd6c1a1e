/** On the routes that make pictures, films and songs a field that the model does not take is a mistake, not ignored. */
import { GatewayError } from '../lib/errors.ts';
import { shown } from '../lib/quoted.ts';

/** Fields of every such route: what it is about, and what SDKs send along for others to read. */
const usual = new Set(['model', 'prompt', 'provider', 'user', 'session_id', 'trace']);

/** Null means omitted. */
export function refuseUndeclared(
  body: Readonly<Record<string, unknown>>,
  taken: readonly string[],
  modelId: string,
): void {
  for (const [name, value] of Object.entries(body)) {
    if (usual.has(name) || taken.includes(name) || value === undefined || value === null) continue;
    throw new GatewayError(
      'unsupported_parameter',
      `${shown(name)} is not supported by the model ${modelId}`,
      { param: shown(name) },
    );
  }
}
