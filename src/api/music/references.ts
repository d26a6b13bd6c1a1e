/** Reads the sounds that a song is made from, when the job is created. */
import type { MediaFile } from '../../engines/contract/picture.ts';
import type { Platform } from '../../platform/index.ts';
import { maxSoundBytes } from './schema.ts';
import type { AskedMusic } from './translate.ts';

export function readReferences(
  references: AskedMusic['references'],
  { attachments, media }: Pick<Platform, 'attachments' | 'media'>,
  signal: AbortSignal,
): Promise<MediaFile[]> {
  return Promise.all(
    references.map(async ({ source, param }) => {
      const bytes = await attachments.read(source, { param, maxBytes: maxSoundBytes }, signal);
      const { container } = await media.probe(bytes, param, signal, ['wav', 'mp3']);
      return { bytes, mediaType: container === 'wav' ? 'audio/wav' : 'audio/mpeg' };
    }),
  );
}
