/**
 * The one table of failures: which status and which type names each kind has, and the three ways in which a
 * route may say so. `docs/reference/errors.md` shows the same table; a test holds the two together.
 */
import { type ErrorKind, GatewayError } from '../lib/errors.ts';

/**
 * `router`: the envelope of every route but the messages routes.
 * `messages`: `{type: "error", error: {type, message}}`.
 * `decisions`: the router's envelope, but a validation failure or an unknown model is 422 and overload is 529.
 */
export type Dialect = 'router' | 'messages' | 'decisions';

interface Row {
  status: number;
  errorType: string;
  type: string;
  messagesType: string;
}

export const errorTable: Readonly<Record<ErrorKind, Row>> = {
  invalid_request: row(400, 'invalid_request', 'validation_error', 'invalid_request_error'),
  unsupported_parameter: row(400, 'unsupported_parameter', 'validation_error', 'invalid_request_error'),
  unauthenticated: row(401, 'authentication', 'auth_error', 'authentication_error'),
  not_found: row(404, 'not_found', 'not_found_error', 'not_found_error'),
  method_not_allowed: row(405, 'invalid_request', 'invalid_request_error', 'invalid_request_error'),
  request_timeout: row(408, 'invalid_request', 'invalid_request_error', 'invalid_request_error'),
  conflict: row(409, 'invalid_request', 'invalid_request_error', 'invalid_request_error'),
  too_large: row(413, 'payload_too_large', 'invalid_request_error', 'request_too_large'),
  range_not_satisfiable: row(416, 'invalid_request', 'invalid_request_error', 'invalid_request_error'),
  unprocessable: row(422, 'unprocessable', 'validation_error', 'invalid_request_error'),
  rate_limited: row(429, 'rate_limit_exceeded', 'rate_limit_error', 'rate_limit_error'),
  headers_too_large: row(431, 'invalid_request', 'invalid_request_error', 'invalid_request_error'),
  internal: row(500, 'server', 'server_error', 'api_error'),
  unreachable: row(502, 'provider_unavailable', 'server_error', 'api_error'),
  overloaded: row(503, 'provider_overloaded', 'server_error', 'api_error'),
  timeout: row(504, 'timeout', 'timeout_error', 'api_error'),
  decision_overloaded: row(529, 'provider_overloaded', 'server_error', 'api_error'),
};

function row(status: number, errorType: string, type: string, messagesType: string): Row {
  return { status, errorType, type, messagesType };
}

/** On `/systemone` a bad body, an unknown model and a bad model are 422, and a busy model is 529. */
const decisionKinds: Partial<Record<ErrorKind, ErrorKind>> = {
  invalid_request: 'unprocessable',
  unsupported_parameter: 'unprocessable',
  not_found: 'unprocessable',
  overloaded: 'decision_overloaded',
};

/** The failure as its envelope, for a whole answer or for an error inside a stream. */
export function toEnvelope(
  error: GatewayError,
  dialect: Dialect,
  requestId: string,
): { status: number; body: object } {
  const kind = dialect === 'decisions' ? (decisionKinds[error.kind] ?? error.kind) : error.kind;
  const { status, errorType, type, messagesType } = errorTable[kind];
  if (dialect === 'messages') {
    const details = error.code === undefined ? {} : { details: { error_code: error.code } };
    return {
      status,
      body: {
        type: 'error',
        error: { type: messagesType, message: error.message, ...details },
        request_id: requestId,
      },
    };
  }
  const body = {
    error: {
      code: status,
      message: error.message,
      type,
      ...(error.param === undefined ? {} : { param: error.param }),
      metadata: { error_type: errorType },
    },
  };
  return { status, body };
}

/** The headers that a failure carries besides the usual ones. */
export function errorHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.allow !== undefined) headers['allow'] = error.allow.join(', ');
  if (error.retryAfterSeconds !== undefined) {
    // 1 to 59: some SDKs ignore 0, others anything from 60 on.
    headers['retry-after'] = String(Math.min(59, Math.max(1, Math.ceil(error.retryAfterSeconds))));
  }
  // Two SDKs retry a 409 by themselves; the second try could destroy what the first one made.
  if (error.kind === 'conflict' || error.permanent) headers['x-should-retry'] = 'false';
  return headers;
}

/** Whatever was thrown as a GatewayError; a bug becomes a 500 that shows nothing of itself. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal', 'Something failed inside the gateway', { cause: thrown });
}
