import { readFileSync } from 'node:fs';
import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { createShell } from '../../test/support/shell.ts';
import { referenceRoutes } from '../api/reference/index.ts';
import { toDocsPage } from './docs-page.ts';
import { errorTable } from './errors.ts';
import { toOpenApi } from './openapi.ts';
import { defineRoute } from './route.ts';

const edit = defineRoute({
  method: 'POST',
  path: '/things/{author}/{slug+}/edits',
  access: 'key',
  summary: 'Edits <a> thing.',
  tag: 'Things',
  dialect: 'messages',
  query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, description: 'how many' })) }),
  body: Type.Object({ prompt: Type.String() }),
  multipart: { files: { image: { maxCount: 1, maxBytes: 10, required: true } } },
  success: 202,
  response: Type.Object({ id: Type.String() }),
  failures: ['conflict'],
  handle: () => ({ id: 'x' }),
});
const list = defineRoute({
  method: 'GET',
  path: '/things',
  access: 'public',
  summary: 'Lists.',
  tag: 'Things',
  handle: () => [],
});

describe('the OpenAPI document', () => {
  const document = toOpenApi([edit, list], '1.4.0');
  const operation = document.paths['/things/{author}/{slug}/edits']?.['post'];

  it('is read off the declaration: parameters, bodies, answers, failures, security', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(operation?.operationId).toBe('postThingsByAuthorBySlugEdits');
    expect(operation?.parameters?.map(({ name, in: place, required }) => [name, place, required])).toEqual([
      ['author', 'path', true],
      ['slug', 'path', true],
      ['limit', 'query', false],
    ]);
    expect(Object.keys(operation?.requestBody?.content ?? {})).toEqual([
      'application/json',
      'multipart/form-data',
    ]);
    expect(operation?.requestBody?.content['multipart/form-data']?.schema).toMatchObject({
      required: ['prompt', 'image'],
    });
    expect(Object.keys(operation?.responses ?? {})).toEqual(['202', '400', '401', '409', '413', '500']);
    expect(operation?.responses['400']?.content?.['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/MessagesError',
    });
    expect(operation?.security).toEqual([{ bearer: [] }, { apiKey: [] }]);
    expect(document.paths['/things']?.['get']?.security).toEqual([]);
  });

  it('says of a route at the root of the host that it is there', () => {
    const beside = defineRoute({
      method: 'GET',
      path: '/beside',
      at: '/',
      access: 'public',
      summary: 'Beside.',
      tag: 'Things',
      handle: () => [],
    });
    const described = toOpenApi([list, beside], '1.4.0');
    expect(described.servers).toEqual([{ url: '/v1' }]);
    expect(described.paths['/beside']?.['get']?.servers).toEqual([{ url: '/' }]);
    expect(described.paths['/things']?.['get']).not.toHaveProperty('servers');
    expect(toDocsPage(described)).toContain('Beside. (at the root of the host');
    expect(() => toOpenApi([list, { ...beside, path: '/things' }], '1.4.0')).toThrow('at two places');
  });

  it('is served, with a page that escapes what it shows', async () => {
    const shell = createShell([edit, list, ...referenceRoutes([edit, list])]);
    const served = await shell.send({ url: '/v1/openapi.json', key: null });
    expect(Object.keys(served.json().paths)).toEqual([
      '/things/{author}/{slug}/edits',
      '/things',
      '/openapi.json',
      '/docs',
    ]);
    const page = await shell.send({ url: '/v1/docs', key: null });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toContain('Edits &#60;a&#62; thing.');
    expect(page.body).not.toContain('<script');
    expect(toDocsPage(document)).toContain('href="#getThings"');
  });
});

describe('docs/reference/errors.md', () => {
  const text = readFileSync(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8');
  const rows = text
    .split('\n')
    .filter((line) => /^\| *[a-z_]+ *\| *\d{3} *\|/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, 6)
        .map((cell) => cell.trim()),
    );

  it('has exactly the rows of the error table', () => {
    const table = Object.entries(errorTable).map(([kind, { status, errorType, type, messagesType }]) => [
      kind,
      String(status),
      errorType,
      type,
      messagesType,
    ]);
    expect(rows).toEqual(table);
  });
});
