/** A form with files (RFC 7578), as engines that take files want it. Pure but for its boundary. */
import { randomBytes } from 'node:crypto';

export interface FormFile {
  readonly field: string;
  readonly filename: string;
  readonly type: string;
  readonly bytes: Buffer;
}

export class Form {
  readonly type: string;
  /** The body, one piece behind the other: files of many megabytes are not copied. */
  readonly pieces: readonly Buffer[];
  readonly length: number;

  constructor(fields: Readonly<Record<string, string>>, files: readonly FormFile[]) {
    const boundary = `roundhouse-${randomBytes(16).toString('hex')}`;
    this.type = `multipart/form-data; boundary=${boundary}`;
    let head = '';
    for (const [name, value] of Object.entries(fields)) {
      head += `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    }
    const pieces: Buffer[] = [];
    for (const { field, filename, type, bytes } of files) {
      head += `--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="${filename}"\r\n`;
      head += `content-type: ${type}\r\n\r\n`;
      pieces.push(Buffer.from(head), bytes);
      head = '\r\n';
    }
    pieces.push(Buffer.from(`${head}--${boundary}--\r\n`));
    this.pieces = pieces;
    this.length = pieces.reduce((sum, { length }) => sum + length, 0);
  }
}
