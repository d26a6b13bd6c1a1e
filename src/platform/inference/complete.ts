/** A whole chat answer from one engine, as a promise that the client's leaving ends. */
import assert from 'node:assert';
import type { ChatPort, ChatRequest, ChatResult } from '../../engines/contract/chat.ts';
import type { Engine } from '../../engines/contract/engine.ts';

export function completeChat(
  { chat }: Engine,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<ChatResult> {
  assert(chat !== undefined, 'the catalogue gives chat models only engines that have the chat port');
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      run.abort();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const run = chat.complete(request, (error, result) => {
      signal.removeEventListener('abort', onAbort);
      if (error !== undefined) reject(error);
      else
        resolve(
          hasUsage(result as ChatResult)
            ? (result as ChatResult)
            : countUsage(chat, request, result as ChatResult, signal),
        );
    });
  });
}

function hasUsage({ usage }: ChatResult): boolean {
  return usage.promptTokens > 0 || usage.completionTokens > 0;
}

/** For an engine that does not say what it used: the prompt is counted, the answer is counted as a prompt would be. */
async function countUsage(
  chat: ChatPort,
  request: ChatRequest,
  result: ChatResult,
  signal: AbortSignal,
): Promise<ChatResult> {
  const said = result.choices
    .map(({ text, reasoning, toolCalls }) => text + reasoning + JSON.stringify(toolCalls))
    .join('');
  const [promptTokens, completionTokens] = await Promise.all([
    chat.countTokens(request, signal),
    chat.countTokens({ ...request, messages: [{ role: 'user', content: said }] }, signal),
  ]);
  return { ...result, usage: { promptTokens, completionTokens, cachedTokens: 0, reasoningTokens: 0 } };
}
