/**
 * The image routes over the real pipeline and an engine of the test's own. Codecs and the store are stand-ins, which
 * real parts can take the place of: `createImagesShell({ pictures, objects })`.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { imageRoutes } from '../../src/api/images/index.ts';
import { ImageAnswer } from '../../src/api/images/schema.ts';
import { objectRoutes } from '../../src/api/objects/index.ts';
import { builtins } from '../../src/config/builtin-models.ts';
import type { Engine } from '../../src/engines/contract/engine.ts';
import type { GeneratedImage, ImageRequest } from '../../src/engines/contract/image.ts';
import { firstPiece, toContent } from '../../src/lib/content.ts';
import { GatewayError } from '../../src/lib/errors.ts';
import { createLog } from '../../src/lib/log.ts';
import { createSafeFetch } from '../../src/lib/safe-fetch.ts';
import { createValidator } from '../../src/lib/schema.ts';
import { createAttachments } from '../../src/platform/attachments/index.ts';
import type { LedgerRow } from '../../src/platform/billing/types.ts';
import type { Declaration, ImageModel } from '../../src/platform/catalog/index.ts';
import type { Engines } from '../../src/platform/engines/index.ts';
import { createInference } from '../../src/platform/inference/index.ts';
import { createLinks } from '../../src/platform/objects/links.ts';
import type { Objects } from '../../src/platform/objects/types.ts';
import type {
  AcceptOptions,
  FinishOptions,
  PictureKind,
  Pictures,
} from '../../src/platform/pictures/types.ts';
import type { TestAnswer } from './inject.ts';
import { createSampleCatalog } from './sample-models.ts';
import { createShell, type Shell } from './shell.ts';
import { hasClearPixels, sizeOfPng, toPng } from './tiny-png.ts';

/** The two that every installation has: the default, and the one that edits. */
export const drawId = 'sandbox-image';
export const editId = 'sandbox-image-edit';

const builtin = builtins.models.filter(
  (model): model is Declaration<'image'> => model.id === drawId || model.id === editId,
);
const [draw, edit] = builtin as [Declaration<'image'>, Declaration<'image'>];
/** Billed by the steps; unpriced; of few formats and few images; one that says little of itself. */
const others: readonly Declaration<'image'>[] = [
  { ...draw, id: 'scaled', billedSteps: 20, steps: { min: 1, max: 50, default: 10 } },
  { ...edit, id: 'free', engineModel: 'Org/Free', author: 'house', pricing: {} },
  {
    ...edit,
    id: 'narrow',
    maxImages: 4,
    maxPromptLength: 10,
    size: {
      multipleOf: 8,
      minArea: 65_536,
      maxArea: 1_048_576,
      maxRatio: 2,
      maxTotalArea: 2_097_152,
      default: '1024x1024',
    },
    resolutions: { '1K': { '1:1': '1024x1024' }, '512': { '1:1': '512x512', '2:1': '704x352' } },
    guidanceScale: { min: 1, max: 10, also: [0] },
    outputFormats: ['png', 'webp'],
    references: { max: 2, formats: ['png', 'jpeg'] },
  },
];
const imageModels: readonly Declaration[] = [
  ...builtin,
  ...others,
  { id: 'talker', type: 'chat', engine: 'sandbox', contextLength: 100 },
];

export type Generate = (request: ImageRequest, signal: AbortSignal) => Promise<readonly GeneratedImage[]>;

export interface FormFile {
  readonly field: string;
  readonly bytes: Buffer;
  readonly filename?: string;
  readonly type?: string;
}

export interface ImagesShell extends Shell {
  /** `path` is relative to `/v1/images`. Every 200 that is JSON is held against its shape. */
  post(path: string, body: object, headers?: Record<string, string>): Promise<TestAnswer>;
  postForm(fields: Record<string, string>, files: readonly FormFile[]): Promise<TestAnswer>;
  /** What the engine was asked. */
  readonly asked: ImageRequest[];
  readonly rows: LedgerRow[];
  /** What was fetched. */
  readonly fetched: string[];
  /** What addresses lead to. */
  readonly web: Map<string, Buffer>;
  readonly accepted: (AcceptOptions & { bytes: number })[];
  readonly finished: FinishOptions[];
  /** What the engine answers from now on. */
  generate: Generate;
  /** Permits and engines that are held. */
  readonly held: () => number;
  model(id: string): ImageModel;
}

export interface ImagesParts {
  pictures?: Pictures;
  objects?: Objects;
}

export function createImagesShell(parts: ImagesParts = {}): ImagesShell {
  const [asked, rows, fetched]: [ImageRequest[], LedgerRow[], string[]] = [[], [], []];
  const [accepted, finished]: [ImagesShell['accepted'], FinishOptions[]] = [[], []];
  const web = new Map<string, Buffer>();
  let held = 0;
  const hold = () => {
    held++;
    return () => void held--;
  };
  const rate = { limit: 60, remaining: 59, resetMs: 1000 };
  const engine = {
    kind: 'fake',
    image: {
      generate(request: ImageRequest, signal: AbortSignal) {
        asked.push(request);
        return made.generate(request, signal);
      },
    },
  } as unknown as Engine;
  const inference = createInference({
    admission: { enter: () => ({ rate, release: hold() }), rate: () => rate, close: async () => {} },
    billing: { record: (row) => void rows.push(row), settle: async () => {}, close: async () => {} },
    engines: {
      use: (_names, _affinity, tried) =>
        tried.length > 0 ? undefined : { name: 'fake', engine, enter: () => undefined, release: hold() },
    } as Engines,
    limitsOf: () => ({ requestsPerMinute: 60, concurrent: 8, maxQueueWaitMs: 1 }),
    now: Date.now,
    log: createLog('silent'),
  });
  const door = createSafeFetch({ resolve: async () => [{ address: '10.0.0.1', family: 4 }] });
  const safeFetch: typeof door = {
    ...door,
    async get(url, limits) {
      fetched.push(url);
      const bytes = web.get(url);
      if (bytes === undefined) return door.get(url, limits);
      return { bytes, mediaType: 'text/plain' };
    },
  };
  const catalog = createSampleCatalog({ models: imageModels, defaults: { image: drawId } });
  const shell = createShell([...imageRoutes, ...objectRoutes], {
    platform: {
      catalog,
      inference,
      attachments: createAttachments({ safeFetch }),
      pictures: watch(parts.pictures ?? createFakePictures(), accepted, finished),
      objects: parts.objects ?? createMemoryObjects(),
      links: createLinks({ signatures: fakeSignatures, now: () => Date.now() }),
      publicUrl: () => 'https://ai.example.com/v1',
    },
  });
  const validator = createValidator(ImageAnswer);
  const checked = (answer: TestAnswer): TestAnswer => {
    if (answer.status !== 200 || String(answer.headers['content-type']).startsWith('text/event-stream'))
      return answer;
    const value: unknown = answer.json();
    if (validator.check(value)) return answer;
    const { path, message } = validator.problem(value);
    throw new Error(`the answer is not what is declared: ${path} ${message}`);
  };
  const made: ImagesShell = {
    ...shell,
    asked,
    rows,
    fetched,
    web,
    accepted,
    finished,
    generate: async (request) => draws(request),
    held: () => held,
    model: (id) => catalog.resolve('image', id).model,
    post: async (path, body, headers = {}) =>
      checked(
        await shell.send({
          method: 'POST',
          url: `/v1/images${path}`,
          payload: { prompt: 'A house', ...body },
          headers,
        }),
      ),
    async postForm(fields, files) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      for (const { field, bytes, filename = 'a.png', type = 'image/png' } of files)
        form.append(field, new Blob([new Uint8Array(bytes)], { type }), filename);
      const encoded = new Response(form);
      return checked(
        await shell.send({
          method: 'POST',
          url: '/v1/images/edits',
          payload: Buffer.from(await encoded.arrayBuffer()),
          headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
        }),
      );
    },
  };
  return made;
}

/** One colour per picture, told from everything that was asked for: a seed makes them the same every time. */
export function draws(request: ImageRequest): GeneratedImage[] {
  const { seed = randomBytes(8).toString('hex'), references, mask, width, height, count, ...rest } = request;
  const text = JSON.stringify([seed, width, height, count, rest, references.length, mask?.content.length]);
  return Array.from({ length: count }, (_, index) => {
    const [red = 0, green = 0, blue = 0] = createHash('sha256').update(`${index} ${text}`).digest();
    const isClear = request.background === 'transparent';
    return { bytes: toPng({ width, height, color: [red, green, blue], isClear }) };
  });
}

function watch(pictures: Pictures, accepted: ImagesShell['accepted'], finished: FinishOptions[]): Pictures {
  return {
    ...pictures,
    accept(bytes, options, signal) {
      accepted.push({ ...options, bytes: bytes.length });
      return pictures.accept(bytes, options, signal);
    },
    finish(bytes, options, signal) {
      finished.push(options);
      return pictures.finish(bytes, options, signal);
    },
  };
}

const magics: readonly (readonly [PictureKind, string])[] = [
  ['png', '\x89PNG'],
  ['jpeg', '\xff\xd8\xff'],
  ['webp', 'RIFF'],
  ['gif', 'GIF8'],
];

/** Reads the heads of files; of what it "converts" only the head is of the new format. */
function createFakePictures(): Pictures {
  const kindOf = (bytes: Buffer) =>
    magics.find(([, magic]) => bytes.toString('latin1', 0, magic.length) === magic)?.[0];
  return {
    async accept(file, { param, kinds }) {
      const content = toContent(file);
      const kind = kindOf(await firstPiece(content));
      if (kind === undefined || !kinds.includes(kind))
        throw new GatewayError('invalid_request', `${param} must be one of ${kinds.join(', ')}`, { param });
      return { content, mediaType: `image/${kind}`, width: 2, height: 2 };
    },
    async finish(bytes, { format, isOpaque }) {
      if (kindOf(bytes) !== 'png') throw new GatewayError('unreachable', 'The engine sent no picture');
      const { width, height } = sizeOfPng(bytes);
      const isClear = hasClearPixels(bytes);
      const head = Buffer.from({ jpeg: '\xff\xd8\xff', webp: 'RIFF\0\0\0\0WEBP', png: '' }[format], 'latin1');
      const body = isClear && isOpaque ? toPng({ width, height }) : bytes;
      return {
        bytes: Buffer.concat([head, body]),
        mediaType: `image/${format}`,
        width,
        height,
        isTransparent: isClear && !isOpaque,
      };
    },
    close: async () => {},
  };
}

function createMemoryObjects(): Objects {
  const files = new Map<string, { data: Buffer; writtenAt: number }>();
  const find = async (key: string) => {
    const file = files.get(key);
    return file === undefined ? undefined : { bytes: file.data.length, writtenAt: file.writtenAt };
  };
  return {
    find,
    async put(key, data) {
      const pieces: Uint8Array[] = [];
      if (data instanceof Uint8Array) pieces.push(data);
      else for await (const piece of data) pieces.push(piece);
      files.set(key, { data: Buffer.concat(pieces), writtenAt: Date.now() });
      return (await find(key))!;
    },
    read: async (key) => files.get(key)?.data,
    async open(key, range) {
      const data = files.get(key)?.data;
      if (data === undefined) return undefined;
      return Readable.from([range === undefined ? data : data.subarray(range.start, range.end + 1)]);
    },
    async remove(key) {
      for (const name of files.keys()) if (name === key || name.startsWith(`${key}/`)) files.delete(name);
    },
    passingKey: (folder, expiresAt, name) => `${folder}/until-${expiresAt}/${name}`,
    close: async () => {},
  };
}

const fakeSignatures = {
  sign: (purpose: string, text: string) => createHmac('sha256', purpose).update(text).digest('base64'),
  verify(purpose: string, text: string, signature: string) {
    return this.sign(purpose, text) === signature;
  },
};

/** Small real files of other kinds. */
export const jpegFile = Buffer.from(
  '/9j/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwgIyYnKSopGR8tMC0oMCUoKSj/2wBDAQcHBwoIChMKChMoGhYaKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCj/wAARCAACAAIDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAb/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAABv/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AJAAnHX/2Q==',
  'base64',
);
export const webpFile = Buffer.from(
  'UklGRjgAAABXRUJQVlA4ICwAAADwAQCdASoCAAIAAUAmJaACdLoB+AAETAAA/u+9V/43bjDfgu/33oDeBgAAAA==',
  'base64',
);
export const gifFile = Buffer.from('R0lGODlhAgACAIAAAExpcTNmmSH5BAUAAAAALAAAAAACAAIAAAICjFMAOw==', 'base64');
export const pngFile = toPng({ width: 64, height: 64 });

export function toDataUri(bytes: Buffer, type = 'image/png'): string {
  return `data:${type};base64,${bytes.toString('base64')}`;
}

/** The events of a whole stream; what is no JSON stays a text. */
export function toEvents(body: string): { event: string | undefined; data: unknown }[] {
  return body
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [, event, data = ''] = /^(?:event: (\S+)\n)?data: (.*)$/s.exec(block) ?? [];
      return { event, data: data.startsWith('{') ? (JSON.parse(data) as unknown) : data };
    });
}
