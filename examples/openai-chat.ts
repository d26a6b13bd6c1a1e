/** One chat answer with the OpenAI SDK. `npx node examples/openai-chat.ts "Three ideas for a picnic"` */
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: process.env['ROUNDHOUSE_URL'] ?? 'http://127.0.0.1:8080/v1',
  // The key that the first start printed.
  apiKey: process.env['ROUNDHOUSE_API_KEY'],
});

const question = process.argv[2] ?? 'Count to 10';
const { data, response } = await client.chat.completions
  .create({ model: 'sandbox-chat', messages: [{ role: 'user', content: question }] })
  .withResponse();

const { prompt_tokens, completion_tokens, cost } = data.usage as OpenAI.CompletionUsage & { cost: number };
process.stdout.write(`${data.choices[0]?.message.content}\n\n`);
process.stdout.write(`${prompt_tokens} + ${completion_tokens} tokens, ${cost} dollars\n`);
process.stdout.write(`${response.headers.get('x-generation-id')}\n`);
