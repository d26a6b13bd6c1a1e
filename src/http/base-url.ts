/** The address that links in an answer begin with: what the operator names, else what the client called. */
import type { RequestHeaders } from '../lib/http1/server/request-head.ts';
import type { Platform } from '../platform/index.ts';

/** Without a slash at its end: `https://ai.example.com/v1`. */
export function toBaseUrl(
  call: { readonly headers: RequestHeaders },
  { publicUrl }: Pick<Platform, 'publicUrl'>,
): string {
  return publicUrl() ?? `http://${call.headers.host ?? 'localhost'}/v1`;
}
