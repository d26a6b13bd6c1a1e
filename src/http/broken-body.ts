/** Why a body did not come to its end, as its client or the log is told. */
import { GatewayError } from '../lib/errors.ts';
import type { Break } from '../lib/http1/server/request.ts';

export function toBrokenBody(why: Break): GatewayError {
  switch (why) {
    case 'left':
      return new GatewayError('invalid_request', 'The client left');
    case 'late':
      return new GatewayError('request_timeout', 'The request did not arrive in time');
    case 'malformed':
      return new GatewayError('invalid_request', 'The body is not valid HTTP');
  }
}
