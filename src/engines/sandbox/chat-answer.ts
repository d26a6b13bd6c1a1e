/**
 * One answer of the sandbox, token by token: thoughts where they are asked for, then tool calls, JSON or text,
 * cut where the request says.
 */
import type { ChatRequest, Effort, Finish, TokenLogprob } from '../contract/chat.ts';
import { toChatSeed } from './chat-seed.ts';
import { readSubject, type Subject } from './chat-subject.ts';
import { answerText, continuationText, thoughtText } from './chat-text.ts';
import { toTokens } from './chat-tokens.ts';
import { planCalls } from './chat-tools.ts';
import { sampleJson } from './json-sample.ts';
import { createLogprobs } from './logprobs.ts';
import { createRandom, type Random, toSeed } from './seed.ts';

/** One token of an answer. A call's name is one token, too. */
export type AnswerPart =
  | { readonly type: 'reasoning'; readonly piece: string }
  | { readonly type: 'text'; readonly piece: string; readonly logprobs?: readonly TokenLogprob[] }
  | {
      readonly type: 'tool';
      readonly index: number;
      readonly id?: string;
      readonly name?: string;
      readonly piece: string;
    };

/** How long the thoughts are, in tokens, when no budget cuts them. */
const thoughtTokens: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 16,
  low: 48,
  medium: 128,
  high: 256,
  xhigh: 512,
  max: 1024,
  ultra: 2048,
};

/** `filterAfterTokens` ends an answer as filtered, as a model's script may say. */
export function* composeAnswer(
  request: ChatRequest,
  choice: number,
  filterAfterTokens = Number.POSITIVE_INFINITY,
): Generator<AnswerPart, Finish> {
  const cut: Finish =
    filterAfterTokens < request.maxTokens
      ? { reason: 'content_filter', native: 'filtered' }
      : { reason: 'length', native: 'max_tokens' };
  let left = Math.min(request.maxTokens, filterAfterTokens);
  const whole = composeWhole(request, choice);
  for (;;) {
    const { value, done } = whole.next();
    if (done === true) {
      // The stop sequence itself would have been the next token.
      return value.stopSequence !== undefined && left === 0 ? cut : value;
    }
    if (left === 0) return cut;
    left -= 1;
    yield value;
  }
}

function* composeWhole(request: ChatRequest, choice: number): Generator<AnswerPart, Finish> {
  const seed = toChatSeed(request, choice);
  const streamOf = (purpose: string) => createRandom(toSeed([seed, purpose]));
  const subject = readSubject(request);

  for (const piece of thoughts(request, subject, streamOf('thoughts'))) yield { type: 'reasoning', piece };

  const calls = planCalls(request, subject, streamOf('tools'));
  for (const [index, call] of calls.entries()) {
    yield { type: 'tool', index, id: call.id, name: call.name, piece: '' };
    for (const piece of toTokens(call.arguments)) yield { type: 'tool', index, piece };
  }
  if (calls.length > 0) return { reason: 'tool_calls', native: 'tool_call' };

  const { text, stopSequence } = cutAtStop(contentOf(request, subject, streamOf('text')), request.stop);
  const { topLogprobs } = request;
  const logprobsOf =
    topLogprobs === undefined ? undefined : createLogprobs(streamOf('logprobs'), topLogprobs);
  for (const piece of toTokens(text)) {
    yield logprobsOf === undefined
      ? { type: 'text', piece }
      : { type: 'text', piece, logprobs: [logprobsOf(piece)] };
  }
  return stopSequence === undefined
    ? { reason: 'stop', native: 'end_of_text' }
    : { reason: 'stop', native: 'stop_sequence', stopSequence };
}

/** Thinking is asked for, never assumed, and a continuation has none. */
function* thoughts(
  { thinking, continueFinal }: ChatRequest,
  subject: Subject,
  random: Random,
): Generator<string, void> {
  if (thinking?.enabled !== true || continueFinal) return;
  const tokens = thoughtTokens[thinking.effort ?? 'medium'];
  if (tokens === 0) return;
  let left = thinking.budgetTokens ?? Number.POSITIVE_INFINITY;
  for (const piece of toTokens(thoughtText(subject, random, tokens))) {
    if (left === 0) return;
    left -= 1;
    yield piece;
  }
}

function contentOf(request: ChatRequest, subject: Subject, random: Random): string {
  const answer = toAnswer(request, subject, random);
  if (!request.continueFinal) return answer;
  const beginning = request.messages.at(-1)?.content;
  return typeof beginning === 'string' ? continuationText(beginning, answer, random) : answer;
}

function toAnswer({ responseFormat }: ChatRequest, subject: Subject, random: Random): string {
  if (responseFormat === undefined) return answerText(subject, random);
  if (responseFormat.type === 'json_schema') {
    const { topic, names, numbers } = subject;
    return JSON.stringify(sampleJson(responseFormat.schema, random, { words: [...names, topic], numbers }));
  }
  const { topic, wordCount } = subject;
  return JSON.stringify({ topic, words: wordCount, answer: answerText(subject, random) });
}

function cutAtStop(text: string, stop: readonly string[] = []): { text: string; stopSequence?: string } {
  let end = text.length;
  let stopSequence: string | undefined;
  for (const candidate of stop) {
    const at = candidate === '' ? -1 : text.indexOf(candidate);
    if (at === -1 || at >= end) continue;
    end = at;
    stopSequence = candidate;
  }
  return stopSequence === undefined ? { text } : { text: text.slice(0, end), stopSequence };
}
