/** `GET /objects/{key}`: a stored file for whoever has its signed link. */
import Type from 'typebox';
import { fileReply } from '../../http/file-reply.ts';
import { defineRoute } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['mp4', 'video/mp4'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['ogg', 'audio/ogg'],
  ['opus', 'audio/ogg'],
]);

/** In whole seconds, as the link itself says. */
const maxAgeOf = (exp: string | undefined) => Math.max(0, Number(exp) - Math.ceil(Date.now() / 1000));

export const getObject = defineRoute({
  method: 'GET',
  path: '/objects/{key+}',
  // A client that fetches a link from its own gateway sends its key along: nobody looks at it.
  access: 'public',
  summary:
    'A file behind a signed link, such as a generated image. No key is needed while the link is valid.',
  tag: 'Files',
  query: Type.Object({
    exp: Type.Optional(Type.String({ description: 'When the link ends, in Unix seconds.' })),
    sig: Type.Optional(Type.String({ description: 'The signature of the path and its end.' })),
  }),
  media: [...new Set(mediaTypes.values())],
  failures: ['not_found', 'range_not_satisfiable'],
  async handle(call, { links, objects }) {
    const { key } = call.params;
    const { exp, sig } = call.query;
    // A forged link, a late one and a lost file are told apart by nobody.
    if (!links.isValid(`/objects/${key}`, { exp, sig })) throw gone();
    const filename = key.slice(key.lastIndexOf('/') + 1);
    const reply = await fileReply(call, objects, {
      key,
      filename,
      mediaType: mediaTypes.get(filename.slice(filename.lastIndexOf('.') + 1)) ?? 'application/octet-stream',
      headers: {
        'cache-control': `private, max-age=${maxAgeOf(exp)}`,
        'x-content-type-options': 'nosniff',
      },
    });
    if (reply === undefined) throw gone();
    return reply;
  },
});

function gone(): GatewayError {
  return new GatewayError('not_found', 'The link is not valid, or no longer so');
}
