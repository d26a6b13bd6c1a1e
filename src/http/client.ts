/** Who is calling, told from the headers: some answers have another shape for some SDKs. */
import type { RequestHeaders } from '../lib/http1/server/request-head.ts';

export type ClientKind = 'anthropic' | 'openai' | 'openrouter' | 'typesafe' | 'plain';

const openaiAgent = /^(Async)?(Azure)?OpenAI\//;
const claudeAgent = /^claude-(cli|code)\//;

export function clientKind(headers: RequestHeaders, path: string): ClientKind {
  const agent = headers['user-agent'] ?? '';
  // Anthropic's SDK also sends x-stainless-*, so its own header is asked first.
  if (headers['anthropic-version'] !== undefined) return 'anthropic';
  if (claudeAgent.test(agent) && (path === '/models' || path.startsWith('/models/'))) return 'anthropic';
  if (headers['x-typesafe-sdk'] !== undefined) return 'typesafe';
  if (openaiAgent.test(agent) || headers['x-stainless-lang'] !== undefined) return 'openai';
  if (/openrouter/i.test(agent)) return 'openrouter';
  return 'plain';
}
