/** The endpoint record of a model: where the gateway serves it. Which engines stand behind stays inside. */
import { toModelEntry } from '../../platform/catalog/entry.ts';
import type { Model } from '../../platform/catalog/index.ts';
import type { ModelEndpoints } from './schema.ts';

export function toModelEndpoints(model: Model): ModelEndpoints {
  const entry = toModelEntry(model);
  const tools = entry.supported_parameters.includes('tools');
  return {
    data: {
      id: entry.id,
      name: entry.name,
      created: entry.created,
      description: entry.description ?? '',
      architecture: entry.architecture,
      endpoints: [
        {
          name: `${entry.owned_by} | ${entry.id}`,
          model_id: entry.id,
          model_name: entry.name,
          provider_name: entry.owned_by,
          tag: entry.owned_by,
          // The router SDK takes no null here.
          context_length: entry.context_length ?? 0,
          max_completion_tokens: entry.top_provider.max_completion_tokens,
          max_prompt_tokens: entry.context_length,
          quantization: null,
          pricing: entry.pricing,
          supported_parameters: entry.supported_parameters,
          supports_implicit_caching: false,
          supports_tool_choice: { auto: tools, none: tools, required: tools, function: tools },
          status: 0,
          uptime_last_5m: null,
          uptime_last_30m: null,
          uptime_last_1d: null,
          latency_last_30m: null,
          throughput_last_30m: null,
        },
      ],
    },
  };
}
