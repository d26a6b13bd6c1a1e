/** One file as passages, by what it is. Runs in the thread that `cutter.ts` starts. */
import type { Passage } from '../parts.ts';
import { kindOf } from './kind.ts';

/** The readers of documents are large and loaded only when one is met. */
export async function readPassages(
  bytes: Buffer,
  filename: string,
): Promise<Iterable<Passage> | AsyncIterable<Passage>> {
  const kind = kindOf(bytes, filename);
  switch (kind) {
    case 'pdf':
      return (await import('./pdf.ts')).readPdf(bytes);
    case 'docx':
      return (await import('./docx.ts')).readDocx(bytes);
    case 'pptx':
      return (await import('./pptx.ts')).readPptx(bytes);
    case 'xlsx':
      return (await import('./xlsx.ts')).readXlsx(bytes);
    case 'html':
      return (await import('./html.ts')).readHtml(bytes);
    case 'csv':
    case 'tsv':
      return (await import('./csv.ts')).readCsv(bytes, kind === 'tsv');
    case 'markdown':
      return (await import('./markdown.ts')).readMarkdown(bytes);
    case 'json':
      return (await import('./json.ts')).readJson(bytes);
    case 'code':
      return (await import('./plain.ts')).readCode(bytes);
    case 'text':
      return (await import('./plain.ts')).readText(bytes);
  }
}
