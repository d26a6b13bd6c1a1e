/** The canonical request as an engine's JSON body, field by field: what is not written here never reaches an engine. */

import { GatewayError } from '../../lib/errors.ts';
import type { ChatRequest, ResponseFormat, Tool, ToolChoice } from '../contract/chat.ts';
import type { Fields, Flavor } from './flavor.ts';
import { toWireMessages } from './messages.ts';

export function toBody(request: ChatRequest, flavor: Flavor, isStreamed: boolean): Fields {
  if (request.n > 1 && !flavor.takesN)
    throw new GatewayError('invalid_request', 'n must be 1 for this model', { param: 'n' });
  const { stop, responseFormat, topK, repetitionPenalty, topLogprobs } = request;
  // What is undefined is not written: one literal is cheaper to make and to write than many that are spread.
  const body: MutableFields = {
    ...toPrompt(request, flavor),
    // The one name for it that all of them know; OpenAI's newer one reaches neither Ollama nor older servers.
    max_tokens: request.maxTokens,
    n: request.n > 1 ? request.n : undefined,
    temperature: request.temperature,
    top_p: request.topP,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    seed: request.seed,
    stop: stop === undefined || stop.length === 0 ? undefined : stop,
    response_format: responseFormat === undefined ? undefined : toWireFormat(responseFormat),
    stream: isStreamed ? true : undefined,
    stream_options: isStreamed ? withUsage : undefined,
  };
  if (topK !== undefined || repetitionPenalty !== undefined)
    Object.assign(body, flavor.sampling(topK, repetitionPenalty));
  if (topLogprobs !== undefined) {
    body['logprobs'] = true;
    body['top_logprobs'] = Math.max(topLogprobs, flavor.leastTopLogprobs);
  }
  return body;
}

type MutableFields = Record<string, unknown>;
const withUsage = { include_usage: true };

/** What decides the prompt: all that a tokenizer has to know. */
export function toPrompt(request: ChatRequest, flavor: Flavor): Fields {
  const prompt: MutableFields = {
    model: request.model,
    messages: toWireMessages(request.messages, flavor),
  };
  if (request.tools !== undefined) Object.assign(prompt, toToolFields(request, flavor));
  if (request.continueFinal) Object.assign(prompt, flavor.continuation);
  if (request.thinking !== undefined) Object.assign(prompt, toThinkingFields(request, flavor));
  return prompt;
}

/** The specification: a continuation disables thinking. */
function toThinkingFields({ continueFinal, thinking }: ChatRequest, flavor: Flavor): Fields {
  if (thinking === undefined) return {};
  return flavor.thinking(continueFinal ? { enabled: false } : thinking);
}

function given(name: string, value: unknown): Fields {
  return value === undefined ? {} : { [name]: value };
}

function toWireFormat(format: ResponseFormat): Fields {
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  const rest = { ...given('description', description), schema, ...given('strict', strict) };
  return { type: 'json_schema', json_schema: { name, ...rest } };
}

function toToolFields({ tools = [], toolChoice, parallelToolCalls }: ChatRequest, flavor: Flavor): Fields {
  if (tools.length === 0) return {};
  const list = (chosen: readonly Tool[]) => chosen.map(toWireTool);
  const parallel = flavor.toolChoice === 'none' ? {} : given('parallel_tool_calls', parallelToolCalls);
  if (typeof toolChoice === 'object' && flavor.toolChoice !== 'named') {
    // The nearest thing to a named tool: no other one to choose, and where that can be said, no way around it.
    const only = list(tools.filter(({ name }) => name === toolChoice.name));
    return {
      tools: only,
      ...(flavor.toolChoice === 'words' ? { tool_choice: 'required' } : {}),
      ...parallel,
    };
  }
  if (flavor.toolChoice === 'none') return toolChoice === 'none' ? {} : { tools: list(tools) };
  const choice = toolChoice === undefined ? {} : { tool_choice: toWireChoice(toolChoice) };
  return { tools: list(tools), ...choice, ...parallel };
}

function toWireTool({ name, description, parameters, strict }: Tool): Fields {
  return {
    type: 'function',
    function: {
      name,
      ...given('description', description),
      ...given('parameters', parameters),
      ...given('strict', strict),
    },
  };
}

function toWireChoice(choice: ToolChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}
