/** How models write down the calls of tools: each template teaches its model one of these ways. */

export interface CalledTool {
  readonly name: string;
  /** A JSON text. */
  readonly arguments: string;
}

export interface ToolFormat {
  /** What a call begins with. */
  readonly open: string;
  /** What it ends with; absent: with the answer. */
  readonly close?: string;
  /** Only an answer that begins so is a call. */
  readonly onlyFirst: boolean;
  /** The key of the arguments in a call's JSON. */
  readonly argumentsKey: 'arguments' | 'parameters';
  /** Around the JSON of one call, where the whole is a list. */
  readonly isList: boolean;
}

/** `<tool_call>{"name": …, "arguments": …}</tool_call>`: Hermes, Qwen and many others. */
const tagged: ToolFormat = {
  open: '<tool_call>',
  close: '</tool_call>',
  onlyFirst: false,
  argumentsKey: 'arguments',
  isList: false,
};

/** `[TOOL_CALLS][{"name": …, "arguments": …}]`: Mistral. */
const listed: ToolFormat = {
  open: '[TOOL_CALLS]',
  onlyFirst: false,
  argumentsKey: 'arguments',
  isList: true,
};

/** `{"name": …, "parameters": …}` as the whole answer: Llama 3. */
const bare: ToolFormat = { open: '{', onlyFirst: true, argumentsKey: 'parameters', isList: false };

export function findToolFormat(template: string): ToolFormat | undefined {
  if (!template.includes('tools')) return undefined;
  if (template.includes(tagged.open)) return tagged;
  if (template.includes('[TOOL_CALLS]') || template.includes('[AVAILABLE_TOOLS]')) return listed;
  return template.includes('<|python_tag|>') || template.includes('"parameters"') ? bare : undefined;
}

/** The calls in the text between a format's marks; undefined when it is none. */
export function parseCalls(text: string): CalledTool[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  const calls: CalledTool[] = [];
  for (const call of Array.isArray(parsed) ? parsed : [parsed]) {
    if (typeof call !== 'object' || call === null) return undefined;
    const { name, arguments: args, parameters } = call as Record<string, unknown>;
    if (typeof name !== 'string') return undefined;
    const given = args ?? parameters ?? {};
    calls.push({ name, arguments: typeof given === 'string' ? given : JSON.stringify(given) });
  }
  return calls.length === 0 ? undefined : calls;
}
