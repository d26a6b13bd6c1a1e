/** Uploads to a gateway's collections, and the wait until they were read. */
import { expect, vi } from 'vitest';
import type { TestGateway } from './gateway.ts';
import type { TestAnswer } from './inject.ts';

/** `path` is relative to `/v1`. */
export async function sendForm(
  gateway: TestGateway,
  path: string,
  form: FormData,
  key = gateway.key,
): Promise<TestAnswer> {
  const request = new Request('http://x', { method: 'POST', body: form });
  return gateway.inject({
    method: 'POST',
    url: `/v1${path}`,
    headers: { 'content-type': request.headers.get('content-type') ?? '' },
    payload: Buffer.from(await request.arrayBuffer()),
    key,
  });
}

export async function untilRead(gateway: TestGateway, collection: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const answer = await gateway.inject({ url: `/v1/vector_store/${collection}` });
      expect(answer.json().file_counts.in_progress).toBe(0);
    },
    { timeout: 20_000, interval: 50 },
  );
}
