/** What the embeddings routes take and answer. Null means omitted; unknown fields are ignored and never handed on. */
import Type, { type Static, type TSchema } from 'typebox';
import { Page, pageQuery } from '../../platform/catalog/page.ts';

export const EmbeddingModelsQuery = Type.Object(pageQuery);
export const EmbeddingModels = Page;

export const maxInputs = 2048;

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

const text = Type.String({ minLength: 1 });
const tokens = Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }), { minItems: 1 });

export const EmbeddingsBody = Type.Object({
  model: Type.String(),
  /** How many there are is checked apart: a list of numbers is one input, however long. */
  input: Type.Union([text, Type.Array(text, { minItems: 1 }), tokens, Type.Array(tokens, { minItems: 1 })], {
    description: `One input, or up to ${maxInputs}: texts, or lists of tokens`,
  }),
  encoding_format: optional(Type.Enum(['float', 'base64'])),
  dimensions: optional(
    Type.Integer({ minimum: 1, description: 'Shorter vectors, on models that are trained for them' }),
  ),
  input_type: optional(
    Type.String({
      description: 'search_query or query: the model’s query instruction is put before the text',
    }),
  ),
  /** Accepted and ignored. */
  provider: Type.Optional(Type.Unknown()),
  user: Type.Optional(Type.Unknown()),
  session_id: Type.Optional(Type.Unknown()),
  trace: Type.Optional(Type.Unknown()),
});
export type EmbeddingsBody = Static<typeof EmbeddingsBody>;

export type EncodingFormat = 'float' | 'base64';

/** Answers are closed, so that a test finds what should not be there. */
const closed = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });

export const EmbeddingList = Type.Object(
  {
    id: Type.String({ pattern: '^emb-' }),
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object(
        {
          object: Type.Literal('embedding'),
          index: count,
          embedding: Type.Union([
            Type.Array(Type.Number()),
            Type.String({ description: 'Little-endian float32 values in base64' }),
          ]),
        },
        closed,
      ),
      { minItems: 1, maxItems: maxInputs },
    ),
    model: Type.String(),
    usage: Type.Object(
      {
        prompt_tokens: count,
        total_tokens: count,
        cost: Type.Number({ description: 'Dollars billed' }),
      },
      closed,
    ),
  },
  closed,
);
export type EmbeddingList = Static<typeof EmbeddingList>;
