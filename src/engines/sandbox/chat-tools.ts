/** Which tools the sandbox calls, and with what: the ones that the user's words suggest, or that are demanded. */
import type { ChatRequest, Tool } from '../contract/chat.ts';
import type { Subject } from './chat-subject.ts';
import { sampleJson } from './json-sample.ts';
import { toNames, toSchema } from './json-schema.ts';
import type { Random } from './seed.ts';

export interface PlannedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

const mostCalls = 8;

/** Words that many tools have in their names and descriptions, so that they tell nothing. */
const generic = new Set(
  'get set fetch find search lookup list create make run do call tool function current given return a an the for of in on to by and or with from is are be it this that as at you your user any all use'.split(
    ' ',
  ),
);

export function planCalls(request: ChatRequest, subject: Subject, random: Random): readonly PlannedCall[] {
  const { tools = [], toolChoice = 'auto', parallelToolCalls = true } = request;
  if (toolChoice === 'none' || tools.length === 0 || request.continueFinal) return [];
  const chosen = chooseTools(tools, toolChoice, subject);
  const calls = chosen.flatMap((tool) => argumentSets(tool, subject).map((names) => ({ tool, names })));
  return calls.slice(0, parallelToolCalls ? mostCalls : 1).map(({ tool, names }) => ({
    id: `call_${Array.from({ length: 24 }, () => random.below(16).toString(16)).join('')}`,
    name: tool.name,
    arguments: toArguments(tool, subject, names, random),
  }));
}

function chooseTools(
  tools: readonly Tool[],
  choice: Exclude<ChatRequest['toolChoice'], 'none' | undefined>,
  subject: Subject,
): readonly Tool[] {
  if (typeof choice === 'object') return tools.filter(({ name }) => name === choice.name).slice(0, 1);
  const said = new Set(toWords(subject.text).map(stem));
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, subject, said) }));
  const suggested = scored.filter(({ score }) => score >= 2).sort((a, b) => b.score - a.score);
  if (choice === 'required')
    return suggested.length > 0 ? suggested.map(({ tool }) => tool) : tools.slice(0, 1);
  // The results are there: now the answer is due.
  return subject.toolResults.length > 0 ? [] : suggested.map(({ tool }) => tool);
}

/** 2 for a telling word of its name, 1 for one of its description, more than any words for the name itself. */
function scoreOf({ name, description = '' }: Tool, { text }: Subject, said: ReadonlySet<string>): number {
  if (text.includes(name) && name.length > 2) return 100;
  const ownWords = toWords(name);
  const telling = ownWords.filter((word) => !generic.has(word));
  const inName = (telling.length > 0 ? telling : ownWords).filter((word) => said.has(stem(word)));
  const inDescription = new Set(
    toWords(description)
      .filter((word) => word.length > 2 && !generic.has(word))
      .map(stem),
  );
  const described = [...inDescription].filter((word) => said.has(word));
  const isAsked = /\b(?:tools?|functions?)\b/i.test(text) ? 2 : 0;
  return inName.length * 2 + described.length + isAsked;
}

/** `getWeather_now` as get, weather, now. */
function toWords(text: string): string[] {
  const apart = text.slice(0, 8_000).replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
  return apart.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s|e)$/, '') : word;
}

/** "Paris and London" for a tool that takes one text are two calls. */
function argumentSets({ parameters }: Tool, { names }: Subject): readonly (readonly string[])[] {
  const schema = toSchema(parameters);
  const properties = toSchema(schema['properties']);
  const texts = toNames(schema['required']).filter((name) => {
    const field = toSchema(properties[name]);
    return field['type'] === 'string' && field['enum'] === undefined && field['const'] === undefined;
  });
  return texts.length === 1 && names.length > 1 ? names.map((name) => [name]) : [names];
}

function toArguments(tool: Tool, subject: Subject, names: readonly string[], random: Random): string {
  const words = [...names, ...(names.includes(subject.topic) ? [] : [subject.topic])];
  const schema = { type: 'object', ...tool.parameters };
  return JSON.stringify(sampleJson(schema, random, { words, numbers: subject.numbers }));
}
