/** What the rerank route takes and answers. Null means omitted; unknown fields are ignored. */
import Type, { type Static, type TSchema } from 'typebox';

/** What Cohere takes. Each is read together with the query: a thousand are a thousand runs of the model. */
export const maxDocuments = 1000;

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

const text = Type.String({ minLength: 1 });

export const RerankBody = Type.Object({
  model: optional(Type.String({ description: 'Omitted: the default rerank model' })),
  query: text,
  documents: Type.Array(Type.Union([text, Type.Object({ text })]), { minItems: 1, maxItems: maxDocuments }),
  top_n: optional(Type.Integer({ minimum: 1, description: 'Only the best so many; omitted: all' })),
  return_documents: optional(
    Type.Boolean({ description: 'Whether results hold the documents’ texts. Default true' }),
  ),
});
export type RerankBody = Static<typeof RerankBody>;

/** Answers are closed, so that a test finds what should not be there. */
const closed = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });

export const Ranking = Type.Object(
  {
    id: Type.String({ pattern: '^rerank-' }),
    model: Type.String(),
    results: Type.Array(
      Type.Object(
        {
          index: count,
          relevance_score: Type.Number({ minimum: 0, maximum: 1 }),
          document: Type.Optional(Type.Object({ text: Type.String() }, closed)),
        },
        closed,
      ),
      { description: 'The best first', minItems: 1 },
    ),
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
export type Ranking = Static<typeof Ranking>;
