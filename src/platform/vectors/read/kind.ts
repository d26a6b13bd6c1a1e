/** Tells what a file is: from its bytes, and where these are plain text from its name. Pure. */
import { isUtf8 } from 'node:buffer';
import { sniffMedia } from '../../attachments/media-type.ts';
import { zipEntries } from '../../attachments/zip-size.ts';
import { invalid, unsupported } from './refusal.ts';

export type FileKind =
  | 'pdf'
  | 'docx'
  | 'pptx'
  | 'xlsx'
  | 'html'
  | 'markdown'
  | 'csv'
  | 'tsv'
  | 'json'
  | 'code'
  | 'text';

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export const acceptedFiles = 'pdf, docx, pptx, xlsx, html, md, csv, json, txt and source code';

const again = `send it as one of ${acceptedFiles}`;

/** Throws a refusal for what is not read. */
export function kindOf(bytes: Buffer, filename: string): FileKind {
  if (bytes.length === 0) throw invalid('The file is empty: send one with text in it');
  // Some producers put bytes before the header; readers accept it within the first kilobyte.
  if (bytes.subarray(0, 1024).includes('%PDF-')) return 'pdf';
  if (begins(bytes, 'PK\x03\x04')) return kindOfArchive(bytes);
  if (begins(bytes, '\xd0\xcf\x11\xe0')) throw oldOffice(bytes);
  const binary = kindOfBinary(bytes);
  if (binary !== undefined) throw unsupported(`The file is ${binary}: ${again}`);
  return kindOfText(bytes, filename);
}

/** A byte order mark decides, then UTF-8, then what spreadsheets write on Windows. */
export function encodingOf(bytes: Buffer): TextEncoding {
  if (begins(bytes, '\xff\xfe')) return 'utf-16le';
  if (begins(bytes, '\xfe\xff')) return 'utf-16be';
  return isUtf8(bytes) ? 'utf-8' : 'windows-1252';
}

const officeParts = new Map<string, FileKind>([
  ['word/document.xml', 'docx'],
  ['ppt/presentation.xml', 'pptx'],
  ['xl/workbook.xml', 'xlsx'],
]);

function kindOfArchive(bytes: Buffer): FileKind {
  try {
    for (const { name } of zipEntries(bytes)) {
      const kind = officeParts.get(name);
      if (kind !== undefined) return kind;
    }
  } catch (cause) {
    throw invalid('The file is a damaged archive or document: save it anew and send it again', cause);
  }
  throw unsupported(`The file is an archive: send the documents in it one by one, as ${acceptedFiles}`);
}

/** The frame of doc, xls and ppt, in which newer documents stand as well once they have a password. */
function oldOffice(bytes: Buffer): Error {
  if (bytes.includes(Buffer.from('EncryptedPackage', 'utf16le')))
    return invalid('The document is encrypted: save it without a password and send it again');
  return unsupported('The file is of an old Office format: save it as docx, xlsx or pptx and send it again');
}

function kindOfBinary(bytes: Buffer): string | undefined {
  if (sniffMedia('image', bytes) !== undefined) return 'a picture, and text in pictures is not read';
  if (sniffMedia('video', bytes) !== undefined) return 'a video';
  if (['RIFF', 'fLaC', 'OggS', 'ID3'].some((magic) => begins(bytes, magic))) return 'a recording';
  const archives = ['\x1f\x8b', '7z\xbc\xaf', 'Rar!', 'BZh', '\xfd7zXZ', '\x28\xb5\x2f\xfd'];
  if (archives.some((magic) => begins(bytes, magic))) return 'an archive';
  if (begins(bytes, '{\\rtf')) return 'of the rich text format';
  if (begins(bytes, '%!PS')) return 'a PostScript file';
  const isWide = begins(bytes, '\xff\xfe') || begins(bytes, '\xfe\xff');
  return !isWide && isBinary(bytes) ? 'of no kind that is read' : undefined;
}

const sampleBytes = 65_536;

/** Text has no zero bytes, and next to no other control characters but tabs, line ends and escapes. */
function isBinary(bytes: Buffer): boolean {
  if (bytes.includes(0)) return true;
  const sample = bytes.subarray(0, sampleBytes);
  let odd = 0;
  for (const byte of sample) if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27) || byte === 127) odd++;
  return odd > Math.max(1, sample.length / 100);
}

const byExtension: Readonly<Record<string, FileKind>> = {
  html: 'html',
  htm: 'html',
  xhtml: 'html',
  md: 'markdown',
  markdown: 'markdown',
  mdx: 'markdown',
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  json: 'json',
  jsonl: 'json',
  ndjson: 'json',
  geojson: 'json',
};

const codeExtensions = new Set(
  (
    'js mjs cjs jsx ts mts cts tsx vue svelte py pyi rb php java kt kts scala groovy c h cc cpp cxx hh hpp hxx m mm ' +
    'cs fs go rs swift dart lua pl pm r jl ex exs erl hs ml clj cljs lisp el scm zig nim sh bash zsh fish ps1 bat cmd ' +
    'sql css scss sass less xml xsd xsl svg yaml yml toml ini cfg conf properties env graphql gql proto tf hcl ' +
    'cmake gradle tex bib asm s v sv vhd vhdl sol wgsl glsl diff patch'
  ).split(' '),
);

function kindOfText(bytes: Buffer, filename: string): FileKind {
  const extension = /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';
  const known = Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
  if (known !== undefined) return known;
  if (codeExtensions.has(extension) || /^(?:Makefile|Dockerfile)$/i.test(filename)) return 'code';
  const start = bytes.toString('latin1', 0, 512).trimStart().toLowerCase();
  if (start.startsWith('<!doctype html') || start.startsWith('<html')) return 'html';
  return start.startsWith('#!') ? 'code' : 'text';
}

function begins(bytes: Buffer, magic: string): boolean {
  return bytes.toString('latin1', 0, magic.length) === magic;
}
