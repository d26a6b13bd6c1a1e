/** OpenAI's form of a decision to the canonical one. */
import type { DecisionQuestion } from '../../engines/contract/decision.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Content, Item, ListDecisionBody, ListQuestion, Part } from './list-schema.ts';
import { toOption } from './translate.ts';

/** One user's message is its text; of several turns each says whose it is. */
export function toInputText(input: ListDecisionBody['input']): string {
  if (typeof input === 'string') return input;
  const [first] = input;
  if (input.length === 1 && first !== undefined && 'role' in first && first.role === 'user')
    return toContentText(first.content, 'input[0].content');
  return input.map((item, index) => toTurn(item, `input[${index}]`)).join('\n\n');
}

function toTurn(item: Item, path: string): string {
  if ('role' in item) return `${item.role}: ${toContentText(item.content, `${path}.content`)}`;
  switch (item.type) {
    case 'function_call':
      return `assistant calls ${item.name}: ${item.arguments}`;
    case 'custom_tool_call':
      return `assistant calls ${item.name}: ${item.input}`;
    case 'function_call_output':
    case 'custom_tool_call_output':
      return `tool: ${toContentText(item.output, `${path}.output`)}`;
  }
}

function toContentText(content: Content, path: string): string {
  if (typeof content === 'string') return content;
  return content.map((part, index) => toPartText(part, `${path}[${index}]`)).join('\n\n');
}

function toPartText(part: Part, param: string): string {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return part.text;
    case 'refusal':
      return part.refusal;
    case 'input_json':
      return JSON.stringify(part.data);
    case 'input_image':
      throw new GatewayError('invalid_request', `${param} is an image: decision models read text`, { param });
  }
}

export function toListQuestion(question: ListQuestion, index: number): DecisionQuestion {
  const path = `questions[${index}]`;
  const { instructions: asked } = question;
  const instructions = asked == null ? '' : toContentText(asked, `${path}.instructions`);
  switch (question.type) {
    case 'predicate':
      return { type: 'noul', instructions, options: [{ label: 'yes' }, { label: 'no' }] };
    case 'choice':
      refuseTwins(question.choices, `${path}.choices`);
      return {
        type: 'choice',
        instructions,
        options: question.choices.map(({ value, description }) => toOption(String(value), description)),
      };
    case 'score':
      return {
        type: 'score',
        instructions,
        options: question.levels.map(({ label, description }) => toOption(label, description)),
      };
  }
}

/** The text `true` and the value true are two choices. */
function refuseTwins(choices: readonly { value: string | boolean }[], path: string): void {
  const seen = new Set<string | boolean>();
  for (const [index, { value }] of choices.entries()) {
    if (seen.has(value)) {
      const param = `${path}[${index}].value`;
      throw new GatewayError('invalid_request', `${param} stands twice among the choices`, { param });
    }
    seen.add(value);
  }
}
