/** What an answer has to look like, as a grammar that llama.cpp holds the model to. */
import type { Llama, LlamaGrammar } from 'node-llama-cpp';
import { GatewayError } from '../../../lib/errors.ts';
import { GrammarError } from './grammar-error.ts';
import { literal } from './grammar-text.ts';
import { JsonGrammar, toGrammar } from './json-grammar.ts';
import type { ToolFormat } from './tool-format.ts';
import type { ChatInput } from './types.ts';

/** Undefined: it may look as it likes. `forced` is how a call is written, when there has to be one. */
export async function createGrammar(
  llama: Llama,
  input: ChatInput,
  forced: ToolFormat | undefined,
): Promise<LlamaGrammar | undefined> {
  const grammar = toGrammarText(input, forced);
  if (grammar === undefined) return undefined;
  try {
    return await llama.createGrammar({ grammar });
  } catch (cause) {
    // The same text fails whenever it is tried, so this is no failure of the model.
    const message = 'This model cannot be held to this JSON schema: llama.cpp does not read its grammar';
    throw new GatewayError('invalid_request', message, { param: toParam(forced), cause });
  }
}

function toParam(forced: ToolFormat | undefined): string {
  return forced === undefined ? 'response_format.json_schema.schema' : 'tools';
}

export function toGrammarText(input: ChatInput, forced: ToolFormat | undefined): string | undefined {
  const { responseFormat } = input;
  if (forced !== undefined) return refusing(toParam(forced), () => toCallGrammar(input, forced));
  if (responseFormat?.type === 'json_object') return toGrammar({ type: 'object' });
  if (responseFormat?.type === 'json_schema') {
    return refusing(toParam(forced), () => toGrammar(responseFormat.schema));
  }
  return undefined;
}

function toCallGrammar({ tools = [], toolChoice }: ChatInput, format: ToolFormat): string {
  const allowed =
    typeof toolChoice === 'object' ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  const { argumentsKey, onlyFirst, isList, open, close = '' } = format;
  const grammar = new JsonGrammar();
  const calls = allowed.map(({ name, parameters = { type: 'object' } }) =>
    grammar.record([
      ['name', literal(JSON.stringify(name))],
      [argumentsKey, grammar.schema(parameters, parameters, `${name}.parameters`)],
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
    // Values nested so deep that JSON.stringify gives up on them.
    if (!(error instanceof GrammarError || error instanceof RangeError)) throw error;
    const message = error instanceof GrammarError ? error.explanation : 'The JSON schema is nested too deep';
    throw new GatewayError('invalid_request', message, { param, cause: error });
  }
}
