/** Wire names to the canonical questions. Structured data becomes its JSON text. */
import type { DecisionOption, DecisionQuestion } from '../../engines/contract/decision.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Entry, NullableEntry, Question } from './schema.ts';

export function toText(entry: NullableEntry | undefined): string {
  if (entry === null || entry === undefined) return '';
  return typeof entry === 'string' ? entry : JSON.stringify(entry);
}

export function toQuestion(question: Question): DecisionQuestion {
  const { type } = question;
  return { type, instructions: toText(question.instructions), options: toOptions(question) };
}

function toOptions(question: Question): DecisionOption[] {
  switch (question.type) {
    case 'noul':
      return [toOption('yes', question.criteria?.true), toOption('no', question.criteria?.false)];
    case 'choice':
      return Object.entries(question.criteria).map(([label, description]) => toOption(label, description));
    case 'score':
      // A level that is not described is known by its number.
      return question.criteria.map((level, index) => ({ label: toText(level) || String(index) }));
  }
}

export function toOption(label: string, description: NullableEntry | undefined): DecisionOption {
  const text = toText(description);
  return text === '' ? { label } : { label, description: text };
}

/** The aliases also take a list of parts: texts, and data as JSON. Any other list is data. */
export function toPartsText(state: Entry): string {
  if (!Array.isArray(state) || state.length === 0 || !state.every(isPart)) return toText(state);
  return state
    .map((part: Part, index) => {
      if (part.type === 'file') {
        const message = `state[${index}] is a file: decision models read text and JSON`;
        throw new GatewayError('invalid_request', message, { param: `state[${index}]` });
      }
      return part.type === 'text' ? part.text : JSON.stringify(part.value);
    })
    .join('\n\n');
}

type Part = { type: 'text'; text: string } | { type: 'json'; value: unknown } | { type: 'file' };

function isPart(value: unknown): value is Part {
  if (typeof value !== 'object' || value === null) return false;
  const { type, text, mediaType } = value as Record<string, unknown>;
  if (type === 'text') return typeof text === 'string';
  return type === 'json' ? 'value' in value : type === 'file' && typeof mediaType === 'string';
}
