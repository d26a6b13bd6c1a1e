/**
 * The API's own description. It is public although the specification names only four public routes: it holds
 * no state, and a browser that opens the page cannot send a key (`docs/decisions`).
 */
import { toDocsPage } from '../../http/docs-page.ts';
import { toOpenApi } from '../../http/openapi.ts';
import { html, json } from '../../http/reply.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { apiVersion } from '../../http/version.ts';

/** Describes the routes it is given, and itself. */
export function referenceRoutes(described: readonly Route[]): readonly Route[] {
  const routes: Route[] = [
    defineRoute({
      method: 'GET',
      path: '/openapi.json',
      access: 'public',
      summary: 'The OpenAPI 3.1 description of this API.',
      tag: 'Reference',
      handle: () => json(toOpenApi([...described, ...routes], apiVersion)),
    }),
    defineRoute({
      method: 'GET',
      path: '/docs',
      access: 'public',
      summary: 'The same description as a page.',
      tag: 'Reference',
      handle: () => html(toDocsPage(toOpenApi([...described, ...routes], apiVersion))),
    }),
  ];
  return routes;
}
