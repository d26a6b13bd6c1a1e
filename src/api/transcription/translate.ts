/** A transcription request as what is to be heard, and how. Pure. */
import { tooLarge } from '../../http/too-large.ts';
import { GatewayError, refusal } from '../../lib/errors.ts';
import { decodeBase64, decodedLength, isDataUri } from '../../platform/attachments/base64.ts';
import type { TranscriptionModel } from '../../platform/catalog/index.ts';
import { languageCodes } from './languages.ts';
import { maxAudioBytes, type TranscriptionBody, type TranscriptionFields } from './schema.ts';

export interface Sound {
  readonly bytes: Buffer;
  /** The field that it came in: what is wrong with it is told under this name. */
  readonly param: string;
}

export function toSound(body: TranscriptionBody | TranscriptionFields, file: Buffer | undefined): Sound {
  if (file !== undefined) return { bytes: file, param: 'file' };
  const param = 'input_audio.data';
  const { data } = (body as TranscriptionBody).input_audio;
  if (isDataUri(data)) throw refusal(param, 'must be raw base64, not a data URI');
  if (/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(data))
    throw refusal(param, 'must be raw base64: addresses are not fetched');
  // Before it is decoded: what is too large takes no memory.
  if (decodedLength(data) > maxAudioBytes) throw tooLarge(param, maxAudioBytes);
  return { bytes: decodeBase64(data, param).bytes, param };
}

export function toLanguage(
  { language }: TranscriptionFields,
  { id, languages }: TranscriptionModel,
): string | undefined {
  if (language === undefined || language === null) return undefined;
  if (!languageCodes.has(language)) throw refusal('language', 'must be an ISO 639-1 code, such as en');
  if (languages === undefined || languages.includes(language)) return language;
  throw refusal('language', `must be one of ${languages.join(', ')}: the model ${id} knows no other`);
}

/** What other services take here, and what would be ignored without a word. */
export function refuseTimestamps({ timestamp_granularities: granularities }: TranscriptionFields): void {
  if (granularities === undefined || granularities === null) return;
  throw new GatewayError(
    'unsupported_parameter',
    'timestamp_granularities is not supported: transcripts have no timestamps',
    { param: 'timestamp_granularities' },
  );
}
