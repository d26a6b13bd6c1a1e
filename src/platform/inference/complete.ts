/** A whole chat answer from one engine, as a promise that the client's leaving ends. */
import assert from 'node:assert';
import type { ChatRequest, ChatResult } from '../../engines/contract/chat.ts';
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
      else resolve(result as ChatResult);
    });
  });
}
