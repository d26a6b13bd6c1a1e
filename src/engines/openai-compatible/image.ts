/**
 * The image port: a prompt as JSON, or with pictures in a form; pictures back as base64, or as links. A link is followed
 * to the engine's own origin and nowhere else: an engine cannot send the gateway to another host.
 */
import { toContent } from '../../lib/content.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { GeneratedImage, ImagePort, ImageRequest } from '../contract/image.ts';
import type { PictureFile, PictureFormat } from '../contract/picture.ts';
import type { Studio } from '../contract/studio.ts';
import type { Address } from './address.ts';
import { EngineRefusal, failures } from './failures.ts';
import type { Fields, ImageQuirks } from './flavor.ts';
import { Form, type FormFile } from './form.ts';
import type { Answer, FileQuestions } from './questions.ts';
import { whitenMask } from './white-mask.ts';

/** Ten pictures of four megapixels in base64 are at most about this. */
export const mostImageBytes = 256 * 1024 * 1024;

export interface ImageParts {
  questions: FileQuestions;
  address: Address;
  quirks: ImageQuirks;
  studio: Studio | undefined;
}

const generations = { at: 'api', path: '/images/generations' } as const;
const edits = { at: 'api', path: '/images/edits' } as const;

export function createImagePort({ questions, address, quirks, studio }: ImageParts): ImagePort {
  async function ask(request: ImageRequest, signal: AbortSignal): Promise<readonly Found[]> {
    const fields = quirks.fields(request, toFormat(request, quirks));
    const read = (answer: Answer) => readImages(answer, request);
    if (request.references.length === 0) return questions.post(generations, fields, read, signal);
    const mask = await toMaskFile(request, quirks, studio, signal);
    return questions.postForm(edits, toForm(fields, request, mask), read, signal);
  }

  async function follow(link: string, signal: AbortSignal): Promise<Buffer> {
    const path = toOwnPath(link, address);
    if (path === undefined) throw failures.elsewhere();
    try {
      return await questions.fetch(path, signal);
    } catch (error) {
      // A picture that is not where the engine said is the engine's mistake, not the client's.
      if (error instanceof GatewayError && error.cause instanceof EngineRefusal)
        throw failures.unreadable(error.cause);
      throw error;
    }
  }

  return {
    async generate(request, signal) {
      const images: GeneratedImage[] = [];
      for (const { bytes, link, revisedPrompt } of (await ask(request, signal)).slice(0, request.count)) {
        const got = bytes ?? (link === undefined ? undefined : await follow(link, signal));
        if (got === undefined || got.length === 0) continue;
        images.push({ bytes: got, ...(revisedPrompt === undefined ? {} : { revisedPrompt }) });
      }
      return images;
    },
  };
}

function toFormat({ outputFormat }: ImageRequest, { formats }: ImageQuirks): PictureFormat {
  return formats.includes(outputFormat) ? outputFormat : 'png';
}

/** As OpenAI's own clients name them: one file is `image`, several are `image[]`. */
function toForm(fields: Fields, { references }: ImageRequest, mask: FormFile | undefined): Form {
  const texts = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  const field = references.length === 1 ? 'image' : 'image[]';
  const files = references.map((file, index) => toFile(field, `image-${index + 1}`, file));
  return new Form(texts, mask === undefined ? files : [...files, mask]);
}

function toFile(field: string, name: string, { content, mediaType }: PictureFile): FormFile {
  const filename = `${name}.${mediaType.slice('image/'.length)}`;
  return { field, filename, type: mediaType, bytes: content };
}

async function toMaskFile(
  { mask }: ImageRequest,
  { mask: taken }: ImageQuirks,
  studio: Studio | undefined,
  signal: AbortSignal,
): Promise<FormFile | undefined> {
  if (mask === undefined) return undefined;
  if (taken === undefined) {
    throw new GatewayError('invalid_request', 'mask is not possible: the engine of this model takes none', {
      param: 'mask',
    });
  }
  if (taken.anew === 'clear') return toFile(taken.field, 'mask', mask);
  const content = toContent(await whitenMask(mask.content, studio, signal));
  return toFile(taken.field, 'mask', { content, mediaType: 'image/png' });
}

/** What stands in one item of an answer. */
interface Found {
  readonly bytes: Buffer | undefined;
  readonly link: string | undefined;
  readonly revisedPrompt: string | undefined;
}

/** Whatever is no picture is left out; an answer without any is an empty list. */
export function readImages({ json }: Answer, { prompt }: Pick<ImageRequest, 'prompt'>): readonly Found[] {
  const { data } = json as { data?: unknown };
  if (!Array.isArray(data)) return [];
  const found: Found[] = [];
  for (const item of data) {
    if (typeof item !== 'object' || item === null) continue;
    const { b64_json: base64, url, revised_prompt: revised } = item as Record<string, unknown>;
    const inline = toBase64(base64) ?? toBase64(url, true);
    const link = typeof url === 'string' && url !== '' ? url : undefined;
    if (inline === undefined && link === undefined) continue;
    found.push({
      bytes: inline === undefined ? undefined : Buffer.from(inline, 'base64'),
      link: inline === undefined ? link : undefined,
      // Some servers repeat the prompt there.
      revisedPrompt:
        typeof revised === 'string' && revised.trim() !== '' && revised !== prompt ? revised : undefined,
    });
  }
  return found;
}

const dataUri = /^data:[^,;]*;base64,/;

/** Bare base64, or the base64 of a data URI. */
function toBase64(value: unknown, isUri = false): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const head = dataUri.exec(value)?.[0];
  if (head !== undefined) return value.slice(head.length);
  return isUri ? undefined : value;
}

/** The path of a link to the engine itself, which may be told without an origin; undefined: it leads elsewhere. */
export function toOwnPath(link: string, { origin, root }: Address): string | undefined {
  if (!URL.canParse(link, `${origin}${root}/`)) return undefined;
  const url = new URL(link, `${origin}${root}/`);
  return url.origin === origin ? url.pathname + url.search : undefined;
}
