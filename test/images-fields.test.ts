/** The fields of an image request: what each may be, and which of them the engine is told. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createImagesShell,
  drawId,
  editId,
  type ImagesShell,
  pngFile,
  toDataUri,
} from './support/images-shell.ts';

let shell: ImagesShell;
beforeEach(() => {
  shell = createImagesShell();
});
afterEach(() => {
  expect(shell.held()).toBe(0);
});

const paths = ['', '/generations'];

async function refused(body: object, param: string, path = ''): Promise<string> {
  const { status, json } = await shell.post(path, body);
  const { message, param: named } = json().error;
  expect([status, named]).toEqual([400, param]);
  expect(message).toContain(param);
  expect(shell.asked).toEqual([]);
  return message;
}

/** What the engine was asked with the body. */
async function asked(body: object, path = '') {
  const { status, body: text } = await shell.post(path, { size: '256x256', ...body });
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  return shell.asked.pop()!;
}

describe('a request', () => {
  it('[IMG-3] has response_format url or b64_json', async () => {
    for (const path of paths) await refused({ response_format: 'png' }, 'response_format', path);
  });

  it('[IMG-16] without a model is for the default one, and an unknown model is a 404', async () => {
    expect((await asked({})).model).toBe(drawId);
    expect((await asked({ model: null })).model).toBe(drawId);
    expect((await asked({ model: 'free' })).model).toBe('Org/Free');
    for (const model of ['nobody', 'talker']) expect((await shell.post('', { model })).status).toBe(404);
  });

  it('[IMG-17, IMG-18] has a prompt of at most 4000 Unicode characters', async () => {
    for (const prompt of [undefined, null, '', ' \n', 7]) await refused({ prompt }, 'prompt');
    for (const letter of ['a', 'ß', '🏠']) {
      expect((await asked({ prompt: letter.repeat(4000) })).prompt).toHaveLength(4000 * letter.length);
      await refused({ prompt: letter.repeat(4001) }, 'prompt');
    }
    await refused({ prompt: 'a'.repeat(11), model: 'narrow' }, 'prompt');
  });

  it('[IMG-19] has n from 1 to 10, one when it is omitted', async () => {
    for (const [n, count] of [
      [undefined, 1],
      [null, 1],
      [1, 1],
      [10, 10],
    ])
      expect((await asked({ n })).count).toBe(count);
    for (const n of [0, 11, -1, 1.5, '2']) await refused({ n }, 'n');
  });

  it('[IMG-20] has the size 1024x1024 when it says none, or auto', async () => {
    for (const size of [undefined, null, 'auto'])
      expect(await asked({ size })).toMatchObject({ width: 1024, height: 1024 });
  });

  it('[IMG-21] may say its size by the label of a resolution', async () => {
    expect(await asked({ size: '1K' })).toMatchObject({ width: 1024, height: 1024 });
    expect(await asked({ size: '2K', aspect_ratio: '9:16' })).toMatchObject(
      toSides(shell.model(drawId).resolutions['2K']?.['9:16'] ?? ''),
    );
    await refused({ size: '1K', resolution: '2K' }, 'resolution');
  });

  it.each(['large', '4K', '1024', '1024x', 'x1024', '0x1024', '1024X1024', '1024x1024x1', '1e3x1e3', ''])(
    '[IMG-22] has no size %j',
    async (size) => {
      await refused({ size }, 'size');
    },
  );

  it('[IMG-23] has sides that are multiples of 16', async () => {
    for (const size of ['1000x1024', '1024x1000', '1025x1024']) await refused({ size }, 'size');
  });

  it('[IMG-24, IMG-25] has an area from 65,536 to 4,194,304 pixels', async () => {
    for (const size of ['256x256', '2048x2048', '128x512', '4096x1024'])
      expect(await asked({ size })).toMatchObject(toSides(size));
    for (const size of ['256x240', '240x256', '2048x2064', '2064x2048']) await refused({ size }, 'size');
  });

  it('[IMG-26] has a longer side of at most 4 times the shorter', async () => {
    for (const size of ['1024x256', '256x1024']) expect(await asked({ size })).toMatchObject(toSides(size));
    for (const size of ['1040x256', '256x1040']) await refused({ size }, 'size');
  });

  it('[IMG-27] has no more pixels in all than max_total_area', async () => {
    const body = { model: editId, size: '2048x2048' };
    expect((await asked({ ...body, n: 4 })).count).toBe(4);
    await refused({ ...body, n: 5 }, 'n');
    await refused({ model: editId, resolution: '2K', n: 5 }, 'n');
    expect((await asked({ size: '2048x2048', n: 5 })).count).toBe(5);
  });

  it('[IMG-28] has an aspect ratio and a resolution that agree with its size', async () => {
    for (const fields of [
      { size: '1024x1024', aspect_ratio: '1:1' },
      { size: '1024x1024', resolution: '1K' },
      { size: '1360x768', aspect_ratio: '16:9', resolution: '1K' },
      { size: '1280x720', aspect_ratio: '16:9' },
      { size: null, width: 1024, height: 1024, aspect_ratio: '1:1', resolution: '1K' },
      { size: '1K', resolution: '1K' },
    ])
      expect((await asked(fields)).count).toBe(1);
    await refused({ size: '1024x1024', aspect_ratio: '16:9' }, 'aspect_ratio');
    await refused({ size: '1360x768', aspect_ratio: '1:1', resolution: '1K' }, 'aspect_ratio');
    await refused({ size: '1024x1024', resolution: '2K' }, 'resolution');
    await refused({ size: '1040x1040', resolution: '1K' }, 'resolution');
    await refused({ width: 1024, height: 1024, aspect_ratio: '9:16' }, 'aspect_ratio');
  });

  it('[IMG-29] may say its size as width and height', async () => {
    for (const size of [undefined, 'auto', '512x768'])
      expect(await asked({ size, width: 512, height: 768 })).toMatchObject({ width: 512, height: 768 });
    for (const [width, height, param] of [
      [520, 512, 'width'],
      [128, 128, 'width'],
      [112, 1024, 'width'],
      [1024, 5000, 'height'],
    ] as const)
      await refused({ width, height }, param);
  });

  it('[IMG-30] has width and height together', async () => {
    await refused({ width: 512 }, 'height');
    await refused({ height: 512 }, 'width');
    await refused({ size: '512x512', width: 512, height: null }, 'height');
  });

  it('[IMG-31] has width and height that agree with its size', async () => {
    await refused({ size: '512x768', width: 768, height: 512 }, 'width');
    await refused({ size: '2K', width: 512, height: 512 }, 'resolution');
  });

  it('[IMG-32] with an aspect ratio alone has its size at the default resolution', async () => {
    const { resolutions, defaultResolution } = shell.model(drawId);
    for (const [ratio, size] of Object.entries(resolutions[defaultResolution] ?? {}))
      expect(await asked({ size: undefined, aspect_ratio: ratio })).toMatchObject(toSides(size));
    // It is there at another resolution, but not at this model's default one.
    await refused({ model: 'narrow', prompt: 'A', aspect_ratio: '2:1' }, 'aspect_ratio');
  });

  it('[IMG-33] with an aspect ratio and a resolution has the size that the table has for them', async () => {
    for (const [resolution, sizes] of Object.entries(shell.model(drawId).resolutions)) {
      for (const [ratio, size] of Object.entries(sizes))
        expect(await asked({ size: 'auto', aspect_ratio: ratio, resolution })).toMatchObject(toSides(size));
    }
  });

  it('[IMG-34] has an aspect ratio of the model', async () => {
    for (const ratio of ['7:5', '1', 'auto', '']) await refused({ aspect_ratio: ratio }, 'aspect_ratio');
  });

  it('[IMG-35] has the resolution 512, 768, 1K, 1.5K or 2K', async () => {
    const sides: number[] = [];
    for (const resolution of ['512', '768', '1K', '1.5K', '2K']) {
      const { width, height } = await asked({ size: undefined, resolution });
      expect(width).toBe(height);
      sides.push(width);
    }
    expect(sides).toEqual([512, 768, 1024, 1536, 2048]);
    for (const resolution of ['4K', '1k', '', 512]) await refused({ resolution }, 'resolution');
  });

  it('[IMG-36] has a seed that is an int64', async () => {
    for (const seed of [0, -1, 42, 2 ** 53 - 1, -(2 ** 63)]) expect((await asked({ seed })).seed).toBe(seed);
    // Rounded by JSON itself, and still an int64 for the engine.
    const greatest = Number('9223372036854775807');
    expect((await asked({ seed: greatest })).seed).toBeLessThan(greatest);
    for (const seed of [1.5, '7', 2 ** 64, -(2 ** 64)]) await refused({ seed }, 'seed');
    expect(await asked({ seed: null })).not.toHaveProperty('seed');
  });

  it('[IMG-38] has an output format that the engine is told, png when it is omitted', async () => {
    for (const [format, told] of [
      [undefined, 'png'],
      ['png', 'png'],
      ['jpeg', 'jpeg'],
      ['webp', 'webp'],
    ])
      expect((await asked({ output_format: format })).outputFormat).toBe(told);
    for (const format of ['gif', 'svg', 'PNG', '']) await refused({ output_format: format }, 'output_format');
    await refused({ model: 'narrow', prompt: 'A', output_format: 'jpeg' }, 'output_format');
  });

  it('[IMG-39] has an output compression from 0 to 100', async () => {
    for (const value of [0, 100])
      expect((await asked({ output_compression: value })).outputCompression).toBe(value);
    for (const value of [-1, 101, 1.5, '50'])
      await refused({ output_compression: value }, 'output_compression');
  });

  it('[IMG-40] has its output compression told to the engine and to the codec, or left to them', async () => {
    for (const output_format of ['png', 'jpeg', 'webp']) {
      expect(await asked({ output_format })).not.toHaveProperty('outputCompression');
      expect(shell.finished.pop()).not.toHaveProperty('compression');
      expect((await asked({ output_format, output_compression: 30 })).outputCompression).toBe(30);
      expect(shell.finished.pop()).toMatchObject({ format: output_format, compression: 30 });
    }
  });

  it('[IMG-41] has the background auto, opaque or transparent', async () => {
    for (const [background, told] of [
      [undefined, 'auto'],
      ['auto', 'auto'],
      ['opaque', 'opaque'],
      ['transparent', 'transparent'],
    ])
      expect((await asked({ model: editId, background })).background).toBe(told);
    await refused({ background: 'white' }, 'background');
  });

  it('[IMG-42] has no transparent background on the default model', async () => {
    await refused({ background: 'transparent' }, 'background');
  });

  it('[IMG-43] has a transparent background in png and webp, and not in jpeg', async () => {
    const body = { model: editId, background: 'transparent' };
    for (const output_format of [undefined, 'png', 'webp'])
      expect((await asked({ ...body, output_format })).background).toBe('transparent');
    await refused({ ...body, output_format: 'jpeg' }, 'background');
  });

  it('[IMG-44] has no input_references on the default model', async () => {
    const references = [{ type: 'image_url', image_url: { url: toDataUri(pngFile) } }];
    for (const path of paths) await refused({ input_references: references }, 'input_references', path);
  });

  it('[IMG-45] has references by address and as data URIs, on a model that takes them', async () => {
    const url = 'https://pictures.example/a.png';
    shell.web.set(url, pngFile);
    const references = [url, toDataUri(pngFile)].map((source) => ({
      type: 'image_url',
      image_url: { url: source },
    }));
    for (const path of paths) {
      const { references: told } = await asked({ model: editId, input_references: references }, path);
      expect(told.map(({ mediaType }) => mediaType)).toEqual(['image/png', 'image/png']);
      for (const { content } of told) expect(await content.toBuffer()).toEqual(pngFile);
    }
    for (const [reference, param] of [
      [{ type: 'video_url', image_url: { url } }, 'input_references[0].type'],
      [{ type: 'video_url', video_url: { url } }, 'input_references[0].image_url'],
      [{ type: 'image_url' }, 'input_references[0].image_url'],
      [{ type: 'image_url', image_url: { url: '' } }, 'input_references[0].image_url.url'],
    ] as const)
      await refused({ model: editId, input_references: [reference] }, param);
  });

  it('[IMG-46, IMG-47] has 1 to 50 steps in both spellings, 8 when they are omitted', async () => {
    for (const name of ['steps', 'num_inference_steps']) {
      for (const steps of [1, 50]) expect((await asked({ [name]: steps })).steps).toBe(steps);
      for (const steps of [0, 51, 2.5, '8']) await refused({ [name]: steps }, name);
    }
    expect((await asked({})).steps).toBe(8);
    expect((await asked({ steps: null, num_inference_steps: null })).steps).toBe(8);
    expect((await asked({ steps: 3, num_inference_steps: 4 })).steps).toBe(4);
  });

  it('[IMG-49, IMG-50] has a guidance scale from 0 to 20, 0 when it is omitted', async () => {
    for (const scale of [0, 0.5, 20])
      expect((await asked({ guidance_scale: scale })).guidanceScale).toBe(scale);
    expect((await asked({})).guidanceScale).toBe(0);
    for (const scale of [-0.1, 20.1, '7']) await refused({ guidance_scale: scale }, 'guidance_scale');
    const narrow = { model: 'narrow', prompt: 'A' };
    expect((await asked({ ...narrow, guidance_scale: 0 })).guidanceScale).toBe(0);
    await refused({ ...narrow, guidance_scale: 0.5 }, 'guidance_scale');
  });

  it('[IMG-51] has a negative prompt that reaches the engine only with a guidance scale above 0', async () => {
    const body = { negative_prompt: 'fog' };
    for (const scale of [undefined, null, 0])
      expect(await asked({ ...body, guidance_scale: scale })).not.toHaveProperty('negativePrompt');
    expect((await asked({ ...body, guidance_scale: 0.1 })).negativePrompt).toBe('fog');
    // This model's own scale is above 0.
    expect((await asked({ ...body, model: editId })).negativePrompt).toBe('fog');
  });

  it('[IMG-62] has partial_images 0', async () => {
    expect((await asked({ partial_images: 0 })).count).toBe(1);
    for (const partial of [1, 3, -1, 0.5]) await refused({ partial_images: partial }, 'partial_images');
  });

  it('[IMG-63] has user, session_id and trace for nothing', async () => {
    const plain = await asked({ seed: 1 });
    expect(await asked({ seed: 1, user: 'u', session_id: 's', trace: { trace_id: 't' } })).toEqual(plain);
  });

  it('[IMG-64, IMG-65] has a quality that changes neither the image nor its price', async () => {
    const plain = (await shell.post('', { size: '256x256', seed: 1 })).json();
    for (const quality of ['auto', 'low', 'medium', 'high', 'standard', 'hd', 'xhigh', 'max']) {
      const { data, usage } = (await shell.post('', { size: '256x256', seed: 1, quality })).json();
      expect({ data, usage }).toEqual({ data: plain.data, usage: plain.usage });
    }
    shell.asked.length = 0;
    await refused({ quality: 'best' }, 'quality');
  });

  it('[IMG-66] has neither moderation nor style', async () => {
    for (const name of ['moderation', 'style']) {
      await refused({ [name]: 'auto' }, name);
      expect((await asked({ [name]: null })).count).toBe(1);
    }
  });

  it('has no field that is not declared', async () => {
    for (const name of ['foo', 'cfg_scale', 'image', 'Prompt']) await refused({ [name]: 1 }, name);
  });

  it('says of a field that only other models take that it is unsupported', async () => {
    const { json } = await shell.post('', { images: [{ image_url: toDataUri(pngFile) }] });
    expect(json().error.metadata.error_type).toBe('unsupported_parameter');
  });

  it('needs a key', async () => {
    for (const path of ['', '/generations', '/edits']) {
      const url = `/v1/images${path}`;
      expect((await shell.send({ method: 'POST', url, payload: {}, key: null })).status).toBe(401);
    }
  });
});

describe('provider', () => {
  it('[IMG-52] has routing fields for nothing', async () => {
    const plain = await asked({ seed: 1 });
    const provider = {
      order: ['a'],
      only: ['b'],
      ignore: [],
      sort: 'price',
      allow_fallbacks: false,
      whatever: { options: 1 },
      options: null,
    };
    expect(await asked({ seed: 1, provider })).toEqual(plain);
    expect(await asked({ seed: 1, provider: null })).toEqual(plain);
  });

  it('[IMG-53] carries steps, guidance_scale and negative_prompt in its options', async () => {
    const options = { steps: 5, guidance_scale: 3, negative_prompt: 'fog' };
    const told = { steps: 5, guidanceScale: 3, negativePrompt: 'fog' };
    expect(await asked({ provider: { options } })).toMatchObject(told);
    // As one SDK sends them: below the name of the model's provider.
    expect(await asked({ provider: { options: { roundhouse: options } } })).toMatchObject(told);
    for (const [name, value] of [
      ['steps', 51],
      ['steps', '5'],
      ['num_inference_steps', 0],
      ['guidance_scale', 21],
      ['negative_prompt', 'a'.repeat(4001)],
    ] as const) {
      await refused({ provider: { options: { [name]: value } } }, `provider.options.${name}`);
      const inner = { roundhouse: { [name]: value } };
      await refused({ provider: { options: inner } }, `provider.options.roundhouse.${name}`);
    }
    await refused({ provider: { options: { roundhouse: 1 } } }, 'provider.options.roundhouse');
    await refused({ provider: { options: 'steps' } }, 'provider.options');
    await refused({ provider: 'fast' }, 'provider');
  });

  it('[IMG-54] is heard after the top level', async () => {
    const provider = {
      options: { steps: 5, guidance_scale: 3, roundhouse: { steps: 6, negative_prompt: 'c' } },
    };
    expect(await asked({ provider, steps: 9 })).toMatchObject({
      steps: 9,
      guidanceScale: 3,
      negativePrompt: 'c',
    });
    expect((await asked({ provider, num_inference_steps: 9, guidance_scale: 0 })).guidanceScale).toBe(0);
    expect((await asked({ provider, num_inference_steps: 9 })).steps).toBe(9);
    expect((await asked({ provider, steps: null })).steps).toBe(5);
  });

  it('[IMG-55] has no option that is not declared', async () => {
    for (const name of ['foo', 'seed', 'black-forest'])
      await refused({ provider: { options: { [name]: 1 } } }, `provider.options.${name}`);
    const inner = { roundhouse: { foo: 1 } };
    await refused({ provider: { options: inner } }, 'provider.options.roundhouse.foo');
  });

  it('[IMG-56] takes every name of allowed_passthrough_parameters, and the top level does too', async () => {
    const values: Record<string, unknown> = { negative_prompt: 'fog' };
    for (const id of [drawId, editId]) {
      const path = `/v1/images/models/x/${id}/endpoints`;
      const { allowed_passthrough_parameters: names } = (await shell.send({ url: path })).json().endpoints[0];
      expect(names.length).toBeGreaterThan(3);
      for (const name of names) {
        const value = values[name] ?? 5;
        const atTop = await asked({ model: id, seed: 1, [name]: value });
        const inOptions = await asked({ model: id, seed: 1, provider: { options: { [name]: value } } });
        expect(inOptions).toEqual(atTop);
      }
    }
  });
});

function toSides(size: string): { width: number; height: number } {
  const [width = 0, height = 0] = size.split('x').map(Number);
  return { width, height };
}
