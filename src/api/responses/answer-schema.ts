/** What the responses routes answer. Closed, so that a test finds what should not be there. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

function orNull<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

const count = Type.Integer({ minimum: 0 });
const seconds = Type.Integer({ description: 'Unix seconds' });
const itemStatus = Type.Enum(['in_progress', 'completed', 'incomplete']);

const tokenFields = { token: Type.String(), logprob: Type.Number(), bytes: Type.Array(Type.Integer()) };
const Logprobs = Type.Array(closed({ ...tokenFields, top_logprobs: Type.Array(closed(tokenFields)) }));

const MessageItem = closed({
  id: Type.String({ pattern: '^msg_' }),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  status: itemStatus,
  content: Type.Array(
    closed({
      type: Type.Literal('output_text'),
      text: Type.String(),
      annotations: Type.Array(Type.Unknown(), { maxItems: 0 }),
      logprobs: Logprobs,
    }),
  ),
});

const ReasoningItem = closed({
  id: Type.String({ pattern: '^rs_' }),
  type: Type.Literal('reasoning'),
  status: itemStatus,
  summary: Type.Array(closed({ type: Type.Literal('summary_text'), text: Type.String() })),
  content: Type.Array(closed({ type: Type.Literal('reasoning_text'), text: Type.String() })),
});

const FunctionCallItem = closed({
  id: Type.String({ pattern: '^fc_' }),
  type: Type.Literal('function_call'),
  status: itemStatus,
  call_id: Type.String({ pattern: '^call_' }),
  name: Type.String(),
  arguments: Type.String(),
});

export const OutputItem = Type.Union([MessageItem, ReasoningItem, FunctionCallItem]);
export type OutputItem = Static<typeof OutputItem>;

export const ResponseObject = closed({
  id: Type.String({ pattern: '^resp_' }),
  object: Type.Literal('response'),
  created_at: seconds,
  completed_at: orNull(seconds),
  status: Type.Enum(['in_progress', 'completed', 'incomplete', 'failed']),
  error: orNull(
    closed({
      code: Type.Enum(['server_error', 'rate_limit_exceeded', 'invalid_prompt']),
      message: Type.String(),
    }),
  ),
  incomplete_details: orNull(closed({ reason: Type.Enum(['max_output_tokens', 'content_filter']) })),
  instructions: orNull(Type.String()),
  metadata: Type.Record(Type.String(), Type.String()),
  model: Type.String(),
  output: Type.Array(OutputItem),
  parallel_tool_calls: Type.Boolean(),
  temperature: Type.Number(),
  top_p: Type.Number(),
  presence_penalty: Type.Number(),
  frequency_penalty: Type.Number(),
  tool_choice: Type.Union([Type.String(), Type.Object({ type: Type.String() })]),
  tools: Type.Array(
    closed({
      type: Type.Literal('function'),
      name: Type.String(),
      description: orNull(Type.String()),
      parameters: orNull(Type.Object({})),
      strict: orNull(Type.Boolean()),
    }),
  ),
  access_programs: Type.Null(),
  background: Type.Literal(false),
  max_output_tokens: orNull(Type.Integer()),
  max_tool_calls: orNull(Type.Integer()),
  previous_response_id: orNull(Type.String()),
  prompt_cache_key: orNull(Type.String()),
  reasoning: closed({ effort: orNull(Type.String()), summary: orNull(Type.String()) }),
  safety_identifier: orNull(Type.String()),
  service_tier: Type.Literal('default'),
  store: Type.Boolean(),
  text: closed({ format: Type.Object({ type: Type.String() }) }),
  top_logprobs: count,
  truncation: Type.Literal('disabled'),
  user: orNull(Type.String()),
  usage: orNull(
    closed({
      input_tokens: count,
      input_tokens_details: closed({ cached_tokens: count, cache_write_tokens: count }),
      output_tokens: count,
      output_tokens_details: closed({ reasoning_tokens: count }),
      total_tokens: count,
      cost: Type.Number({ description: 'Dollars billed' }),
    }),
  ),
});
export type ResponseObject = Static<typeof ResponseObject>;

export const DeletedResponse = closed({
  id: Type.String(),
  object: Type.Literal('response'),
  deleted: Type.Literal(true),
});

export const InputItemList = closed({
  object: Type.Literal('list'),
  data: Type.Array(Type.Object({ id: Type.String(), type: Type.String() })),
  first_id: orNull(Type.String()),
  last_id: orNull(Type.String()),
  has_more: Type.Boolean(),
});
