/** PDF page by page. Lines that stand apart are paragraphs. */
import { getDocumentProxy } from 'unpdf';
import type { Passage } from '../parts.ts';
import { invalid } from './refusal.ts';

interface TextItem {
  readonly str: string;
  readonly hasEOL: boolean;
  readonly height: number;
  /** The last one is the height above the foot of the page. */
  readonly transform: readonly number[];
}

export async function* readPdf(bytes: Buffer): AsyncGenerator<Passage> {
  const pdf = await open(bytes);
  let isEmpty = true;
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = toText(items.filter((item): item is (typeof items)[number] & TextItem => 'str' in item));
    page.cleanup();
    for (const paragraph of text.split(/\n{2,}/)) {
      if (paragraph.trim() === '') continue;
      isEmpty = false;
      yield { text: paragraph, headings: [], place: { unit: 'page', at: number } };
    }
  }
  if (isEmpty)
    throw invalid(
      'The PDF has no text, only pictures of it: scanned pages are not read, so send one with text',
    );
}

async function open(bytes: Buffer): ReturnType<typeof getDocumentProxy> {
  try {
    const data = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return await getDocumentProxy(data, { isEvalSupported: false, verbosity: 0 });
  } catch (error) {
    // pdf.js names its failures; it does not export their classes.
    if (error instanceof Error && error.name === 'PasswordException')
      throw invalid('The PDF is encrypted: save it without a password and send it again', error);
    throw error;
  }
}

/** Further apart than this many line heights is another paragraph. */
const paragraphGap = 1.7;

function toText(items: readonly TextItem[]): string {
  let text = '';
  let lineAt: number | undefined;
  let lineHeight = 0;
  for (const { str, hasEOL, height, transform } of items) {
    if (str.trim() !== '') {
      const at = transform[5] ?? 0;
      const gap = lineAt === undefined ? 0 : Math.abs(lineAt - at);
      if (text.endsWith('\n') && gap > paragraphGap * Math.max(lineHeight, height)) text += '\n';
      lineAt = at;
      lineHeight = height;
    }
    text += hasEOL ? `${str}\n` : str;
  }
  const lines = text.split('\n').map((line) => line.trimEnd());
  // A word that was cut at the end of its line.
  return lines.join('\n').replace(/(\p{Ll})-\n(?=\p{Ll})/gu, '$1');
}
