/** Routes that let a test see one thing of the shell at a time. */
import Type from 'typebox';
import { EventReply, json } from '../../src/http/reply.ts';
import { defineRoute } from '../../src/http/route.ts';
import { GatewayError } from '../../src/lib/errors.ts';

const Body = Type.Object({
  model: Type.String(),
  messages: Type.Array(
    Type.Object({
      role: Type.Enum(['user', 'assistant']),
      content: Type.Union([Type.String(), Type.Array(Type.Object({ text: Type.String() }))]),
    }),
    { minItems: 1 },
  ),
  temperature: Type.Optional(Type.Union([Type.Number({ minimum: 0, maximum: 2 }), Type.Null()])),
  n: Type.Optional(Type.Integer({ minimum: 1 })),
});

export const common = { tag: 'Test', summary: 'For tests.' } as const;

export const shellRoutes = [
  defineRoute({
    ...common,
    method: 'GET',
    path: '/open',
    access: 'public',
    handle: ({ caller }) => ({ caller: caller ?? null }),
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/closed',
    access: 'key',
    handle: ({ caller }) => ({ subscription: caller.subscriptionId }),
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/chat',
    access: 'key',
    body: Body,
    generation: true,
    maxBodyBytes: 2000,
    handle: ({ body }) => body,
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/messages',
    access: 'key',
    dialect: 'messages',
    body: Body,
    maxBodyBytes: 2000,
    handle: ({ body }) => fail(body.model),
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/systemone',
    access: 'key',
    dialect: 'decisions',
    body: Body,
    handle: ({ body }) => fail(body.model),
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/fail',
    access: 'key',
    body: Type.Object({ kind: Type.String() }),
    handle: ({ body }) => fail(body.kind),
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/page',
    access: 'public',
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
      all: Type.Optional(Type.Boolean()),
      tags: Type.Optional(Type.String()),
    }),
    handle: ({ query }) => query,
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/things/{id+}',
    access: 'key',
    handle: ({ params }) => params,
  }),
  defineRoute({
    ...common,
    method: 'DELETE',
    path: '/things/{id+}',
    access: 'key',
    success: 204,
    handle: () => undefined,
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/things/{author}/{slug+}/parts',
    access: 'key',
    handle: ({ params }) => params,
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/made',
    access: 'key',
    success: 201,
    body: Type.Object({}),
    handle: () => json({ made: true }, { headers: { 'x-extra': '1' } }),
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/old',
    access: 'public',
    handle: () => ({}),
    deprecated: { since: new Date('2026-01-01'), sunset: new Date('2026-06-01') },
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/events',
    access: 'public',
    query: Type.Object({ failAt: Type.Optional(Type.Integer()) }),
    handle: ({ query }) =>
      new EventReply(count(query.failAt ?? 99), (error) => [
        { event: 'error', data: { error: { message: error.message } } },
        { data: '[DONE]' },
      ]),
  }),
  defineRoute({ ...common, method: 'GET', path: '/admin/x', access: 'admin', handle: () => ({ ok: true }) }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/slow',
    access: 'key',
    async handle() {
      begin.resolve();
      await finish.promise;
      return {};
    },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/large',
    access: 'key',
    body: Type.Object({}),
    maxBodyBytes: 20_000_000,
    handle: () => ({}),
  }),
];

let begin = Promise.withResolvers<void>();
let finish = Promise.withResolvers<void>();

/** Resolves when somebody asks for `/slow`, which answers after `finishSlow`. */
export async function slowBegun(): Promise<void> {
  await begin.promise;
  begin = Promise.withResolvers<void>();
}

export function finishSlow(): void {
  finish.resolve();
  finish = Promise.withResolvers<void>();
}

async function* count(failAt: number) {
  for (let i = 0; i < 3; i++) {
    if (i === failAt) throw new GatewayError('unreachable', 'The engine broke off');
    yield { event: 'tick', data: { i } };
  }
}

function fail(kind: string): never {
  if (kind === 'bug') throw new TypeError('secret detail at /srv/app/index.js:12');
  throw new GatewayError(
    kind as 'internal',
    `It was ${kind}`,
    kind === 'rate_limited' ? { retryAfterSeconds: 0.2 } : {},
  );
}

/** A body that `/chat`, `/messages` and `/systemone` accept. */
export const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
