/**
 * The one error that is thrown on purpose. A kind says what went wrong in our own words; the HTTP shell
 * (`http/errors.ts`) knows which status and type names a kind has. Bugs are left to `node:assert`.
 */
export type ErrorKind =
  | 'invalid_request'
  | 'unsupported_parameter'
  | 'unauthenticated'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'too_large'
  | 'range_not_satisfiable'
  | 'unprocessable'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal'
  | 'unreachable'
  | 'overloaded'
  | 'timeout'
  | 'decision_overloaded';

export interface ErrorDetails {
  cause?: unknown;
  /** The field at fault as a path, such as `messages[2].content`. */
  param?: string;
  /** Whole seconds after which a retry can succeed. */
  retryAfterSeconds?: number;
  /** No retry can cure it: SDKs that retry every 5xx are told not to. */
  permanent?: boolean;
  /** The methods that a path takes, for a 405. */
  allow?: readonly string[];
  /** A word by which clients of the messages format know what to do about it: `thread_not_found`. */
  code?: string;
}

export class GatewayError extends Error {
  readonly kind: ErrorKind;
  readonly param: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly permanent: boolean;
  readonly allow: readonly string[] | undefined;
  readonly code: string | undefined;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'GatewayError';
    this.kind = kind;
    this.param = details.param;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.permanent = details.permanent ?? false;
    this.allow = details.allow;
    this.code = details.code;
  }
}

/** What a client is told of a field that cannot be taken: the message begins with its path. */
export function refusal(param: string, problem: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', `${param} ${problem}`, { param, cause });
}
