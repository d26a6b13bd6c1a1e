/** What every client is asked beside the tool loop, and how its failures are caught. */
import { expect } from 'vitest';
import { createTestGateway } from '../support/gateway.ts';
import type { Backend } from './backends.ts';

/** One red pixel. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pngBytes = Buffer.from(png, 'base64').length;

/** The engine got the picture itself, never an address. */
export function expectSight(backend: Backend, text: string): void {
  const asked = backend.asked('sight');
  if (asked === undefined) {
    expect(text).toContain(`an image (image/png, ${pngBytes} bytes)`);
    return;
  }
  expect(text).toBe(backend.cases.text.text);
  const messages = asked.at(-1)?.body?.['messages'] as { content: unknown }[];
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  expect(parts).toContainEqual({
    type: 'image_url',
    image_url: expect.objectContaining({ url: `data:image/png;base64,${png}` }) as unknown,
  });
}

/** The engine was told to go on, and only what is new came back. */
export function expectContinuation(backend: Backend, text: string): void {
  const { beginning, rest } = backend.cases.prefill;
  expect(text).toBe(rest);
  const asked = backend.asked('prefill');
  if (asked === undefined) return;
  expect(asked.at(-1)?.body).toMatchObject({
    continue_final_message: true,
    messages: [{ role: 'user' }, { role: 'assistant', content: beginning }],
  });
}

/** The engine's call was ended with the client's: nothing goes on for nobody. */
export async function expectAborted(backend: Backend, name: 'stalling'): Promise<void> {
  const asked = backend.asked(name);
  if (asked === undefined) return;
  expect(asked.length).toBeGreaterThan(0);
  await asked.at(-1)?.aborted;
}

/** Nothing that a client reads names a host of the operator. */
export function expectNoAddress(message: string): void {
  expect(message).not.toBe('');
  expect(message).not.toMatch(/127\.0\.0\.1|10\.0\.0\.5|<html|Traceback/i);
}

/** An image just over the limit of 20 MB. */
export const hugeImage = () => Buffer.alloc(20_000_001).toString('base64');

export async function thrown<E = Error>(work: () => PromiseLike<unknown>): Promise<E> {
  try {
    await work();
  } catch (error) {
    return error as E;
  }
  throw new Error('nothing was raised');
}

/** A gateway with a fault of its own, in every call of a model. */
export async function withFault(work: (base: string, key: string) => Promise<void>): Promise<void> {
  const fault = () => Promise.reject(new Error('a fault at /srv/secret.ts:1'));
  const inference = { complete: fault, stream: fault, countTokens: fault, close: async () => {} };
  const gateway = await createTestGateway({ platform: { inference: inference as never } });
  try {
    await work(await gateway.listen(), gateway.key);
  } finally {
    await gateway.close();
  }
}
