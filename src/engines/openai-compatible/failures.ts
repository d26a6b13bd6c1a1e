/**
 * What went wrong at an engine, in the gateway's words. Clients read the messages, so they hold no address;
 * the engine's own text is shown only where it is about the request, and otherwise kept as the cause.
 */
import { GatewayError } from '../../lib/errors.ts';
import { toPublicMessage } from '../../lib/public-message.ts';

export const failures = {
  unreachable: (cause?: unknown) =>
    new GatewayError('unreachable', 'The engine could not be reached', { cause }),
  lost: (cause?: unknown) =>
    new GatewayError('unreachable', 'The connection to the engine was lost', { cause }),
  unreadable: (cause?: unknown) =>
    new GatewayError('unreachable', "The engine's answer could not be read", { cause }),
  tooFewAnswers: () =>
    new GatewayError('invalid_request', 'n must be 1: the engine of this model gives one answer at a time', {
      param: 'n',
    }),
  unfinished: () => new GatewayError('unreachable', 'The engine stopped before its answer was finished'),
  soundless: (cause?: unknown) =>
    new GatewayError('unreachable', "The engine's answer is no sound that can be used", { cause }),
  elsewhere: () =>
    new GatewayError('unreachable', 'The engine answered with a link to another host, which is not followed'),
  tooLong: () => new GatewayError('unreachable', "The engine's answer is too long to be read"),
  late: () => new GatewayError('timeout', 'The engine did not answer in time'),
  silent: () => new GatewayError('timeout', 'The engine fell silent before its answer was finished'),
} as const;

/** The cause of a failure that an engine told by its status. */
export class EngineRefusal extends Error {
  readonly status: number;

  constructor(status: number, told: string) {
    super(`status ${status}: ${told.slice(0, 1_000)}`);
    this.status = status;
  }
}

/** A status other than 200, with what came along. */
export function toRefusal(status: number, body: string, retryAfter: string | undefined): GatewayError {
  const told = toldBy(parse(body));
  const cause = new EngineRefusal(status, told ?? body);
  switch (status) {
    case 400:
    case 404:
    case 413:
    case 422:
      return new GatewayError('invalid_request', publicText(told), { cause });
    case 401:
    case 403:
      return new GatewayError('unreachable', "The engine refused the gateway's credentials", { cause });
    case 429:
    case 503:
      return new GatewayError('overloaded', 'The engine is busy: try again later', {
        cause,
        ...toRetryAfter(retryAfter),
      });
    default:
      return new GatewayError('unreachable', 'The engine failed', { cause });
  }
}

/** An error that stands where a part of the answer should be. Its `code` is a status in all engines that give one. */
export function toAnswerFailure(error: unknown): GatewayError {
  const { code } = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown };
  const status = typeof code === 'number' ? code : typeof code === 'string' ? Number(code) : Number.NaN;
  return toRefusal(Number.isInteger(status) ? status : 500, JSON.stringify({ error }), undefined);
}

function publicText(told: string | undefined): string {
  return toPublicMessage(told ?? '') || 'The engine refused the request';
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** OpenAI `error.message`, Ollama `error`, older vLLM and SGLang `message`, FastAPI `detail` as text or a list. */
function toldBy(body: unknown): string | undefined {
  if (typeof body === 'string') return body;
  if (typeof body !== 'object' || body === null) return undefined;
  const { error, message, detail, msg } = body as Record<string, unknown>;
  const [first] = Array.isArray(detail) ? detail : [detail];
  // Kokoro-FastAPI has a word in `error` and the sentence in `message`.
  if (typeof error === 'string' && typeof message === 'string') return message;
  return toldBy(error) ?? toldBy(message) ?? toldBy(first) ?? toldBy(msg);
}

const secondsPattern = /^\d{1,6}$/;

function toRetryAfter(value: string | undefined): { retryAfterSeconds?: number } {
  if (value === undefined) return {};
  const text = value.trim();
  const seconds = secondsPattern.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? { retryAfterSeconds: Math.max(1, Math.ceil(seconds)) } : {};
}
