/** `/images/models`: the image models, what each takes, and where it is served. */
import { defineRoute } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import { toImageEndpoints, toImageModelEntry } from './entry.ts';
import { ImageEndpoints, ImageModels } from './schema.ts';

const tag = 'Images';

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
