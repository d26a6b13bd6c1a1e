import { expect, test } from 'vitest';
import { createCatalogShell } from '../../../test/support/catalog-shell.ts';

const shell = createCatalogShell();
const { get } = shell;

test('GET /audio/voices without a key is a 401', async () => {
  expect((await get('/audio/voices', { key: null })).status).toBe(401);
});

test('[SPEECH-38] GET /audio/voices answers the built-in names of the model', async () => {
  const { data, ...rest } = (await get('/audio/voices?model=voice-one')).json();
  expect(rest).toEqual({
    object: 'list',
    model: 'voice-one',
    default_voice: 'vivian',
    voices: ['vivian', 'ryan'],
    uploaded_voices: [],
  });
  expect(data).toHaveLength(4);
});

test('[SPEECH-39] each voice has id, object, name, type, languages, description', async () => {
  const { data } = (await get('/audio/voices?model=voice-one')).json();
  expect(data.slice(0, 2)).toEqual([
    {
      id: 'vivian',
      object: 'audio.voice',
      name: 'Vivian',
      type: 'builtin',
      languages: ['zh', 'en'],
      description: 'Warm.',
    },
    { id: 'ryan', object: 'audio.voice', name: 'ryan', type: 'builtin', languages: [], description: '' },
  ]);
});

test('[SPEECH-40] design and clone stand only in data, and only on a model that has them', async () => {
  const types = async (model: string) =>
    (await get(`/audio/voices?model=${model}`))
      .json()
      .data.map(({ id, type }: { id: string; type: string }) => [id, type]);
  expect(await types('voice-one')).toEqual([
    ['vivian', 'builtin'],
    ['ryan', 'builtin'],
    ['design', 'design'],
    ['clone', 'clone'],
  ]);
  expect(await types('voice-mini')).toEqual([['solo', 'builtin']]);
});

test('[SPEECH-41] without a model the default speech model is meant', async () => {
  expect((await get('/audio/voices')).json().model).toBe('voice-one');
  expect((await get('/audio/voices?model=')).json().model).toBe('voice-one');
  const other = createCatalogShell({ defaults: { speech: 'voice-mini' } });
  expect((await other.get('/audio/voices')).json().model).toBe('voice-mini');
});

test.each(['no-such-model', 'qwen3-8b'])(
  '[SPEECH-41] %s, which is no speech model, is a 404',
  async (model) => {
    const answer = await get(`/audio/voices?model=${model}`);
    expect(answer.status).toBe(404);
    expect(answer.json().error.message).toContain(model);
  },
);

test('[SPEECH-42] POST /audio/voices is a 405', async () => {
  const answer = await shell.send({ method: 'POST', url: '/v1/audio/voices', payload: {} });
  expect(answer.status).toBe(405);
  expect(answer.headers.allow).toContain('GET');
});
