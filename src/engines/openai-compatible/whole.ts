/** Reads an answer that was not streamed. Only what the canonical result has is taken; engine fields are dropped. */
import type { ChatChoice, ChatResult, ToolCall } from '../contract/chat.ts';
import { failures, toAnswerFailure } from './failures.ts';
import { isPlain, type PlainAnswers } from './plain-answers.ts';
import {
  type Asked,
  argumentsOf,
  brokenFinishes,
  reasoningOf,
  textOf,
  toCallId,
  toFinish,
  toLogprobs,
  toUsage,
  type WireAnswer,
  type WireChoice,
  type WireToolCall,
} from './wire.ts';

/** Throws a GatewayError when the body is no whole answer to what was asked. `known` are the shapes of earlier ones. */
export function readWhole(body: Buffer, asked: Asked, known?: PlainAnswers): ChatResult {
  const text = body.toString('utf8');
  if (known === undefined || !isPlain(asked)) return toResult(parse(text), asked);
  const plain = known.read(text);
  if (plain !== undefined) return plain;
  const result = toResult(parse(text), asked);
  known.learn(text, result, (other) => toResult(parse(other), asked));
  return result;
}

function toResult(answer: WireAnswer, asked: Asked): ChatResult {
  if (answer.error || answer.object === 'error') throw toAnswerFailure(answer.error || answer);
  const choices: ChatChoice[] = [];
  for (const choice of Array.isArray(answer.choices) ? answer.choices : []) {
    const index = choice?.index ?? choices.length;
    if (!Number.isInteger(index) || index < 0 || index >= asked.n)
      throw failures.unreadable(new Error(`choice ${String(index)} of ${asked.n}`));
    choices[index] = toChoice(choice, asked);
  }
  if (choices[0] === undefined) throw failures.unfinished();
  // An engine that does not know `n`: not its failure, or one client could have it set aside for all others.
  for (let i = 1; i < asked.n; i++) if (choices[i] === undefined) throw failures.tooFewAnswers();
  return { choices, usage: toUsage(answer.usage ?? {}) };
}

function parse(body: string): WireAnswer {
  try {
    const answer = JSON.parse(body) as WireAnswer | null;
    if (typeof answer === 'object' && answer !== null) return answer;
  } catch (error) {
    throw failures.unreadable(error);
  }
  throw failures.unreadable(new Error('not an object'));
}

function toChoice(choice: WireChoice, asked: Asked): ChatChoice {
  const { finish_reason: native } = choice;
  if (!native || brokenFinishes.has(native)) throw failures.unfinished();
  const message = choice.message ?? {};
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.map(toToolCall) : [];
  return {
    text: withoutRepeated(textOf(message.content), asked),
    reasoning: reasoningOf(message),
    toolCalls: calls,
    logprobs: toLogprobs(choice, asked),
    finish: toFinish(choice, calls.length > 0, asked),
  };
}

/** The specification: a continuation answers only the new text. */
function withoutRepeated(text: string, { repeats = '' }: Asked): string {
  return text.startsWith(repeats) ? text.slice(repeats.length) : text;
}

function toToolCall(call: WireToolCall): ToolCall {
  const name = textOf(call?.function?.name);
  if (name === '') throw failures.unreadable(new Error('a tool call without a name'));
  return { id: toCallId(call.id), name, arguments: argumentsOf(call) || '{}' };
}
