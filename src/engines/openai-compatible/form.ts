/** A form with files (RFC 7578), as engines that take files want it. Pure but for its boundary. */
import { randomBytes } from 'node:crypto';
import { type Bytes, type Content, toContent } from '../../lib/content.ts';

export interface FormFile {
  readonly field: string;
  readonly filename: string;
  readonly type: string;
  readonly bytes: Bytes;
}

export class Form {
  readonly type: string;
  readonly length: number;
  /** The body, one behind the other: files of many megabytes are not copied, nor read before they are sent. */
  readonly #contents: readonly Content[];

  constructor(fields: Readonly<Record<string, string>>, files: readonly FormFile[]) {
    const boundary = `roundhouse-${randomBytes(16).toString('hex')}`;
    this.type = `multipart/form-data; boundary=${boundary}`;
    let head = '';
    for (const [name, value] of Object.entries(fields)) {
      head += `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    }
    const contents: Content[] = [];
    for (const { field, filename, type, bytes } of files) {
      head += `--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="${filename}"\r\n`;
      head += `content-type: ${type}\r\n\r\n`;
      contents.push(toContent(Buffer.from(head)), toContent(bytes));
      head = '\r\n';
    }
    contents.push(toContent(Buffer.from(`${head}--${boundary}--\r\n`)));
    this.#contents = contents;
    this.length = contents.reduce((sum, { length }) => sum + length, 0);
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    // Who sends it asks for the next piece before the last one is gone.
    for (const content of this.#contents)
      for await (const piece of content.pieces()) yield Buffer.from(piece);
  }
}
