/** What `/decisions` takes and answers: OpenAI's form, whose questions are a list. Unknown fields are ignored. */
import Type, { type Static, type TSchema } from 'typebox';
import { closed, count, maxLevels, maxOptions, maxQuestions, probability } from './schema.ts';

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

const InputText = Type.Object({ type: Type.Literal('input_text'), text: Type.String() });
const OutputText = Type.Object({ type: Type.Literal('output_text'), text: Type.String() });
const Refusal = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() });
const InputJson = Type.Object({ type: Type.Literal('input_json'), data: Type.Unknown() });
/** Known, so that it can be refused by its name. */
const InputImage = Type.Object({ type: Type.Literal('input_image') });
const Part = Type.Union([InputText, InputJson, InputImage, OutputText, Refusal]);
export type Part = Static<typeof Part>;
const content = Type.Union([Type.String(), Type.Array(Part)]);
export type Content = Static<typeof content>;

const Message = Type.Object({
  type: optional(Type.Literal('message')),
  // A pattern: an enumeration would count as what tells the branches of the union apart.
  role: Type.String({ pattern: '^(user|assistant|system|developer)$' }),
  content,
});
const FunctionCall = Type.Object({
  type: Type.Literal('function_call'),
  name: Type.String(),
  arguments: Type.String(),
});
const CustomToolCall = Type.Object({
  type: Type.Literal('custom_tool_call'),
  name: Type.String(),
  input: Type.String(),
});
const FunctionCallOutput = Type.Object({ type: Type.Literal('function_call_output'), output: content });
const CustomToolCallOutput = Type.Object({ type: Type.Literal('custom_tool_call_output'), output: content });
const Item = Type.Union([Message, FunctionCall, CustomToolCall, FunctionCallOutput, CustomToolCallOutput]);
export type Item = Static<typeof Item>;

const common = { name: optional(Type.String()), instructions: optional(content) };

const Predicate = Type.Object({ type: Type.Literal('predicate'), ...common });
const Choice = Type.Object({
  type: Type.Literal('choice'),
  ...common,
  choices: Type.Array(
    Type.Object({
      value: Type.Union([Type.String(), Type.Boolean()]),
      description: optional(Type.String()),
    }),
    { minItems: 1, maxItems: maxOptions },
  ),
});
const Score = Type.Object({
  type: Type.Literal('score'),
  ...common,
  levels: Type.Array(Type.Object({ label: Type.String(), description: optional(Type.String()) }), {
    minItems: 1,
    maxItems: maxLevels,
    description: 'The lowest first',
  }),
});
const ListQuestion = Type.Union([Predicate, Choice, Score]);
export type ListQuestion = Static<typeof ListQuestion>;

export const ListDecisionBody = Type.Object({
  model: Type.String({ description: 'A decision model' }),
  input: Type.Union([Type.String(), Type.Array(Item, { minItems: 1 })], {
    description: 'What is decided about: a text, or the turns of a conversation',
  }),
  questions: Type.Array(ListQuestion, { minItems: 1, maxItems: maxQuestions }),
});
export type ListDecisionBody = Static<typeof ListDecisionBody>;

const name = Type.Union([Type.String(), Type.Null()], { description: 'Null where the question has none' });
const value = Type.Union([Type.String(), Type.Boolean()]);
const ListAnswer = Type.Union([
  closed({ type: Type.Literal('predicate'), name, probability }),
  closed({
    type: Type.Literal('choice'),
    name,
    choice: value,
    confidence: probability,
    probabilities: Type.Array(closed({ value, probability })),
  }),
  closed({
    type: Type.Literal('score'),
    name,
    score: Type.Number({ minimum: 0, description: 'The mean level, which may fall between two' }),
    confidence: probability,
    probabilities: Type.Array(closed({ value: count, label: Type.String(), probability })),
  }),
]);
export type ListAnswer = Static<typeof ListAnswer>;

export const ListDecision = closed({
  id: Type.String({ pattern: '^dec-' }),
  model: Type.String(),
  answers: Type.Array(ListAnswer, { description: 'In the order of the questions' }),
  usage: closed({
    input_tokens: count,
    input_tokens_details: closed({ cached_tokens: count, cache_write_tokens: count }),
    output_tokens: Type.Literal(0),
    output_tokens_details: closed({ reasoning_tokens: count }),
    total_tokens: count,
    cost: Type.Number({ description: 'Dollars billed' }),
  }),
});
export type ListDecision = Static<typeof ListDecision>;
