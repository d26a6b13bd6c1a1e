/** What an answer has to look like, as a grammar that llama.cpp holds the model to. */
import type { Llama, LlamaGrammar } from 'node-llama-cpp';
import { GatewayError } from '../../../lib/errors.ts';
import { GrammarError } from './grammar-error.ts';
import { JsonGrammar, literal, toGrammar } from './json-grammar.ts';
import type { ToolFormat } from './tool-format.ts';
import type { ChatInput } from './types.ts';

/** Undefined: it may look as it likes. `forced` is how a call is written, when there has to be one. */
export async function createGrammar(
  llama: Llama,
  input: ChatInput,
  forced: ToolFormat | undefined,
): Promise<LlamaGrammar | undefined> {
  const grammar = toGrammarText(input, forced);
  return grammar === undefined ? undefined : llama.createGrammar({ grammar });
}

export function toGrammarText(input: ChatInput, forced: ToolFormat | undefined): string | undefined {
  const { responseFormat } = input;
  if (forced !== undefined) return refusing('tools', () => toCallGrammar(input, forced));
  if (responseFormat?.type === 'json_object') return toGrammar({ type: 'object' });
  if (responseFormat?.type === 'json_schema') {
    return refusing('response_format.json_schema.schema', () => toGrammar(responseFormat.schema));
  }
  return undefined;
}

function toCallGrammar({ tools = [], toolChoice }: ChatInput, format: ToolFormat): string {
  const allowed =
    typeof toolChoice === 'object' ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  const { argumentsKey, onlyFirst, isList, open, close = '' } = format;
  const grammar = new JsonGrammar();
  const calls = allowed.map(({ name, parameters }) =>
    grammar.record([
      ['name', literal(JSON.stringify(name))],
      [argumentsKey, grammar.schema(parameters ?? { type: 'object' })],
    ]),
  );
  const call = `(${calls.join(' | ')})`;
  const written = isList ? `"[" ${call} "]"` : call;
  return grammar.toText(onlyFirst ? written : `${literal(open)} ${written} ${literal(close)}`);
}

/** A schema that cannot be held to is refused, never held to in part. */
function refusing(param: string, work: () => string): string {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error;
    throw new GatewayError('invalid_request', error.message, { param, cause: error });
  }
}
