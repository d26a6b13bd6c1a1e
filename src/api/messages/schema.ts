/** What the messages routes take and answer. Null means omitted; unknown fields are ignored and never handed on. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Answers are closed, so that a test finds what should not be there. */
function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const efforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'] as const;
const JsonSchema = Type.Object({}, { description: 'A JSON Schema object' });

const TextBlock = Type.Object({ type: Type.Literal('text'), text: Type.String() });
const ImageBlock = Type.Object({
  type: Type.Literal('image'),
  source: Type.Union([
    Type.Object({
      type: Type.Literal('base64'),
      media_type: optional(Type.String({ description: 'Told from the bytes, whatever it says' })),
      data: Type.String(),
    }),
    Type.Object({ type: Type.Literal('url'), url: Type.String() }),
  ]),
});
export type ImageBlock = Static<typeof ImageBlock>;

const ToolUseBlock = Type.Object({
  type: Type.Literal('tool_use'),
  id: Type.String(),
  name: Type.String(),
  input: optional(Type.Object({})),
});
const ToolResultBlock = Type.Object({
  type: Type.Literal('tool_result'),
  tool_use_id: Type.String(),
  content: optional(Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, ImageBlock]))])),
  is_error: optional(Type.Boolean()),
});
export type ToolResultBlock = Static<typeof ToolResultBlock>;

/** Clients send back what they were given, by us or by another service: whatever is in it is never a 400. */
const ThinkingBlock = Type.Object({
  type: Type.Literal('thinking'),
  thinking: Type.Optional(Type.Unknown()),
  signature: Type.Optional(Type.Unknown()),
});
export type ThinkingBlock = Static<typeof ThinkingBlock>;
const RedactedThinkingBlock = Type.Object({ type: Type.Literal('redacted_thinking') });

const Block = Type.Union([
  TextBlock,
  ImageBlock,
  ToolUseBlock,
  ToolResultBlock,
  ThinkingBlock,
  RedactedThinkingBlock,
]);
export type Block = Static<typeof Block>;

/** One shape for all roles: what a role may not have is said in `turns.ts`, by its path. */
const Turn = Type.Object({
  role: Type.Enum(['user', 'assistant', 'system']),
  content: Type.Union([Type.String(), Type.Array(Block)]),
  clear_at: optional(Type.Literal('never')),
  output_config: Type.Optional(Type.Unknown({ description: 'Not supported on a single message' })),
});
export type Turn = Static<typeof Turn>;

const Tool = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: optional(Type.String()),
  input_schema: JsonSchema,
  strict: optional(Type.Boolean()),
});

const shared = {
  messages: Type.Array(Turn, { minItems: 1 }),
  system: optional(Type.Union([Type.String(), Type.Array(TextBlock)])),
  output_config: optional(
    Type.Object({
      effort: optional(Type.Enum([...efforts])),
      format: optional(Type.Object({ type: Type.Literal('json_schema'), schema: JsonSchema })),
    }),
  ),
  thinking: optional(
    Type.Object({
      type: optional(Type.Enum(['enabled', 'adaptive', 'disabled'])),
      budget_tokens: optional(Type.Integer({ minimum: 1024, description: 'Required with `enabled`' })),
      display: optional(Type.Enum(['summarized', 'omitted'])),
    }),
  ),
  tools: optional(Type.Array(Tool)),
  tool_choice: optional(
    Type.Object({
      type: Type.Enum(['auto', 'any', 'tool', 'none']),
      name: optional(Type.String({ description: 'Required with `tool`' })),
      disable_parallel_tool_use: optional(Type.Boolean()),
    }),
  ),
};

const probability = Type.Number({ minimum: 0, maximum: 1 });

export const MessagesBody = Type.Object({
  model: Type.String(),
  max_tokens: Type.Integer({ minimum: 0, description: 'Thinking and text together' }),
  ...shared,
  stream: optional(Type.Boolean()),
  temperature: optional(probability),
  top_p: optional(probability),
  top_k: optional(Type.Integer({ minimum: 0 })),
  stop_sequences: optional(Type.Array(Type.String())),
  thread: optional(
    Type.Object(
      { previous_message_id: optional(Type.String()) },
      { description: 'Conversations are not kept: going on from a message of one is a 404' },
    ),
  ),
  metadata: optional(Type.Object({ user_id: optional(Type.String({ description: 'Opaque' })) })),
});
export type MessagesBody = Static<typeof MessagesBody>;

export const CountTokensBody = Type.Object({ model: Type.String(), ...shared });
/** What decides the prompt. */
export type PromptFields = Static<typeof CountTokensBody>;

const count = Type.Integer({ minimum: 0 });

export const TokenCount = closed({ input_tokens: count });

const UsageShape = closed({
  input_tokens: Type.Integer({ minimum: 0, description: 'Without those read from the cache' }),
  cache_creation_input_tokens: Type.Literal(0),
  cache_read_input_tokens: count,
  cache_creation: closed({
    ephemeral_5m_input_tokens: Type.Literal(0),
    ephemeral_1h_input_tokens: Type.Literal(0),
  }),
  output_tokens: count,
  output_tokens_details: closed({ thinking_tokens: count }),
  server_tool_use: Type.Null(),
  service_tier: Type.Literal('standard'),
  cost: Type.Optional(Type.Number({ description: 'Dollars billed; known at the end' })),
});
export type UsageShape = Static<typeof UsageShape>;

const stopReasons = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'refusal',
  'model_context_window_exceeded',
] as const;

const stopFields = {
  stop_reason: Type.Enum([...stopReasons]),
  stop_sequence: Type.Union([Type.String(), Type.Null()]),
  stop_details: Type.Union([
    closed({ type: Type.Literal('refusal'), category: Type.Null(), explanation: Type.Null() }),
    Type.Null(),
  ]),
  container: Type.Null(),
};
const StopShape = closed(stopFields);
/** Why an answer ended. */
export type StopShape = Static<typeof StopShape>;

const caller = closed({ type: Type.Literal('direct') });
const ThinkingAnswer = closed({
  type: Type.Literal('thinking'),
  thinking: Type.String(),
  signature: Type.String({ minLength: 1 }),
});
const TextAnswer = closed({ type: Type.Literal('text'), text: Type.String() });
const toolUseFields = {
  type: Type.Literal('tool_use'),
  id: Type.String(),
  name: Type.String(),
  caller,
};
const ToolUseAnswer = closed({ ...toolUseFields, input: Type.Record(Type.String(), Type.Unknown()) });

const head = {
  id: Type.String({ pattern: '^msg_[0-9a-f]{24}$' }),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Type.String(),
};

export const Message = closed({
  ...head,
  content: Type.Array(Type.Union([ThinkingAnswer, TextAnswer, ToolUseAnswer])),
  ...stopFields,
  usage: UsageShape,
});
export type Message = Static<typeof Message>;

function event<P extends TProperties>(type: string, properties: P) {
  return closed({ type: Type.Literal(type), ...properties });
}

/** One event of a streamed answer. */
export const MessageEvent = Type.Union([
  event('message_start', {
    message: closed({
      ...head,
      content: Type.Array(Type.Never(), { maxItems: 0 }),
      stop_reason: Type.Null(),
      stop_sequence: Type.Null(),
      stop_details: Type.Null(),
      container: Type.Null(),
      usage: UsageShape,
    }),
  }),
  event('content_block_start', {
    index: count,
    content_block: Type.Union([
      closed({
        type: Type.Literal('thinking'),
        thinking: Type.Literal(''),
        signature: Type.Literal(''),
      }),
      closed({ type: Type.Literal('text'), text: Type.Literal('') }),
      closed({ ...toolUseFields, input: closed({}) }),
    ]),
  }),
  event('content_block_delta', {
    index: count,
    delta: Type.Union([
      closed({ type: Type.Literal('thinking_delta'), thinking: Type.String() }),
      closed({ type: Type.Literal('signature_delta'), signature: Type.String({ minLength: 1 }) }),
      closed({ type: Type.Literal('text_delta'), text: Type.String() }),
      closed({ type: Type.Literal('input_json_delta'), partial_json: Type.String() }),
    ]),
  }),
  event('content_block_stop', { index: count }),
  event('message_delta', { delta: StopShape, usage: UsageShape }),
  event('message_stop', {}),
  event('ping', {}),
  event('error', {
    error: closed({ type: Type.Literal('api_error'), message: Type.String() }),
    request_id: Type.String(),
  }),
]);
