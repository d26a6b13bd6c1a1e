/**
 * What a request brings besides text: media as bytes for the engine, documents as text. It arrives inside of
 * the request or is fetched; engines never see an address. Keeps nothing.
 */
import type { ContentPart, MediaKind } from '../../engines/contract/chat.ts';
import { GatewayError } from '../../lib/errors.ts';
import { type SafeFetch, tooLarge } from '../../lib/safe-fetch.ts';
import { decodeBase64, decodedLength, type Encoded, isDataUri, parseDataUri } from './base64.ts';
import { createDocumentReader, type DocumentReader } from './documents.ts';
import { acceptedMedia, sniffMedia } from './media-type.ts';

export type AttachmentKind = MediaKind | 'document';

/** Something to attach, as the request names it. */
export interface Attachment {
  readonly kind: AttachmentKind;
  /** A data URI or an https address; `base64` when it is bare base64. */
  readonly source: string;
  readonly isBase64?: boolean;
  /** The field's path: failures name it. */
  readonly param: string;
  readonly detail?: string;
  readonly filename?: string;
}

export interface FileLimits {
  /** The field's path: failures name it. */
  readonly param: string;
  readonly maxBytes: number;
}

export interface Attachments {
  /** The bytes behind a data URI or an https address, whatever they are. */
  read(source: string, limits: FileLimits, signal: AbortSignal): Promise<Buffer>;
  /** Every attachment as a part, in the same order. */
  load(attachments: readonly Attachment[], signal: AbortSignal): Promise<ContentPart[]>;
  close(): Promise<void>;
}

export const attachmentLimits = {
  maxBytes: { image: 20e6, audio: 25e6, video: 50e6, document: 25e6 } satisfies Record<
    AttachmentKind,
    number
  >,
  /** Together: addresses are short, what stands behind them is not. */
  maxTotalBytes: 128e6,
  maxCount: 64,
  /** Fetched at once for one request. */
  atOnce: 4,
};

interface Loaded extends Encoded {
  readonly mediaType: string;
}

export interface AttachmentParts {
  safeFetch: SafeFetch;
  documents?: DocumentReader;
}

export function createAttachments({
  safeFetch,
  documents = createDocumentReader(),
}: AttachmentParts): Attachments {
  async function read(attachment: Attachment, signal: AbortSignal): Promise<Loaded> {
    const { kind, source, param, isBase64 = false } = attachment;
    const maxBytes = attachmentLimits.maxBytes[kind];
    if (isDataUri(source)) return readDataUri(source, param, maxBytes);
    if (isBase64) return { ...decodeLimited(source, param, maxBytes), mediaType: '' };
    const { bytes, mediaType } = await safeFetch.get(source, { param, maxBytes, signal });
    // Documents become text: only media travels on as base64.
    return { bytes, mediaType, base64: kind === 'document' ? '' : bytes.toString('base64') };
  }

  async function toPart(attachment: Attachment, loaded: Loaded, signal: AbortSignal): Promise<ContentPart> {
    const { kind, param, detail, filename = '' } = attachment;
    const { bytes, base64, mediaType } = loaded;
    if (bytes.length === 0) throw new GatewayError('invalid_request', `${param} is empty`, { param });
    if (kind === 'document') {
      const text = await documents.toText({ bytes, filename, mediaType, param }, signal);
      return { type: 'text', text: nameDocument(filename, text) };
    }
    const type = sniffMedia(kind, bytes);
    if (type === undefined) {
      const message = `${param} is not ${kind === 'image' ? 'an image' : kind} of an accepted kind: ${acceptedMedia[kind]}`;
      throw new GatewayError('invalid_request', message, { param });
    }
    return { type: kind, mediaType: type, base64, ...(detail === undefined ? {} : { detail }) };
  }

  return {
    async read(source, { param, maxBytes }, signal) {
      const { bytes } = isDataUri(source)
        ? readDataUri(source, param, maxBytes)
        : await safeFetch.get(source, { param, maxBytes, signal });
      if (bytes.length === 0) throw new GatewayError('invalid_request', `${param} is empty`, { param });
      return bytes;
    },
    async load(attachments, signal) {
      const { maxCount, maxTotalBytes, atOnce } = attachmentLimits;
      if (attachments.length > maxCount) {
        const message = `messages may hold at most ${maxCount} media parts and documents`;
        throw new GatewayError('invalid_request', message, { param: 'messages' });
      }
      const parts: ContentPart[] = [];
      let total = 0;
      let next = 0;
      // The first failure ends the others: their work is for nothing.
      const stop = new AbortController();
      const onLeave = () => stop.abort(signal.reason);
      signal.addEventListener('abort', onLeave);
      const work = async () => {
        while (next < attachments.length) {
          stop.signal.throwIfAborted();
          const index = next++;
          const attachment = attachments[index]!;
          const loaded = await read(attachment, stop.signal);
          total += loaded.bytes.length;
          if (total > maxTotalBytes) throw tooLarge('messages', maxTotalBytes);
          parts[index] = await toPart(attachment, loaded, stop.signal);
        }
      };
      try {
        signal.throwIfAborted();
        await Promise.all(Array.from({ length: Math.min(atOnce, attachments.length) }, work));
        return parts;
      } catch (error) {
        stop.abort(error);
        throw error;
      } finally {
        signal.removeEventListener('abort', onLeave);
      }
    },
    close: () => documents.close(),
  };
}

function readDataUri(uri: string, param: string, maxBytes: number): Loaded {
  const { mediaType, data, isBase64 } = parseDataUri(uri, param);
  if (isBase64) return { ...decodeLimited(data, param, maxBytes), mediaType };
  if (data.length > maxBytes * 3) throw tooLarge(param, maxBytes);
  const bytes = Buffer.from(decodePercent(data, param), 'utf8');
  if (bytes.length > maxBytes) throw tooLarge(param, maxBytes);
  return { bytes, mediaType, base64: bytes.toString('base64') };
}

function decodePercent(data: string, param: string): string {
  try {
    return decodeURIComponent(data);
  } catch (cause) {
    throw new GatewayError('invalid_request', `${param} is not valid percent-encoding`, { param, cause });
  }
}

function decodeLimited(base64: string, param: string, maxBytes: number): Encoded {
  if (decodedLength(base64) > maxBytes) throw tooLarge(param, maxBytes);
  return decodeBase64(base64, param);
}

/** A quote in a file's name could end the frame around it. */
function nameDocument(filename: string, text: string): string {
  const name = filename.replace(/["<>\p{Cc}]+/gu, ' ').trim();
  return `<document${name === '' ? '' : ` name="${name}"`}>\n${text}\n</document>`;
}
