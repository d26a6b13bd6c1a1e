/** What the catalogue routes take and answer. */
import Type, { type Static, type TProperties } from 'typebox';
import { Architecture, ModelEntry, Pricing } from '../../platform/catalog/entry.ts';
import { pageFields, pageQuery } from '../../platform/catalog/page.ts';

function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const filters = {
  output_modalities: Type.Optional(
    Type.String({
      description:
        'Comma-separated: models that make one of these, or `all`. Default: every model; `text` for the router SDK.',
    }),
  ),
  input_modalities: Type.Optional(
    Type.String({ description: 'Comma-separated: models that read all of these.' }),
  ),
  supported_parameters: Type.Optional(
    Type.String({ description: 'Comma-separated: models that take all of these.' }),
  ),
  format: Type.Optional(Type.String({ description: '`openrouter`: the default filter of the router SDK.' })),
  q: Type.Optional(Type.String({ description: 'Part of the id or the name, in any case.' })),
};

export const CountQuery = Type.Object(filters);
/** What narrows a list; a next page repeats it. */
export type Filters = Static<typeof CountQuery>;

export const ListQuery = Type.Object({
  ...filters,
  ...pageQuery,
  after_id: Type.Optional(Type.String({ description: 'Messages format: the page that follows this id.' })),
  before_id: Type.Optional(
    Type.String({ description: 'Messages format: the page that ends before this id.' }),
  ),
});

export const ModelCount = closed({ data: closed({ count: Type.Integer() }) });

export const WrappedEntry = closed({ data: ModelEntry });

export const ModelList = closed({
  object: Type.Literal('list'),
  ...pageFields,
  models: Type.Optional(
    Type.Array(closed({ name: Type.String(), description: Type.String(), release_date: Type.String() }), {
      description: 'The decision models, for the decision SDK only.',
    }),
  ),
});
export type ModelList = Static<typeof ModelList>;

const optionalId = Type.Union([Type.String(), Type.Null()]);

/** A model in the messages format. */
export const MessagesModel = closed({
  type: Type.Literal('model'),
  id: Type.String(),
  display_name: Type.String(),
  created_at: Type.String({ description: 'RFC 3339' }),
  max_input_tokens: Type.Integer(),
  max_tokens: Type.Integer(),
  capabilities: Type.Null(),
  lifecycle: Type.Literal('active'),
  line: Type.Null(),
  deprecated_at: Type.Null(),
  retires_at: Type.Null(),
});
export type MessagesModel = Static<typeof MessagesModel>;

export const MessagesList = closed({
  data: Type.Array(MessagesModel),
  has_more: Type.Boolean(),
  first_id: optionalId,
  last_id: optionalId,
});
export type MessagesList = Static<typeof MessagesList>;

const tokens = Type.Union([Type.Integer(), Type.Null()]);

export const ModelEndpoints = closed({
  data: closed({
    id: Type.String(),
    name: Type.String(),
    created: Type.Integer(),
    description: Type.String(),
    architecture: Architecture,
    endpoints: Type.Array(
      closed({
        name: Type.String(),
        model_id: Type.String(),
        model_name: Type.String(),
        provider_name: Type.String(),
        tag: Type.String(),
        context_length: Type.Integer({ description: '0 for a model without token context.' }),
        max_completion_tokens: tokens,
        max_prompt_tokens: tokens,
        quantization: Type.Null(),
        pricing: Pricing,
        supported_parameters: Type.Array(Type.String()),
        supports_implicit_caching: Type.Literal(false),
        supports_tool_choice: closed({
          auto: Type.Boolean(),
          none: Type.Boolean(),
          required: Type.Boolean(),
          function: Type.Boolean(),
        }),
        status: Type.Literal(0),
        uptime_last_5m: Type.Null(),
        uptime_last_30m: Type.Null(),
        uptime_last_1d: Type.Null(),
        latency_last_30m: Type.Null(),
        throughput_last_30m: Type.Null(),
      }),
    ),
  }),
});
export type ModelEndpoints = Static<typeof ModelEndpoints>;
