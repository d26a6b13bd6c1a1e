/**
 * A conversation of three turns with two tools, whichever client holds it: calls side by side, one more call of
 * a tool that is named, then the answer. What each client made of it is held against what the engine was asked.
 */
import { expect } from 'vitest';
import type { Backend } from './backends.ts';

const unit = { type: 'string', enum: ['celsius', 'fahrenheit'] } as const;

export const weatherParameters = {
  type: 'object',
  properties: { city: { type: 'string' }, unit },
  required: ['city', 'unit'],
  additionalProperties: false,
} as const;

export const timeParameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;

export const tools = [
  { name: 'get_weather', description: 'Weather of a city', parameters: weatherParameters },
  { name: 'get_time', description: 'Local time of a city', parameters: timeParameters },
] as const;

export const loopPrompt = 'What is the weather in Paris and London?';
/** The tool that the second turn has to call. */
export const secondTool = 'get_time';
export const longestLoop = 5;

export interface LoopCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface LoopTurn {
  readonly text: string;
  readonly reasoning?: string | undefined;
  readonly calls: readonly LoopCall[];
}

/** What a tool says. */
export function resultOf(name: string, input: unknown): string {
  return `${name} “${(input as { city: string }).city}”`;
}

interface EngineMessage {
  role: string;
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export function expectLoop(
  backend: Backend,
  name: 'loop' | 'thinking-loop',
  turns: readonly LoopTurn[],
): void {
  const { cases } = backend;
  expect(turns.map(({ calls }) => calls.length > 0)).toEqual([true, true, false]);
  const [first, second, last] = turns as [LoopTurn, LoopTurn, LoopTurn];
  expect(first.calls.map(({ name: called, input }) => ({ name: called, input }))).toEqual(cases.calls);
  for (const call of second.calls) expect(call.name).toBe(secondTool);
  const calls = [...first.calls, ...second.calls];
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
  if (name === 'thinking-loop') {
    for (const { reasoning } of turns) expect(reasoning ?? '').toMatch(cases.thinking.reasoning);
  }

  const asked = backend.asked(name);
  if (asked === undefined) {
    for (const { name: called, input } of calls) expect(last.text).toContain(resultOf(called, input));
    return;
  }
  expect(last.text).toBe(name === 'loop' ? cases.text.text : cases.thinking.text);
  const messages = asked.at(-1)?.body?.['messages'] as EngineMessage[];
  expect(messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    ...first.calls.map(() => 'tool'),
    'assistant',
    ...second.calls.map(() => 'tool'),
  ]);
  const replayed = messages.flatMap(({ tool_calls = [] }) => tool_calls);
  expect(replayed.map((call) => [call.function.name, JSON.parse(call.function.arguments)])).toEqual(
    calls.map(({ name: called, input }) => [called, input]),
  );
  // Each result is joined to its call, under the id that the engine knows.
  const results = messages.filter(({ role }) => role === 'tool');
  expect(results.map(({ tool_call_id, content }) => [tool_call_id, content])).toEqual(
    replayed.map(({ id }, at) => [id, resultOf(calls[at]!.name, calls[at]!.input)]),
  );
  for (const { id } of replayed) expect(id).toMatch(/^call_/);
  // What was said beside the calls comes back as text, what was thought does not.
  const said = messages.flatMap(({ role, content }) => (role === 'assistant' ? [content ?? ''] : []));
  expect(said.map((text) => text.trim())).toEqual([first.text.trim(), second.text.trim()]);
}
