/**
 * The response object and its items as JSON in bytes: spliced from what the engine said, never parsed, so that
 * what is streamed, answered whole and kept is the same text.
 */
import type {
  ChatRequest,
  ChatResult,
  FinishReason,
  TokenLogprob,
  Usage,
} from '../../engines/contract/chat.ts';
import { type JsonBytes, toBytes, toJsonBytes } from '../../engines/contract/json-bytes.ts';
import type { ErrorKind, GatewayError } from '../../lib/errors.ts';
import type { ResponsesBody } from './schema.ts';
import { summaryOf } from './translate.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** Something of an answer, ready to be sent and kept. */
export interface RenderedItem {
  readonly id: string;
  /** A JSON object, in bytes. */
  readonly bytes: string;
}

/** Where an answer stands. */
export interface Progress {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly RenderedItem[];
  /** In bytes. */
  readonly usage?: string;
  readonly incompleteReason?: IncompleteReason | undefined;
  readonly error?: GatewayError;
  /** Unix seconds. */
  readonly completedAt?: number;
}

export type IncompleteReason = 'max_output_tokens' | 'content_filter';

/** What every object of one response says alike: the beginning and the end of its JSON, in bytes. */
export interface Frame {
  readonly id: string;
  readonly start: string;
  readonly end: string;
}

export interface FrameHead {
  /** `resp_…` */
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly model: string;
}

/** What was asked is told as it holds: defaults filled in, null where nothing was said. */
export function toFrame(
  { id, createdAt, model }: FrameHead,
  body: ResponsesBody,
  request: ChatRequest,
): Frame {
  const asked = {
    instructions: body.instructions ?? null,
    metadata: body.metadata ?? {},
    model,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    temperature: request.temperature ?? 1,
    top_p: request.topP ?? 1,
    presence_penalty: request.presencePenalty ?? 0,
    frequency_penalty: request.frequencyPenalty ?? 0,
    tool_choice: body.tool_choice ?? 'auto',
    tools: (body.tools ?? []).map(toToolEcho),
    access_programs: null,
    background: false,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: summaryOf(body) },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: 'default',
    text: { format: toFormatEcho(body) },
    top_logprobs: body.top_logprobs ?? 0,
    truncation: 'disabled',
    user: body.user ?? null,
  };
  return {
    id,
    start: `{"id":"${id}","object":"response","created_at":${createdAt},`,
    end: json(asked).slice(1),
  };
}

type WireTool = NonNullable<ResponsesBody['tools']>[number];

function toToolEcho({ type, name, description, parameters, strict }: WireTool) {
  return {
    type,
    name,
    description: description ?? null,
    parameters: parameters ?? null,
    strict: strict ?? null,
  };
}

function toFormatEcho({ text }: ResponsesBody) {
  const format = text?.format ?? { type: 'text' as const };
  if (format.type !== 'json_schema') return { type: format.type };
  const { type, name, description, schema, strict } = format;
  // One SDK takes no null for the description.
  return { type, name, ...(description == null ? {} : { description }), schema, strict: strict ?? null };
}

/** The response object as it stands. */
export function toResponse(frame: Frame, progress: Progress, isStored: boolean): string {
  return fill(toAround(frame, progress, isStored), progress.output);
}

/** A response object without its output, in bytes. */
export interface Around {
  readonly before: string;
  readonly after: string;
}

export function toAround({ start, end }: Frame, progress: Progress, isStored: boolean): Around {
  const { status, usage, incompleteReason, error, completedAt } = progress;
  const details = incompleteReason === undefined ? 'null' : `{"reason":"${incompleteReason}"}`;
  const failure = error === undefined ? 'null' : json({ code: failureCode(error), message: error.message });
  return {
    before:
      `${start}"completed_at":${completedAt ?? 'null'},"status":"${status}","error":${failure},` +
      `"incomplete_details":${details},"output":[`,
    after: `],"usage":${usage ?? 'null'},"store":${isStored},${end}`,
  };
}

export function fill({ before, after }: Around, output: readonly RenderedItem[]): string {
  return before + output.map(({ bytes }) => bytes).join(',') + after;
}

export function incompleteReason(reason: FinishReason): IncompleteReason | undefined {
  if (reason === 'length') return 'max_output_tokens';
  return reason === 'content_filter' ? reason : undefined;
}

const failureCodes: Partial<Record<ErrorKind, string>> = {
  rate_limited: 'rate_limit_exceeded',
  invalid_request: 'invalid_prompt',
  unsupported_parameter: 'invalid_prompt',
  too_large: 'invalid_prompt',
};

/** OpenAI's words for a failure inside of a response. */
export function failureCode({ kind }: GatewayError): string {
  return failureCodes[kind] ?? 'server_error';
}

/** `logprobs` is the inside of a JSON array. */
export function toTextPart(text: JsonBytes, logprobs: string): string {
  return `{"type":"output_text","text":"${text}","annotations":[],"logprobs":[${logprobs}]}`;
}

export function toMessageItem(id: string, status: ItemStatus, parts: string): string {
  return `{"id":"${id}","type":"message","role":"assistant","status":"${status}","content":[${parts}]}`;
}

/** Either as a summary, which is what some clients read, or as what it is. */
export function toReasoningPart(text: JsonBytes, isSummary: boolean): string {
  return `{"type":"${isSummary ? 'summary_text' : 'reasoning_text'}","text":"${text}"}`;
}

export function toReasoningItem(id: string, status: ItemStatus, part: string, isSummary: boolean): string {
  const places = isSummary ? `"summary":[${part}],"content":[]` : `"summary":[],"content":[${part}]`;
  return `{"id":"${id}","type":"reasoning","status":"${status}",${places}}`;
}

/** `call` says which call of which tool, from `toCallName`. */
export function toCallItem(id: string, status: ItemStatus, call: string, args: JsonBytes): string {
  return `{"id":"${id}","type":"function_call","status":"${status}",${call},"arguments":"${args}"}`;
}

export function toCallName(callId: string, name: string): string {
  return `"call_id":${json(callId)},"name":${json(name)}`;
}

/** A call without arguments has the arguments `{}`: an empty string is no JSON. */
export const noArguments = '{}' as JsonBytes;

/** The inside of a JSON array. */
export function toLogprobs(logprobs: readonly TokenLogprob[]): string {
  return json(
    logprobs.map(({ topLogprobs, ...token }) => ({
      ...toToken(token),
      top_logprobs: topLogprobs.map(toToken),
    })),
  ).slice(1, -1);
}

/** JSON has no infinity, and clients require a number: OpenAI writes -9999 for what cannot happen. */
const impossible = -9999;

/** One SDK takes no null for the bytes, other than on the chat route. */
function toToken({ token, logprob, bytes }: Omit<TokenLogprob, 'topLogprobs'>) {
  return {
    token,
    logprob: Number.isFinite(logprob) ? logprob : impossible,
    bytes: [...(bytes ?? Buffer.from(token))],
  };
}

export function toUsage(usage: Usage, costPicoUsd: bigint): string {
  return json({
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
    cost: Number(costPicoUsd) / 1e12,
  });
}

/** A whole answer: what it thought, what it said, what it calls. */
export function toProgress(
  { choices: [choice], usage }: ChatResult,
  costPicoUsd: bigint,
  createId: (prefix: string) => string,
  isSummary: boolean,
): Progress {
  const renders: ((status: ItemStatus) => RenderedItem)[] = [];
  const add = (prefix: string, render: (id: string, status: ItemStatus) => string) => {
    const id = createId(prefix);
    renders.push((status) => ({ id, bytes: render(id, status) }));
  };
  const { text = '', reasoning = '', toolCalls = [], logprobs = [], finish } = choice ?? {};
  if (reasoning !== '') {
    const part = toReasoningPart(toJsonBytes(reasoning), isSummary);
    add('rs', (id, status) => toReasoningItem(id, status, part, isSummary));
  }
  if (text !== '') {
    const part = toTextPart(toJsonBytes(text), toLogprobs(logprobs));
    add('msg', (id, status) => toMessageItem(id, status, part));
  }
  for (const call of toolCalls) {
    const args = call.arguments === '' ? noArguments : toJsonBytes(call.arguments);
    add('fc', (id, status) => toCallItem(id, status, toCallName(call.id, call.name), args));
  }
  const reason = incompleteReason(finish?.reason ?? 'stop');
  // Only what was being written when it ended is cut short.
  const output = renders.map((render, index) =>
    render(reason !== undefined && index === renders.length - 1 ? 'incomplete' : 'completed'),
  );
  return toFinished(output, reason, toUsage(usage, costPicoUsd));
}

export function toFinished(
  output: readonly RenderedItem[],
  reason: IncompleteReason | undefined,
  usage: string,
): Progress {
  if (reason !== undefined) return { status: 'incomplete', output, usage, incompleteReason: reason };
  return { status: 'completed', output, usage, completedAt: Math.floor(Date.now() / 1000) };
}

/** A value as JSON, in bytes that can be spliced. */
export function json(value: unknown): string {
  return toBytes(JSON.stringify(value));
}
