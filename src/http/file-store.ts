/**
 * The files of a form that go to storage while they are read. Pieces are taken as fast as the storage writes them, so
 * that a form of any size stands in memory for a moment only; a form that fails leaves nothing behind.
 */
import type { Readable } from 'node:stream';
import type { Platform } from '../platform/index.ts';
import type { FileSpec, StoredUpload } from './route.ts';
import { tooLarge } from './too-large.ts';

export interface IncomingFile {
  readonly field: string;
  readonly filename: string;
  readonly content: Readable;
  readonly maxBytes: number;
  readonly storeAt: NonNullable<FileSpec['storeAt']>;
}

export interface FileStore {
  /** Begins to store it. `onFailure` hears why it could not be stored. */
  take(file: IncomingFile, onFailure: (error: unknown) => void): void;
  /** Every file, once all of them are stored. Rejects as soon as one cannot be. */
  stored(): Promise<StoredUpload[]>;
  /** Ends what is being stored and removes what was. Never rejects. */
  discard(): Promise<void>;
}

export function createFileStore(platform: Platform): FileStore {
  const contents: Readable[] = [];
  const storing: Promise<StoredUpload>[] = [];
  const keys: string[] = [];

  async function store({ field, filename, content, maxBytes, storeAt }: IncomingFile): Promise<StoredUpload> {
    const objectKey = await storeAt(platform);
    keys.push(objectKey);
    const { bytes } = await platform.objects.put(objectKey, upTo(maxBytes, field, content));
    return { field, filename, objectKey, bytes };
  }

  return {
    take(file, onFailure) {
      contents.push(file.content);
      // A form that breaks off tells it to every file that is open, also to one that nobody reads any more.
      file.content.on('error', () => {});
      const upload = store(file);
      upload.catch(onFailure);
      storing.push(upload);
    },
    stored: () => Promise.all(storing),
    async discard() {
      for (const content of contents) content.destroy();
      await Promise.allSettled(storing);
      // What cannot be removed now goes with the reservation of its key.
      await Promise.allSettled(keys.map((key) => platform.objects.remove(key)));
    },
  };
}

async function* upTo(maxBytes: number, field: string, content: Readable): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(field, maxBytes);
    yield chunk;
  }
}
