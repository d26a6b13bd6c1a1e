/** `POST /messages/count_tokens`: the prompt's tokens, without a bill. */
import { expect, test } from 'vitest';
import { hello } from '../../../test/support/chat-shell.ts';
import { createMessagesShell } from '../../../test/support/messages-shell.ts';
import { GatewayError } from '../../lib/errors.ts';

const prompt = {
  system: 'Be kind',
  messages: hello,
  tools: [{ name: 'f', input_schema: { type: 'object' } }],
  tool_choice: { type: 'any' },
};

test('[MSG-78] it takes the body without max_tokens and answers the count', async () => {
  const shell = createMessagesShell({ promptTokens: 42 });
  const answer = await shell.count(prompt);
  expect([answer.status, answer.json()]).toEqual([200, { input_tokens: 42 }]);
  expect((await shell.count({ ...prompt, max_tokens: 5, stream: true, temperature: 7 })).status).toBe(200);
  expect(shell.operations).toEqual([]);
  expect(answer.headers).not.toHaveProperty('x-generation-id');
});

test('[MSG-78] model and messages are checked as on /messages', async () => {
  const shell = createMessagesShell();
  const wrong = async (fields: object) => (await shell.count(fields)).json().error.message;
  expect(await wrong({ model: undefined })).toBe('model is required');
  expect(await wrong({ messages: [] })).toBe('messages must have at least 1 item');
  expect(await wrong({ messages: [{ role: 'system', content: 'a' }] })).toMatch(/^messages\[0\]/);
  expect(await wrong({ thinking: { type: 'enabled' } })).toMatch(/^thinking.budget_tokens is required/);
  expect((await shell.count({ model: 'nobody' })).status).toBe(404);
});

test('[MSG-78] a budget has no max_tokens to be below', async () => {
  const shell = createMessagesShell();
  const thinking = { type: 'enabled', budget_tokens: 1_000_000 };
  expect((await shell.count({ model: 'thinker', thinking })).status).toBe(200);
});

test('[MSG-79] the engine is asked about the very prompt that /messages sends it', async () => {
  const shell = createMessagesShell();
  await shell.count(prompt);
  const asked = await shell.request(prompt);
  const { maxTokens: _, ...counted } = shell.counted[0]!;
  expect(asked).toMatchObject(counted);
  expect(counted.messages).toEqual(asked.messages);
});

test('[MSG-78] pictures are loaded', async () => {
  const part = { type: 'image', mediaType: 'image/png', base64: 'AAAA' } as const;
  const shell = createMessagesShell({ attachments: { load: async () => [part] } });
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  const answer = await shell.count({ model: 'seer', messages: [{ role: 'user', content: [image] }] });
  expect(answer.status).toBe(200);
  expect(shell.counted[0]?.messages).toEqual([{ role: 'user', content: [part] }]);
});

test('an engine that cannot count is told as its failure', async () => {
  const shell = createMessagesShell({
    promptTokens: () => Promise.reject(new GatewayError('unreachable', 'gone')),
  });
  const answer = await shell.count({});
  expect([answer.status, answer.json().error]).toEqual([502, { type: 'api_error', message: 'gone' }]);
});

test('[MSG-78] fields that a count has no use for are not looked at, whatever they are', async () => {
  const shell = createMessagesShell({ promptTokens: 12 });
  const odd = { stop_sequences: 'x', temperature: 'hot', top_k: {}, max_tokens: 'many', stream: 3 };
  const answer = await shell.count({ messages: hello, ...odd });
  expect([answer.status, answer.json()]).toEqual([200, { input_tokens: 12 }]);
});
