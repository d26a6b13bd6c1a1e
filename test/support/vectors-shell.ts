/** The vector store routes over collections in memory, for two subscriptions; every success is held against its shape. */
import { vectorStoreRoutes } from '../../src/api/vector-store/index.ts';
import { createRouteTable } from '../../src/http/table.ts';
import { createValidator } from '../../src/lib/schema.ts';
import type { Declaration } from '../../src/platform/catalog/index.ts';
import type { Platform } from '../../src/platform/index.ts';
import type { Objects } from '../../src/platform/objects/types.ts';
import { createFakeVectors, type FakeVectors } from './fake-vectors.ts';
import type { TestAnswer, TestRequest } from './inject.ts';
import { createSampleCatalog } from './sample-models.ts';
import { createShell, type Shell } from './shell.ts';

export const keys = { first: 'rh_first', second: 'rh_second', stranger: 'rh_stranger' };

const callers = new Map([
  [keys.first, { subscriptionId: 'sub_1', keyId: 'key_1', keyName: 'first' }],
  [keys.second, { subscriptionId: 'sub_1', keyId: 'key_2', keyName: 'second' }],
  [keys.stranger, { subscriptionId: 'sub_2', keyId: 'key_3', keyName: 'stranger' }],
]);

const embedding = { type: 'embedding', engine: 'sandbox', contextLength: 512, dimensions: 8 } as const;
export const embeddingModels: readonly Declaration[] = [
  { ...embedding, id: 'usual-embedding' },
  { ...embedding, id: 'other-embedding', dimensions: 16 },
  { type: 'chat', engine: 'sandbox', id: 'a-chat-model', contextLength: 1000 },
];

export interface VectorsShell extends Shell {
  readonly vectors: FakeVectors;
  /** What lies in storage. */
  readonly stored: Map<string, Buffer>;
  /** `path` is relative to `/v1`. */
  call(
    method: NonNullable<TestRequest['method']>,
    path: string,
    payload?: unknown,
    key?: string,
  ): Promise<TestAnswer>;
  /** Sends a form. */
  upload(path: string, form: FormData, key?: string): Promise<TestAnswer>;
  /** A new collection's id. */
  collection(key?: string): Promise<string>;
}

export function createVectorsShell(): VectorsShell {
  const stored = new Map<string, Buffer>();
  const vectors = createFakeVectors(async (key) => stored.get(key));
  const objects: Pick<Objects, 'put' | 'remove'> = {
    async put(key, data) {
      const pieces: Uint8Array[] = [];
      for await (const piece of data instanceof Uint8Array ? [data] : data) pieces.push(piece);
      const whole = Buffer.concat(pieces);
      stored.set(key, whole);
      return { bytes: whole.length, writtenAt: 0 };
    },
    async remove(key) {
      stored.delete(key);
    },
  };
  const platform = {
    accounts: { authenticate: (secret: string) => callers.get(secret) },
    catalog: createSampleCatalog({
      models: embeddingModels,
      defaults: { embedding: 'usual-embedding' },
    }),
    objects,
    vectors,
  };
  // What the routes use of the platform, and nothing else.
  const shell = createShell(vectorStoreRoutes, { platform: platform as unknown as Partial<Platform> });
  const table = createRouteTable(vectorStoreRoutes);

  const send = async (
    method: NonNullable<TestRequest['method']>,
    path: string,
    request: Partial<TestRequest> & { key: string },
  ) => {
    const answer = await shell.send({ ...request, method, url: `/v1${path}` });
    const route = table.find(path.replace(/\?.*/, ''))?.methods.get(method as 'GET');
    if (route === undefined || answer.status >= 400) return answer;
    if (answer.status !== route.success)
      throw new Error(`${method} ${path} answers ${answer.status} instead of ${route.success}`);
    if (route.response === undefined) return answer;
    const shape = createValidator(route.response);
    const value: unknown = answer.json();
    if (shape.check(value)) return answer;
    const { path: at, message } = shape.problem(value);
    throw new Error(`${method} ${path} does not answer what it declares: ${at} ${message}`);
  };

  return {
    ...shell,
    vectors,
    stored,
    call: (method, path, payload, key = keys.first) => send(method, path, { payload, key }),
    async upload(path, form, key = keys.first) {
      const request = new Request('http://x', { method: 'POST', body: form });
      return send('POST', path, {
        headers: { 'content-type': request.headers.get('content-type') ?? '' },
        payload: Buffer.from(await request.arrayBuffer()),
        key,
      });
    },
    async collection(key = keys.first) {
      return (await send('POST', '/vector_store', { payload: {}, key })).json().id;
    },
  };
}

export function fileForm(
  text: string | Buffer,
  { filename = 'notes.txt', ...fields }: Record<string, string> = {},
): FormData {
  const form = new FormData();
  form.append('file', new Blob([text]), filename);
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}
