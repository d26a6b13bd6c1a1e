/** Small questions to an engine beside its generations: how it is, how many tokens a text has. */
import type { Dispatcher } from 'undici';

export interface Question {
  readonly path: string;
  /** Sent as JSON by POST; without it the question is a GET. */
  readonly body?: unknown;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
}

const longestReply = 16 * 1024 * 1024;

/** Rejects when there is no answer: not reached, aborted, too long. */
export async function ask(
  pool: Dispatcher,
  headers: readonly string[],
  { path, body }: Question,
  signal: AbortSignal,
): Promise<Reply> {
  const { statusCode, body: answer } = await pool.request({
    method: body === undefined ? 'GET' : 'POST',
    path,
    headers: [...headers],
    body: body === undefined ? null : JSON.stringify(body),
    signal,
  });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestReply) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return { status: statusCode, text: Buffer.concat(chunks).toString('utf8') };
}
