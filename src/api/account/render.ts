/** Usage and ledger rows as the account routes show them. */
import type { Static } from 'typebox';
import type { Limits } from '../../platform/admission/index.ts';
import { type LedgerRow, toUsd, type UsageSums } from '../../platform/billing/index.ts';
import type { ActivityEntry, GenerationAnswer, KeyAnswer } from './schema.ts';

type Spent = { total: bigint; day: bigint; week: bigint; month: bigint };

export function toKey(label: string, spent: Spent, limits: Limits): Static<typeof KeyAnswer> {
  const { requestsPerMinute, concurrent } = limits;
  return {
    data: {
      label,
      limit: null,
      limit_remaining: null,
      limit_reset: null,
      usage: toUsd(spent.total),
      usage_daily: toUsd(spent.day),
      usage_weekly: toUsd(spent.week),
      usage_monthly: toUsd(spent.month),
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
      include_byok_in_limit: false,
      is_free_tier: false,
      is_management_key: false,
      is_provisioning_key: false,
      creator_user_id: null,
      organization_id: null,
      workspace_id: null,
      allowed_data_regions: [],
      expires_at: null,
      free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
      rate_limit: {
        requests: requestsPerMinute,
        interval: '60s',
        note: `Per subscription and model, with ${concurrent} running at once; a model may have limits of its own`,
      },
    },
  };
}

export function toActivityEntry(
  { day, modelId, ...sums }: UsageSums & { day: string; modelId: string },
  provider: string,
): Static<typeof ActivityEntry> {
  return {
    date: day,
    model: modelId,
    model_permaslug: modelId,
    endpoint_id: modelId,
    provider_name: provider,
    usage: toUsd(sums.costPicoUsd),
    byok_usage_inference: 0,
    requests: sums.requests,
    prompt_tokens: sums.promptTokens,
    completion_tokens: sums.completionTokens,
    reasoning_tokens: sums.reasoningTokens,
  };
}

/** The operation in the router SDK's words; null for what it has no word for. */
const apiTypes: Readonly<Record<string, string>> = {
  chat: 'completions',
  messages: 'completions',
  responses: 'completions',
  embeddings: 'embeddings',
  rerank: 'rerank',
  decisions: 'decisions',
  video: 'video',
  speech: 'tts',
  transcription: 'stt',
  images: 'image',
  rag_search: 'embeddings',
  vector_search: 'embeddings',
  vector_item: 'embeddings',
};

export function toGeneration(row: LedgerRow, provider: string): Static<typeof GenerationAnswer> {
  const { quantities, outcome, durationMs } = row;
  const cost = toUsd(row.costPicoUsd);
  const isCancelled = outcome === 'cancelled';
  const tokens = {
    prompt: quantities.promptTokens ?? 0,
    completion: quantities.completionTokens ?? 0,
  };
  return {
    data: {
      id: row.id,
      upstream_id: null,
      // A request's two ids differ in their first word; a job has no request of its own.
      ...(row.id.startsWith('gen_') ? { request_id: row.id.replace('gen_', 'req_') } : {}),
      model: row.modelId,
      provider_name: provider,
      api_type: apiTypes[row.operation] ?? null,
      created_at: new Date(row.at).toISOString(),
      streamed: row.streamed,
      cancelled: isCancelled,
      finish_reason: isCancelled ? null : outcome,
      native_finish_reason: null,
      generation_time: durationMs,
      latency: durationMs,
      moderation_latency: null,
      tokens_prompt: tokens.prompt,
      tokens_completion: tokens.completion,
      native_tokens_prompt: tokens.prompt,
      native_tokens_completion: tokens.completion,
      native_tokens_cached: quantities.cachedTokens ?? 0,
      native_tokens_reasoning: quantities.reasoningTokens ?? 0,
      native_tokens_completion_images: null,
      num_media_prompt: null,
      num_media_completion: null,
      num_input_audio_prompt: null,
      num_search_results: null,
      num_fetches: null,
      usage: cost,
      total_cost: cost,
      upstream_inference_cost: null,
      cache_discount: null,
      is_byok: false,
      data_region: 'global',
      origin: '',
      app_id: null,
      external_user: null,
      http_referer: null,
      user_agent: null,
      preset_id: null,
      provider_responses: null,
      router: null,
      service_tier: null,
      web_search_engine: null,
      workspace_id: null,
    },
  };
}
