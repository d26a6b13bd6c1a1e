/** What an engine says of a film that it makes: OpenAI's video object, and what others have made of it. Pure. */
import { GatewayError } from '../../lib/errors.ts';
import { toPublicMessage } from '../../lib/public-message.ts';
import { failures } from './failures.ts';

export type VideoJob =
  /** 0 to 1; undefined where the engine does not tell. */
  | { readonly state: 'under way'; readonly fraction: number | undefined }
  | { readonly state: 'done'; readonly isElsewhere: boolean }
  | { readonly state: 'failed'; readonly error: GatewayError };

const done: ReadonlySet<string> = new Set(['completed', 'succeeded', 'success', 'done']);
const failed: ReadonlySet<string> = new Set([
  'failed',
  'error',
  'cancelled',
  'canceled',
  'expired',
  'deleted',
  'rejected',
]);

/** Only what can stand in a path; an engine's own id is short. */
const idPattern = /^[\w.:~-]{1,200}$/;

export function readJobId(json: unknown): string {
  const { id } = json as { id?: unknown };
  if (typeof id !== 'string' || !idPattern.test(id))
    throw failures.unreadable(new Error('the job has no id'));
  return id;
}

export function isJobId(note: string): boolean {
  return idPattern.test(note);
}

export function readJob(body: Buffer): VideoJob {
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw failures.unreadable(error);
  }
  const { status, progress, error, url } = (json ?? {}) as Record<string, unknown>;
  if (typeof status !== 'string') throw failures.unreadable(new Error('the job has no status'));
  const word = status.toLowerCase();
  if (done.has(word)) return { state: 'done', isElsewhere: typeof url === 'string' && url !== '' };
  if (failed.has(word)) return { state: 'failed', error: toFailure(word, error) };
  return { state: 'under way', fraction: toFraction(progress) };
}

/** Whole percents, everywhere; 1 is one of them. */
function toFraction(progress: unknown): number | undefined {
  if (typeof progress !== 'number' || !Number.isFinite(progress)) return undefined;
  return Math.max(0, Math.min(1, progress / 100));
}

/** Codes of OpenAI and of services like it, for what their filters stop. */
const refusedByFilter = /moderation|content[_ ]policy|safety/i;

function toFailure(status: string, error: unknown): GatewayError {
  const { code, message } = (typeof error === 'object' && error !== null ? error : { message: error }) as {
    code?: unknown;
    message?: unknown;
  };
  const told = typeof message === 'string' ? toPublicMessage(message) : '';
  const cause = new Error(`the engine's job is ${status}: ${JSON.stringify(error)?.slice(0, 1_000)}`);
  if (typeof code === 'string' && refusedByFilter.test(code)) {
    const text = told || 'The engine refused the request';
    return new GatewayError('invalid_request', text, { cause, code: 'content_policy_violation' });
  }
  return new GatewayError('unreachable', told === '' ? 'The engine failed' : `The engine failed: ${told}`, {
    cause,
  });
}
