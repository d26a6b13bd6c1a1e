import { describe, expect, test } from 'vitest';
import {
  asAnthropic,
  asOpenAI,
  asOpenRouter,
  asTypeSafe,
  createCatalogShell,
} from '../../../test/support/catalog-shell.ts';
import { listedIds } from '../../../test/support/sample-models.ts';

const shell = createCatalogShell();
const { get } = shell;
const ids = async (path: string, headers: Record<string, string> = {}): Promise<string[]> =>
  (await get(path, { headers })).json().data.map((entry: { id: string }) => entry.id);
const textIds = ['qwen3-8b', 'plain-chat', 'acme/thinker'];

describe('GET /models', () => {
  test('[AUTH-12] [AUTH-13] answers without a key and ignores a wrong one', async () => {
    for (const path of ['/models', '/models/count', '/model/qwen/qwen3-8b', '/embeddings/models']) {
      expect((await get(path, { key: null })).status).toBe(200);
      expect((await get(path, { key: 'wrong' })).status).toBe(200);
    }
  });

  test('[MODEL-29] answers the list with its count and the next link', async () => {
    const answer = await get('/models');
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    const { data, ...rest } = answer.json();
    expect(rest).toEqual({ object: 'list', total_count: listedIds.length, links: { next: null } });
    expect(data).toHaveLength(listedIds.length);
  });

  test('[MODEL-22] every links.details answers 200 with the same entry', async () => {
    for (const entry of (await get('/models')).json().data) {
      expect(entry.links.details).toBe(`/v1/model/${entry.owned_by}/${entry.id}`);
      const details = await get(entry.links.details.slice('/v1'.length), { key: null });
      expect(details.json()).toEqual({ data: entry });
    }
  });

  test('[MODEL-30] total_count counts every match, not only the page', async () => {
    const { data, total_count } = (await get('/models?limit=2&output_modalities=text')).json();
    expect([data.length, total_count]).toEqual([2, 3]);
  });

  test('[MODEL-31] links.next leads to the rest of the same list', async () => {
    const seen: string[] = [];
    let next: string | null = '/v1/models?limit=2&output_modalities=text,image';
    while (next !== null) {
      const { data, links } = (await get(next.slice('/v1'.length))).json();
      seen.push(...data.map((entry: { id: string }) => entry.id));
      next = links.next;
      if (next !== null) expect(next).toMatch(/^\/v1\/models\?offset=\d+&limit=2&/);
    }
    expect(seen).toEqual([...textIds, 'draw-fast', 'atelier/draw-edit']);
  });

  test('[MODEL-32] returns the whole list without offset and limit', async () => {
    expect(await ids('/models')).toEqual(listedIds);
    expect(await ids('/models?offset=3')).toEqual(listedIds.slice(3));
    expect(await ids('/models?offset=3&limit=2')).toEqual(listedIds.slice(3, 5));
  });

  test.each(['limit=0', 'limit=1001', 'limit=two', 'limit=1.5', 'limit=', 'limit=-1'])(
    '[MODEL-33] %s is a 400 naming limit',
    async (query) => {
      const answer = await get(`/models?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.json().error).toMatchObject({ code: 400, param: 'limit', type: 'validation_error' });
      expect(answer.json().error.message).toContain('limit');
    },
  );

  test.each(['offset=-1', 'offset=x', 'offset=0.5'])(
    '[MODEL-33] %s is a 400 naming offset',
    async (query) => {
      const answer = await get(`/models?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.json().error.message).toContain('offset');
    },
  );

  test('[MODEL-33] limit 1 and 1000 and offset 0 are accepted', async () => {
    for (const query of ['limit=1', 'limit=1000', 'offset=0'])
      expect((await get(`/models?${query}`)).status).toBe(200);
  });

  test('[MODEL-34] q keeps models whose id or name contains the text', async () => {
    expect(await ids('/models?q=film')).toEqual(['film-one', 'film-mini']);
    expect(await ids('/models?q=Qwen3%208')).toEqual(['qwen3-8b']);
    expect(await ids('/models?q=QWEN3-8')).toEqual(['qwen3-8b']);
    expect(await ids('/models?q=nothing-has-this')).toEqual([]);
  });

  test('[MODEL-35] unknown query names are ignored', async () => {
    const query =
      'category=programming&sort=newest&context=4000&min_price=0&arch=x&providers=y&zdr=true&foo[]=1';
    expect(await ids(`/models?${query}`)).toEqual(listedIds);
  });

  test('[MODEL-36] a plain and an OpenAI client get every model', async () => {
    expect(await ids('/models')).toEqual(listedIds);
    expect(await ids('/models', asOpenAI)).toEqual(listedIds);
    expect(await ids('/models', { 'x-stainless-lang': 'python' })).toEqual(listedIds);
    expect(listedIds).not.toContain('hidden-chat');
    expect(listedIds).not.toContain('retired-chat');
  });

  test('[MODEL-37] the router SDK gets text models only', async () => {
    expect(await ids('/models', asOpenRouter)).toEqual(textIds);
  });

  test('[MODEL-38] format=openrouter gives text models only', async () => {
    expect(await ids('/models?format=openrouter')).toEqual(textIds);
    expect(await ids('/models?format=other')).toEqual(listedIds);
  });

  test('[MODEL-39] output_modalities takes a comma-separated list, or all', async () => {
    expect(await ids('/models?output_modalities=embeddings')).toEqual(['embed-small', 'embed-large']);
    expect(await ids('/models?output_modalities=rerank,decisions')).toEqual(['judge-one', 'rank-one']);
    expect(await ids('/models?output_modalities=rerank&output_modalities=decisions')).toEqual([
      'judge-one',
      'rank-one',
    ]);
    expect(await ids('/models?output_modalities=all', asOpenRouter)).toEqual(listedIds);
    expect(await ids('/models?output_modalities=all&format=openrouter')).toEqual(listedIds);
    expect(await ids('/models?output_modalities=image', asOpenRouter)).toEqual([
      'draw-fast',
      'atelier/draw-edit',
    ]);
    expect(await ids('/models?output_modalities=smell')).toEqual([]);
  });

  test('[MODEL-40] input_modalities filters by what the model reads', async () => {
    expect(await ids('/models?input_modalities=video')).toEqual(['film-one']);
    expect(await ids('/models?input_modalities=text,image')).toEqual([
      'qwen3-8b',
      'atelier/draw-edit',
      'film-one',
    ]);
    expect(await ids('/models?input_modalities=image&output_modalities=text')).toEqual(['qwen3-8b']);
  });

  test('[MODEL-41] supported_parameters takes a comma-separated list', async () => {
    expect(await ids('/models?supported_parameters=tools')).toEqual(['qwen3-8b', 'acme/thinker']);
    expect(await ids('/models?supported_parameters=temperature,lyrics')).toEqual(['song-one']);
  });

  test('[MODEL-71] the decision SDK also gets the decision models as models', async () => {
    const { models, data } = (await get('/models', { headers: asTypeSafe })).json();
    expect(models).toEqual([
      { name: 'judge-one', description: 'Answers typed questions.', release_date: '2025-10-09' },
    ]);
    expect(data).toHaveLength(listedIds.length);
    expect((await get('/models')).json()).not.toHaveProperty('models');
  });
});

describe('GET /models/count', () => {
  test.each([
    '',
    '?output_modalities=all',
    '?output_modalities=image,video',
    '?input_modalities=image',
    '?supported_parameters=tools',
    '?format=openrouter',
    '?q=film',
    '?foo=1',
  ])('[MODEL-42] the count of %j is the length of the list with the same filters', async (query) => {
    const answer = await get(`/models/count${query}`);
    expect(answer.json()).toEqual({ data: { count: (await ids(`/models${query}`)).length } });
  });

  test('[MODEL-43] has the default filter of the list', async () => {
    const count = async (query: string, headers: Record<string, string> = {}) =>
      (await get(`/models/count${query}`, { headers })).json().data.count;
    expect(await count('')).toBe(listedIds.length);
    expect(await count('', asOpenAI)).toBe(listedIds.length);
    expect(await count('', asOpenRouter)).toBe(3);
    expect(await count('?format=openrouter')).toBe(3);
    expect(await count('?output_modalities=all', asOpenRouter)).toBe(listedIds.length);
  });
});

describe('GET /model/{author}/{slug}', () => {
  const idOf = async (path: string) => (await get(path, { key: null })).json().data.id;

  test('[MODEL-44] answers {data: entry} for any author', async () => {
    const [entry] = (await get('/models')).json().data;
    for (const author of ['qwen', 'somebody-else', '~']) {
      expect((await get(`/model/${author}/qwen3-8b`)).json()).toEqual({ data: entry });
    }
  });

  test('[MODEL-45] [ROUTE-7] the slug may be an id with or without a slash, percent-encoded or not', async () => {
    expect(await idOf('/model/x/plain-chat')).toBe('plain-chat');
    expect(await idOf('/model/acme/thinker')).toBe('acme/thinker');
    expect(await idOf('/model/x/acme/thinker')).toBe('acme/thinker');
    expect(await idOf('/model/x/acme%2Fthinker')).toBe('acme/thinker');
    expect(await idOf('/model/x/acme%2fthinker')).toBe('acme/thinker');
  });

  test('[MODEL-46] the slug may be a Hugging Face id in any case', async () => {
    expect(await idOf('/model/Qwen/Qwen3-8B')).toBe('qwen3-8b');
    expect(await idOf('/model/qwen/QWEN3-8B')).toBe('qwen3-8b');
    expect(await idOf('/model/x/qwen%2Fqwen3-8B')).toBe('qwen3-8b');
  });

  test("[MODEL-47] a legacy id answers the replacement's entry", async () => {
    const answer = await get('/model/qwen/qwen2.5-7b');
    expect(answer.status).toBe(200);
    expect(answer.json().data.id).toBe('qwen3-8b');
  });

  test('[MODEL-48] a :variant suffix is accepted and ignored', async () => {
    expect(await idOf('/model/qwen/qwen3-8b:express')).toBe('qwen3-8b');
    expect(await idOf('/model/qwen/qwen3-8b%3Afree')).toBe('qwen3-8b');
    expect(await idOf('/model/acme/thinker:whatever')).toBe('acme/thinker');
  });

  test.each(['no-such-model', 'retired-chat', 'hidden-chat'])('[MODEL-49] %s is a 404', async (slug) => {
    const answer = await get(`/model/any/${slug}`, { key: null });
    expect(answer.status).toBe(404);
    expect(answer.json().error).toMatchObject({ code: 404, metadata: { error_type: 'not_found' } });
  });
});

describe('GET /models/{id}', () => {
  test('[AUTH-14] without a key it is a 401, and so is the endpoints route', async () => {
    expect((await get('/models/qwen3-8b', { key: null })).status).toBe(401);
    expect((await get('/models/qwen/qwen3-8b/endpoints', { key: null })).status).toBe(401);
  });

  test('[MODEL-50] [MODEL-51] answers each model bare, as the list shows it', async () => {
    for (const entry of (await get('/models')).json().data) {
      expect((await get(`/models/${entry.id}`)).json()).toEqual(entry);
    }
  });

  test('[MODEL-52] ids are case-sensitive', async () => {
    expect((await get('/models/Qwen3-8b')).status).toBe(404);
    expect((await get('/models/qwen3-8b')).status).toBe(200);
  });

  test('[MODEL-53] [ROUTE-7] takes an id with a slash as extra segments or percent-encoded', async () => {
    for (const path of ['/models/acme/thinker', '/models/acme%2Fthinker']) {
      expect((await get(path)).json().id).toBe('acme/thinker');
    }
  });

  test.each([
    'no-such-model',
    'qwen2.5-7b',
    'qwen3-8b:express',
    'hidden-chat',
    'retired-chat',
    'anthropic/qwen3-8b',
  ])('[MODEL-54] %s, which the list does not show, is a 404', async (id) => {
    const answer = await get(`/models/${id}`);
    expect(answer.status).toBe(404);
    expect(answer.json().error).toMatchObject({ code: 404, type: 'not_found_error' });
    expect(answer.json().error.message).toContain(id);
  });

  test.each(['%', '%zz', 'acme%2', '%ff'])('[MODEL-55] the malformed id %s is a 400', async (id) => {
    const answer = await get(`/models/${id}`);
    expect(answer.status).toBe(400);
    expect(answer.json().error.metadata.error_type).toBe('invalid_request');
  });
});

describe('a catalogue that cannot be read', () => {
  const fail = () => {
    throw new Error('disk on fire');
  };
  const unreadable = createCatalogShell({ readModels: fail });
  const unlisted = createCatalogShell({ readServed: fail });
  const paths = [
    '/models',
    '/models/count',
    '/models/qwen3-8b',
    '/models/qwen/qwen3-8b/endpoints',
    '/model/qwen/qwen3-8b',
  ];

  test.each(paths)('[MODEL-56] GET %s is a 502 when the catalogue is unreadable', async (path) => {
    const answer = await unreadable.get(path);
    expect(answer.status).toBe(502);
    expect(answer.json().error.metadata.error_type).toBe('provider_unavailable');
    expect(answer.body).not.toContain('fire');
  });

  test.each(paths)(
    '[MODEL-57] GET %s is a 503 when the list of served models is unreadable',
    async (path) => {
      const answer = await unlisted.get(path);
      expect(answer.status).toBe(503);
      expect(answer.json().error.metadata.error_type).toBe('provider_overloaded');
    },
  );

  test('[MODEL-56] [MODEL-57] clients of the messages format are told in their own shape', async () => {
    const failed = { type: 'error', error: { type: 'api_error' } };
    expect((await unreadable.get('/models', { headers: asAnthropic })).json()).toMatchObject(failed);
    expect((await unlisted.get('/models/qwen3-8b', { headers: asAnthropic })).json()).toMatchObject(failed);
  });
});

describe('GET /models/{author}/{slug}/endpoints', () => {
  test('[MODEL-72] answers the model with its endpoints, tokenizer and instruct_type present', async () => {
    const { data } = (await get('/models/qwen/qwen3-8b/endpoints')).json();
    const { endpoints, ...model } = data;
    expect(model).toEqual({
      id: 'qwen3-8b',
      name: 'Qwen3 8B',
      created: 1_760_000_000,
      description: 'A chat model that thinks.',
      architecture: {
        input_modalities: ['text', 'image'],
        output_modalities: ['text'],
        modality: 'text+image->text',
        tokenizer: 'Other',
        instruct_type: 'chatml',
      },
    });
    expect(endpoints).toHaveLength(1);
    expect((await get('/models/x/plain-chat/endpoints')).json().data).toMatchObject({
      description: '',
      architecture: { tokenizer: 'Other', instruct_type: null },
    });
  });

  test('[MODEL-73] each endpoint has every key of the router SDK', async () => {
    const { data } = (await get('/models/qwen/qwen3-8b/endpoints')).json();
    const entry = (await get('/models/qwen3-8b')).json();
    expect(data.endpoints).toEqual([
      {
        name: 'qwen | qwen3-8b',
        model_id: 'qwen3-8b',
        model_name: 'Qwen3 8B',
        provider_name: 'qwen',
        tag: 'qwen',
        context_length: 131_072,
        max_completion_tokens: 32_768,
        max_prompt_tokens: 131_072,
        quantization: null,
        pricing: entry.pricing,
        supported_parameters: entry.supported_parameters,
        supports_implicit_caching: false,
        supports_tool_choice: { auto: true, none: true, required: true, function: true },
        status: 0,
        uptime_last_5m: null,
        uptime_last_30m: null,
        uptime_last_1d: null,
        latency_last_30m: null,
        throughput_last_30m: null,
      },
    ]);
  });

  test('[MODEL-73] a model without tools or tokens says so', async () => {
    const endpoint = async (path: string) => (await get(path)).json().data.endpoints[0];
    expect(await endpoint('/models/x/plain-chat/endpoints')).toMatchObject({
      max_completion_tokens: null,
      supports_tool_choice: { auto: false, none: false, required: false, function: false },
    });
    expect(await endpoint('/models/atelier/draw-fast/endpoints')).toMatchObject({
      context_length: 0,
      max_prompt_tokens: null,
    });
  });

  test('[MODEL-72] [ROUTE-7] finds ids with a slash, by segments and percent-encoded', async () => {
    for (const path of ['acme/thinker', 'x/acme/thinker', 'x/acme%2Fthinker']) {
      expect((await get(`/models/${path}/endpoints`)).json().data.id).toBe('acme/thinker');
    }
  });

  test('[MODEL-72] an unknown, an unserved and a private model are each a 404', async () => {
    for (const slug of ['no-such-model', 'retired-chat', 'hidden-chat']) {
      expect((await get(`/models/x/${slug}/endpoints`)).status).toBe(404);
    }
  });
});

test('[ROUTE-6] the catalogue answers under /v1/v1 as well', async () => {
  for (const url of ['/v1/v1/models', '/v1/v1/models/acme/thinker', '/v1/v1/model/qwen/qwen3-8b']) {
    expect((await shell.send({ url })).status).toBe(200);
  }
});
