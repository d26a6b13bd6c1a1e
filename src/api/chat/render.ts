/** A whole answer as a chat completion. Every field is named here, so nothing of an engine's own gets through. */
import type { ChatChoice, ChatResult, TokenLogprob, Usage } from '../../engines/contract/chat.ts';
import type { ChatCompletion } from './schema.ts';

/** The same on every answer and chunk: one SDK requires the key, and another takes no null. */
export const systemFingerprint = 'fp_roundhouse';

/** The largest index that SDKs take is 127. */
export const maxToolCalls = 128;

/** What every answer and every chunk of one says of itself. */
export interface AnswerHead {
  /** `chatcmpl-…` */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
}

type Choice = ChatCompletion['choices'][number];

export function toCompletion(head: AnswerHead, result: ChatResult, costPicoUsd: bigint): ChatCompletion {
  return {
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    system_fingerprint: systemFingerprint,
    choices: result.choices.map(toChoice),
    usage: toUsage(result.usage, costPicoUsd),
  };
}

/**
 * The same as JSON, for an answer whose text stands in JSON already: escaping it again and walking all of these objects
 * would take as long as everything else that is done with the answer. Undefined for any other.
 */
export function toCompletionText(
  { id, created, model }: AnswerHead,
  { choices, usage }: ChatResult,
  costPicoUsd: bigint,
): string | undefined {
  const [choice] = choices;
  if (choices.length !== 1 || choice?.textInJson === undefined) return undefined;
  const { textInJson, finish } = choice;
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = usage;
  return (
    `{"id":"${id}","object":"chat.completion","created":${created},"model":${JSON.stringify(model)},` +
    `"system_fingerprint":"${systemFingerprint}","choices":[{"index":0,"message":{"role":"assistant",` +
    `"content":"${textInJson}","refusal":null,"reasoning":null},"logprobs":null,` +
    `"finish_reason":"${finish.reason}","native_finish_reason":${JSON.stringify(finish.native)}}],` +
    `"usage":{"prompt_tokens":${promptTokens},"completion_tokens":${completionTokens},` +
    `"total_tokens":${promptTokens + completionTokens},` +
    `"prompt_tokens_details":{"cached_tokens":${cachedTokens}},` +
    `"completion_tokens_details":{"reasoning_tokens":${reasoningTokens}},"cost":${toCost(costPicoUsd)}}}`
  );
}

function toChoice({ text, reasoning, toolCalls, logprobs, finish }: ChatChoice, index: number): Choice {
  const message: Choice['message'] = {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    refusal: null,
    reasoning: reasoning === '' ? null : reasoning,
  };
  // The key stands only where there are calls: null or an empty list ends some clients.
  if (toolCalls.length > 0) message.tool_calls = toolCalls.slice(0, maxToolCalls).map(toToolCall);
  return {
    index,
    message,
    logprobs: logprobs === undefined ? null : toLogprobs(logprobs),
    finish_reason: finish.reason,
    native_finish_reason: finish.native,
  };
}

type WireToolCall = NonNullable<Choice['message']['tool_calls']>[number];

function toToolCall({ id, name, arguments: text }: ChatChoice['toolCalls'][number]): WireToolCall {
  // An empty string is no JSON, and one client takes it for an invalid call.
  return { id, type: 'function', function: { name, arguments: text === '' ? '{}' : text } };
}

export function toLogprobs(logprobs: readonly TokenLogprob[]): NonNullable<Choice['logprobs']> {
  const content = logprobs.map(({ topLogprobs, ...token }) => ({
    ...toToken(token),
    top_logprobs: topLogprobs.map(toToken),
  }));
  return { content, refusal: null };
}

/** JSON has no infinity, and clients require a number: OpenAI writes -9999 for what cannot happen. */
const impossible = -9999;

function toToken({ token, logprob, bytes }: Omit<TokenLogprob, 'topLogprobs'>) {
  return {
    token,
    logprob: Number.isFinite(logprob) ? logprob : impossible,
    bytes: bytes === null ? null : [...bytes],
  };
}

export function toUsage(usage: Usage, costPicoUsd: bigint): ChatCompletion['usage'] {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    cost: toCost(costPicoUsd),
  };
}

function toCost(picoUsd: bigint): number {
  return Number(picoUsd) / 1e12;
}
