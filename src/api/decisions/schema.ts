/** What `/systemone` and its aliases take and answer. Unknown fields are ignored. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

export const maxQuestions = 64;
export const maxOptions = 255;
export const maxLevels = 10;

/** Answers are closed, so that a test finds what should not be there. */
export function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

/** Names are the caller's own: any text, line breaks included, which a pattern of TypeBox's own would let by. */
function mapOf<S extends TSchema>(
  values: S,
  options: { minProperties?: number; maxProperties?: number } = {},
) {
  return Type.Unsafe<Readonly<Record<string, Static<S>>>>(
    Type.Object({}, { additionalProperties: values, ...options }),
  );
}

/** A text, or structured data that is read as JSON. */
const entries = [Type.String(), mapOf(Type.Unknown()), Type.Array(Type.Unknown())] as const;
export const Entry = Type.Union([...entries]);
export type Entry = Static<typeof Entry>;
const NullableEntry = Type.Union([...entries, Type.Null()]);
export type NullableEntry = Static<typeof NullableEntry>;

const instructions = Type.Optional(NullableEntry);

const NoulQuestion = Type.Object({
  type: Type.Literal('noul'),
  instructions,
  criteria: Type.Optional(
    Type.Union([
      Type.Object({ true: Type.Optional(NullableEntry), false: Type.Optional(NullableEntry) }),
      Type.Null(),
    ]),
  ),
});
const ChoiceQuestion = Type.Object({
  type: Type.Literal('choice'),
  instructions,
  criteria: mapOf(NullableEntry, { minProperties: 1, maxProperties: maxOptions }),
});
const ScoreQuestion = Type.Object({
  type: Type.Literal('score'),
  instructions,
  criteria: Type.Array(NullableEntry, {
    minItems: 1,
    maxItems: maxLevels,
    description: 'The levels, the lowest first',
  }),
});
const Question = Type.Union([NoulQuestion, ChoiceQuestion, ScoreQuestion]);
export type Question = Static<typeof Question>;

export const DecisionBody = Type.Object({
  model: Type.String({ description: 'A decision model' }),
  state: Type.Union([...entries], {
    description: 'What is decided about: a text, or structured data, which is read as JSON',
  }),
  questions: mapOf(Question, { minProperties: 1, maxProperties: maxQuestions }),
});
export type DecisionBody = Static<typeof DecisionBody>;

export const probability = Type.Number({ minimum: 0, maximum: 1 });
export const count = Type.Integer({ minimum: 0 });

const NoulAnswer = closed({ type: Type.Literal('noul'), noul: probability });
const ChoiceAnswer = closed({
  type: Type.Literal('choice'),
  choice: Type.String(),
  probabilities: mapOf(probability),
  confidence: probability,
});
const ScoreAnswer = closed({
  type: Type.Literal('score'),
  score: Type.Number({ minimum: 0, description: 'The mean level, which may fall between two' }),
  legend: mapOf(NullableEntry),
  probabilities: mapOf(probability),
  confidence: probability,
});
const Answer = Type.Union([NoulAnswer, ChoiceAnswer, ScoreAnswer]);
export type Answer = Static<typeof Answer>;

export const Decision = closed({
  id: Type.String({ pattern: '^dec-' }),
  model: Type.String(),
  answers: mapOf(Answer),
  usage: closed({
    input_tokens: count,
    output_tokens: Type.Literal(0),
    cost: Type.Number({ description: 'Dollars billed' }),
  }),
});
export type Decision = Static<typeof Decision>;
