/** What the chat route takes and answers. Null means omitted; unknown fields are ignored and never handed on. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Answers are closed, so that a test finds what should not be there. */
function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const efforts = ['ultra', 'max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'] as const;
const url = Type.Union([Type.String(), Type.Object({ url: Type.String() })]);

const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() });
const RefusalPart = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() });
const ImagePart = Type.Object({
  type: Type.Literal('image_url'),
  image_url: Type.Union([
    Type.String(),
    Type.Object({ url: Type.String(), detail: optional(Type.String()) }),
  ]),
});
const InputAudioPart = Type.Object({
  type: Type.Literal('input_audio'),
  input_audio: Type.Object({ data: Type.String(), format: Type.String() }),
});
const AudioPart = Type.Object({ type: Type.Literal('audio_url'), audio_url: url });
const VideoPart = Type.Object({ type: Type.Literal('video_url'), video_url: url });
/** An older name of the same. */
const InputVideoPart = Type.Object({ type: Type.Literal('input_video'), video_url: url });
const FilePart = Type.Object({
  type: Type.Literal('file'),
  file: Type.Object({
    filename: optional(Type.String()),
    file_data: optional(Type.String({ description: 'A data URI or an https URL' })),
    file_id: optional(Type.String()),
  }),
});

const Part = Type.Union([
  TextPart,
  RefusalPart,
  ImagePart,
  InputAudioPart,
  AudioPart,
  VideoPart,
  InputVideoPart,
  FilePart,
]);
export type Part = Static<typeof Part>;

const ToolCall = Type.Object({
  id: Type.String(),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), arguments: Type.String() }),
});

/** One shape for all roles: what a role may not have is said in `messages.ts`, by its path. */
const Message = Type.Object({
  role: Type.Enum(['system', 'user', 'assistant', 'tool', 'developer']),
  content: Type.Optional(Type.Union([Type.String(), Type.Array(Part), Type.Null()])),
  name: optional(Type.String()),
  refusal: optional(Type.String()),
  tool_calls: optional(Type.Array(ToolCall)),
  tool_call_id: optional(Type.String()),
});
export type Message = Static<typeof Message>;

const JsonSchema = Type.Object({}, { description: 'A JSON Schema object' });

const Tool = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    description: optional(Type.String()),
    parameters: optional(JsonSchema),
    strict: optional(Type.Boolean()),
  }),
});

const penalty = Type.Number({ minimum: -2, maximum: 2 });
const tokens = Type.Integer({ minimum: 1 });

export const ChatBody = Type.Object({
  model: optional(Type.String({ description: 'Omitted: the default chat model' })),
  messages: Type.Array(Message, { minItems: 1 }),
  continue_final_message: optional(Type.Boolean()),
  stream: optional(Type.Boolean()),
  stream_options: optional(Type.Object({ include_usage: optional(Type.Boolean()) })),
  max_tokens: optional(tokens),
  max_completion_tokens: optional(tokens),
  reasoning_effort: optional(Type.Enum([...efforts])),
  reasoning: optional(
    Type.Object({
      effort: optional(Type.Enum([...efforts])),
      enabled: optional(Type.Boolean()),
      summary: optional(Type.Enum(['auto', 'concise', 'detailed'])),
      max_tokens: optional(tokens),
    }),
  ),
  /** The contract gives no upper bound; one request must not be able to ask for a million answers. */
  n: optional(Type.Integer({ minimum: 1, maximum: 128 })),
  seed: optional(Type.Integer()),
  top_k: optional(Type.Integer({ minimum: 0 })),
  repetition_penalty: optional(Type.Number({ minimum: 0, maximum: 2 })),
  response_format: optional(
    Type.Object({
      type: Type.Enum(['text', 'json_object', 'json_schema']),
      json_schema: optional(
        Type.Object({
          name: Type.String(),
          description: optional(Type.String()),
          schema: optional(JsonSchema),
          strict: optional(Type.Boolean()),
        }),
      ),
    }),
  ),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  frequency_penalty: optional(penalty),
  presence_penalty: optional(penalty),
  stop: optional(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })])),
  logprobs: optional(Type.Boolean()),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
  tools: optional(Type.Array(Tool)),
  tool_choice: optional(
    Type.Union([
      Type.Enum(['none', 'auto', 'required']),
      Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: Type.String() }) }),
    ]),
  ),
  parallel_tool_calls: optional(Type.Boolean()),
});
export type ChatBody = Static<typeof ChatBody>;

const count = Type.Integer({ minimum: 0 });

const UsageShape = closed({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: closed({ cached_tokens: count }),
  completion_tokens_details: closed({ reasoning_tokens: count }),
  cost: Type.Number({ description: 'Dollars billed' }),
});

const tokenFields = {
  token: Type.String(),
  logprob: Type.Number(),
  bytes: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
};
const Logprobs = Type.Union([
  closed({
    content: Type.Array(closed({ ...tokenFields, top_logprobs: Type.Array(closed(tokenFields)) })),
    refusal: Type.Null(),
  }),
  Type.Null(),
]);

const finishReason = Type.Enum(['stop', 'length', 'tool_calls', 'content_filter', 'error']);
const base = {
  id: Type.String({ pattern: '^chatcmpl-' }),
  created: Type.Integer({ description: 'Unix seconds' }),
  model: Type.String(),
  system_fingerprint: Type.String(),
};

export const ChatCompletion = closed({
  ...base,
  object: Type.Literal('chat.completion'),
  choices: Type.Array(
    closed({
      index: count,
      message: closed({
        role: Type.Literal('assistant'),
        content: Type.Union([Type.String(), Type.Null()]),
        refusal: Type.Null(),
        reasoning: Type.Union([Type.String(), Type.Null()]),
        tool_calls: Type.Optional(
          Type.Array(
            closed({
              id: Type.String({ pattern: '^call_' }),
              type: Type.Literal('function'),
              function: closed({ name: Type.String(), arguments: Type.String() }),
            }),
            { minItems: 1 },
          ),
        ),
      }),
      logprobs: Logprobs,
      finish_reason: finishReason,
      native_finish_reason: Type.String(),
    }),
  ),
  usage: UsageShape,
});
export type ChatCompletion = Static<typeof ChatCompletion>;

/** One `data:` line of a streamed answer. */
export const ChatCompletionChunk = closed({
  ...base,
  object: Type.Literal('chat.completion.chunk'),
  choices: Type.Array(
    closed({
      index: count,
      delta: closed({
        role: Type.Optional(Type.Literal('assistant')),
        content: Type.Optional(Type.String()),
        reasoning: Type.Optional(Type.String()),
        tool_calls: Type.Optional(
          Type.Array(
            closed({
              index: Type.Integer({ minimum: 0, maximum: 127 }),
              id: Type.Optional(Type.String({ pattern: '^call_' })),
              type: Type.Optional(Type.Literal('function')),
              function: closed({
                name: Type.Optional(Type.String({ minLength: 1 })),
                arguments: Type.String(),
              }),
            }),
          ),
        ),
      }),
      logprobs: Logprobs,
      finish_reason: Type.Union([finishReason, Type.Null()]),
      native_finish_reason: Type.Optional(Type.String()),
    }),
  ),
  usage: Type.Optional(UsageShape),
  error: Type.Optional(
    closed({
      code: Type.Integer(),
      message: Type.String(),
      type: Type.String(),
      param: Type.Optional(Type.String()),
      metadata: closed({ error_type: Type.String() }),
    }),
  ),
});
export type ChatCompletionChunk = Static<typeof ChatCompletionChunk>;
