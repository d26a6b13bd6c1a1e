/**
 * `/images`, `/images/generations` and `/images/edits`: pictures from words, and from pictures; one implementation.
 * `/images/models`: the image models, what each takes, and where it is served.
 */
import { toBaseUrl } from '../../http/base-url.ts';
import { toOperation } from '../../http/operation.ts';
import { EventReply, Reply, type ServerEvent } from '../../http/reply.ts';
import { type Call, defineRoute } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import type { Caller } from '../../platform/accounts/types.ts';
import type { Platform } from '../../platform/index.ts';
import { toImageEndpoints, toImageModelEntry } from './entry.ts';
import { type MadeImages, makeImages } from './generate.ts';
import { toAnswer, toCompleted, toFailure } from './render.ts';
import {
  ImageAnswer,
  ImageBody,
  ImageEndpoints,
  ImageModels,
  maxImageBytes,
  maxTotalImageBytes,
} from './schema.ts';
import { toAskedImage } from './translate.ts';
import { writeAnswer } from './write.ts';

const tag = 'Images';

/** All pictures in base64, which is a third longer, and everything around them. */
const maxBodyBytes = Math.ceil(maxTotalImageBytes / 3) * 4 + 2 * 1024 * 1024;

const common = {
  method: 'POST',
  access: 'key',
  tag,
  body: ImageBody,
  maxBodyBytes,
  response: ImageAnswer,
  media: ['text/event-stream'],
  failures: ['not_found', 'too_large', 'rate_limited', 'unreachable', 'overloaded', 'timeout'],
  generation: true,
  idempotent: true,
} as const;

export const createImage = defineRoute({
  ...common,
  path: '/images',
  summary: 'Make images, in base64 unless links are asked for',
  handle: (call, platform) => answer(call, platform, { isEdit: false, form: 'b64_json' }),
});

export const generateImage = defineRoute({
  ...common,
  path: '/images/generations',
  summary: 'Make images, as links unless base64 is asked for',
  handle: (call, platform) => answer(call, platform, { isEdit: false, form: 'url' }),
});

/** Far more than a model takes, whose own maximum tells a form with too many. */
const mostFiles = 64;

export const editImage = defineRoute({
  ...common,
  path: '/images/edits',
  summary: 'Make images from images, as links unless base64 is asked for',
  multipart: {
    files: {
      image: { maxCount: mostFiles, maxBytes: maxImageBytes },
      mask: { maxCount: 1, maxBytes: maxImageBytes },
    },
    maxTotalBytes: maxTotalImageBytes,
    // References may stand in a field as data URIs.
    maxFieldBytes: maxBodyBytes,
  },
  handle: (call, platform) => answer(call, platform, { isEdit: true, form: 'url' }),
});

interface RouteKind {
  readonly isEdit: boolean;
  /** How pictures leave when the request does not say it. */
  readonly form: 'url' | 'b64_json';
}

/** The AI SDK edits without saying a form, and then wants base64. */
const aiSdkAgent = /^ai(?:\/|-sdk-)/;

async function answer(
  call: Call<unknown, undefined, ImageBody, Caller>,
  platform: Platform,
  { isEdit, form }: RouteKind,
): Promise<ImageAnswer | Reply | EventReply> {
  const { body, uploads, headers } = call;
  const { model } = platform.catalog.resolve('image', body.model ?? undefined);
  const asked = toAskedImage({ body, uploads, isEdit }, model);
  const operation = toOperation(call, 'images');
  if (asked.isStreamed)
    return new EventReply(
      toEvents(() => makeImages(platform, operation, asked, false)),
      toFailure,
    );
  const wanted = body.response_format ?? undefined;
  const isForBoth = wanted === undefined && isEdit && aiSdkAgent.test(headers['user-agent'] ?? '');
  const isLinked = isForBoth || (wanted ?? form) === 'url';
  const made = await makeImages(platform, operation, asked, isLinked);
  const told = toAnswer(made, { created: toSeconds(Date.now()), baseUrl: toBaseUrl(call, platform) });
  if (isLinked && !isForBoth) return told;
  const pictures = made.pictures.map(({ bytes }) => bytes);
  return new Reply(await writeAnswer(told, pictures), {
    headers: { 'content-type': 'application/json; charset=utf-8' },
  });
}

async function* toEvents(make: () => Promise<MadeImages>): AsyncGenerator<ServerEvent> {
  yield* toCompleted(await make(), toSeconds(Date.now()));
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

export const listImageModels = defineRoute({
  method: 'GET',
  path: '/images/models',
  access: 'key',
  summary: 'List the image models with the parameters each takes',
  tag,
  response: ImageModels,
  failures: ['unreachable', 'overloaded'],
  handle: (_, { catalog }) => ({
    data: catalog
      .listed()
      .filter((model) => model.type === 'image')
      .map(toImageModelEntry),
  }),
});

export const listImageModelEndpoints = defineRoute({
  method: 'GET',
  path: '/images/models/{author}/{slug+}/endpoints',
  access: 'key',
  summary: 'The endpoint record of an image model',
  tag,
  response: ImageEndpoints,
  failures: ['not_found', 'unreachable', 'overloaded'],
  handle({ params: { author, slug } }, { catalog }): ImageEndpoints {
    const model = catalog.lookup(author, slug);
    if (model?.type !== 'image')
      throw new GatewayError('not_found', `There is no image model ${quoted(slug)}`);
    return toImageEndpoints(model);
  },
});
