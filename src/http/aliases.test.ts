import { describe, expect, it } from 'vitest';
import { createShell } from '../../test/support/shell.ts';
import { toOpenApi } from './openapi.ts';
import { defineRoute } from './route.ts';

const read = (aliases: readonly string[]) =>
  defineRoute({
    method: 'GET',
    path: '/shelf/{id}',
    aliases,
    access: 'key',
    summary: 'Reads a shelf',
    tag: 'Test',
    handle: ({ params: { id } }) => ({ id }),
  });

describe('a route with aliases', () => {
  it('answers at each of its paths, with its own 405, and is logged under one name', async () => {
    const shell = createShell([read(['/shelves/{id}'])]);
    for (const url of ['/v1/shelf/a', '/v1/shelves/a', '/v1/v1/shelves/a'])
      expect((await shell.send({ url })).json()).toEqual({ id: 'a' });
    const wrong = await shell.send({ method: 'PUT', url: '/v1/shelves/a' });
    expect([wrong.status, wrong.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect((await shell.send({ url: '/v1/shelves' })).status).toBe(404);
    expect(new Set(shell.logged.slice(0, 4).map(({ route }) => route))).toEqual(new Set(['/shelf/{id}']));
  });

  it('is described at each of its paths, by an id of its own', () => {
    const { paths } = toOpenApi([read(['/shelves/{id}'])], '1.0.0');
    expect(paths['/shelf/{id}']?.['get']).toMatchObject({
      operationId: 'getShelfById',
      summary: 'Reads a shelf',
    });
    expect(paths['/shelves/{id}']?.['get']).toMatchObject({
      operationId: 'getShelvesById',
      summary: 'Reads a shelf (the same as /shelf/{id})',
    });
  });

  it('must have the same names in each, and no path of another route', () => {
    expect(() => read(['/shelves/{name}'])).toThrow('an alias has the names of its path');
    expect(() => createShell([read(['/shelves/{id}']), read([])])).toThrow('is declared twice');
  });
});
