/** The vector store routes: what they take, answer and refuse, over collections in memory. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../src/lib/errors.ts';
import { createVectorsShell, fileForm, keys, type VectorsShell } from './support/vectors-shell.ts';

let shell: VectorsShell;
let id: string;
beforeEach(async () => {
  shell = createVectorsShell();
  id = await shell.collection();
});
afterEach(() => shell.close());

const nowhere = 'vs_000000000000000000000000';
const error = ({
  status,
  json,
}: {
  status: number;
  json(): { error: { message: string; param?: string } };
}) => [status, json().error.message, json().error.param];
const noStore = (missing: string) => [400, `There is no vector store "${missing}"`, 'id'];

describe('collections', () => {
  it('[VEC-23, VEC-24] are made with a name, a description, metadata and a model, all of them optional', async () => {
    const sent = {
      name: 'Manuals',
      description: 'Of machines',
      metadata: { team: 'a' },
      model: 'other-embedding',
    };
    const made = await shell.call('POST', '/vector_store', sent);
    expect(made.status).toBe(201);
    expect(made.json()).toEqual({
      id: expect.stringMatching(/^vs_[0-9a-f]{24}$/),
      object: 'vector_store',
      name: 'Manuals',
      description: 'Of machines',
      created_at: expect.any(Number),
      last_active_at: expect.any(Number),
      metadata: { team: 'a' },
      status: 'completed',
      usage_bytes: 0,
      file_counts: { in_progress: 0, completed: 0, failed: 0, cancelled: 0, total: 0 },
      item_count: 0,
      model: 'other-embedding',
      expires_after: null,
      expires_at: null,
    });
    const bare = await shell.call('POST', '/vector_store', { name: null, metadata: null });
    expect(bare.json()).toMatchObject({ name: '', description: '', metadata: {}, model: 'usual-embedding' });
    expect((await shell.call('POST', '/vector_store', '')).status).toBe(201);
  });

  it('[VEC-23] are refused by the field that is wrong; a model that embeds nothing is a 400 and not a 404', async () => {
    for (const [body, message, param] of [
      [{ name: 5 }, 'name must be a string', 'name'],
      [{ name: 'x'.repeat(257) }, 'name must have at most 256 characters', 'name'],
      [{ metadata: { a: 1 } }, 'metadata.a must be a string', 'metadata.a'],
      [{ name: 'a\0b' }, 'name must not contain the character U+0000', 'name'],
      [{ metadata: { 'k\0': 'v' } }, expect.stringContaining('U+0000'), expect.stringContaining('metadata')],
      [{ model: 'nobody' }, 'model: The embedding model "nobody" does not exist', 'model'],
      [{ model: 'a-chat-model' }, expect.stringContaining('model: The embedding model'), 'model'],
      [{ file_ids: ['file-1'] }, expect.stringContaining('file_ids is not supported'), 'file_ids'],
      [
        { expires_after: { days: 1 } },
        expect.stringContaining('expires_after is not supported'),
        'expires_after',
      ],
    ] as const) {
      expect(error(await shell.call('POST', '/vector_store', body)), JSON.stringify(body)).toEqual([
        400,
        message,
        param,
      ]);
    }
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v']));
    const answer = await shell.call('POST', '/vector_store', { metadata: many });
    expect(error(answer)).toEqual([400, 'metadata must have at most 16 entries', 'metadata']);
    const halves = await shell.call('POST', '/vector_store', { name: 'half \ud83d of a pair' });
    expect(halves.json().name).toBe('half \ufffd of a pair');
  });

  it('[VEC-25] are listed newest first, page by page, forwards and backwards', async () => {
    const ids = [id];
    for (let made = 0; made < 4; made++) ids.unshift(await shell.collection());
    const list = async (query: string) => {
      const { object, data, first_id, last_id, has_more } = (
        await shell.call('GET', `/vector_store${query}`)
      ).json();
      const shown = data.map((one: { id: string }) => one.id);
      expect([object, first_id, last_id]).toEqual(['list', shown[0] ?? null, shown.at(-1) ?? null]);
      return [shown, has_more];
    };
    expect(await list('')).toEqual([ids, false]);
    expect(await list('?limit=2')).toEqual([ids.slice(0, 2), true]);
    expect(await list(`?limit=2&after=${ids[1]}`)).toEqual([ids.slice(2, 4), true]);
    expect(await list(`?limit=2&before=${ids[3]}`)).toEqual([ids.slice(1, 3), true]);
    expect(await list('?order=asc&limit=100')).toEqual([ids.toReversed(), false]);
    expect(await list(`?after=${ids.at(-1)}`)).toEqual([[], false]);
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=x', 'limit'],
      ['order=up', 'order'],
      ['after=', 'after'],
      [`after=${nowhere}`, 'after'],
    ] as const) {
      const answer = await shell.call('GET', `/vector_store?${query}`);
      expect([answer.status, answer.json().error.param], query).toEqual([400, param]);
    }
  });

  it('[VEC-26] are read, and changed by PATCH and by POST', async () => {
    await shell.call('PATCH', `/vector_store/${id}`, { name: 'A', metadata: { a: 'b' } });
    const posted = await shell.call('POST', `/vector_store/${id}`, { description: 'D', name: null });
    expect(posted.json()).toMatchObject({ id, name: 'A', description: 'D', metadata: { a: 'b' } });
    expect((await shell.call('GET', `/vector_store/${id}`)).json()).toEqual(posted.json());
    expect((await shell.call('PATCH', `/vector_store/${id}`, {})).json()).toEqual(posted.json());
    expect(error(await shell.call('PATCH', `/vector_store/${id}`, { name: [] }))).toEqual([
      400,
      'name must be a string',
      'name',
    ]);
  });

  it('[VEC-27] are deleted, and are then a 400', async () => {
    expect((await shell.call('DELETE', `/vector_store/${id}`)).json()).toEqual({
      id,
      object: 'vector_store.deleted',
      deleted: true,
    });
    expect(error(await shell.call('GET', `/vector_store/${id}`))).toEqual(noStore(id));
    expect(error(await shell.call('DELETE', `/vector_store/${id}`))).toEqual(noStore(id));
  });
});

describe('[VEC-8, VEC-14, VEC-19, VEC-21, VEC-28] what does not exist', () => {
  const file = 'file_000000000000000000000000';
  const item = 'item_000000000000000000000000';

  it('is a 400 that names it, never a 404: collections', async () => {
    for (const [method, rest, payload] of [
      ['GET', '', undefined],
      ['PATCH', '', {}],
      ['POST', '', {}],
      ['DELETE', '', undefined],
      ['POST', '/search', { input: 'x' }],
      ['POST', '/search', { input: 'x', file_ids: [file] }],
      ['GET', '/files', undefined],
      ['GET', `/files/${file}`, undefined],
      ['DELETE', `/files/${file}`, undefined],
      ['GET', '/items', undefined],
      ['GET', `/items/${item}`, undefined],
      ['PATCH', `/items/${item}`, { description: 'x' }],
      ['DELETE', `/items/${item}`, undefined],
    ] as const) {
      for (const missing of [nowhere, 'some-id', '%2e%2e%2f', '%27%20or%201=1']) {
        const answer = await shell.call(method, `/vector_store/${missing}${rest}`, payload);
        const name = decodeURIComponent(missing);
        expect(error(answer), `${method} ${rest} ${missing}`).toEqual(noStore(name));
      }
    }
    const answer = await shell.upload(`/vector_store/${nowhere}/files`, fileForm('text'));
    expect(error(answer)).toEqual(noStore(nowhere));
    expect([shell.vectors.reserved, shell.stored.size]).toEqual([[], 0]);
  });

  it('is a 400 that names it: files and items', async () => {
    for (const [method, rest, payload, message, param] of [
      ['GET', `/files/${file}`, undefined, `There is no file "${file}"`, 'fileid'],
      ['DELETE', `/files/${file}`, undefined, `There is no file "${file}"`, 'fileid'],
      ['GET', `/items?file_id=${file}`, undefined, `There is no file "${file}"`, 'file_id'],
      ['POST', '/search', { input: 'x', file_ids: [file] }, `There is no file "${file}"`, 'file_ids'],
      ['GET', `/items/${item}`, undefined, `There is no item "${item}"`, 'itemid'],
      ['PATCH', `/items/${item}`, { description: 'x' }, `There is no item "${item}"`, 'itemid'],
      ['DELETE', `/items/${item}`, undefined, `There is no item "${item}"`, 'itemid'],
    ] as const) {
      const answer = await shell.call(method, `/vector_store/${id}${rest}`, payload);
      expect(error(answer), `${method} ${rest}`).toEqual([400, message, param]);
    }
  });
});

describe('files', () => {
  it('[VEC-11, VEC-16] are added by a form, and answered with their record', async () => {
    const added = await shell.upload(
      `/vector_store/${id}/files`,
      fileForm('One.\n\nTwo.', { attributes: '{"year": 2026, "draft": true, "by": "Ä"}' }),
    );
    expect(added.status).toBe(201);
    expect(added.json()).toEqual({
      id: expect.stringMatching(/^file_[0-9a-f]{24}$/),
      object: 'vector_store.file',
      vector_store_id: id,
      filename: 'notes.txt',
      bytes: 10,
      usage_bytes: expect.any(Number),
      status: 'completed',
      last_error: null,
      attributes: { year: 2026, draft: true, by: 'Ä' },
      item_count: 2,
      created_at: expect.any(Number),
    });
    expect([...shell.stored.keys()]).toEqual(shell.vectors.reserved);
  });

  it('[VEC-16] have attributes from bracket keys too, whose values are texts', async () => {
    const form = fileForm('x', { 'attributes[topic]': 'boats', 'attributes[year]': '2026' });
    const added = await shell.upload(`/vector_store/${id}/files`, form);
    expect(added.json().attributes).toEqual({ topic: 'boats', year: '2026' });
    expect((await shell.upload(`/vector_store/${id}/files`, fileForm('x'))).json().attributes).toEqual({});
  });

  it('are refused with attributes that are none, and leave nothing in storage', async () => {
    const path = `/vector_store/${id}/files`;
    const large = JSON.stringify({ text: 'x'.repeat(513) });
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 17 }, (_, index) => [index, 1])));
    for (const [attributes, message] of [
      ['{broken', 'attributes must be an object'],
      ['[1]', 'attributes must be an object'],
      ['"text"', 'attributes must be an object'],
      ['{"a": {"b": 1}}', expect.stringContaining('attributes.a must be')],
      ['{"a": null}', expect.stringContaining('attributes.a must be')],
      [`{"${'k'.repeat(65)}": 1}`, expect.stringContaining('is not a known field')],
      [large, 'attributes.text must have at most 512 characters'],
      [many, 'attributes must have at most 16 entries'],
      ['{"a": "\\u0000"}', 'attributes.a must not contain the character U+0000'],
      [`{"a": ${'['.repeat(50_000)}`, 'attributes must be an object'],
    ] as const) {
      const answer = await shell.upload(path, fileForm('x', { attributes }));
      expect([answer.status, answer.json().error.message], attributes.slice(0, 40)).toEqual([400, message]);
    }
    const huge = await shell.upload(path, fileForm('x', { attributes: 'x'.repeat(64 * 1024 + 1) }));
    expect(huge.status).toBe(413);
    expect(shell.stored.size).toBe(0);
  });

  it('[VEC-12] are required: a form without one, JSON and no body at all are a 400 naming file', async () => {
    const path = `/vector_store/${id}/files`;
    const form = new FormData();
    form.append('attributes', '{}');
    form.append('file', 'a text is no file');
    expect(error(await shell.upload(path, form))).toEqual([400, 'file is required', 'file']);
    for (const payload of [{ file_id: 'file-abc' }, undefined]) {
      expect(error(await shell.call('POST', path, payload))).toEqual([
        400,
        'file is required, in a multipart/form-data body',
        'file',
      ]);
    }
  });

  it('without a byte are a 400, and leave nothing in storage', async () => {
    const answer = await shell.upload(`/vector_store/${id}/files`, fileForm(''));
    expect(error(answer)).toEqual([400, 'file is empty', 'file']);
    expect(shell.stored.size).toBe(0);
  });

  it('[VEC-13] over 100 MB are a 413 that names file and the limit, told by the length of the form', async () => {
    const answer = await shell.send({
      method: 'POST',
      url: `/v1/vector_store/${id}/files`,
      key: keys.first,
      headers: { 'content-type': 'multipart/form-data; boundary=B', 'content-length': '100200000' },
      payload: '',
    });
    expect([answer.status, answer.json().error.message]).toEqual([
      413,
      'file is larger than the limit of 100 MB (100000000 bytes)',
    ]);
    expect(shell.vectors.reserved).toEqual([]);
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['/etc/passwd', 'passwd'],
    ['C:\\Users\\me\\notes.docx', 'notes.docx'],
    ['..', 'file'],
    ['a\u202etxt.exe', 'atxt.exe'],
    ['Übersicht (1).pdf', 'Übersicht (1).pdf'],
    [`${'x'.repeat(300)}.pdf`, `${'x'.repeat(251)}.pdf`],
  ])('whose name is a path or worse have a plain name: %s', async (filename, shown) => {
    const added = await shell.upload(`/vector_store/${id}/files`, fileForm('text', { filename }));
    expect(added.json().filename).toBe(shown);
  });

  it('are removed from storage when their collection goes while they are sent', async () => {
    shell.vectors.addFile = async () => undefined;
    const answer = await shell.upload(`/vector_store/${id}/files`, fileForm('text'));
    expect(error(answer)).toEqual(noStore(id));
    expect([shell.vectors.reserved.length, shell.stored.size]).toEqual([1, 0]);
  });

  it('[VEC-28, VEC-29] are listed, read and deleted with their items', async () => {
    const [first] = await shell.vectors.fill('sub_1', id, 'a.md', ['One', 'Two']);
    await shell.vectors.fill('sub_1', id, 'b.md', ['Three']);
    const path = `/vector_store/${id}/files`;
    const names = async (query: string) =>
      (await shell.call('GET', path + query)).json().data.map((one: { filename: string }) => one.filename);
    expect(await names('')).toEqual(['b.md', 'a.md']);
    expect(await names('?order=asc&limit=1')).toEqual(['a.md']);
    expect(await names('?filter=completed')).toEqual(['b.md', 'a.md']);
    expect(await names('?filter=failed')).toEqual([]);
    expect((await shell.call('GET', `${path}?filter=lost`)).status).toBe(400);
    const one = await shell.call('GET', `${path}/${first?.fileId}`);
    expect(one.json()).toMatchObject({ id: first?.fileId, filename: 'a.md', item_count: 2 });
    expect((await shell.call('DELETE', `${path}/${first?.fileId}`)).json()).toEqual({
      id: first?.fileId,
      object: 'vector_store.file.deleted',
      deleted: true,
    });
    expect((await shell.call('GET', `${path}/${first?.fileId}`)).status).toBe(400);
    const left = await shell.call('GET', `/vector_store/${id}/items`);
    expect(left.json().data).toMatchObject([{ filename: 'b.md' }]);
  });

  it('[VEC-24] that are being read show in the status of their collection', async () => {
    shell.vectors.isReading = true;
    const added = await shell.upload(`/vector_store/${id}/files`, fileForm('text'));
    expect(added.json()).toMatchObject({ status: 'in_progress', item_count: 0 });
    expect((await shell.call('GET', `/vector_store/${id}`)).json()).toMatchObject({
      status: 'in_progress',
      file_counts: { in_progress: 1, completed: 0, total: 1 },
    });
  });
});

describe('items', () => {
  const path = (rest = '') => `/vector_store/${id}/items${rest}`;

  it('[VEC-30] are listed in the order of their files, of one file too, and read one by one', async () => {
    const [first, second] = await shell.vectors.fill('sub_1', id, 'a.md', ['One', 'Two']);
    await shell.vectors.fill('sub_1', id, 'b.md', ['Three']);
    const texts = async (query: string) =>
      (await shell.call('GET', path(query))).json().data.map((one: Wire) => one.content[0].text);
    expect(await texts('')).toEqual(['One', 'Two', 'Three']);
    expect(await texts('?order=desc&limit=2')).toEqual(['Three', 'Two']);
    expect(await texts(`?file_id=${first?.fileId}`)).toEqual(['One', 'Two']);
    expect(await texts(`?after=${first?.id}&limit=1`)).toEqual(['Two']);
    expect((await shell.call('GET', path(`/${second?.id}`))).json()).toEqual({
      id: second?.id,
      object: 'vector_store.item',
      vector_store_id: id,
      file_id: second?.fileId,
      filename: 'a.md',
      index: 1,
      description: 'part 2',
      content: [{ type: 'text', text: 'Two' }],
      attributes: {},
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
  });

  it('[VEC-17, VEC-22] are described anew: 202 with the item, which reads so from then on', async () => {
    const [item] = await shell.vectors.fill('sub_1', id, 'a.md', ['One']);
    const changed = await shell.call('PATCH', path(`/${item?.id}`), { description: 'About ships' });
    expect(changed.status).toBe(202);
    expect(changed.json()).toMatchObject({
      id: item?.id,
      object: 'vector_store.item',
      description: 'About ships',
    });
    expect(changed.json().updated_at).toBeGreaterThan(changed.json().created_at);
    expect(changed.headers['x-generation-id']).toMatch(/^gen_/);
    expect((await shell.call('GET', path(`/${item?.id}`))).json()).toEqual(changed.json());
    expect((await shell.call('PATCH', path(`/${item?.id}`), { description: '' })).status).toBe(202);
  });

  it('[VEC-18] need a description that is a text; else a 400 naming it', async () => {
    const [item] = await shell.vectors.fill('sub_1', id, 'a.md', ['One']);
    for (const [body, message] of [
      [{}, 'description is required'],
      [{ description: null }, 'description must be a string'],
      [{ description: 1 }, 'description must be a string'],
      [{ description: 'x'.repeat(8193) }, 'description must have at most 8192 characters'],
      [{ description: 'a\0' }, 'description must not contain the character U+0000'],
    ] as const) {
      expect(error(await shell.call('PATCH', path(`/${item?.id}`), body))).toEqual([
        400,
        message,
        'description',
      ]);
    }
  });

  it('[VEC-20, VEC-21] are deleted with a 204 and an empty body, once', async () => {
    const [item] = await shell.vectors.fill('sub_1', id, 'a.md', ['One']);
    const gone = await shell.call('DELETE', path(`/${item?.id}`));
    expect([gone.status, gone.body]).toEqual([204, '']);
    const search = await shell.call('POST', `/vector_store/${id}/search`, { input: 'One' });
    expect(search.json().data).toEqual([]);
    expect((await shell.call('DELETE', path(`/${item?.id}`))).status).toBe(400);
  });
});

type Wire = { content: [{ text: string }] };

describe('search', () => {
  const search = (body: unknown, key?: string) => shell.call('POST', `/vector_store/${id}/search`, body, key);

  it('[VEC-1, VEC-3, VEC-4, VEC-5] answers a page of hits, the best first', async () => {
    await shell.vectors.fill('sub_1', id, 'a.md', ['ships and sails', 'trains', 'old ships']);
    const answer = await search({ input: 'old ships' });
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      object: 'vector_store.search_results.page',
      search_query: ['old ships'],
      data: expect.any(Array),
      has_more: false,
      next_page: null,
      usage: { prompt_tokens: 2, total_tokens: 2, cost: 0.000002 },
    });
    const { data } = answer.json();
    expect(data.map((hit: Wire) => hit.content[0].text)).toEqual(['old ships', 'ships and sails', 'trains']);
    expect(data.map((hit: { score: number }) => hit.score)).toEqual([1, 0.5, 0]);
    expect(data[0]).toEqual({
      file_id: expect.stringMatching(/^file_/),
      filename: 'a.md',
      score: 1,
      attributes: {},
      content: [{ type: 'text', text: 'old ships' }],
      item_id: expect.stringMatching(/^item_/),
      description: 'part 3',
    });
    expect(answer.headers['x-generation-id']).toBe(shell.vectors.searches[0]?.operation.id);
    expect(answer.headers['x-ratelimit-limit-requests']).toBe('60');
  });

  it('[VEC-2] needs an input that is a text; else a 400 naming input', async () => {
    for (const [body, message, param] of [
      [{}, 'input is required', 'input'],
      [{ input: null }, 'input is required', 'input'],
      [{ input: 5 }, 'input must be a string', 'input'],
      [{ input: ['a'] }, 'input must be a string', 'input'],
      [{ input: '' }, 'input must not be empty', 'input'],
      [{ input: '  \n' }, 'input must not be empty', 'input'],
      [{ input: 'a\0' }, 'input must not contain the character U+0000', 'input'],
      [{ input: 'x'.repeat(32_769) }, 'input must have at most 32768 characters', 'input'],
      [{ query: ' ' }, 'query must not be empty', 'query'],
      [{ query: ['a', 'b'] }, 'query must have at most 1 item', 'query'],
      [{ query: [] }, 'query must have at least 1 item', 'query'],
    ] as const) {
      expect(error(await search(body)), JSON.stringify(body).slice(0, 40)).toEqual([400, message, param]);
    }
    expect(shell.vectors.searches).toEqual([]);
  });

  it('[VEC-6] takes query for input, as a text or a list of one', async () => {
    for (const query of ['ships', ['ships']])
      expect((await search({ query })).json().search_query).toEqual(['ships']);
    expect((await search({ input: 'trains', query: 'ships' })).json().search_query).toEqual(['trains']);
  });

  it('[VEC-7] answers 10 hits, or 1 to 50; 0 and 51 are a 400', async () => {
    await shell.vectors.fill(
      'sub_1',
      id,
      'a.md',
      Array.from({ length: 60 }, (_, index) => `ship ${index}`),
    );
    expect((await search({ input: 'ship' })).json().data).toHaveLength(10);
    for (const max_num_results of [1, 50])
      expect((await search({ input: 'ship', max_num_results })).json().data).toHaveLength(max_num_results);
    for (const [max_num_results, message] of [
      [0, 'max_num_results must be at least 1'],
      [51, 'max_num_results must be at most 50'],
      [1.5, 'max_num_results must be an integer'],
      ['5', 'max_num_results must be an integer'],
    ] as const) {
      expect(error(await search({ input: 'ship', max_num_results }))).toEqual([
        400,
        message,
        'max_num_results',
      ]);
    }
  });

  it('[VEC-9, VEC-10] is a 502 when embedding fails and a 503 while there are no embeddings', async () => {
    for (const [kind, status] of [
      ['unreachable', 502],
      ['overloaded', 503],
    ] as const) {
      shell.vectors.failure = new GatewayError(kind, 'Embedding with the model m failed');
      expect((await search({ input: 'x' })).status).toBe(status);
      const [item] = await shell.vectors.fill('sub_1', id, 'a.md', ['One']);
      const path = `/vector_store/${id}/items/${item?.id}`;
      expect((await shell.call('PATCH', path, { description: 'x' })).status).toBe(status);
    }
  });

  it('is narrowed by files, by attributes and by a score', async () => {
    const add = async (name: string, attributes: object) =>
      (
        await shell.upload(
          `/vector_store/${id}/files`,
          fileForm(`ship of ${name}`, { filename: name, attributes: JSON.stringify(attributes) }),
        )
      ).json().id;
    const a = await add('a', { year: 2024, kind: 'log' });
    await add('b', { year: 2025, kind: 'log' });
    await add('c', { year: 2026, kind: 'note' });
    const names = async (body: object) =>
      (await search({ input: 'ship', ...body })).json().data.map((hit: { filename: string }) => hit.filename);
    expect(await names({ file_ids: [a] })).toEqual(['a']);
    expect(await names({ filters: { type: 'eq', key: 'kind', value: 'note' } })).toEqual(['c']);
    expect(await names({ filters: { type: 'gte', key: 'year', value: 2025 } })).toEqual(['b', 'c']);
    expect(await names({ filters: { type: 'in', key: 'year', value: [2024, 2026] } })).toEqual(['a', 'c']);
    const log = { type: 'eq', key: 'kind', value: 'log' };
    const both = { type: 'and', filters: [log, { type: 'lt', key: 'year', value: 2025 }] };
    expect(await names({ filters: both })).toEqual(['a']);
    expect(
      await names({ filters: { type: 'or', filters: [both, { type: 'eq', key: 'year', value: 2026 }] } }),
    ).toEqual(['a', 'c']);
    const ranking_options = { ranker: 'auto', score_threshold: 0.6 };
    expect(await names({ input: 'ship of b', rewrite_query: true, ranking_options })).toEqual([
      'b',
      'a',
      'c',
    ]);
    expect(await names({ input: 'ship x b', ranking_options })).toEqual(['b']);
    expect((await search({ input: 'a', ranking_options: { score_threshold: 2 } })).status).toBe(400);
  });

  it('takes filters of bounded depth and number', async () => {
    const leaf = { type: 'eq', key: 'a', value: 1 };
    const nested = (depth: number): object =>
      depth === 0 ? leaf : { type: 'and', filters: [nested(depth - 1)] };
    expect((await search({ input: 'x', filters: nested(3) })).status).toBe(200);
    const wide = (count: number) => ({ type: 'or', filters: Array.from({ length: count }, () => leaf) });
    const cases: [unknown, unknown][] = [
      [nested(4), expect.stringContaining('filters.filters[0]')],
      [nested(60), expect.stringContaining('filters.filters[0]')],
      [wide(33), 'filters.filters must have at most 32 items'],
      [
        { type: 'and', filters: Array.from({ length: 7 }, () => wide(32)) },
        'filters must have at most 200 values to compare with',
      ],
      [{ type: 'and', filters: [] }, 'filters.filters must have at least 1 item'],
      [
        { type: 'in', key: 'a', value: Array.from({ length: 101 }, () => 1) },
        expect.stringContaining('filters.value'),
      ],
      [{ type: 'in', key: 'a', value: 1 }, 'filters.value must be an array'],
      [{ type: 'eq', key: 'a', value: [1] }, expect.stringContaining('filters.value must be')],
      [{ type: 'gt', key: 'a', value: true }, expect.stringContaining('filters.value must be')],
      [{ type: 'like', key: 'a', value: 'x' }, expect.stringContaining('filters.type must be one of')],
      [{ type: 'eq', value: 'x' }, 'filters.key is required'],
      [{ type: 'eq', key: 'a\0', value: 'x' }, 'filters.key must not contain the character U+0000'],
      ['eq', expect.stringContaining('filters must be')],
    ];
    for (const [filters, message] of cases) {
      const answer = await search({ input: 'x', filters });
      expect([answer.status, answer.json().error.message], JSON.stringify(filters).slice(0, 60)).toEqual([
        400,
        message,
      ]);
    }
    const body = `{"input":"x","filters":${'{"type":"and","filters":['.repeat(5000)}`;
    const deep = await shell.send({
      method: 'POST',
      url: `/v1/vector_store/${id}/search`,
      key: keys.first,
      headers: { 'content-type': 'application/json' },
      payload: body,
    });
    expect(deep.status).toBe(400);
    expect((await search({ input: 'x', file_ids: Array.from({ length: 51 }, () => 'f') })).status).toBe(400);
  });
});

describe('belonging', () => {
  it('[AUTH-19] two keys of one subscription see the same collections, files and items', async () => {
    const [item] = await shell.vectors.fill('sub_1', id, 'a.md', ['ships']);
    for (const key of [keys.first, keys.second]) {
      expect((await shell.call('GET', `/vector_store/${id}`, undefined, key)).json().id).toBe(id);
      const files = await shell.call('GET', `/vector_store/${id}/files`, undefined, key);
      expect(files.json().data).toMatchObject([{ id: item?.fileId }]);
      const hits = await shell.call('POST', `/vector_store/${id}/search`, { input: 'ships' }, key);
      expect(hits.json().data).toMatchObject([{ item_id: item?.id }]);
    }
  });

  it('[AUTH-22] another subscription’s collection is a 400 on every route, as if it did not exist', async () => {
    const [item] = await shell.vectors.fill('sub_1', id, 'a.md', ['ships']);
    const own = await shell.collection(keys.stranger);
    for (const [method, rest, payload] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'mine now' }],
      ['DELETE', '', undefined],
      ['GET', '/files', undefined],
      ['GET', `/files/${item?.fileId}`, undefined],
      ['DELETE', `/files/${item?.fileId}`, undefined],
      ['GET', '/items', undefined],
      ['GET', `/items/${item?.id}`, undefined],
      ['PATCH', `/items/${item?.id}`, { description: 'mine now' }],
      ['DELETE', `/items/${item?.id}`, undefined],
      ['POST', '/search', { input: 'ships' }],
    ] as const) {
      const theirs = await shell.call(method, `/vector_store/${id}${rest}`, payload, keys.stranger);
      expect(error(theirs), `${method} ${rest}`).toEqual(noStore(id));
      if (rest.includes('_')) {
        const through = await shell.call(method, `/vector_store/${own}${rest}`, payload, keys.stranger);
        expect(through.status, `${method} ${rest} through an own collection`).toBe(400);
      }
    }
    const upload = await shell.upload(`/vector_store/${id}/files`, fileForm('x'), keys.stranger);
    expect(error(upload)).toEqual(noStore(id));
    const list = await shell.call('GET', '/vector_store', undefined, keys.stranger);
    expect(list.json().data).toMatchObject([{ id: own }]);
    expect((await shell.call('GET', `/vector_store/${id}`)).json()).toMatchObject({
      name: '',
      item_count: 1,
    });
  });
});

describe('[VEC-31] the plural', () => {
  it('answers as the singular does, on every route', async () => {
    const [item] = await shell.vectors.fill('sub_1', id, 'a.md', ['ships', 'trains']);
    for (const [method, rest, payload] of [
      ['GET', '', undefined],
      ['GET', `/${id}`, undefined],
      ['PATCH', `/${id}`, { name: 'A' }],
      ['POST', `/${id}`, { name: 'A' }],
      ['GET', `/${id}/files`, undefined],
      ['GET', `/${id}/files/${item?.fileId}`, undefined],
      ['GET', `/${id}/items`, undefined],
      ['GET', `/${id}/items/${item?.id}`, undefined],
      ['POST', `/${id}/search`, { query: 'ships' }],
    ] as const) {
      const one = await shell.call(method, `/vector_store${rest}`, payload);
      const many = await shell.call(method, `/vector_stores${rest}`, payload);
      expect([many.status, many.json()], `${method} ${rest}`).toEqual([one.status, one.json()]);
      expect(one.status).toBe(200);
    }
    expect((await shell.call('POST', '/vector_stores', {})).status).toBe(201);
    expect((await shell.upload(`/vector_stores/${id}/files`, fileForm('x'))).status).toBe(201);
    const described = await shell.call('PATCH', `/vector_stores/${id}/items/${item?.id}`, {
      description: 'x',
    });
    expect(described.status).toBe(202);
    expect((await shell.call('DELETE', `/vector_stores/${id}/items/${item?.id}`)).status).toBe(204);
    expect((await shell.call('DELETE', `/vector_stores/${id}/files/${item?.fileId}`)).status).toBe(200);
    expect((await shell.call('DELETE', `/vector_stores/${id}`)).status).toBe(200);
    expect((await shell.call('PATCH', '/vector_stores', {})).status).toBe(405);
  });
});
