import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestPlace } from './support/database.ts';
import { startGatewayProcess } from './support/gateway-process.ts';

const key = 'sk-test-of-kept-responses-0001';
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
let folder: string;
let env: Record<string, string>;
let place: Awaited<ReturnType<typeof createTestPlace>>;

beforeEach(async () => {
  place = await createTestPlace();
  folder = place.folder;
  const config = join(folder, 'roundhouse.yaml');
  await writeFile(config, 'limits: { requestsPerMinute: 100000, concurrent: 64 }\n');
  env = { ...place.env, ROUNDHOUSE_API_KEY: key, ROUNDHOUSE_CONFIG: config };
});
afterEach(() => place.close());

interface Kept {
  readonly id: string;
  readonly output: unknown;
}

/** Asks once, whole or streamed, on from an earlier answer; undefined when the answer did not come as a whole. */
async function ask(url: string, n: number, previousId: string | undefined): Promise<Kept | undefined> {
  const isStreamed = n % 2 === 1;
  const response = await fetch(`${url}/responses`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      model: 'sandbox-chat',
      input: `number ${n}`,
      max_output_tokens: 8,
      stream: isStreamed,
      ...(previousId === undefined ? {} : { previous_response_id: previousId }),
    }),
  });
  expect(response.status).toBe(200);
  const text = await response.text();
  if (!isStreamed) return JSON.parse(text) as Kept;
  const last = /event: response\.(?:completed|incomplete)\ndata: (.+)\n\n/.exec(text)?.[1];
  return last === undefined ? undefined : (JSON.parse(last) as { response: Kept }).response;
}

it('[RESP-46] kill -9 under load: after the restart every answer that a client has is there, and what was deleted is not', async () => {
  const kept: Kept[] = [];
  const deleted: string[] = [];
  await using first = await startGatewayProcess(folder, env);
  let next = 0;
  const killed = Promise.withResolvers<unknown>();
  async function load(): Promise<void> {
    let previousId: string | undefined;
    for (let n = next++; ; n = next++) {
      // Cut off by the kill, or refused after it: not answered.
      try {
        const answer = await ask(first.url, n, n % 3 === 0 ? previousId : undefined);
        if (answer === undefined) return;
        if (n % 5 === 0) {
          const removed = await fetch(`${first.url}/responses/${answer.id}`, { method: 'DELETE', headers });
          if (removed.status !== 200) throw new Error(`the deletion was answered with ${removed.status}`);
          await removed.text();
          deleted.push(answer.id);
        } else {
          kept.push(answer);
          previousId = answer.id;
        }
      } catch (error) {
        if (error instanceof TypeError || error instanceof SyntaxError) return;
        throw error;
      }
      if (kept.length === 300) killed.resolve(first.end('SIGKILL'));
    }
  }
  await Promise.all(Array.from({ length: 16 }, load));
  expect(await killed.promise).toBeNull();
  expect(deleted.length).toBeGreaterThan(0);

  await using second = await startGatewayProcess(folder, env);
  const read = (id: string) => fetch(`${second.url}/responses/${id}`, { headers });
  for (const { id, output } of kept) {
    const response = await read(id);
    expect(response.status, id).toBe(200);
    expect(await response.json()).toMatchObject({ id, output, store: true });
  }
  for (const id of deleted) {
    const response = await read(id);
    expect(response.status, id).toBe(404);
    await response.text();
  }
  expect(await second.end('SIGTERM')).toBe(0);
}, 120_000);
