/** What the responses routes take. Null means omitted; unknown fields are ignored and never handed on. */
import Type, { type Static, type TSchema } from 'typebox';

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

const efforts = ['ultra', 'max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'] as const;
const summaries = ['auto', 'concise', 'detailed'] as const;

const InputText = Type.Object({ type: Type.Literal('input_text'), text: Type.String() });
const OutputText = Type.Object({ type: Type.Literal('output_text'), text: Type.String() });
const Refusal = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() });
const InputImage = Type.Object({
  type: Type.Literal('input_image'),
  image_url: optional(Type.String({ description: 'A data URI or an https URL' })),
  file_id: optional(Type.String()),
  detail: optional(Type.String()),
});
const InputFile = Type.Object({
  type: Type.Literal('input_file'),
  filename: optional(Type.String()),
  file_data: optional(Type.String({ description: 'A data URI or base64' })),
  file_url: optional(Type.String()),
  file_id: optional(Type.String()),
});
const InputAudio = Type.Object({
  type: Type.Literal('input_audio'),
  input_audio: Type.Object({ data: Type.String(), format: Type.String() }),
});
/** Not OpenAI's, but one SDK has it. */
const InputVideo = Type.Object({ type: Type.Literal('input_video'), video_url: Type.String() });

const Part = Type.Union([InputText, OutputText, Refusal, InputImage, InputFile, InputAudio, InputVideo]);
export type Part = Static<typeof Part>;

const content = Type.Union([Type.String(), Type.Array(Part)]);

/** The first branch, so that what is wrong with an item without a type is told as of a message. */
const Message = Type.Object({
  type: optional(Type.Literal('message')),
  // A pattern: an enumeration would count as what tells the branches of the union apart.
  role: Type.Unsafe<'user' | 'assistant' | 'system' | 'developer'>(
    Type.String({ pattern: '^(user|assistant|system|developer)$' }),
  ),
  content,
});
const FunctionCall = Type.Object({
  type: Type.Literal('function_call'),
  call_id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  arguments: Type.String(),
});
const FunctionCallOutput = Type.Object({
  type: Type.Literal('function_call_output'),
  call_id: Type.String({ minLength: 1 }),
  output: content,
});
/** Read only where it is one of ours: what a client sends of it is ignored, whatever it holds. */
const Reasoning = Type.Object({ type: Type.Literal('reasoning') });
const ItemReference = Type.Object({
  type: Type.Literal('item_reference'),
  id: Type.String({ minLength: 1 }),
});
/** SDKs may leave the type out. Closed, so that it never takes what was meant to be a message. */
const BareReference = Type.Object(
  { type: Type.Optional(Type.Null()), id: Type.String({ minLength: 1 }) },
  { additionalProperties: false },
);

const Item = Type.Union([Message, FunctionCall, FunctionCallOutput, Reasoning, ItemReference, BareReference]);
export type Item = Static<typeof Item>;
export type Message = Static<typeof Message>;
export type FunctionCall = Static<typeof FunctionCall>;
export type FunctionCallOutput = Static<typeof FunctionCallOutput>;
export type Reference = Static<typeof ItemReference> | Static<typeof BareReference>;
/** What stands in a conversation once references have been followed. */
export type SaidItem = Message | FunctionCall | FunctionCallOutput | Static<typeof Reasoning>;

const JsonSchema = Type.Object({}, { description: 'A JSON Schema object' });

const Tool = Type.Object({
  type: Type.Literal('function'),
  /** Required, in `translate.ts`: of a tool that is no function its type is what is wrong. */
  name: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })),
  description: optional(Type.String()),
  parameters: optional(JsonSchema),
  strict: optional(Type.Boolean()),
});

const NamedTool = Type.Object({ type: Type.Literal('function'), name: Type.String() });
const ToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  NamedTool,
  Type.Object({
    type: Type.Literal('allowed_tools'),
    mode: Type.Enum(['auto', 'required']),
    tools: Type.Array(NamedTool, { minItems: 1 }),
  }),
]);

const TextFormat = Type.Union([
  Type.Object({ type: Type.Literal('text') }),
  Type.Object({ type: Type.Literal('json_object') }),
  Type.Object({
    type: Type.Literal('json_schema'),
    name: Type.String(),
    description: optional(Type.String()),
    schema: JsonSchema,
    strict: optional(Type.Boolean()),
  }),
]);

export const ResponsesBody = Type.Object({
  model: optional(Type.String({ description: 'Omitted: the default chat model' })),
  input: optional(Type.Union([Type.String(), Type.Array(Item)])),
  instructions: optional(Type.String()),
  previous_response_id: optional(Type.String()),
  store: optional(Type.Boolean({ description: 'Default true' })),
  stream: optional(Type.Boolean()),
  max_output_tokens: optional(Type.Integer({ minimum: 1 })),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
  include: optional(Type.Array(Type.String())),
  reasoning: optional(
    Type.Object({
      effort: optional(Type.Enum([...efforts])),
      summary: optional(Type.Enum([...summaries])),
      /** The older name of `summary`. */
      generate_summary: optional(Type.Enum([...summaries])),
      enabled: optional(Type.Boolean()),
      max_tokens: optional(Type.Integer({ minimum: 1 })),
    }),
  ),
  text: optional(Type.Object({ format: optional(TextFormat) })),
  tools: optional(Type.Array(Tool)),
  tool_choice: optional(ToolChoice),
  parallel_tool_calls: optional(Type.Boolean()),
  max_tool_calls: optional(Type.Integer({ minimum: 1 })),
  metadata: optional(
    // OpenAI's bounds: it is given back, and kept as long as the answer.
    Type.Record(Type.String({ pattern: '^[\\s\\S]{0,64}$' }), Type.String({ maxLength: 512 }), {
      additionalProperties: false,
      maxProperties: 16,
    }),
  ),
  // Given back and kept, too. OpenAI's bounds; of `user` it tells none.
  user: optional(Type.String({ maxLength: 512 })),
  prompt_cache_key: optional(Type.String({ maxLength: 64 })),
  safety_identifier: optional(Type.String({ maxLength: 64 })),
  // What cannot be served is a 400 that names it, in `translate.ts`.
  background: optional(Type.Boolean()),
  conversation: Type.Optional(Type.Unknown()),
  prompt: Type.Optional(Type.Unknown()),
});
export type ResponsesBody = Static<typeof ResponsesBody>;

export const RetrieveQuery = Type.Object({
  stream: Type.Optional(Type.Boolean({ description: 'The events of the answer instead of the answer' })),
  starting_after: Type.Optional(
    Type.Integer({ minimum: 0, description: 'With `stream`: only events after this sequence number' }),
  ),
});

export const InputItemsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default 20' })),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'Default desc' })),
  after: Type.Optional(Type.String()),
});
export type InputItemsQuery = Static<typeof InputItemsQuery>;
