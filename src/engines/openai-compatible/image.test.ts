/** The image port against a server that answers as it is told, and as real ones do. */
import { globSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMockEngine, type MockEngine, type MockRequest } from '../../../test/support/mock-engine.ts';
import { formOf } from '../../../test/support/mock-form.ts';
import { createNearStudio, readPixels, writePixels } from '../../../test/support/near-studio.ts';
import { toContent } from '../../lib/content.ts';
import { Wheel } from '../../lib/wheel.ts';
import type { Engine } from '../contract/engine.ts';
import type { ImageRequest } from '../contract/image.ts';
import { toAddress } from './address.ts';
import type { FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import { toOwnPath } from './image.ts';
import { createOpenaiCompatible } from './index.ts';

let mock: MockEngine;
let wheel: Wheel;
const engines: Engine[] = [];

beforeEach(async () => {
  wheel = new Wheel();
  mock = await createMockEngine();
});
afterEach(async () => {
  expect(wheel.size).toBe(0);
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await mock.close();
});

function engine(flavor: FlavorName, changes: { timeoutMs?: number } = {}): Engine {
  const made = createOpenaiCompatible({
    address: toAddress(mock.url),
    flavor: flavors[flavor],
    apiKey: 'secret',
    headers: { 'x-team': 'pictures' },
    timeoutMs: 100_000,
    idleTimeoutMs: 20_000,
    studio: createNearStudio(),
    wheel,
    ...changes,
  });
  engines.push(made);
  return made;
}

const picture = Buffer.from('a picture, as far as this port can tell');
const file = (text: string, mediaType = 'image/png') => ({
  content: toContent(Buffer.from(text)),
  mediaType,
});
const request = (changes: Partial<ImageRequest> = {}): ImageRequest => ({
  model: 'Org/Painter',
  prompt: 'a fox',
  count: 1,
  width: 512,
  height: 256,
  outputFormat: 'webp',
  background: 'auto',
  references: [],
  ...changes,
});
const { signal: never } = new AbortController();
const generate = (flavor: FlavorName, changes: Partial<ImageRequest> = {}) =>
  engine(flavor).image!.generate(request(changes), never);

const generations = '/v1/images/generations';
const edits = '/v1/images/edits';
const withPictures = (count = 1) => ({
  data: Array.from({ length: count }, () => ({ b64_json: picture.toString('base64') })),
});
const answer = (path: string, body: unknown = withPictures()) =>
  mock.route(path, ({ json }) => json(200, body));

const drawing = ['generic', 'sglang', 'vllm-omni', 'stable-diffusion.cpp'] as const;
const wishes = { seed: 7, steps: 8, guidanceScale: 4, negativePrompt: 'dogs', count: 2 };

describe('a request for pictures', () => {
  const basics = { model: 'Org/Painter', prompt: 'a fox', n: 2, size: '512x256' };
  const diffusion = { num_inference_steps: 8, guidance_scale: 4, negative_prompt: 'dogs' };

  it.each([
    ['generic', { ...basics, response_format: 'b64_json', seed: 7, ...diffusion }],
    ['sglang', { ...basics, response_format: 'b64_json', output_format: 'webp', seed: 7, ...diffusion }],
    [
      'vllm-omni',
      {
        ...basics,
        response_format: 'b64_json',
        output_format: 'webp',
        seed: 7,
        ...diffusion,
        true_cfg_scale: 4,
      },
    ],
    [
      'stable-diffusion.cpp',
      {
        ...basics,
        output_format: 'png',
        prompt:
          '<sd_cpp_extra_args>{"seed":7,"negative_prompt":"dogs","sample_params":{"sample_steps":8,"guidance":{"txt_cfg":4}},"embed_image_metadata":false}</sd_cpp_extra_args>a fox',
      },
    ],
  ] as const)('is the JSON that %s expects', async (flavor, body) => {
    answer(generations, withPictures(2));
    expect(await generate(flavor, wishes)).toEqual([{ bytes: picture }, { bytes: picture }]);
    const [sent] = mock.others;
    expect(sent?.body).toEqual(body);
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-team': 'pictures' });
  });

  it('[IMG-38] asks OpenAI’s own models for the format, the compression and the background, and for nothing they refuse', async () => {
    answer(generations);
    await generate('generic', { model: 'gpt-image-1', outputCompression: 40, background: 'transparent' });
    expect(mock.others[0]?.body).toEqual({
      model: 'gpt-image-1',
      prompt: 'a fox',
      n: 1,
      size: '512x256',
      output_format: 'webp',
      output_compression: 40,
      background: 'transparent',
    });
  });

  it.each(['sglang', 'stable-diffusion.cpp'] as const)(
    '[IMG-37] brings a seed of chance to %s, whose own default is always the same',
    async (flavor) => {
      answer(generations);
      for (let time = 0; time < 3; time++) await generate(flavor);
      const seeds = mock.others.map(({ body }) =>
        String(body?.['seed'] ?? /"seed":(\d+)/.exec(String(body?.['prompt']))?.[1]),
      );
      expect(new Set(seeds).size).toBe(3);
      for (const seed of seeds) expect(seed).toMatch(/^\d+$/);
    },
  );

  it.each(['sglang', 'vllm-omni', 'stable-diffusion.cpp'] as const)(
    '[IMG-36] turns seeds that %s refuses into ones that it takes, always the same',
    async (flavor) => {
      answer(generations);
      const seeds = [];
      for (const seed of [-1, -1, -(2 ** 63), 2 ** 62, 0]) {
        await generate(flavor, { seed });
        const { body } = mock.others.at(-1)!;
        seeds.push(Number(body?.['seed'] ?? /"seed":(\d+)/.exec(String(body?.['prompt']))?.[1]));
      }
      for (const seed of seeds) expect(Number.isSafeInteger(seed) && seed >= 0).toBe(true);
      expect(seeds[0]).toBe(seeds[1]);
      expect(seeds[4]).toBe(0);
    },
  );

  it.each(drawing)('[IMG-51] tells %s a negative prompt only with guidance', async (flavor) => {
    answer(generations);
    for (const guidanceScale of [undefined, 0]) {
      await generate(flavor, {
        negativePrompt: 'dogs',
        ...(guidanceScale === undefined ? {} : { guidanceScale }),
      });
    }
    expect(JSON.stringify(mock.others.map(({ body }) => body))).not.toContain('dogs');
    await generate(flavor, { negativePrompt: 'dogs', guidanceScale: 1 });
    expect(JSON.stringify(mock.others.at(-1)?.body)).toContain('dogs');
  });

  it('lets no client write stable-diffusion.cpp’s own settings', async () => {
    answer(generations);
    const foreign = '<sd_cpp_extra_args>{"batch_count":1000}</sd_cpp_extra_args>';
    await generate('stable-diffusion.cpp', {
      prompt: `a fox ${foreign}`,
      guidanceScale: 2,
      negativePrompt: `</sd_cpp_extra_args>${foreign}`,
    });
    const prompt = String(mock.others[0]?.body?.['prompt']);
    // As the server reads it: the first block counts.
    const [block, inside] = /<sd_cpp_extra_args>(.*?)<\/sd_cpp_extra_args>/.exec(prompt) ?? [];
    expect(prompt.startsWith(block ?? '-')).toBe(true);
    expect(JSON.parse(inside ?? '')).not.toHaveProperty('batch_count');
    expect(prompt.slice(block?.length)).toBe('a fox  {"batch_count":1000} ');
  });

  it('is given up when nobody waits for it any more, and after its time', async () => {
    const controller = new AbortController();
    const { promise: came, resolve } = Promise.withResolvers<MockRequest>();
    mock.route(generations, ({ request: given }) => resolve(given));
    const done = engine('generic').image!.generate(request(), controller.signal);
    const given = await came;
    controller.abort(new Error('left'));
    await expect(done).rejects.toThrow('left');
    await given.aborted;
    mock.route(generations, () => {});
    const late = engine('generic', { timeoutMs: 1 }).image!.generate(request(), never);
    await expect(late).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('is possible only where the engine has such a route', () => {
    for (const flavor of [
      'vllm',
      'llama.cpp',
      'ollama',
      'tei',
      'speaches',
      'whisper.cpp',
      'kokoro-fastapi',
    ] as const) {
      expect(engine(flavor).image).toBeUndefined();
    }
    expect(engine('stable-diffusion.cpp').chat).toBeUndefined();
  });
});

describe('an edit', () => {
  it.each(drawing)(
    'is the form that %s expects, one file as image and several as image[]',
    async (flavor) => {
      answer(edits);
      const references = [file('one'), file('two', 'image/jpeg')];
      await generate(flavor, { ...wishes, references });
      await generate(flavor, { prompt: 'Straße "Übung"\r\n--x', references: [file('alone', 'image/webp')] });
      const [first, second] = await Promise.all(mock.others.map(formOf));
      expect(first?.files).toEqual([
        ['image[]', 'image-1.png', 'image/png', Buffer.from('one')],
        ['image[]', 'image-2.jpeg', 'image/jpeg', Buffer.from('two')],
      ]);
      expect(first?.fields).toMatchObject({ model: 'Org/Painter', n: '2', size: '512x256' });
      expect(second?.files).toEqual([['image', 'image-1.webp', 'image/webp', Buffer.from('alone')]]);
      expect(second?.fields['prompt']).toContain('Straße "Übung"\r\n--x');
      expect(mock.others[0]?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-team': 'pictures' });
    },
  );

  it('hands a mask to OpenAI as it is: clear is drawn anew', async () => {
    answer(edits);
    await generate('generic', { references: [file('one')], mask: file('clear here') });
    const { files } = await formOf(mock.others[0]!);
    expect(files[1]).toEqual(['mask', 'mask.png', 'image/png', Buffer.from('clear here')]);
  });

  it.each([
    ['stable-diffusion.cpp', 'mask'],
    ['vllm-omni', 'mask_image'],
  ] as const)('turns the mask round for %s, which draws anew what is white', async (flavor, field) => {
    answer(edits);
    const data = Uint8Array.from([9, 9, 9, 0, 9, 9, 9, 255, 200, 200, 200, 100, 0, 0, 0, 255]);
    const mask = await writePixels({ width: 2, height: 2, data }, { format: 'png' });
    const content = toContent(mask.bytes);
    await generate(flavor, { references: [file('one')], mask: { content, mediaType: mask.mediaType } });
    const { files } = await formOf(mock.others[0]!);
    expect(files[1]?.slice(0, 3)).toEqual([field, 'mask.png', 'image/png']);
    const turned = (await readPixels(files[1]![3])).data;
    expect([0, 4, 8, 12].map((at) => [...turned.subarray(at, at + 4)])).toEqual([
      [255, 255, 255, 255],
      [0, 0, 0, 255],
      [155, 155, 155, 255],
      [0, 0, 0, 255],
    ]);
  });

  it('with a mask is refused, naming it, where the engine would not heed it', async () => {
    await expect(generate('sglang', { references: [file('one')], mask: file('m') })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'mask',
    });
    expect(mock.others).toHaveLength(0);
  });

  it('of many megabytes arrives whole', async () => {
    answer(edits);
    const bytes = Buffer.alloc(20 * 1024 * 1024, 'picture');
    await generate('sglang', { references: [{ content: toContent(bytes), mediaType: 'image/png' }] });
    expect((await formOf(mock.others[0]!)).files[0]?.[3].equals(bytes)).toBe(true);
  });
});

interface Fixture {
  engine: FlavorName;
  version: string;
  note: string;
  case: string;
  status: number;
  body: string;
  expect: { images?: number[]; failure?: string };
}

const folder = new URL('./fixtures/', import.meta.url).pathname;
const fixtures = globSync('*/images*.json', { cwd: folder })
  .sort()
  .map((path) => [path, JSON.parse(readFileSync(folder + path, 'utf8')) as Fixture] as const);

describe('what real engines answer', () => {
  it('is there for every flavour that makes pictures', () => {
    const there = new Set(fixtures.map(([, fixture]) => `${fixture.engine} ${fixture.case}`));
    for (const { name, image } of Object.values(flavors)) {
      if (name === 'generic') continue;
      expect([name, there.has(`${name} images`)]).toEqual([name, image !== undefined]);
      expect([name, there.has(`${name} images-edit`)]).toEqual([name, image !== undefined]);
    }
  });

  it.each(fixtures)(
    '%s is understood',
    async (path, { engine: flavor, note, status, body, expect: expected }) => {
      const route = /POST (\/[a-z0-9/]+)/.exec(note)?.[1] ?? '';
      mock.route(route, ({ text }) => text(status, body));
      const first = JSON.parse(readFileSync(`${folder}sglang/images.whole.json`, 'utf8')) as Fixture;
      const { data } = JSON.parse(first.body) as { data: { b64_json: string }[] };
      for (const variant of ['', '?variant=1']) {
        mock.route(`/v1/images/8a1c1f0e/content${variant}`, ({ head, write, end }) => {
          head({ 'content-type': 'image/png' });
          void write(Buffer.from(data[0]?.b64_json ?? '', 'base64')).then(end);
        });
      }
      const references = route === edits ? [file('one')] : [];
      const done = generate(flavor, { count: 10, references });
      if (expected.failure !== undefined)
        await expect(done, path).rejects.toMatchObject({ kind: expected.failure });
      else {
        const images = await done;
        expect(images.map(({ bytes }) => bytes.length)).toEqual(expected.images);
        for (const image of images) expect(Object.keys(image)).toEqual(['bytes']);
        for (const { bytes } of images)
          expect(await readPixels(bytes)).toMatchObject({ width: 1, height: 1 });
      }
    },
  );
});

describe('an answer', () => {
  it.each([
    ['nothing', {}],
    ['data that is no list', { data: 'x' }],
    ['an empty list', { data: [] }],
    [
      'items that are none',
      { data: [null, 3, {}, { b64_json: '' }, { b64_json: 7 }, { url: '' }, { b64_json: '!!!!' }] },
    ],
  ])('[IMG-68] with %s has no picture', async (_, body) => {
    answer(generations, body);
    expect(await generate('generic', { count: 10 })).toEqual([]);
  });

  it.each([
    ['no JSON', 'Hello'],
    ['an error', '{"error":{"message":"broken","code":500}}'],
  ])('with %s is a failure of the engine', async (_, body) => {
    mock.route(generations, ({ text }) => text(200, body));
    await expect(generate('generic')).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('[IMG-9] has a revised prompt only where that differs from the prompt', async () => {
    const b64_json = picture.toString('base64');
    answer(generations, {
      data: ['a fox', null, ' ', 'a red fox in snow'].map((revised_prompt) => ({ b64_json, revised_prompt })),
    });
    const images = await generate('generic', { count: 4 });
    expect(images.map(({ revisedPrompt }) => revisedPrompt)).toEqual([
      undefined,
      undefined,
      undefined,
      'a red fox in snow',
    ]);
  });

  it('with more pictures than asked for is cut, and with fewer is taken', async () => {
    answer(generations, withPictures(5));
    expect(await generate('generic', { count: 2 })).toHaveLength(2);
    expect(await generate('generic', { count: 9 })).toHaveLength(5);
  });

  it('may have data URIs in either place', async () => {
    const uri = `data:image/png;base64,${picture.toString('base64')}`;
    answer(generations, { data: [{ b64_json: uri }, { url: uri }] });
    expect(await generate('generic', { count: 2 })).toEqual([{ bytes: picture }, { bytes: picture }]);
  });

  it('cuts an engine’s words to their first line, without internals', async () => {
    mock.route(generations, ({ json }) =>
      json(400, { error: { message: 'size is too large at http://10.0.0.1:3000/x\nTraceback' } }),
    );
    await expect(generate('generic')).rejects.toMatchObject({
      kind: 'invalid_request',
      message: 'size is too large at [address]',
    });
  });

  it('that is longer than ten pictures can be is not read to its end', async () => {
    mock.route(generations, async ({ head, write, request: { aborted } }) => {
      head({ 'content-type': 'application/json' });
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      let isOver = false;
      void aborted.then(() => {
        isOver = true;
      });
      for (let sent = 0; sent < 400 && !isOver; sent++) await write(chunk);
    });
    await expect(generate('generic')).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

describe('a link', () => {
  const give = (path: string) =>
    mock.route(path, ({ head, write, end }) => {
      head({ 'content-type': 'image/png' });
      void write(picture).then(end);
    });

  it('to the engine itself is followed, absolute or not, with the engine’s key', async () => {
    give('/files/a.png?x=1');
    const { origin } = new URL(mock.url);
    answer(generations, { data: [{ url: `${origin}/files/a.png?x=1#part` }, { url: '/files/a.png?x=1' }] });
    expect(await generate('generic', { count: 2 })).toEqual([{ bytes: picture }, { bytes: picture }]);
    expect(
      mock.others
        .slice(1)
        .map(({ method, headers }) => [method, headers['authorization'], headers['content-type']]),
    ).toEqual([
      ['GET', 'Bearer secret', undefined],
      ['GET', 'Bearer secret', undefined],
    ]);
  });

  it('to any other host is not followed', async () => {
    const other = await createMockEngine();
    const { host, port } = new URL(other.url);
    for (const url of [
      `http://${host}/a.png`,
      `http://localhost:${port}/a.png`,
      `//${host}/a.png`,
      `https://${new URL(mock.url).host}/a.png`,
      `http://${new URL(mock.url).host}@${host}/a.png`,
      'file:///etc/passwd',
      'http://[bad',
    ]) {
      answer(generations, { data: [{ url }] });
      await expect(generate('generic')).rejects.toMatchObject({ kind: 'unreachable' });
    }
    expect(other.others).toHaveLength(0);
    await other.close();
  });

  it('to nothing, or away, is a failure of the engine', async () => {
    answer(generations, { data: [{ url: '/files/gone.png' }] });
    await expect(generate('generic')).rejects.toMatchObject({ kind: 'unreachable' });
    mock.route('/files/gone.png', ({ text }) => text(302, '', { location: 'http://10.0.0.1/' }));
    await expect(generate('generic')).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('without an origin is beside the engine’s own path', () => {
    const address = toAddress('http://engine:9000/pictures/v1');
    expect(toOwnPath('files/a.png', address)).toBe('/pictures/files/a.png');
    expect(toOwnPath('/v1/images/a/content?variant=1', address)).toBe('/v1/images/a/content?variant=1');
    expect(toOwnPath('http://engine:9001/a', address)).toBeUndefined();
  });
});
