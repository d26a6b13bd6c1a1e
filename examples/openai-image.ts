/** An image with the OpenAI SDK, saved as a file. `npx node examples/openai-image.ts "A fox in the snow" fox.png` */
import { writeFile } from 'node:fs/promises';
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: process.env['ROUNDHOUSE_URL'] ?? 'http://127.0.0.1:8080/v1',
  // The key that the first start printed.
  apiKey: process.env['ROUNDHOUSE_API_KEY'],
});

const [, , prompt = 'A red lighthouse at sunset, watercolour', file = 'image.png'] = process.argv;
const { data = [], usage } = await client.images.generate({
  model: 'sandbox-image',
  prompt,
  size: '1024x1024',
  // Without it the answer has a link that works for an hour.
  response_format: 'b64_json',
});

await writeFile(file, Buffer.from(data[0]?.b64_json ?? '', 'base64'));
const { megapixels, cost } = usage as unknown as { megapixels: number; cost: number };
process.stdout.write(`${file}: ${megapixels} megapixels, ${cost} dollars\n`);
