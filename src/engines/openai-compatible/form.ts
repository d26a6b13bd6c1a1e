/** A form with a file (RFC 7578), as engines that take files want it. Pure but for its boundary. */
import { randomBytes } from 'node:crypto';

export interface FormFile {
  readonly field: string;
  readonly filename: string;
  readonly type: string;
  readonly bytes: Buffer;
}

export class Form {
  readonly type: string;
  readonly bytes: Buffer;

  constructor(fields: Readonly<Record<string, string>>, { field, filename, type, bytes }: FormFile) {
    const boundary = `roundhouse-${randomBytes(16).toString('hex')}`;
    this.type = `multipart/form-data; boundary=${boundary}`;
    let head = '';
    for (const [name, value] of Object.entries(fields)) {
      head += `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    }
    head += `--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="${filename}"\r\n`;
    head += `content-type: ${type}\r\n\r\n`;
    this.bytes = Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  }
}
