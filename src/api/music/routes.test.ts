import { expect, test } from 'vitest';
import { createCatalogShell } from '../../../test/support/catalog-shell.ts';

const { get } = createCatalogShell();

test('GET /music/models without a key is a 401', async () => {
  expect((await get('/music/models', { key: null })).status).toBe(401);
});

test('[MUSIC-25] GET /music/models answers every field of the served music models', async () => {
  const { data, ...rest } = (await get('/music/models')).json();
  expect(rest).toEqual({});
  expect(data).toHaveLength(2);
  expect(data[0]).toEqual({
    id: 'song-one',
    canonical_slug: 'song-one',
    name: 'song-one',
    created: expect.any(Number),
    description: 'Sings.',
    hugging_face_id: 'Studio/Song-One',
    supported_formats: ['mp3', 'wav', 'flac', 'opus'],
    duration: { type: 'range', min: 10, max: 300, default: 30 },
    max_outputs: 2,
    max_prompt_length: 2000,
    max_lyrics_length: 3000,
    lyrics: true,
    instrumental: true,
    seed: true,
    supported_input_references: { audio_url: 1, total: 1 },
    sample_rate: 32_000,
    channels: 2,
    streaming: { progressive: true, format: 'wav', sample_rate: 32_000, bit_depth: 16, channels: 2 },
    pricing_skus: { duration_seconds: '0.002' },
    allowed_passthrough_parameters: ['temperature', 'guidance_scale'],
  });
  expect(data[1]).toMatchObject({
    description: '',
    hugging_face_id: null,
    max_outputs: 1,
    max_lyrics_length: null,
    supported_input_references: null,
    pricing_skus: null,
    allowed_passthrough_parameters: [],
  });
});

test('[MUSIC-26] streaming says how a song is heard while it renders, or that it is not', async () => {
  const [one, mini] = (await get('/music/models')).json().data;
  expect(one.streaming).toEqual({
    progressive: true,
    format: 'wav',
    sample_rate: 32_000,
    bit_depth: 16,
    channels: 2,
  });
  expect(mini.streaming).toEqual({ progressive: false });
});
