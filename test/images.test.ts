/** What the image routes answer: base64, links, events, and what they say of the pictures. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { toFailure } from '../src/api/images/render.ts';
import { ImageCompleted } from '../src/api/images/schema.ts';
import { GatewayError } from '../src/lib/errors.ts';
import { createValidator } from '../src/lib/schema.ts';
import { sniffMedia } from '../src/platform/attachments/media-type.ts';
import { createImagesShell, draws, editId, type ImagesShell, toEvents } from './support/images-shell.ts';
import { sizeOfPng, toPng } from './support/tiny-png.ts';

let shell: ImagesShell;
beforeEach(() => {
  shell = createImagesShell();
});
afterEach(() => {
  vi.useRealTimers();
  expect(shell.held()).toBe(0);
});

const small = { size: '256x256' };
const decode = (base64: string) => Buffer.from(base64, 'base64');
const follow = (url: string, key: string | null = null) => {
  const { origin, pathname, search } = new URL(url);
  expect(origin).toBe('https://ai.example.com');
  return shell.send({ url: pathname + search, key });
};

describe('an image', () => {
  it('[IMG-1, IMG-4] is made by both routes from one set of fields, with one item per image', async () => {
    for (const path of ['', '/generations']) {
      const { status, json } = await shell.post(path, {
        ...small,
        n: 3,
        seed: 1,
        steps: 4,
        guidance_scale: 2,
        negative_prompt: 'fog',
        output_format: 'webp',
        output_compression: 50,
        background: 'opaque',
        quality: 'hd',
        user: 'u',
      });
      expect(status).toBe(200);
      expect(json().data).toHaveLength(3);
      expect(Number.isInteger(json().created)).toBe(true);
      expect(Math.abs(json().created - Date.now() / 1000)).toBeLessThan(60);
    }
    expect(shell.asked[0]).toEqual(shell.asked[1]);
    expect(shell.asked[0]).toEqual({
      model: 'sandbox-image',
      prompt: 'A house',
      count: 3,
      width: 256,
      height: 256,
      seed: 1,
      steps: 4,
      guidanceScale: 2,
      negativePrompt: 'fog',
      outputFormat: 'webp',
      outputCompression: 50,
      background: 'opaque',
      references: [],
    });
  });

  it('[IMG-2, IMG-5] is base64 on /images and a link on /images/generations, unless the other is asked for', async () => {
    const keys = async (path: string, body: object) =>
      Object.keys((await shell.post(path, { ...small, ...body })).json().data[0]);
    for (const omitted of [{}, { response_format: null }]) {
      expect(await keys('', omitted)).toEqual(['b64_json', 'media_type']);
      expect(await keys('/generations', omitted)).toEqual(['url', 'media_type']);
    }
    expect(await keys('', { response_format: 'url' })).toEqual(['url', 'media_type']);
    expect(await keys('/generations', { response_format: 'b64_json' })).toEqual(['b64_json', 'media_type']);
  });

  it('[IMG-6] behind a link is there without a key for one hour, and then no more', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_900_000_000_000 });
    const [{ url }] = (await shell.post('/generations', { ...small, n: 1, seed: 5 })).json().data;
    const [{ b64_json: base64 }] = (await shell.post('', { ...small, n: 1, seed: 5 })).json().data;
    const found = await follow(url);
    expect([found.status, found.headers['content-type']]).toEqual([200, 'image/png']);
    expect(found.bytes.equals(decode(base64))).toBe(true);
    vi.setSystemTime(1_900_000_000_000 + 3_600_000);
    expect((await follow(url)).status).toBe(200);
    vi.setSystemTime(1_900_000_000_000 + 3_601_000);
    expect((await follow(url)).status).toBe(404);
  });

  it('[IMG-7] has an absolute link, at which a key is ignored', async () => {
    const [{ url }] = (await shell.post('/generations', small)).json().data;
    expect(url).toMatch(/^https:\/\/ai\.example\.com\/v1\/objects\/images\/[^?]+\.png\?exp=\d+&sig=/);
    for (const key of [null, 'a-wrong-key', 'rh_test-key']) expect((await follow(url, key)).status).toBe(200);
    expect((await follow(url.replace(/sig=./, 'sig=!'))).status).toBe(404);
  });

  it.each(['png', 'jpeg', 'webp'])('[IMG-8, IMG-11] in %s is that in its bytes too', async (format) => {
    const { data, output_format } = (await shell.post('', { ...small, output_format: format })).json();
    expect(output_format).toBe(format);
    expect(data[0].media_type).toBe(`image/${format}`);
    expect(sniffMedia('image', decode(data[0].b64_json))).toBe(`image/${format}`);
    expect(shell.asked[0]?.outputFormat).toBe(format);
  });

  it('[IMG-9] has a revised prompt only when the engine rewrote it', async () => {
    expect((await shell.post('', small)).json().data[0]).not.toHaveProperty('revised_prompt');
    shell.generate = async (request) => {
      const [first, second] = draws(request);
      return [first!, { ...second!, revisedPrompt: 'A house at dusk' }];
    };
    const { data } = (await shell.post('', { ...small, n: 2 })).json();
    expect(data[0]).not.toHaveProperty('revised_prompt');
    expect(data[1].revised_prompt).toBe('A house at dusk');
  });

  it('[IMG-10] has the size that the answer says, which is the one that was made', async () => {
    const answer = (await shell.post('', { size: '512x256' })).json();
    expect(answer.size).toBe('512x256');
    expect(sizeOfPng(decode(answer.data[0].b64_json))).toEqual({ width: 512, height: 256 });
    shell.generate = async () => [{ bytes: toPng({ width: 300, height: 200 }) }];
    expect((await shell.post('', { size: '512x256' })).json().size).toBe('300x200');
  });

  it('[IMG-12] is called transparent only when it is', async () => {
    const background = async (body: object) =>
      (await shell.post('', { ...small, model: editId, ...body })).json().background;
    expect(await background({})).toBe('opaque');
    expect(await background({ background: 'transparent' })).toBe('transparent');
    shell.generate = async (request) => draws({ ...request, background: 'auto' });
    expect(await background({ background: 'transparent' })).toBe('opaque');
    shell.generate = async (request) => draws({ ...request, background: 'transparent' });
    expect(await background({})).toBe('transparent');
    expect(await background({ background: 'opaque' })).toBe('opaque');
    expect(await background({ output_format: 'jpeg' })).toBe('opaque');
  });

  it('[IMG-13, IMG-14, IMG-15] has a usage without tokens, with a cost and megapixels', async () => {
    expect((await shell.post('', { size: '512x512', n: 2 })).json().usage).toEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      input_tokens: 0,
      output_tokens: 0,
      input_tokens_details: { text_tokens: 0, image_tokens: 0 },
      cost: 0.002097152,
      megapixels: 0.524288,
    });
    const free = (await shell.post('', { ...small, model: 'free' })).json().usage;
    expect(free).toMatchObject({ cost: 0, megapixels: 0.065536 });
  });

  it('[IMG-37] of the same seed is the same, and of none another one', async () => {
    const picture = async (body: object) => {
      const { data } = (await shell.post('', { ...small, n: 2, ...body })).json();
      return data.map((item: { b64_json: string }) => item.b64_json);
    };
    const first = await picture({ seed: 7 });
    expect(await picture({ seed: 7 })).toEqual(first);
    expect(first[0]).not.toBe(first[1]);
    for (const other of [{ seed: 8 }, { seed: 7, n: 1 }, { seed: 7, size: '272x256' }, {}, { seed: null }])
      expect((await picture(other))[0]).not.toBe(first[0]);
    expect(await picture({})).not.toEqual(await picture({}));
  });

  it('has its generation id and the state of the limits in the headers', async () => {
    const { headers } = await shell.post('', small);
    expect(headers).toMatchObject({
      'x-generation-id': expect.stringMatching(/^gen_/),
      'x-ratelimit-limit-requests': '60',
    });
    expect(shell.rows[0]?.id).toBe(headers['x-generation-id']);
  });
});

describe('an engine', () => {
  it('[IMG-68] that answers without an image is a 502, on every route', async () => {
    shell.generate = async () => [];
    for (const path of ['', '/generations']) expect((await shell.post(path, small)).status).toBe(502);
    shell.generate = async () => [{ bytes: Buffer.from('no picture') }];
    expect((await shell.post('', small)).status).toBe(502);
  });

  it('that makes more than was asked for is cut, and one that makes fewer is billed for those', async () => {
    shell.generate = async (request) => draws({ ...request, count: 3 });
    const body = { ...small, n: 2 };
    expect((await shell.post('', body)).json().data).toHaveLength(2);
    shell.generate = async (request) => draws({ ...request, count: 1 });
    const fewer = (await shell.post('', body)).json();
    expect([fewer.data.length, fewer.usage.megapixels]).toEqual([1, 0.065536]);
  });

  it.each([
    ['unreachable', 502],
    ['overloaded', 503],
    ['timeout', 504],
  ] as const)('that fails (%s) is told with its own status', async (kind, status) => {
    shell.generate = async () => {
      throw new GatewayError(kind, 'broken');
    };
    for (const stream of [false, true])
      expect((await shell.post('', { ...small, stream })).status).toBe(status);
  });

  it('is stopped when the client leaves, and nothing is billed', async () => {
    const begun = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    shell.generate = (_, signal) => {
      begun.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          stopped.resolve();
          reject(signal.reason);
        });
      });
    };
    const address = await shell.listen();
    const leave = new AbortController();
    const request = fetch(`${address}/v1/images`, {
      method: 'POST',
      body: JSON.stringify({ prompt: 'A house' }),
      headers: { 'content-type': 'application/json', authorization: 'Bearer rh_test-key' },
      signal: leave.signal,
    }).catch(() => 'left');
    await begun.promise;
    leave.abort();
    expect(await request).toBe('left');
    await stopped.promise;
    await shell.close();
    expect(shell.rows).toEqual([]);
  });
});

describe('a streamed image', () => {
  it('[IMG-57, IMG-60] is one completed event, then [DONE]', async () => {
    const { status, headers, body } = await shell.post('', { ...small, stream: true });
    expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const [completed, done, ...rest] = toEvents(body);
    expect(rest).toEqual([]);
    expect(done).toEqual({ event: undefined, data: '[DONE]' });
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(completed?.event).toBe('image_generation.completed');
    expect(createValidator(ImageCompleted).check(completed?.data)).toBe(true);
    const data = completed?.data as ImageCompleted;
    expect(Object.keys(data)).toEqual([
      'type',
      'b64_json',
      'created',
      'created_at',
      'media_type',
      'size',
      'output_format',
      'background',
      'quality',
      'usage',
    ]);
    expect(data).toMatchObject({ size: '256x256', quality: 'auto', usage: { megapixels: 0.065536 } });
    expect(data.created_at).toBe(data.created);
    expect(sizeOfPng(decode(data.b64_json))).toEqual({ width: 256, height: 256 });
    expect(shell.rows).toMatchObject([{ streamed: true, outcome: 'stop' }]);
  });

  it('[IMG-58] is base64 even where links are asked for, on every route', async () => {
    for (const path of ['', '/generations']) {
      const { body } = await shell.post(path, { ...small, stream: true, response_format: 'url' });
      const [completed] = toEvents(body);
      expect(completed?.data).toHaveProperty('b64_json');
      expect(completed?.data).not.toHaveProperty('url');
    }
  });

  it('[IMG-59] is one: n above 1 is a 400', async () => {
    const answer = await shell.post('', { ...small, stream: true, n: 2 });
    expect([answer.status, answer.json().error.param]).toEqual([400, 'n']);
    expect((await shell.post('', { ...small, stream: true, n: 1 })).status).toBe(200);
    expect((await shell.post('', { ...small, stream: false, n: 2 })).status).toBe(200);
  });

  it('[IMG-61] fails with an error event whose code is a word, then [DONE]', () => {
    expect(toFailure(new GatewayError('unreachable', 'The engine is gone'))).toEqual([
      {
        event: 'error',
        data: {
          type: 'error',
          error: {
            code: 'provider_unavailable',
            message: 'The engine is gone',
            param: null,
            type: 'server_error',
          },
        },
      },
      { data: '[DONE]' },
    ]);
  });
});
