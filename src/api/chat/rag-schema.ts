/** What retrieval-augmented chat takes and answers: chat, a collection, and the sources of the answer. */
import Type, { type Static } from 'typebox';
import { ChatBody, ChatCompletion, ChatCompletionChunk } from './schema.ts';

export const RagBody = Type.Object({
  ...ChatBody.properties,
  model: Type.String(),
  collection: Type.String({
    minLength: 1,
    description: 'The id of the vector store collection to search for context',
  }),
});

const Source = Type.Object(
  {
    index: Type.Integer({
      minimum: 1,
      description: 'Its marker in the prompt and, if the model cites, in the answer: [1]',
    }),
    item_id: Type.String(),
    file_id: Type.String(),
    filename: Type.String(),
    description: Type.String(),
    score: Type.Number({ minimum: 0, maximum: 1 }),
  },
  { additionalProperties: false },
);
export type Source = Static<typeof Source>;

const sources = Type.Array(Source, {
  description: 'What was put before the model, best first',
});
const closed = { additionalProperties: false } as const;

export const RagCompletion = Type.Object({ ...ChatCompletion.properties, sources }, closed);

/** The first chunk of a stream has the sources. */
export const RagCompletionChunk = Type.Object(
  { ...ChatCompletionChunk.properties, sources: Type.Optional(sources) },
  closed,
);
