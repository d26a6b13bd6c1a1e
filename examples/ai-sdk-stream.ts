/** A streamed answer with the AI SDK. `npx node examples/ai-sdk-stream.ts "Write 80 words about bridges"` */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';

const apiKey = process.env['ROUNDHOUSE_API_KEY'];
if (apiKey === undefined) throw new Error('Set ROUNDHOUSE_API_KEY to the key that the first start printed');

const roundhouse = createOpenAICompatible({
  name: 'roundhouse',
  baseURL: process.env['ROUNDHOUSE_URL'] ?? 'http://127.0.0.1:8080/v1',
  apiKey,
  includeUsage: true,
});

const result = streamText({
  model: roundhouse('sandbox-reasoner'),
  prompt: process.argv[2] ?? 'Write 80 words about bridges',
});

for await (const part of result.stream) {
  if (part.type === 'reasoning-delta' || part.type === 'text-delta') process.stdout.write(part.text);
  if (part.type === 'reasoning-end') process.stdout.write('\n\n');
  // Failures are parts of the stream too: what came before them is incomplete.
  if (part.type === 'error') throw part.error;
}
const { inputTokens, outputTokens } = await result.usage;
process.stdout.write(`\n\n${inputTokens} + ${outputTokens} tokens\n`);
