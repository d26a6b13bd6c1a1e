/** The OpenAPI 3.1 document, read off the route declarations. */
import assert from 'node:assert';
import type { TSchema } from 'typebox';
import type { ErrorKind } from '../lib/errors.ts';
import { type Dialect, errorTable } from './errors.ts';
import type { Access, Route } from './route.ts';

export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, unknown>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: unknown;
  description?: string;
}

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  /** Only where it is not the document's. */
  servers?: { url: string }[];
  deprecated?: boolean;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: unknown }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: unknown }> }>;
}

export function toOpenApi(routes: readonly Route[], version: string): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes.flatMap(withAliases)) {
    const path = route.path.replaceAll('+}', '}');
    const method = route.method.toLowerCase();
    paths[path] ??= {};
    assert(paths[path][method] === undefined, `${route.method} ${path} is at two places`);
    paths[path][method] = withoutWords(toOperation(route));
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Roundhouse',
      version,
      description:
        'One HTTP API in front of every model engine you run. Existing SDKs work by changing the base address and the key.',
    },
    servers: [{ url: '/v1' }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        link: {
          type: 'apiKey',
          in: 'query',
          name: 'sig',
          description: 'The signature in a link that the API has answered with, beside its end in `exp`.',
        },
        operator: { type: 'http', scheme: 'bearer', description: 'The value of ROUNDHOUSE_ADMIN_TOKEN.' },
      },
      schemas: { RouterError: routerError, MessagesError: messagesError },
    },
  };
}

/** Every path of a route, as a route. */
function withAliases(route: Route): Route[] {
  const summary = `${route.summary} (the same as ${route.path})`;
  return [route, ...route.aliases.map((path) => ({ ...route, path, summary }))];
}

/** What a schema says of a misfit is for us, not part of the format. */
function withoutWords(operation: Operation): Operation {
  return JSON.parse(JSON.stringify(operation, (name, value) => (name === 'told' ? undefined : value)));
}

const key = [{ bearer: [] }, { apiKey: [] }];
const security: Readonly<Record<Access, Operation['security']>> = {
  public: [],
  key,
  link: [...key, { link: [] }],
  admin: [{ operator: [] }],
};

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  description:
    'Chosen by the client. The same request with the same key within 24 hours gets the first answer again, with `Idempotent-Replayed: true`.',
};

function toOperation(route: Route): Operation {
  const parameters = [
    ...pathParameters(route.path),
    ...queryParameters(route.query?.schema),
    ...(route.idempotent ? [idempotencyKey] : []),
  ];
  const body = requestBody(route);
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [route.tag],
    ...(route.at === '/v1' ? {} : { servers: [{ url: route.at }] }),
    ...(route.deprecated === undefined ? {} : { deprecated: true }),
    security: security[route.access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responses(route),
  };
}

/** `GET /models/{author}/{slug+}/endpoints` as `getModelsByAuthorBySlugEndpoints`. */
function operationId(route: Route): string {
  const words = route.path
    .replaceAll(/\{(\w+)\+?\}/g, 'by-$1')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
  return route.method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

function pathParameters(path: string): Parameter[] {
  return [...path.matchAll(/\{(\w+)(\+?)\}/g)].map(([, name = '', several]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(several === '+'
      ? { description: 'May contain slashes, as further segments or percent-encoded.' }
      : {}),
  }));
}

function queryParameters(schema: TSchema | undefined): Parameter[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description } = property as { description?: string };
    return {
      name,
      in: 'query',
      required: required.includes(name),
      schema: property,
      ...(description === undefined ? {} : { description }),
    };
  });
}

function requestBody(route: Route): Operation['requestBody'] {
  const content: Record<string, { schema: unknown }> = {};
  if (route.body !== undefined) content['application/json'] = { schema: route.body.schema };
  if (route.multipart !== undefined) {
    const files = Object.entries(route.multipart.files);
    const binary = { type: 'string', contentMediaType: 'application/octet-stream' };
    const fields = route.multipart.validator.schema as { properties?: object; required?: string[] };
    content['multipart/form-data'] = {
      schema: {
        ...fields,
        properties: { ...fields.properties, ...Object.fromEntries(files.map(([name]) => [name, binary])) },
        required: [
          ...(fields.required ?? []),
          ...files.filter(([, file]) => file.required === true).map(([name]) => name),
        ],
      },
    };
  }
  return Object.keys(content).length === 0 ? undefined : { required: true, content };
}

function responses(route: Route): Operation['responses'] {
  const dialect = route.dialect('plain');
  const content = {
    ...(route.response === undefined ? {} : jsonContent(route.response)),
    ...Object.fromEntries(route.media.map((type) => [type, { schema: mediaSchema(type) }])),
  };
  const success = { description: 'Success', ...(Object.keys(content).length === 0 ? {} : { content }) };
  const answers: Operation['responses'] = { [route.success]: success };
  for (const kind of failureKinds(route, dialect)) {
    const { status } = errorTable[kind];
    const body = jsonContent(errorReference(dialect));
    answers[status] ??= { description: meanings[status] ?? kind, content: body };
  }
  return answers;
}

/** The failures that follow from the declaration, and the route's own. */
function failureKinds(route: Route, dialect: Dialect): ErrorKind[] {
  const hasInput =
    route.body !== undefined ||
    route.query !== undefined ||
    route.multipart !== undefined ||
    route.path.includes('{');
  const invalid: ErrorKind = dialect === 'decisions' ? 'unprocessable' : 'invalid_request';
  return [
    ...(hasInput ? [invalid] : []),
    ...(route.access === 'public' ? [] : (['unauthenticated'] as const)),
    ...(route.body === undefined && route.multipart === undefined ? [] : (['too_large'] as const)),
    ...(route.idempotent ? (['conflict'] as const) : []),
    ...route.failures,
    'internal',
  ];
}

const jsonContent = (schema: unknown) => ({ 'application/json': { schema } });

/** Text is text; the rest is bytes. */
function mediaSchema(type: string): object {
  return type.startsWith('text/') ? { type: 'string' } : { type: 'string', contentMediaType: type };
}

function errorReference(dialect: Dialect): object {
  return { $ref: `#/components/schemas/${dialect === 'messages' ? 'MessagesError' : 'RouterError'}` };
}

const meanings: Record<number, string> = {
  400: 'A field is missing, malformed or unsupported; the message names it',
  401: 'The key is missing, wrong or not active',
  404: 'No such model, job, file or route',
  409: 'The state changed during the action',
  413: 'The body or a file is too large; the message gives the limit',
  416: 'The range begins behind the end of the file',
  422: 'A field is missing, malformed or unsupported; the message names it',
  429: 'Too many requests for this model; wait Retry-After seconds',
  500: 'A failure inside the service',
  502: 'An engine or a needed service is unreachable; retry with a growing wait',
  503: 'The model is unavailable or busy; retry with a growing wait',
  504: 'The engine did not answer in time; retry with a growing wait',
  529: 'The model is overloaded; retry with a growing wait',
};

const string = { type: 'string' };

const routerError = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'type', 'metadata'],
      properties: {
        code: { type: 'integer', description: 'Repeats the HTTP status' },
        message: string,
        type: string,
        param: { type: 'string', description: 'The path of the field at fault' },
        metadata: { type: 'object', required: ['error_type'], properties: { error_type: string } },
      },
    },
  },
};

const messagesError = {
  type: 'object',
  required: ['type', 'error', 'request_id'],
  properties: {
    type: { const: 'error' },
    error: { type: 'object', required: ['type', 'message'], properties: { type: string, message: string } },
    request_id: string,
  },
};
