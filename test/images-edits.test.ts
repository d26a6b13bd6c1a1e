/** Images from images: forms and JSON, references and masks, and how large they may be. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createImagesShell,
  drawId,
  editId,
  type FormFile,
  gifFile,
  type ImagesShell,
  jpegFile,
  pngFile,
  toDataUri,
  toEvents,
  webpFile,
} from './support/images-shell.ts';
import type { TestAnswer } from './support/inject.ts';
import { toPng } from './support/tiny-png.ts';

let shell: ImagesShell;
beforeEach(() => {
  shell = createImagesShell();
});
afterEach(() => {
  expect(shell.held()).toBe(0);
});

const fields = { model: editId, prompt: 'In the snow', size: '256x256' };
const image: FormFile = { field: 'image', bytes: pngFile };
const mask: FormFile = { field: 'mask', bytes: toPng({ width: 64, height: 64, isClear: true }) };
const url = 'https://pictures.example/a.png';
const toImages = (...sources: string[]) => sources.map((source) => ({ image_url: source }));
const toReferences = (...sources: string[]) =>
  sources.map((source) => ({ type: 'image_url', image_url: { url: source } }));
const edit = (body: object, headers?: Record<string, string>) =>
  shell.post('/edits', { ...fields, ...body }, headers);

function expectRefused({ status, json }: TestAnswer, param: string): void {
  const { message, param: named } = json().error;
  expect([status, named]).toEqual([400, param]);
  expect(message).toContain(param);
  expect(shell.asked).toEqual([]);
}

function expectTooLarge({ status, json }: TestAnswer, limit: string): void {
  const { code, message, metadata } = json().error;
  expect([status, code, metadata.error_type]).toEqual([413, 413, 'payload_too_large']);
  expect(message).toContain(limit);
  expect(shell.asked).toEqual([]);
}

describe('an edit', () => {
  it('[EDIT-1] is a form or JSON, with the fields of a generation', async () => {
    const more = { n: 2, seed: 3, steps: 7, output_format: 'webp' };
    expect((await edit({ images: toImages(toDataUri(pngFile)), ...more })).status).toBe(200);
    const texts = Object.fromEntries(Object.entries(more).map(([name, value]) => [name, String(value)]));
    expect((await shell.postForm({ ...fields, ...texts }, [image])).status).toBe(200);
    const [asJson, asForm] = await Promise.all(
      shell.asked.map(async ({ references, ...rest }) => ({
        ...rest,
        references: await Promise.all(references.map(({ content }) => content.toBuffer())),
      })),
    );
    expect(asForm).toEqual(asJson);
    expect(shell.asked[0]).toMatchObject({ count: 2, seed: 3, steps: 7, outputFormat: 'webp' });
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'image/png']) {
      const headers = { 'content-type': type };
      const answer = await shell.send({ method: 'POST', url: '/v1/images/edits', payload: 'x', headers });
      expect(answer.status).toBe(400);
    }
    // Only edits come as forms.
    const form = { 'content-type': 'multipart/form-data; boundary=x' };
    const other = await shell.send({ method: 'POST', url: '/v1/images', payload: '--x--', headers: form });
    expect(other.status).toBe(400);
  });

  it('[EDIT-2] answers with links unless base64 is asked for', async () => {
    const images = toImages(toDataUri(pngFile));
    const [linked] = (await edit({ images })).json().data;
    expect(Object.keys(linked)).toEqual(['url', 'media_type']);
    const [inBase64] = (await edit({ images, response_format: 'b64_json' })).json().data;
    expect(Object.keys(inBase64)).toEqual(['b64_json', 'media_type']);
    const [ofForm] = (await shell.postForm(fields, [image])).json().data;
    expect(Object.keys(ofForm)).toEqual(['url', 'media_type']);
  });

  it('[EDIT-3] of the AI SDK that names no form answers with both', async () => {
    const images = toImages(toDataUri(pngFile));
    const keys = async (agent: string, body: object) =>
      Object.keys((await edit({ images, ...body }, { 'user-agent': agent })).json().data[0]);
    for (const agent of ['ai/7.0.169 ai-sdk/provider-utils', 'ai-sdk-openai/4.0.114 runtime/node'])
      expect(await keys(agent, {})).toEqual(['b64_json', 'url', 'media_type']);
    expect(await keys('ai/7.0.169', { response_format: 'url' })).toEqual(['url', 'media_type']);
    expect(await keys('ai/7.0.169', { response_format: 'b64_json' })).toEqual(['b64_json', 'media_type']);
    for (const agent of ['OpenAI/JS 7.53.0', 'aiohttp/3', 'my ai/1'])
      expect(await keys(agent, {})).toEqual(['url', 'media_type']);
    const generated = await shell.post('/generations', { size: '256x256' }, { 'user-agent': 'ai/7' });
    expect(Object.keys(generated.json().data[0])).toEqual(['url', 'media_type']);
  });

  it('[EDIT-4] needs a prompt', async () => {
    expectRefused(await edit({ images: toImages(url), prompt: undefined }), 'prompt');
    expectRefused(await shell.postForm({ model: editId }, [image]), 'prompt');
  });

  it('[EDIT-5] needs an image', async () => {
    expectRefused(await shell.postForm(fields, []), 'image');
    expectRefused(await edit({}), 'image');
    expectRefused(await edit({ images: [] }), 'images');
    expectRefused(await edit({ input_references: [] }), 'image');
  });

  it('[EDIT-6, EDIT-7] takes one file as image and several as image[], in their order', async () => {
    for (const field of ['image', 'image[]'])
      expect((await shell.postForm(fields, [{ ...image, field }])).status).toBe(200);
    const files = [pngFile, jpegFile, webpFile].map((bytes) => ({ field: 'image[]', bytes }));
    await shell.postForm(fields, files);
    expect(shell.asked.map(({ references }) => references.map(({ mediaType }) => mediaType))).toEqual([
      ['image/png'],
      ['image/png'],
      ['image/png', 'image/jpeg', 'image/webp'],
    ]);
    expect(await shell.asked[2]?.references[1]?.content.toBuffer()).toEqual(jpegFile);
  });

  it('[EDIT-8] has no mask without an image', async () => {
    expectRefused(await shell.postForm(fields, [mask]), 'mask');
    expectRefused(await edit({ mask: { image_url: toDataUri(mask.bytes) } }), 'mask');
    expectRefused(await shell.post('', { ...fields, mask: { image_url: toDataUri(mask.bytes) } }), 'mask');
  });

  it('[EDIT-9] has a mask that is a PNG', async () => {
    expectRefused(await shell.postForm(fields, [image, { field: 'mask', bytes: jpegFile }]), 'mask');
    const images = toImages(toDataUri(pngFile));
    const broken = { images, mask: { image_url: toDataUri(webpFile, 'image/png') } };
    expectRefused(await edit(broken), 'mask.image_url');
  });

  it('[EDIT-10] has its mask as a file or in JSON', async () => {
    await shell.postForm(fields, [image, mask]);
    await edit({ images: toImages(toDataUri(pngFile)), mask: { image_url: toDataUri(mask.bytes) } });
    shell.web.set(url, mask.bytes);
    await edit({ images: toImages(toDataUri(pngFile)), mask: { image_url: url } });
    expect(shell.asked).toHaveLength(3);
    for (const asked of shell.asked) {
      expect(asked.mask?.mediaType).toBe('image/png');
      expect(await asked.mask?.content.toBuffer()).toEqual(mask.bytes);
      expect(asked.references).toHaveLength(1);
    }
    expect((await edit({ images: toImages(toDataUri(pngFile)), mask: null })).status).toBe(200);
    expect(shell.asked[3]).not.toHaveProperty('mask');
  });

  it('[EDIT-11] in a form has numbers and switches as text', async () => {
    const texts = {
      n: '2',
      size: '512x256',
      response_format: 'b64_json',
      output_format: 'jpeg',
      output_compression: '40',
      background: 'opaque',
      seed: '-5',
      stream: 'false',
      guidance_scale: '2.5',
      num_inference_steps: '9',
      negative_prompt: '12',
      partial_images: '0',
      quality: 'high',
      user: 'u',
    };
    const { status, json } = await shell.postForm({ ...fields, ...texts }, [image]);
    expect(status).toBe(200);
    expect(json()).toMatchObject({ size: '512x256', output_format: 'jpeg', data: [{}, {}] });
    expect(json().data[0]).toHaveProperty('b64_json');
    expect(shell.asked.pop()).toMatchObject({
      count: 2,
      width: 512,
      height: 256,
      outputFormat: 'jpeg',
      outputCompression: 40,
      background: 'opaque',
      seed: -5,
      guidanceScale: 2.5,
      steps: 9,
      negativePrompt: '12',
    });
    for (const [name, text] of Object.entries({
      n: '2.5',
      seed: 'x',
      stream: 'yes',
      output_compression: '101',
      steps: '0',
      foo: '1',
    }))
      expectRefused(await shell.postForm({ ...fields, [name]: text }, [image]), name);
  });

  it('[EDIT-12] in a form has provider and input_references as JSON', async () => {
    const texts = {
      provider: JSON.stringify({ order: ['x'], options: { steps: 6 } }),
      input_references: JSON.stringify(toReferences(toDataUri(jpegFile))),
    };
    expect((await shell.postForm({ ...fields, ...texts }, [image])).status).toBe(200);
    const { steps, references } = shell.asked.pop()!;
    expect([steps, references.map(({ mediaType }) => mediaType)]).toEqual([6, ['image/png', 'image/jpeg']]);
    for (const name of ['provider', 'input_references']) {
      for (const text of ['{', '[{', 'x', '', `${'['.repeat(200)}${']'.repeat(200)}`])
        expect((await shell.postForm({ ...fields, [name]: text }, [image])).json().error.param).toContain(
          name,
        );
    }
    expect(shell.asked).toEqual([]);
  });

  it('[EDIT-12] in a form has references that are longer than an ordinary field', async () => {
    const large = toPng({ width: 64, height: 64, padding: 2_000_000 });
    const texts = { input_references: JSON.stringify(toReferences(toDataUri(large))) };
    expect((await shell.postForm({ ...fields, ...texts }, [])).status).toBe(200);
    const told = await shell.asked[0]?.references[0]?.content.toBuffer();
    expect(told?.equals(large)).toBe(true);
  });

  it('[EDIT-13] has its images by https or as data URIs', async () => {
    shell.web.set(url, jpegFile);
    expect((await edit({ images: toImages(url, toDataUri(pngFile)) })).status).toBe(200);
    expect(shell.asked.pop()?.references.map(({ mediaType }) => mediaType)).toEqual([
      'image/jpeg',
      'image/png',
    ]);
    for (const source of ['http://pictures.example/a.png', 'ftp://x/a.png', 'file:///etc/passwd', 'a.png'])
      expectRefused(await edit({ images: toImages(source) }), 'images[0].image_url');
    expectRefused(await edit({ images: [{}] }), 'images[0].image_url');
    expectRefused(await edit({ images: toImages('data:image/png;base64,!!!!') }), 'images[0].image_url');
  });

  it.each([
    'https://127.0.0.1/a.png',
    'https://10.0.0.1/a.png',
    'https://169.254.169.254/a.png',
    'https://[::1]/a.png',
    'https://0x7f000001/a.png',
    // Its name leads to 10.0.0.1.
    'https://inside.example/a.png',
  ])('[EDIT-14] does not fetch from %s', async (source) => {
    expectRefused(await edit({ images: toImages(source) }), 'images[0].image_url');
    expect(shell.accepted).toEqual([]);
  });

  it('[EDIT-15] has at most 10 images, on every route and in every form', async () => {
    const many = (count: number) => Array.from({ length: count }, () => toDataUri(pngFile));
    const inFields = (count: number) => [
      { images: toImages(...many(count)) },
      { input_references: toReferences(...many(count)) },
    ];
    for (const path of ['', '/generations', '/edits']) {
      for (const body of inFields(10)) {
        expect((await shell.post(path, { ...fields, ...body })).status).toBe(200);
        expect(shell.asked.pop()?.references).toHaveLength(10);
      }
      for (const body of inFields(11))
        expectRefused(await shell.post(path, { ...fields, ...body }), Object.keys(body)[0]!);
      const both = { images: toImages(...many(6)), input_references: toReferences(...many(5)) };
      expectRefused(await shell.post(path, { ...fields, ...both }), 'input_references');
    }
    const files = (count: number) => Array.from({ length: count }, () => ({ ...image, field: 'image[]' }));
    expectRefused(await shell.postForm(fields, files(11)), 'image');
    expect((await shell.postForm(fields, files(10))).status).toBe(200);
  });

  it('[EDIT-16] has no file_id', async () => {
    for (const file of [{ file_id: 'file-1' }, { file_id: 'file-1', image_url: url }])
      expectRefused(await edit({ images: [file] }), 'images[0].file_id');
    const body = { images: toImages(toDataUri(pngFile)), mask: { file_id: 'file-1' } };
    expectRefused(await edit(body), 'mask.file_id');
  });

  it('[EDIT-17] may have input_references in place of images', async () => {
    expect((await edit({ input_references: toReferences(toDataUri(pngFile)) })).status).toBe(200);
    const texts = { input_references: JSON.stringify(toReferences(toDataUri(pngFile))) };
    expect((await shell.postForm({ ...fields, ...texts }, [])).status).toBe(200);
    expect(shell.asked.map(({ references }) => references.length)).toEqual([1, 1]);
  });

  it('[EDIT-18] is refused on the default model, naming what was sent', async () => {
    for (const model of [undefined, drawId]) {
      const own = model === undefined ? { prompt: 'A' } : { prompt: 'A', model };
      expectRefused(await shell.postForm(own, [image]), 'image');
      expectRefused(await shell.postForm(own, [mask]), 'mask');
      for (const [name, value] of [
        ['images', toImages(toDataUri(pngFile))],
        ['input_references', toReferences(url)],
        ['mask', { image_url: toDataUri(pngFile) }],
      ] as const)
        expectRefused(await shell.post('/edits', { model, [name]: value }), name);
      expectRefused(await shell.post('/edits', { model }), 'image');
    }
    expect(shell.fetched).toEqual([]);
  });

  it('[EDIT-19] tells an image by its bytes', async () => {
    await shell.postForm(fields, [{ ...image, bytes: jpegFile, filename: 'a.png', type: 'image/png' }]);
    shell.web.set(url, webpFile);
    await edit({ images: toImages(toDataUri(pngFile, 'text/plain'), url) });
    expect(shell.asked.map(({ references }) => references.map(({ mediaType }) => mediaType))).toEqual([
      ['image/jpeg'],
      ['image/png', 'image/webp'],
    ]);
  });

  it('[EDIT-20] has images of the formats that the model takes', async () => {
    expectRefused(await shell.postForm(fields, [{ ...image, bytes: gifFile }]), 'image');
    expectRefused(await edit({ images: toImages(toDataUri(gifFile, 'image/png')) }), 'images[0].image_url');
    const narrow = { model: 'narrow', prompt: 'A' };
    const body = { ...narrow, images: toImages(toDataUri(pngFile), toDataUri(webpFile)) };
    expectRefused(await edit(body), 'images[1].image_url');
    const masked = { ...narrow, images: toImages(toDataUri(pngFile)), mask: { image_url: url } };
    expectRefused(await edit(masked), 'mask');
    expect((await edit({ ...narrow, images: toImages(toDataUri(jpegFile)) })).status).toBe(200);
  });

  it('[EDIT-21] of the size auto has the size of the model, not of the image', async () => {
    for (const size of ['auto', null]) {
      expect((await edit({ images: toImages(toDataUri(pngFile)), size })).json().size).toBe('1024x1024');
    }
  });

  it('[EDIT-23] that streams sends image_generation.completed', async () => {
    for (const { body } of [
      await edit({ images: toImages(toDataUri(pngFile)), stream: true }),
      await shell.postForm({ ...fields, stream: 'true' }, [image]),
    ])
      expect(toEvents(body).map(({ event }) => event)).toEqual(['image_generation.completed', undefined]);
  });
});

describe('images that are too large', () => {
  const weighing = (bytes: number) => toPng({ width: 64, height: 64, padding: bytes - 200 });
  const heavy = Buffer.alloc(20_000_001);

  it('[EDIT-22] are a 413 as files of a form: over 20 MB each, or over 64 MB together', async () => {
    expectTooLarge(await shell.postForm(fields, [{ ...image, bytes: heavy }]), '20 MB');
    expectTooLarge(await shell.postForm(fields, [image, { ...mask, bytes: heavy }]), '20 MB');
    const files = Array.from({ length: 4 }, () => ({ field: 'image[]', bytes: weighing(16_500_000) }));
    expectTooLarge(await shell.postForm(fields, files), 'files is larger than the limit of 64 MB');
    expect((await shell.postForm(fields, files.slice(0, 3))).status).toBe(200);
  });

  it('[IMG-67, EDIT-22] are a 413 in JSON, on every route', async () => {
    const large = toDataUri(heavy);
    for (const path of ['', '/generations', '/edits']) {
      const body = { ...fields, input_references: toReferences(large) };
      expectTooLarge(await shell.post(path, body), '20 MB');
    }
    expectTooLarge(await edit({ images: toImages(large) }), '20 MB');
    const four = Array.from({ length: 4 }, () => toDataUri(weighing(16_100_000)));
    expectTooLarge(await shell.post('', { ...fields, input_references: toReferences(...four) }), '64 MB');
    expect((await edit({ images: toImages(...four.slice(0, 3)) })).status).toBe(200);
  });

  it('[IMG-67] are a 413 behind addresses too', async () => {
    shell.web.set(url, weighing(16_100_000));
    const four = toReferences(url, url, url, url);
    expectTooLarge(await shell.post('', { ...fields, input_references: four }), '64 MB');
    expect((await shell.post('', { ...fields, input_references: four.slice(1) })).status).toBe(200);
  });

  it('are refused by their length alone, before they are read', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '200000000' };
    const answer = await shell.send({ method: 'POST', url: '/v1/images/edits', payload: '{', headers });
    expect(answer.status).toBe(413);
  });
});
