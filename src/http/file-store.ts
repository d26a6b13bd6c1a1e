/**
 * The files of a form. Pieces are taken as fast as they can be written, so that a form of any size stands in memory for
 * a moment only. What a route stores goes to storage, the rest lasts as long as the request; a form that fails leaves
 * nothing behind.
 */
import type { Readable } from 'node:stream';
import type { GatewayError } from '../lib/errors.ts';
import type { Platform } from '../platform/index.ts';
import { Intake } from './intake.ts';
import type { FileSpec, StoredUpload, Upload } from './route.ts';
import { tooLarge } from './too-large.ts';

export interface IncomingFile {
  readonly field: string;
  readonly filename: string;
  readonly content: Readable;
  readonly spec: FileSpec;
}

export interface TakenFiles {
  readonly uploads: Upload[];
  readonly stored: StoredUpload[];
}

export interface FileStore {
  /** Begins to take it. `onFailure` hears why it could not be taken. */
  take(file: IncomingFile, onFailure: (error: unknown) => void): void;
  /** Every file, once all of them are there. Rejects as soon as one cannot be. */
  taken(): Promise<TakenFiles>;
  /** Ends what is being taken and removes what was. Never rejects. */
  discard(): Promise<void>;
}

export interface FileStoreParts {
  readonly platform: Platform;
  /** Of the files that are not stored. */
  readonly maxTotalBytes: number;
  /** Whether there is as much as can be written at once: then nothing more should be read until it is written. */
  readonly onFull: (isFull: boolean) => void;
}

export function createFileStore({ platform, maxTotalBytes, onFull }: FileStoreParts): FileStore {
  const intakes: Intake[] = [];
  const taking: Promise<Upload | StoredUpload>[] = [];
  const keys: string[] = [];
  let totalBytes = 0;

  async function keep(file: IncomingFile, pieces: AsyncIterable<Buffer>): Promise<Upload | StoredUpload> {
    const { field, filename, spec } = file;
    if (spec.storeAt === undefined) return { field, filename, content: await platform.scratch.keep(pieces) };
    const objectKey = await spec.storeAt(platform);
    keys.push(objectKey);
    const { bytes } = await platform.objects.put(objectKey, pieces);
    return { field, filename, objectKey, bytes };
  }

  /** What is told of a file that goes on like this. */
  function refuse({ field, spec }: IncomingFile, bytes: number): GatewayError | undefined {
    if (bytes > spec.maxBytes) return tooLarge(field, spec.maxBytes);
    if (totalBytes > maxTotalBytes) return tooLarge('The sum of the files', maxTotalBytes);
    return undefined;
  }

  return {
    take(file, onFailure) {
      const intake = new Intake(() => onFull(intakes.some(({ isFull }) => isFull)));
      intakes.push(intake);
      let bytes = 0;
      file.content.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (file.spec.storeAt === undefined) totalBytes += piece.length;
        const refusal = refuse(file, bytes);
        if (refusal === undefined) intake.add(piece);
        else onFailure(refusal);
      });
      file.content.on('end', () => intake.end());
      // A form that breaks off tells it to every file that is open.
      file.content.on('error', (error) => intake.fail(error));
      const upload = keep(file, intake.pieces());
      upload.catch(onFailure);
      taking.push(upload);
    },
    async taken() {
      const files = await Promise.all(taking);
      return {
        uploads: files.filter((file) => 'content' in file),
        stored: files.filter((file) => 'objectKey' in file),
      };
    },
    async discard() {
      for (const intake of intakes) intake.fail(new Error('the form has failed'));
      for (const taken of await Promise.allSettled(taking))
        if (taken.status === 'fulfilled' && 'content' in taken.value) await taken.value.content.close();
      // What cannot be removed now goes with the reservation of its key.
      await Promise.allSettled(keys.map((key) => platform.objects.remove(key)));
    },
  };
}
