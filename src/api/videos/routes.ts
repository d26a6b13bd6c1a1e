/** `/videos/models`: the video models and what each takes. */
import { defineRoute } from '../../http/route.ts';
import { toVideoModelEntry } from './entry.ts';
import { VideoModels } from './schema.ts';

export const listVideoModels = defineRoute({
  method: 'GET',
  path: '/videos/models',
  access: 'key',
  summary: 'List the video models with what each takes',
  tag: 'Videos',
  response: VideoModels,
  failures: ['unreachable', 'overloaded'],
  handle: (_, { catalog }) => ({
    data: catalog
      .listed()
      .filter((model) => model.type === 'video')
      .map(toVideoModelEntry),
  }),
});
