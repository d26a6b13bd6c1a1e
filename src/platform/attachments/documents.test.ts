import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { makeDocx, makePdf, makeZip } from '../../../test/support/documents.ts';
import type { GatewayError } from '../../lib/errors.ts';
import { createDocumentReader, type DocumentReader, documentLimits } from './documents.ts';
import { checkZipSize } from './zip-size.ts';

const readers: DocumentReader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.close();
});

function reader(...parts: Parameters<typeof createDocumentReader>): DocumentReader {
  const made = createDocumentReader(...parts);
  readers.push(made);
  return made;
}

const never = new AbortController().signal;
const param = 'messages[0].content[1].file';
const read = (bytes: Buffer, filename = '', from = reader(), signal = never) =>
  from.toText({ bytes, filename, mediaType: '', param }, signal);

async function failure(work: Promise<unknown>): Promise<GatewayError> {
  return work.then(
    () => expect.fail('it was read'),
    (error) => error,
  );
}

describe('[CHAT-59] a document becomes text', () => {
  test('pdf, page by page', async () => {
    expect(await read(makePdf(['First page', 'Second page']))).toBe('First page\n\nSecond page');
  });

  test('docx, paragraph by paragraph', async () => {
    expect(await read(makeDocx('Hello', 'Grüße'))).toBe('Hello\n\nGrüße');
  });

  test('html, without its markup', async () => {
    const html =
      '<h1>Title</h1><script>x()</script><p>Read <a href="https://x.example">this</a>.</p><table><tr><td>a</td><td>b</td></tr></table>';
    const text = await read(Buffer.from(html), 'page.html');
    expect(text).toMatch(/^Title\n+Read this\.\n+a\s+b$/);
  });

  test('txt, md and csv as they are', async () => {
    expect(await read(Buffer.from('a,b\n1,2\n'), 'x.csv')).toBe('a,b\n1,2');
    expect(await read(Buffer.from('# Title\n\n*x*'), 'x.md')).toBe('# Title\n\n*x*');
    expect(await read(Buffer.from('\ufeffplain'), 'x.txt')).toBe('plain');
  });
});

describe('what cannot be read is a 400 that names the part', () => {
  test.each([
    ['an encrypted pdf', makePdf(['x'], { encrypted: true }), 'is encrypted: send it without a password'],
    ['a damaged pdf', Buffer.from('%PDF-1.4\nnothing'), 'cannot be read as pdf'],
    ['a scanned pdf', makePdf(['', '']), 'has no text: scanned pages are not read'],
    ['a damaged docx', Buffer.from('PK\x03\x04 rubbish'), 'cannot be read as docx'],
    ['an archive that is no docx', makeZip([{ name: 'a.txt', content: 'x' }]), 'cannot be read as docx'],
    ['an empty docx', makeDocx(''), 'has no text'],
    ['an empty text', Buffer.from(' \n '), 'has no text'],
    [
      'a program',
      Buffer.from('\x7fELF\0\0'),
      'is not a document of an accepted kind: pdf, docx, html, txt, md or csv',
    ],
  ])('%s', async (_, bytes, problem) => {
    expect(await failure(read(bytes))).toMatchObject({
      kind: 'invalid_request',
      message: `${param} ${problem}`,
      param,
    });
  });
});

describe('limits', () => {
  test('text of the limit passes, one character more is a 413 that gives the limit', async () => {
    const from = reader({ ...documentLimits, maxCharacters: 10 });
    expect(await read(Buffer.from('x'.repeat(10)), 'x.txt', from)).toHaveLength(10);
    for (const [bytes, name] of [
      [Buffer.from('x'.repeat(11)), 'x.txt'],
      [Buffer.from(`<p>${'x'.repeat(11)}`), 'x.html'],
      [makePdf(['x'.repeat(6), 'x'.repeat(6)]), 'x.pdf'],
    ] as const)
      expect(await failure(read(bytes, name, from))).toMatchObject({
        kind: 'too_large',
        message: `${param} holds more text than the limit of 10 characters`,
      });
  });

  const running = (code: string) => {
    const ended: number[] = [];
    const start = () => {
      const worker = new Worker(code, { eval: true, stderr: true });
      worker.once('exit', (exitCode) => ended.push(exitCode));
      return worker;
    };
    return { start, ended };
  };

  test('a thread that never comes to an end is ended after the time limit, and the loop stays free', async () => {
    const { start, ended } = running('for (;;) {}');
    let turns = 0;
    const timer = setInterval(() => turns++, 5);
    const error = await failure(
      read(makeDocx('x'), '', reader({ ...documentLimits, timeoutMs: 100 }, start)),
    );
    clearInterval(timer);
    expect(error.message).toBe(`${param} could not be converted to text within 0.1 s`);
    expect(turns).toBeGreaterThan(3);
    expect(ended).toHaveLength(1);
  });

  test('a thread that fills the memory outside of its heap is ended', async () => {
    const { start, ended } = running(
      'const kept = []; setInterval(() => kept.push(new Uint8Array(8e6).fill(1)), 5);',
    );
    const from = reader({ ...documentLimits, maxMemoryBytes: 60e6 }, start);
    expect((await failure(read(makeDocx('x'), '', from))).message).toBe(`${param} cannot be read as docx`);
    expect(ended).toHaveLength(1);
  });

  test.each(["throw new Error('x')", 'process.exit(3)'])(
    'a thread that dies (%s) is the file’s fault',
    async (code) => {
      const { start } = running(code);
      expect((await failure(read(makeDocx('x'), '', reader(documentLimits, start)))).message).toContain(
        'cannot be read',
      );
    },
  );

  test('two are read at once, the next waits, and who leaves leaves the line', async () => {
    const workers: Worker[] = [];
    const start = () => {
      const worker = new Worker(
        "const { parentPort } = require('node:worker_threads'); parentPort.once('message', (text) => parentPort.postMessage({ text }));",
        { eval: true },
      );
      workers.push(worker);
      return worker;
    };
    const from = reader(documentLimits, start);
    const client = new AbortController();
    const first = read(makeDocx('x'), '', from);
    const second = read(makeDocx('x'), '', from);
    const left = failure(read(makeDocx('x'), '', from, client.signal));
    const third = read(makeDocx('x'), '', from);
    await new Promise(setImmediate);
    expect(workers).toHaveLength(2);
    client.abort(new Error('left'));
    expect((await left).message).toBe('left');
    workers[0]!.postMessage('one');
    expect(await first).toBe('one');
    await new Promise(setImmediate);
    expect(workers).toHaveLength(3);
    workers[2]!.postMessage('three');
    workers[1]!.postMessage('two');
    expect(await Promise.all([second, third])).toEqual(['two', 'three']);
  });

  test('who leaves while it is read ends the thread, and who left before starts none', async () => {
    const { start, ended } = running('setInterval(() => {}, 1000)');
    const client = new AbortController();
    const from = reader(documentLimits, start);
    const reading = failure(read(makeDocx('x'), '', from, client.signal));
    await new Promise(setImmediate);
    const late = failure(read(makeDocx('x'), '', from, client.signal));
    client.abort(new Error('left'));
    expect((await reading).message).toBe('left');
    expect((await late).message).toBe('left');
    expect((await failure(read(makeDocx('x'), '', from, client.signal))).message).toBe('left');
    expect(ended).toHaveLength(1);
  });
});

describe('an archive', () => {
  const content = Buffer.alloc(1_000_000);

  test('may unpack to the limit and no further', () => {
    const zip = makeZip([
      { name: 'a', content },
      { name: 'b', content },
    ]);
    expect(zip.length).toBeLessThan(5000);
    expect(() => checkZipSize(zip, 2_000_000)).not.toThrow();
    expect(() => checkZipSize(zip, 1_999_999)).toThrow();
  });

  test('is not believed what it says of its own size, nor of the number of its files', () => {
    const zip = makeZip([
      { name: 'a', content: 'x' },
      { name: 'b', content },
    ]);
    const directory = zip.lastIndexOf('PK\x01\x02', undefined, 'latin1');
    zip.writeUInt32LE(1, directory + 24);
    zip.writeUInt16LE(1, zip.length - 22 + 10);
    expect(() => checkZipSize(zip, 999_999)).toThrow();
  });

  test.each([
    ['a second directory', (zip: Buffer) => zip.writeUInt16LE(0xffff, zip.length - 22 + 8)],
    ['a directory elsewhere', (zip: Buffer) => zip.writeUInt32LE(0, zip.length - 22 + 12)],
    [
      'sizes kept elsewhere',
      (zip: Buffer) => zip.writeUInt32LE(0xffffffff, zip.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 20),
    ],
    ['no directory', (zip: Buffer) => zip.fill(0, zip.length - 22)],
  ])('with %s is refused', (_, change) => {
    const zip = makeZip([{ name: 'a', content: 'x' }]);
    checkZipSize(zip, 10);
    change(zip);
    expect(() => checkZipSize(zip, 10)).toThrow();
  });

  test('that unpacks to more than a document has is no docx', async () => {
    const bomb = makeZip([{ name: 'word/document.xml', content: Buffer.alloc(101e6) }]);
    expect(bomb.length).toBeLessThan(200_000);
    expect((await failure(read(bomb))).message).toBe(`${param} cannot be read as docx`);
  });
});
