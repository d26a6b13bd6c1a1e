import { describe, expect, test } from 'vitest';
import { createCatalogShell } from '../../../test/support/catalog-shell.ts';
import { sampleModel } from '../../../test/support/sample-models.ts';
import { toImageEndpoints } from './entry.ts';
import { toDescriptors } from './parameters.ts';

const { get } = createCatalogShell();
const entries = async () => (await get('/images/models')).json().data;
const endpoint = async (path: string) => (await get(`/images/models/${path}/endpoints`)).json().endpoints[0];

describe('GET /images/models', () => {
  test('[AUTH-15] without a key it is a 401, and so is the endpoints route', async () => {
    expect((await get('/images/models', { key: null })).status).toBe(401);
    expect((await get('/images/models/atelier/draw-fast/endpoints', { key: null })).status).toBe(401);
  });

  test('[IMG-69] answers the served image models', async () => {
    const body = (await get('/images/models')).json();
    expect(Object.keys(body)).toEqual(['data']);
    expect(body.data.map((entry: { id: string }) => entry.id)).toEqual(['draw-fast', 'atelier/draw-edit']);
  });

  test('[IMG-70] an entry has id, name, description, created, architecture and supports_streaming', async () => {
    const [fast, edit] = await entries();
    expect(fast).toMatchObject({
      id: 'draw-fast',
      name: 'draw-fast',
      description: 'Draws fast.',
      created: expect.any(Number),
      architecture: { input_modalities: ['text'], output_modalities: ['image'] },
      supports_streaming: true,
    });
    expect(Number.isInteger(fast.created)).toBe(true);
    expect(edit).toMatchObject({ description: '', architecture: { input_modalities: ['text', 'image'] } });
  });

  test("[IMG-71] endpoints is the relative URL of the model's record, and it answers 200", async () => {
    const data = await entries();
    expect(data.map((entry: { endpoints: string }) => entry.endpoints)).toEqual([
      '/v1/images/models/atelier/draw-fast/endpoints',
      '/v1/images/models/atelier/atelier/draw-edit/endpoints',
    ]);
    for (const { id, endpoints } of data) {
      const record = await get(endpoints.slice('/v1'.length));
      expect([record.status, record.json().id]).toEqual([200, id]);
    }
  });

  test('[IMG-72] supported_parameters describes what the public entry says is supported', async () => {
    for (const { id, supported_parameters } of await entries()) {
      const entry = (await get(`/models/${id}`)).json();
      expect(Object.keys(supported_parameters)).toEqual(entry.supported_parameters);
    }
  });

  test('[IMG-73] size is a constraint, with max_total_area where it applies', async () => {
    const [fast, edit] = await entries();
    expect(fast.supported_parameters.size).toEqual({
      type: 'constraint',
      multiple_of: 16,
      min_area: 65_536,
      max_area: 4_194_304,
      max_ratio: 4,
    });
    expect(edit.supported_parameters.size).toMatchObject({ multiple_of: 8, max_total_area: 2_097_152 });
  });

  test('[IMG-74] aspect_ratio and resolution are enums, and resolution.sizes is the table', async () => {
    const [{ supported_parameters: parameters }] = await entries();
    expect(parameters.aspect_ratio).toEqual({ type: 'enum', values: ['1:1', '16:9'] });
    expect(parameters.resolution.type).toBe('enum');
    expect(parameters.resolution.values).toEqual(['512', '768', '1K', '1.5K', '2K']);
    expect(parameters.resolution.sizes).toEqual({
      '512': { '1:1': '512x512' },
      '768': { '1:1': '768x768' },
      '1K': { '1:1': '1024x1024', '16:9': '1344x768' },
      '1.5K': { '1:1': '1536x1536' },
      '2K': { '1:1': '2048x2048' },
    });
  });

  test('[IMG-75] a range that also takes values outside it lists them as also', async () => {
    const [fast, edit] = await entries();
    expect(edit.supported_parameters.guidance_scale).toEqual({ type: 'range', min: 1, max: 10, also: [0] });
    expect(fast.supported_parameters.guidance_scale).toEqual({ type: 'range', min: 0, max: 20, default: 0 });
  });

  test('[IMG-76] descriptors are enums of strings, ranges, booleans, strings with a length, and the constraint', async () => {
    const [{ supported_parameters: fast }, { supported_parameters: edit }] = await entries();
    expect(fast).toMatchObject({
      prompt: { type: 'string', max_length: 4000 },
      negative_prompt: { type: 'string', max_length: 4000 },
      n: { type: 'range', min: 1, max: 10, default: 1 },
      width: { type: 'range', min: 128, max: 4096 },
      height: { type: 'range', min: 128, max: 4096 },
      seed: { type: 'boolean' },
      stream: { type: 'boolean' },
      response_format: { type: 'enum', values: ['url', 'b64_json'] },
      output_format: { type: 'enum', values: ['png', 'jpeg', 'webp'] },
      output_compression: { type: 'range', min: 0, max: 100 },
      background: { type: 'enum', values: ['auto', 'opaque'] },
      partial_images: { type: 'range', min: 0, max: 0 },
      steps: { type: 'range', min: 1, max: 50, default: 8 },
      num_inference_steps: { type: 'range', min: 1, max: 50, default: 8 },
    });
    expect(edit).toMatchObject({
      background: { values: ['auto', 'opaque', 'transparent'] },
      output_format: { values: ['png', 'webp'] },
      input_references: { type: 'range', min: 0, max: 10 },
      mask: { type: 'boolean' },
    });
    for (const name of ['input_references', 'images', 'mask', 'moderation', 'style'])
      expect(fast).not.toHaveProperty(name);
    for (const name of ['steps', 'num_inference_steps', 'negative_prompt'])
      expect(edit).not.toHaveProperty(name);
  });

  test('[IMG-76] width and height reach exactly as far as a size within the constraint does', async () => {
    for (const { id, supported_parameters: parameters } of await entries()) {
      const { multiple_of: step, min_area, max_area, max_ratio } = parameters.size;
      const possible = new Set<number>();
      for (let width = step; width <= 5000; width += step) {
        for (let height = step; height <= width * max_ratio && width * height <= max_area; height += step) {
          if (width * height >= min_area && width <= height * max_ratio) possible.add(width);
        }
      }
      const range = { type: 'range', min: Math.min(...possible), max: Math.max(...possible) };
      expect({ id, width: parameters.width, height: parameters.height }).toEqual({
        id,
        width: range,
        height: range,
      });
    }
  });

  test('[IMG-76] a model that gives no number of images takes 10', () => {
    const { maxImages: _, ...model } = sampleModel('image', 'draw-fast');
    expect(toDescriptors(model).n).toMatchObject({ max: 10 });
  });
});

describe('GET /images/models/{author}/{slug}/endpoints', () => {
  test('[IMG-78] [ROUTE-7] accepts any author, and an id with a slash in every spelling', async () => {
    const record = (await get('/images/models/atelier/draw-fast/endpoints')).json();
    for (const author of ['nobody', '-', 'a%2Fb']) {
      expect((await get(`/images/models/${author}/draw-fast/endpoints`)).json()).toEqual(record);
    }
    for (const path of ['atelier/draw-edit', 'x/atelier/draw-edit', 'x/atelier%2Fdraw-edit']) {
      expect((await get(`/images/models/${path}/endpoints`)).json().id).toBe('atelier/draw-edit');
    }
  });

  test('[IMG-79] the record is unwrapped', async () => {
    const record = (await get('/images/models/atelier/draw-fast/endpoints')).json();
    const [{ supported_parameters }] = await entries();
    expect(record).toEqual({
      id: 'draw-fast',
      endpoints: [
        {
          provider_name: 'atelier',
          provider_slug: 'atelier',
          provider_tag: null,
          supported_parameters,
          allowed_passthrough_parameters: [
            'num_inference_steps',
            'steps',
            'guidance_scale',
            'negative_prompt',
          ],
          supports_streaming: true,
          pricing: [{ billable: 'output_image', unit: 'megapixel', cost_usd: 0.01 }],
        },
      ],
    });
  });

  test('[IMG-80] pricing is per megapixel, and empty when unpriced', async () => {
    expect((await endpoint('atelier/draw-edit')).pricing).toEqual([]);
    const free = { ...sampleModel('image', 'draw-fast'), pricing: { completion: '0' } };
    expect(toImageEndpoints(free).endpoints[0]?.pricing).toMatchObject([{ cost_usd: 0 }]);
  });

  test('[IMG-81] allowed_passthrough_parameters has every declared parameter and alias, steps included', async () => {
    const { allowed_passthrough_parameters: names } = await endpoint('atelier/draw-fast');
    expect(names).toEqual(
      expect.arrayContaining(['steps', 'num_inference_steps', 'guidance_scale', 'negative_prompt']),
    );
    expect((await endpoint('atelier/draw-edit')).allowed_passthrough_parameters).toEqual(['guidance_scale']);
  });

  test.each(['no-such-model', 'retired-chat', 'hidden-chat', 'qwen3-8b'])(
    '[IMG-82] %s is a 404',
    async (slug) => {
      expect((await get(`/images/models/x/${slug}/endpoints`)).status).toBe(404);
    },
  );
});

describe('a catalogue that cannot be read', () => {
  const fail = () => {
    throw new Error('gone');
  };
  const paths = ['/images/models', '/images/models/atelier/draw-fast/endpoints'];

  test('[IMG-83] an unreadable catalogue is a 502, never an empty list', async () => {
    const { get: ask } = createCatalogShell({ readModels: fail });
    for (const path of paths) expect((await ask(path)).status).toBe(502);
  });

  test('[IMG-84] an unreadable list of served models is a 503', async () => {
    const { get: ask } = createCatalogShell({ readServed: fail });
    for (const path of paths) expect((await ask(path)).status).toBe(503);
  });
});
