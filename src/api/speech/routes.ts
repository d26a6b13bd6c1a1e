/** `/audio/voices`: the voices of a speech model. */
import { defineRoute } from '../../http/route.ts';
import { toVoiceList } from './entry.ts';
import { VoiceList, VoicesQuery } from './schema.ts';

export const listVoices = defineRoute({
  method: 'GET',
  path: '/audio/voices',
  access: 'key',
  summary: 'List the voices of a speech model',
  tag: 'Speech',
  query: VoicesQuery,
  response: VoiceList,
  failures: ['not_found', 'unreachable', 'overloaded'],
  // `?model=` with nothing behind it names no model.
  handle: ({ query }, { catalog }) => toVoiceList(catalog.resolve('speech', query.model || undefined).model),
});
