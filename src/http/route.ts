/**
 * The one declaration of a route. Validation, types, OpenAPI, the 404 and 405 tables, the key requirement,
 * the error dialect, body limits and log fields are all read from it.
 */

import assert from 'node:assert';
import type { Static, TSchema } from 'typebox';
import type { ErrorKind } from '../lib/errors.ts';
import type { RequestHeaders } from '../lib/http1/server/request-head.ts';
import type { Log } from '../lib/log.ts';
import type { Leaving } from '../lib/presence.ts';
import { createValidator, type Validator } from '../lib/schema.ts';
import type { Caller } from '../platform/accounts/types.ts';
import type { Platform } from '../platform/index.ts';
import type { Kept } from '../platform/scratch/types.ts';
import type { ClientKind } from './client.ts';
import type { Dialect } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/**
 * `public` answers without a key and ignores one; `key` needs a subscription's key; `link` a key, or a signed link to
 * that very path; `admin` the operator's token.
 */
export type Access = 'public' | 'key' | 'link' | 'admin';
export type Place = '/v1' | '/';

/** The names in a path: `/models/{author}/{slug+}` gives `{author: string; slug: string}`. */
export type PathParams<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name extends `${infer Bare}+` ? Bare : Name]: string } & PathParams<Rest>
  : unknown;

/** A file of a form, which is there until the request is answered. */
export interface Upload {
  field: string;
  filename: string;
  content: Kept;
}

/** A file that went to storage while it was read. From here on it is the handler's to keep or to remove. */
export interface StoredUpload {
  field: string;
  filename: string;
  objectKey: string;
  /** How many there are. */
  bytes: number;
}

/** A body that fits its route: what was sent, and the files that came with it. */
export interface ParsedBody {
  body: unknown;
  uploads: readonly Upload[];
  stored: readonly StoredUpload[];
}

/** How many files of that name there may be, and how large each. */
export interface FileSpec {
  maxCount: number;
  maxBytes: number;
  required?: boolean;
  /**
   * A file that stays beyond its request: it goes to storage, to the key that this answers. What is refused, or whose
   * client leaves before its end, is removed again.
   */
  storeAt?(platform: Platform): Promise<string>;
}

/** How a route reads `multipart/form-data`: its fields are checked like a JSON body, its files are kept apart. */
export interface MultipartSpec<F extends TSchema | undefined = TSchema | undefined> {
  /** The fields' schema, where it differs from the JSON body's or there is none. */
  fields?: F;
  /** Which fields are files. `image` also accepts `image[]`. */
  files: Readonly<Record<string, FileSpec>>;
  /** How large all files that are not stored may be together. Absent: what the body may be. */
  maxTotalBytes?: number;
  /** How large one field that is no file may be, or all of them where a file is stored. Default 1 MiB. */
  maxFieldBytes?: number;
}

/** Announced removal: the route answers with `Deprecation` and `Sunset` (RFC 9745, RFC 8594). */
export interface Deprecation {
  since: Date;
  sunset: Date;
}

/** Who calls a route of that access: nobody that is known by name, where a link leads to it. */
type Who<A extends Access> = A extends 'key' ? Caller : A extends 'link' ? Caller | undefined : undefined;

export interface Call<Params = unknown, Query = unknown, Body = unknown, Who = Caller | undefined> {
  readonly id: string;
  /** `HEAD` is answered as GET; the shell leaves the body out. */
  readonly method: string;
  readonly headers: RequestHeaders;
  readonly client: ClientKind;
  readonly caller: Who;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly uploads: readonly Upload[];
  /** The files that the route stores: see `FileSpec.storeAt`. */
  readonly stored: readonly StoredUpload[];
  readonly log: Log;
  /** Names what this request generates, in the ledger and for `GET /generation`. A job goes by its own name. */
  generationId: string;
  /** Adds a header to whatever is answered, a failure included. Lower-case name. */
  setHeader(name: string, value: string): void;
  /** Whether the client is still there; it leaves when it goes before the answer is complete. */
  readonly presence: Leaving;
  /** The same as a signal, which costs a little to make. */
  readonly signal: AbortSignal;
}

type StaticOr<S, Otherwise> = S extends TSchema ? Static<S> : Otherwise;
/** Of a route that takes nothing but forms, the fields. */
type BodyOf<B, F> = StaticOr<B, StaticOr<F, undefined>>;

export interface RouteSpec<
  P extends string,
  A extends Access,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
  F extends TSchema | undefined,
> {
  method: Method;
  /** `{id}` is one segment, `{id+}` one or more (an id that contains a slash). */
  path: P;
  /** Other paths of the very same route, with the same names in them: what other APIs call it. */
  aliases?: readonly string[];
  /**
   * What an id in the path looks like, where other APIs have paths of the same shape: `POST /videos/edits` names no
   * video, so it is an unknown route and not a wrong method.
   */
  idForm?: RegExp;
  /** What the path is relative to. Default `/v1`; the host's root is for names that clients put there. */
  at?: Place;
  access: A;
  /** One line for the reference. */
  summary: string;
  /** The reference's heading that the route stands under. */
  tag: string;
  /** How failures are told; a function where it depends on who is calling. Default `router`. */
  dialect?: Dialect | ((client: ClientKind) => Dialect);
  query?: Q;
  body?: B;
  multipart?: MultipartSpec<F>;
  /** The largest body in bytes. Default 1 MiB. */
  maxBodyBytes?: number;
  /** The most values (fields and items) that a JSON body may have. Default 200,000. */
  maxBodyValues?: number;
  /** The status of a success. Default 200. */
  success?: 200 | 201 | 202 | 204;
  /** The shape of a success, for the reference and for the tests that hold answers against it. */
  response?: TSchema;
  /** The media types of successes that are not JSON, for the reference. */
  media?: readonly string[];
  /** Failures of the route's own, for the reference; the usual ones follow from the declaration. */
  failures?: readonly ErrorKind[];
  /** The route generates something: its answers carry `X-Generation-Id`. */
  generation?: boolean;
  /**
   * A client may send it again with the same `Idempotency-Key`: it then gets the first answer. The handler of such a
   * request is not told when its client leaves, so that there is an answer when the client comes back.
   */
  idempotent?: true;
  deprecated?: Deprecation;
  /** What can be refused before the body is read: a large upload to nowhere need not be sent. */
  before?(
    call: Pick<Call<PathParams<P>, StaticOr<Q, undefined>, unknown, Who<A>>, 'caller' | 'params' | 'query'>,
    platform: Platform,
  ): Promise<void>;
  handle(
    call: Call<PathParams<P>, StaticOr<Q, undefined>, BodyOf<B, F>, Who<A>>,
    platform: Platform,
  ): unknown;
}

export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly aliases: readonly string[];
  readonly idForm: RegExp | undefined;
  readonly at: Place;
  readonly access: Access;
  readonly summary: string;
  readonly tag: string;
  readonly dialect: (client: ClientKind) => Dialect;
  readonly query: Validator<TSchema> | undefined;
  readonly body: Validator<TSchema> | undefined;
  readonly multipart: (MultipartSpec & { validator: Validator<TSchema> }) | undefined;
  readonly maxBodyBytes: number;
  readonly maxBodyValues: number | undefined;
  readonly success: number;
  readonly response: TSchema | undefined;
  readonly media: readonly string[];
  readonly failures: readonly ErrorKind[];
  readonly generation: boolean;
  readonly idempotent: boolean;
  readonly deprecated: Deprecation | undefined;
  readonly before: ((call: Call, platform: Platform) => Promise<void>) | undefined;
  readonly handle: (call: Call, platform: Platform) => unknown;
}

const defaultMaxBodyBytes = 1024 * 1024;
const noticeMs = 90 * 24 * 3600 * 1000;

export function defineRoute<
  const P extends string,
  const A extends Access,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  F extends TSchema | undefined = undefined,
>(spec: RouteSpec<P, A, Q, B, F>): Route {
  const { dialect = 'router', deprecated, query, body, multipart } = spec;
  assert(spec.path.startsWith('/'), `${spec.path}: a path starts with a slash`);
  assert(
    spec.idempotent === undefined || spec.access === 'key',
    `${spec.path}: answers are kept for a subscription`,
  );
  if (deprecated !== undefined) {
    const notice = deprecated.sunset.getTime() - deprecated.since.getTime();
    assert(notice >= noticeMs, `${spec.path}: a removal is announced at least 90 days ahead`);
  }
  const fields = multipart?.fields ?? body;
  assert(
    multipart === undefined || fields !== undefined,
    `${spec.path}: multipart needs a schema for its fields`,
  );
  for (const alias of spec.aliases ?? [])
    assert.deepEqual(namesIn(alias), namesIn(spec.path), `${alias}: an alias has the names of its path`);
  assert(
    spec.idempotent === undefined || !Object.values(multipart?.files ?? {}).some(({ storeAt }) => storeAt),
    `${spec.path}: of a stored file nobody could say later whether it is the same`,
  );
  return {
    method: spec.method,
    path: spec.path,
    aliases: spec.aliases ?? [],
    idForm: spec.idForm,
    at: spec.at ?? '/v1',
    access: spec.access,
    summary: spec.summary,
    tag: spec.tag,
    dialect: typeof dialect === 'function' ? dialect : () => dialect,
    query: query === undefined ? undefined : createValidator(query),
    body: body === undefined ? undefined : createValidator(body),
    multipart:
      multipart === undefined || fields === undefined
        ? undefined
        : { ...multipart, validator: createValidator(fields) },
    maxBodyBytes: spec.maxBodyBytes ?? defaultMaxBodyBytes,
    maxBodyValues: spec.maxBodyValues,
    success: spec.success ?? 200,
    response: spec.response,
    media: spec.media ?? [],
    failures: spec.failures ?? [],
    generation: spec.generation ?? false,
    idempotent: spec.idempotent ?? false,
    deprecated,
    before: spec.before as Route['before'],
    // The declaration's types hold because the shell fills a call from the same declaration.
    handle: spec.handle as Route['handle'],
  };
}

function namesIn(path: string): string[] {
  return path.match(/\{\w+\+?\}/g) ?? [];
}
