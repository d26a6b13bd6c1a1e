import { Worker } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';
import { makePdf, makeZip, pixelPng } from '../../../../test/support/documents.ts';
import { watchLoop } from '../../../../test/support/loop-watch.ts';
import { makeZipBomb } from '../../../../test/support/zip-bomb.ts';
import { watchedThread } from '../../../lib/thread-memory.ts';
import type { Chunk } from '../parts.ts';
import { type CutLimits, createCutter, cutLimits, type StartCutWorker } from './cutter.ts';

const never = new AbortController().signal;
const cutterWith = (limits: Partial<CutLimits> = {}, start?: StartCutWorker) =>
  createCutter({ ...cutLimits, ...limits }, start);

async function cut(
  bytes: Buffer,
  { filename = 'file.txt', skip = 0, cutter = createCutter(), signal = never } = {},
): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const batch of cutter.cut({ bytes, filename, skip }, signal)) chunks.push(...batch);
  return chunks;
}

const refusal = (code: string, message: string) => ({ code, message, kind: 'invalid_request' });
const accepted = 'pdf, docx, pptx, xlsx, html, md, csv, json, txt and source code';
const paragraphs = (count: number) =>
  Buffer.from(Array.from({ length: count }, (_, n) => `Paragraph ${n} ${'word '.repeat(250)}.`).join('\n\n'));

describe('what cannot be read is refused with a sentence that says what to do', () => {
  it.each([
    ['nothing', Buffer.alloc(0), 'invalid_file', 'The file is empty: send one with text in it'],
    ['white space', Buffer.from(' \n\n '), 'invalid_file', 'The file has no text: send one with text in it'],
    [
      'an encrypted pdf',
      makePdf(['x'], { encrypted: true }),
      'invalid_file',
      'The PDF is encrypted: save it without a password and send it again',
    ],
    [
      'a scanned pdf',
      makePdf(['', '']),
      'invalid_file',
      'The PDF has no text, only pictures of it: scanned pages are not read, so send one with text',
    ],
    [
      'a damaged pdf',
      Buffer.from('%PDF-1.4\nnothing'),
      'invalid_file',
      'The file is damaged and cannot be read: save it anew and send it again',
    ],
    [
      'a damaged archive',
      Buffer.from('PK\x03\x04 rubbish'),
      'invalid_file',
      'The file is a damaged archive or document: save it anew and send it again',
    ],
    [
      'an encrypted docx',
      Buffer.concat([Buffer.from('d0cf11e0', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
      'invalid_file',
      'The document is encrypted: save it without a password and send it again',
    ],
    [
      'an old doc',
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      'unsupported_file',
      'The file is of an old Office format: save it as docx, xlsx or pptx and send it again',
    ],
    [
      'an archive',
      makeZip([{ name: 'a.txt', content: 'x' }]),
      'unsupported_file',
      `The file is an archive: send the documents in it one by one, as ${accepted}`,
    ],
    [
      'a picture',
      pixelPng,
      'unsupported_file',
      `The file is a picture, and text in pictures is not read: send it as one of ${accepted}`,
    ],
    [
      'a program',
      Buffer.from('\x7fELF\0\0'),
      'unsupported_file',
      `The file is of no kind that is read: send it as one of ${accepted}`,
    ],
  ])('%s', async (_, bytes, code, message) => {
    await expect(cut(bytes)).rejects.toMatchObject(refusal(code, message));
  });
});

describe('a hostile file is refused while the loop stays free and the memory bounded', () => {
  const tooMuch =
    'The file holds more text than the limit of 20000000 characters: split it into several files';
  const unpacked =
    'The document unpacks to more than 400 MB: split it, or save it anew if it should be smaller';
  it.each([
    [
      'a docx that unpacks to a gigabyte',
      'a.docx',
      () => makeZipBomb('word/document.xml', '<w:document>', Buffer.alloc(10e6), 100),
      unpacked,
    ],
    [
      'an xlsx that unpacks to a gigabyte',
      'a.xlsx',
      () => makeZipBomb('xl/workbook.xml', '<workbook>', Buffer.alloc(10e6), 100),
      unpacked,
    ],
    [
      'a docx with a text without end',
      'a.docx',
      () => makeZipBomb('word/document.xml', '<w:document><w:t>', Buffer.from('word '.repeat(1e6)), 50),
      tooMuch,
    ],
    [
      'a docx with a tag of a million attributes',
      'a.docx',
      () => {
        const names = Array.from({ length: 1e6 }, (_, n) => `a${n}=""`);
        return makeZip([{ name: 'word/document.xml', content: `<w:p ${names.join(' ')}/>` }]);
      },
      'The document has a tag with too many attributes: save it anew and send it again',
    ],
    ['a text of 100 MB', 'a.txt', () => Buffer.alloc(100e6, 'word word word.\n'), tooMuch],
    ['a text of 100 MB in one word', 'a.txt', () => Buffer.alloc(100e6, 'x'), tooMuch],
    [
      'a deep JSON',
      'a.json',
      () => Buffer.alloc(50e6, '['),
      'The JSON is nested deeper than 1000 levels: send a flatter one',
    ],
    [
      'a table of a million columns',
      'a.csv',
      () => Buffer.from(`${'a,'.repeat(1e6)}\n${'1,'.repeat(1e6)}`),
      'The table has more than 16384 columns: split it, or turn its rows and columns around',
    ],
    [
      'a table with an open quote',
      'a.csv',
      () => Buffer.from(`a,b\n"${'x,y\n'.repeat(1e6)}`),
      'The table has a row of more than 1000000 characters: check its quotes and line ends and send it again',
    ],
    [
      'a page of 50 MB of nested tags',
      'a.html',
      () => Buffer.alloc(50e6, '<div>'),
      'The page is nested deeper than 1000 tags: save it anew, or as text',
    ],
  ])('%s', { timeout: 60_000 }, async (_, filename, make, message) => {
    const bytes = make();
    const watch = watchLoop();
    await expect(cut(bytes, { filename })).rejects.toMatchObject(refusal('invalid_file', message));
    const { longestMs, grownBytes } = watch.stop();
    expect(longestMs).toBeLessThan(50);
    expect(grownBytes).toBeLessThan(400e6);
  });

  it('19 MB of text are cut while the loop stays free', async () => {
    const bytes = Buffer.alloc(19e6, 'Some words of a sentence. And some more of another one.\n\n');
    const watch = watchLoop();
    const chunks = await cut(bytes);
    expect(watch.stop().longestMs).toBeLessThan(50);
    expect(chunks.length).toBeGreaterThan(10_000);
  });
});

describe('limits', () => {
  const startCode = (code: string) => () => new Worker(code, { eval: true, stderr: true });

  it('a thread that never comes to an end is ended after the time limit', async () => {
    const cutter = cutterWith({ timeoutMs: 100 }, startCode('for (;;) {}'));
    await expect(cut(Buffer.from('x'), { cutter })).rejects.toMatchObject(
      refusal('invalid_file', 'The file could not be read within 0.1 s: split it into several files'),
    );
  });

  it('the time that the caller takes to store a batch is not counted', async () => {
    const timeoutMs = 2_000;
    const cutter = cutterWith({ timeoutMs, batchChunks: 1 });
    let count = 0;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      for await (const _ of cutter.cut({ bytes: paragraphs(3), filename: 'a.txt', skip: 0 }, never)) {
        count++;
        vi.advanceTimersByTime(timeoutMs);
      }
    } finally {
      vi.useRealTimers();
    }
    expect(count).toBe(3);
  });

  it.each([
    ['outside of its heap', 'setInterval(() => kept.push(new Uint8Array(8e6).fill(1)), 5);'],
    ['inside of it', 'for (;;) kept.push({ text: Math.random() });'],
  ])('a thread that fills the memory %s is ended', async (_, code) => {
    const start = () =>
      new Worker(`const kept = []; ${code}`, { eval: true, stderr: true, resourceLimits: watchedThread });
    const cutter = cutterWith({ maxMemoryBytes: 200e6 }, start);
    await expect(cut(Buffer.from('x'), { cutter })).rejects.toMatchObject(
      refusal('invalid_file', 'The file takes too much memory to be read: split it into several files'),
    );
  });

  it.each(["throw new Error('x')", 'process.exit(3)'])(
    'a thread that dies (%s) is the file’s fault',
    async (code) => {
      const cutter = cutterWith({}, startCode(code));
      await expect(cut(Buffer.from('x'), { cutter })).rejects.toMatchObject({ code: 'invalid_file' });
    },
  );

  it('more pieces than the limit are refused', async () => {
    const cutter = cutterWith({ maxChunks: 2 });
    await expect(cut(paragraphs(3), { cutter })).rejects.toMatchObject(
      refusal('invalid_file', 'The file makes more than 2 pieces: split it into several files'),
    );
  });

  it('who leaves ends the thread', async () => {
    const ended: number[] = [];
    const start = () => {
      const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
      worker.once('exit', (code) => ended.push(code));
      return worker;
    };
    const leaving = new AbortController();
    const reading = cut(Buffer.from('x'), { cutter: cutterWith({}, start), signal: leaving.signal });
    setImmediate(() => leaving.abort('left'));
    await expect(reading).rejects.toBe('left');
    expect(ended).toHaveLength(1);
  });
});

it('a text has nothing that a database or a model refuses: no U+0000 and no halves of characters', async () => {
  const bytes = Buffer.from('\ufeffThe heron\0stands \ud83d in the reeds.', 'utf16le');
  expect((await cut(bytes, { filename: 'heron.txt' }))[0]?.text).toBe(
    'The heron stands \ufffd in the reeds.',
  );
});

describe('a resumed file', () => {
  it('goes on behind the pieces that are there, with the same ones', async () => {
    const whole = await cut(paragraphs(20));
    for (const skip of [1, 7, whole.length])
      expect(await cut(paragraphs(20), { skip })).toEqual(whole.slice(skip));
  });
});
