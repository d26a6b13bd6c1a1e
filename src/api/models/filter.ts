/** Which entries a list request means. */
import type { ClientKind } from '../../http/client.ts';
import type { ModelEntry } from '../../platform/catalog/entry.ts';
import type { Filters } from './schema.ts';

export function matching(entries: readonly ModelEntry[], filters: Filters, client: ClientKind): ModelEntry[] {
  // The router SDK documents "defaults to text"; every other caller sees every model.
  const textByDefault = client === 'openrouter' || filters.format === 'openrouter';
  const outputs = names(filters.output_modalities) ?? (textByDefault ? ['text'] : ['all']);
  const inputs = names(filters.input_modalities) ?? [];
  const parameters = names(filters.supported_parameters) ?? [];
  const text = filters.q?.toLowerCase() ?? '';
  return entries.filter(
    ({ id, name, architecture, supported_parameters }) =>
      (outputs.includes('all') ||
        outputs.some((output) => architecture.output_modalities.includes(output))) &&
      (inputs.includes('all') || inputs.every((input) => architecture.input_modalities.includes(input))) &&
      parameters.every((parameter) => supported_parameters.includes(parameter)) &&
      (id.toLowerCase().includes(text) || name.toLowerCase().includes(text)),
  );
}

/** `a, b` as its names; undefined when it names nothing. */
function names(list: string | undefined): string[] | undefined {
  const parts = (list ?? '')
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '');
  return parts.length === 0 ? undefined : parts;
}
