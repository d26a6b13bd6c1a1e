/**
 * The thread that turns one hostile file into text and ends. The readers are loaded here and nowhere else:
 * they are large, and most gateways never meet a document.
 */
import assert from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import { type DocumentKind, decodeText } from './media-type.ts';
import { checkZipSize } from './zip-size.ts';

export interface DocumentJob {
  kind: Exclude<DocumentKind, 'text'>;
  bytes: Uint8Array;
  maxCharacters: number;
}

export type DocumentOutcome = { text: string } | { failure: 'encrypted' | 'damaged' | 'too_long' };

/** A real document's XML is a few megabytes. */
const maxUnpackedBytes = 100e6;

class TooLong extends Error {}

async function read({ kind, bytes, maxCharacters }: DocumentJob): Promise<string> {
  switch (kind) {
    case 'pdf':
      return readPdf(bytes, maxCharacters);
    case 'docx':
      return readDocx(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    case 'html':
      return readHtml(decodeText(bytes));
  }
}

/** Page by page, so that a document without end stops at the limit. */
async function readPdf(bytes: Uint8Array, maxCharacters: number): Promise<string> {
  const { getDocumentProxy } = await import('unpdf');
  const pdf = await getDocumentProxy(bytes, { isEvalSupported: false, verbosity: 0 });
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    let text = '';
    for (const item of items) if ('str' in item) text += item.hasEOL ? `${item.str}\n` : item.str;
    length += text.length;
    if (length > maxCharacters) throw new TooLong();
    pages.push(text.trim());
  }
  return pages.filter((page) => page !== '').join('\n\n');
}

async function readDocx(bytes: Buffer): Promise<string> {
  checkZipSize(bytes, maxUnpackedBytes);
  const { default: mammoth } = await import('mammoth');
  return (await mammoth.extractRawText({ buffer: bytes })).value;
}

async function readHtml(html: string): Promise<string> {
  const { convert } = await import('html-to-text');
  return convert(html, {
    wordwrap: false,
    limits: { maxInputLength: html.length },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
      ...[1, 2, 3, 4, 5, 6].map((level) => ({ selector: `h${level}`, options: { uppercase: false } })),
    ],
  });
}

async function run(job: DocumentJob): Promise<DocumentOutcome> {
  try {
    const text = (await read(job)).trim();
    return text.length > job.maxCharacters ? { failure: 'too_long' } : { text };
  } catch (error) {
    if (error instanceof TooLong) return { failure: 'too_long' };
    // pdf.js names its failures; it does not export their classes.
    const isLocked = error instanceof Error && error.name === 'PasswordException';
    return { failure: isLocked ? 'encrypted' : 'damaged' };
  }
}

const port = parentPort;
assert(port !== null, 'this file runs as a worker thread');
port.postMessage(await run(workerData as DocumentJob));
