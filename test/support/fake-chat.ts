/** Answers of a model that counts: what a chat port's conformance asks for, in the llama program's own words. */
import type { AnswerPart, ChatInput, ChatOutcome } from '../../src/engines/embedded/llama/types.ts';

export function countFakeTokens(input: unknown): number {
  return JSON.stringify((input as ChatInput).messages).split(' ').length;
}

export async function answerFakeChat(
  given: unknown,
  emit: (part: AnswerPart) => void,
  signal: AbortSignal,
): Promise<ChatOutcome> {
  const input = given as ChatInput;
  let completionTokens = 0;
  let reasoningTokens = 0;
  for (let choice = 0; choice < input.n; choice++) {
    if (input.thinking?.enabled === true) {
      for (const text of ['I ', 'shall ', 'count.']) emit({ type: 'reasoning', choice, text });
      reasoningTokens += 3;
      completionTokens += 3;
    }
    const [tool] = input.tools ?? [];
    if (tool !== undefined) {
      const call = { id: `call_${choice}`, name: tool.name };
      emit({ type: 'tool', choice, index: 0, call, text: '{"city":' });
      emit({ type: 'tool', choice, index: 0, text: '"Paris"}' });
      completionTokens += 2;
      emit({ type: 'finish', choice, finish: { reason: 'tool_calls', native: 'stop' } });
      continue;
    }
    let number = 1;
    for (; number <= Math.min(40, input.maxTokens); number++) {
      // A pause now and then, as between the tokens of a model, lets an abort through.
      if (number % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      completionTokens += 1;
      emit({ type: 'text', choice, text: `${number} "ünï" ` });
    }
    const reason = number > 40 ? 'stop' : 'length';
    emit({ type: 'finish', choice, finish: { reason, native: reason } });
  }
  return { promptTokens: countFakeTokens(input), completionTokens, cachedTokens: 0, reasoningTokens };
}
