/** The account routes as the router SDK parses them: every key is required there, so every key is sent. */
import Type, { type TProperties, type TSchema } from 'typebox';

const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const usd = Type.Number({ description: 'dollars' });
const count = Type.Integer({ minimum: 0 });
const day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'a day in UTC: 2026-11-15' });

function data<P extends TProperties>(properties: P) {
  return Type.Object({ data: Type.Object(properties, { additionalProperties: false }) });
}

export const KeyAnswer = data({
  label: Type.String({ description: "the key's name" }),
  limit: Type.Null(),
  limit_remaining: Type.Null(),
  limit_reset: Type.Null(),
  usage: Type.Number({ description: 'dollars that the subscription spent, by whichever of its keys' }),
  usage_daily: usd,
  usage_weekly: Type.Number({ description: 'dollars, from Monday' }),
  usage_monthly: usd,
  byok_usage: Type.Literal(0),
  byok_usage_daily: Type.Literal(0),
  byok_usage_weekly: Type.Literal(0),
  byok_usage_monthly: Type.Literal(0),
  include_byok_in_limit: Type.Literal(false),
  is_free_tier: Type.Literal(false),
  is_management_key: Type.Literal(false),
  is_provisioning_key: Type.Literal(false),
  creator_user_id: Type.Null(),
  organization_id: Type.Null(),
  workspace_id: Type.Null(),
  allowed_data_regions: Type.Array(Type.String()),
  expires_at: Type.Null(),
  free_model_daily_requests: Type.Object({ limit: count, remaining: count, used: count }),
  rate_limit: Type.Object({ requests: count, interval: Type.String(), note: Type.String() }),
});

export const CreditsAnswer = data({
  total_credits: Type.Literal(0, { description: 'nothing is paid in advance' }),
  total_usage: usd,
});

export const ActivityQuery = Type.Object({
  date: Type.Optional(
    Type.String({ description: 'one day in UTC, such as 2026-11-15; else the last 30 days' }),
  ),
});

export const ActivityEntry = Type.Object(
  {
    date: day,
    model: Type.String(),
    model_permaslug: Type.String(),
    endpoint_id: Type.String(),
    provider_name: Type.String(),
    usage: usd,
    byok_usage_inference: Type.Literal(0),
    requests: count,
    prompt_tokens: count,
    completion_tokens: count,
    reasoning_tokens: count,
  },
  { additionalProperties: false },
);

export const ActivityAnswer = Type.Object({ data: Type.Array(ActivityEntry) });

export const GenerationQuery = Type.Object({
  id: Type.String({ minLength: 1, description: 'from the `X-Generation-Id` header' }),
});

const orNullCount = orNull(count);
const nothing = Type.Null();

export const GenerationAnswer = data({
  id: Type.String(),
  upstream_id: nothing,
  request_id: Type.Optional(Type.String()),
  model: Type.String(),
  provider_name: Type.String(),
  api_type: orNull(Type.String()),
  created_at: Type.String({ description: 'RFC 3339' }),
  streamed: Type.Boolean(),
  cancelled: Type.Boolean(),
  finish_reason: orNull(Type.String()),
  native_finish_reason: nothing,
  generation_time: Type.Number({ description: 'milliseconds' }),
  latency: Type.Number({ description: 'milliseconds' }),
  moderation_latency: nothing,
  tokens_prompt: orNullCount,
  tokens_completion: orNullCount,
  native_tokens_prompt: orNullCount,
  native_tokens_completion: orNullCount,
  native_tokens_cached: orNullCount,
  native_tokens_reasoning: orNullCount,
  native_tokens_completion_images: nothing,
  num_media_prompt: nothing,
  num_media_completion: nothing,
  num_input_audio_prompt: nothing,
  num_search_results: nothing,
  num_fetches: nothing,
  usage: usd,
  total_cost: usd,
  upstream_inference_cost: nothing,
  cache_discount: nothing,
  is_byok: Type.Literal(false),
  data_region: Type.Literal('global'),
  origin: Type.Literal(''),
  app_id: nothing,
  external_user: nothing,
  http_referer: nothing,
  user_agent: nothing,
  preset_id: nothing,
  provider_responses: nothing,
  router: nothing,
  service_tier: nothing,
  web_search_engine: nothing,
  workspace_id: nothing,
});
