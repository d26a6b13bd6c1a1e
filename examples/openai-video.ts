/** A film with the OpenAI SDK: started, waited for, saved. `npx node examples/openai-video.ts "A train in the snow" train.mp4` */
import { writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: process.env['ROUNDHOUSE_URL'] ?? 'http://127.0.0.1:8080/v1',
  // The key that the first start printed.
  apiKey: process.env['ROUNDHOUSE_API_KEY'],
});

const [, , prompt = 'A train in the snow', file = 'video.mp4'] = process.argv;
let video = await client.videos.create({ model: 'sandbox-video', prompt, seconds: '4' });

while (video.status === 'queued' || video.status === 'in_progress') {
  process.stdout.write(`${video.status} ${video.progress} %\n`);
  await wait(2000);
  video = await client.videos.retrieve(video.id);
}
if (video.status !== 'completed') throw new Error(video.error?.message ?? `the job is ${video.status}`);

const content = await client.videos.downloadContent(video.id);
await writeFile(file, Buffer.from(await content.arrayBuffer()));
process.stdout.write(`${file}: ${video.seconds} s, ${video.size}\n`);
