/** `/music/models`: the music models and what each takes. */
import { defineRoute } from '../../http/route.ts';
import { toMusicModelEntry } from './entry.ts';
import { MusicModels } from './schema.ts';

export const listMusicModels = defineRoute({
  method: 'GET',
  path: '/music/models',
  access: 'key',
  summary: 'List the music models with what each takes',
  tag: 'Music',
  response: MusicModels,
  failures: ['unreachable', 'overloaded'],
  handle: (_, { catalog }) => ({
    data: catalog
      .listed()
      .filter((model) => model.type === 'music')
      .map(toMusicModelEntry),
  }),
});
