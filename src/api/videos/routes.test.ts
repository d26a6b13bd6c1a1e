import { expect, test } from 'vitest';
import { createCatalogShell } from '../../../test/support/catalog-shell.ts';
import { sampleModel } from '../../../test/support/sample-models.ts';
import { toVideoModelEntry } from './entry.ts';

const { get } = createCatalogShell();

test('GET /videos/models without a key is a 401', async () => {
  expect((await get('/videos/models', { key: null })).status).toBe(401);
});

test('[VIDEO-83] GET /videos/models answers every field of the served video models', async () => {
  const { data, ...rest } = (await get('/videos/models')).json();
  expect(rest).toEqual({});
  expect(data.map((entry: { id: string }) => entry.id)).toEqual(['film-one', 'film-mini']);
  expect(data[0]).toMatchObject({
    id: 'film-one',
    canonical_slug: 'film-one',
    name: 'film-one',
    description: 'Renders clips with sound.',
    created: expect.any(Number),
    hugging_face_id: 'Studio/Film-One',
    supported_resolutions: ['768p', '2K'],
    supported_aspect_ratios: ['16:9', '9:16', '4:3', '3:4', '1:1', '21:9'],
    supported_frame_images: ['first_frame', 'last_frame'],
    generate_audio: true,
    seed: true,
    creativity: null,
    upscale_factor: null,
    allowed_passthrough_parameters: ['quality', 'num_inference_steps', 'start_time_seconds'],
  });
  expect(data[0].supported_sizes).toEqual([
    '1344x768',
    '768x1344',
    '1024x768',
    '768x1024',
    '768x768',
    '1536x672',
    '2688x1536',
    '1536x2688',
    '2048x1536',
    '1536x2048',
    '1536x1536',
    '3072x1344',
  ]);
  expect(data[1]).toMatchObject({
    hugging_face_id: null,
    supported_durations: [2],
    supported_frame_images: [],
    supported_input_references: null,
    generate_audio: false,
    seed: false,
    creativity: null,
    upscale_factor: null,
    allowed_passthrough_parameters: [],
  });
  expect(data[1]).not.toHaveProperty('description');
});

test('[VIDEO-84] pricing_skus has string values, and is null when unpriced', async () => {
  const [one, mini] = (await get('/videos/models')).json().data;
  expect(one.pricing_skus).toEqual({ duration_seconds: '0.05', duration_seconds_2K: '0.2' });
  expect(mini.pricing_skus).toBeNull();
});

test.each([
  ['0.05', 4, '0.2'],
  ['0.1', 3, '0.3'],
  ['0.000000000001', 1.5, '0.0000000000015'],
  ['2', 5, '10'],
  ['100', 0.01, '1'],
  ['0.07', 0, '0'],
  ['0.3', 0.0000001, '0.00000003'],
])('[VIDEO-84] %s dollars times %d are exactly %s', (completion, factor, expected) => {
  const model = {
    ...sampleModel('video', 'film-one'),
    pricing: { completion },
    resolutionPriceFactors: { '2K': factor },
  };
  expect(toVideoModelEntry(model).pricing_skus?.['duration_seconds_2K']).toBe(expected);
});

test('[VIDEO-85] the primary model says its durations, frame rate, prompt length and references', async () => {
  const [one] = (await get('/videos/models')).json().data;
  expect(one).toMatchObject({
    supported_durations: [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    default_duration: 6,
    fps: 24,
    max_prompt_length: 7000,
    supported_input_references: { image_url: 9, video_url: 3, audio_url: 3, total: 12 },
  });
});
