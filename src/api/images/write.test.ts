import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { watchLoop } from '../../../test/support/loop-watch.ts';
import type { ImageAnswer } from './schema.ts';
import { writeAnswer } from './write.ts';

function answerOf(count: number, revised: string): ImageAnswer {
  return {
    created: 1,
    data: Array.from({ length: count }, () => ({
      media_type: 'image/png' as const,
      revised_prompt: revised,
    })),
    size: '1x1',
    output_format: 'png',
    background: 'opaque',
    usage: {
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      input_tokens: 0,
      output_tokens: 0,
      input_tokens_details: { text_tokens: 0, image_tokens: 0 },
      cost: 0.1,
      megapixels: 1,
    },
  };
}

it('an answer with its pictures is the JSON that it would be otherwise, whatever its texts are', async () => {
  const answer = answerOf(4, 'a "b64_json":0 – \ud800 "');
  const pictures = [0, 1, 2, 30].map((length) => randomBytes(length));
  const written = await writeAnswer(answer, pictures);
  expect(JSON.parse(written.toString())).toEqual({
    ...answer,
    data: answer.data.map((each, index) => ({ ...each, b64_json: pictures[index]?.toString('base64') })),
  });
});

it('an answer with 60 MB of pictures is written without keeping anybody waiting', async () => {
  const pictures = Array.from({ length: 5 }, () => Buffer.alloc(12e6, 7));
  const watch = watchLoop();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const written = await writeAnswer(answerOf(5, 'a'), pictures);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(watch.stop().longestMs).toBeLessThan(100);
  expect(written.length).toBeGreaterThan(80e6);
});
