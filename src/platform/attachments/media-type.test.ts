import { describe, expect, test } from 'vitest';
import { makeDocx, makePdf, pixelPng } from '../../../test/support/documents.ts';
import { decodeText, sniffDocument, sniffMedia } from './media-type.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const ftyp = (brand: string) => latin1(`\0\0\0\x18ftyp${brand}\0\0\0\0`);
const matroska = (type: string) => latin1(`\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84${type}`);

describe('media is told from its first bytes', () => {
  test.each([
    ['image', pixelPng, 'image/png'],
    ['image', latin1('\xff\xd8\xff\xe0'), 'image/jpeg'],
    ['image', latin1('RIFF\x10\0\0\0WEBPVP8 '), 'image/webp'],
    ['image', latin1('GIF87a'), 'image/gif'],
    ['image', latin1('GIF89a'), 'image/gif'],
    ['audio', latin1('RIFF\x10\0\0\0WAVEfmt '), 'audio/wav'],
    ['audio', latin1('ID3\x04'), 'audio/mpeg'],
    ['audio', latin1('\xff\xfb\x90\x00'), 'audio/mpeg'],
    ['audio', latin1('\xff\xf3\x40'), 'audio/mpeg'],
    ['audio', latin1('\xff\xf1\x50\x80'), 'audio/aac'],
    ['audio', latin1('\xff\xf9\x50'), 'audio/aac'],
    ['audio', latin1('fLaC\0'), 'audio/flac'],
    ['audio', latin1('OggS\0'), 'audio/ogg'],
    ['audio', ftyp('M4A '), 'audio/mp4'],
    ['audio', matroska('webm'), 'audio/webm'],
    ['video', ftyp('isom'), 'video/mp4'],
    ['video', ftyp('mp42'), 'video/mp4'],
    ['video', ftyp('qt  '), 'video/quicktime'],
    ['video', matroska('webm'), 'video/webm'],
  ] as const)('%s %j is %s', (kind, bytes, type) => {
    expect(sniffMedia(kind, bytes)).toBe(type);
  });

  test.each([
    ['image', '<svg xmlns="http://www.w3.org/2000/svg">'],
    ['image', 'RIFF\x10\0\0\0WAVE'],
    ['image', 'BM6'],
    ['image', ''],
    ['audio', 'RIFF\x10\0\0\0WEBP'],
    ['audio', '\xff\xd8\xff\xe0'],
    ['audio', '\xff\xe1'],
    ['audio', 'plain'],
    ['video', '\0\0\0\x18ftypheic'],
    ['video', '\0\0\0\x18ftypM4A '],
    ['video', '\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska'],
    ['video', 'GIF89a'],
  ] as const)('%s %j is none', (kind, text) => {
    expect(sniffMedia(kind, latin1(text))).toBeUndefined();
  });
});

describe('documents are told from their bytes, and text from its name where bytes say nothing', () => {
  test.each([
    [makePdf(['x']), 'x.txt', 'text/plain', 'pdf'],
    [latin1(`junk\n%PDF-1.7`), '', '', 'pdf'],
    [makeDocx('x'), 'x.pdf', '', 'docx'],
    [latin1('<p>x'), 'page.HTML', '', 'html'],
    [latin1('<p>x'), 'page.htm', '', 'html'],
    [latin1('<p>x'), '', 'text/html', 'html'],
    [latin1('  \n<!DOCTYPE html><p>'), '', '', 'html'],
    [latin1('<html lang="en">'), '', '', 'html'],
    [latin1('a,b\n1,2'), 'x.csv', 'text/csv', 'text'],
    [latin1('# Title'), 'x.md', '', 'text'],
    [latin1('\xff\xfeh\0i\0'), 'x.txt', '', 'text'],
    [latin1('ELF\0\0'), 'x.txt', 'text/plain', undefined],
    [latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0'), 'old.doc', '', undefined],
  ])('%# %s %s', (bytes, filename, mediaType, kind) => {
    expect(sniffDocument(bytes, filename, mediaType)).toBe(kind);
  });

  test.each([
    ['\xef\xbb\xbfh\xc3\xbc', 'hü'],
    ['h\xc3\xbc', 'hü'],
    ['h\xfc', 'hü'],
    ['\xff\xfeh\0\xfc\0', 'hü'],
    ['\xfe\xff\0h\0\xfc', 'hü'],
  ])('the text of %j is %s', (bytes, text) => {
    expect(decodeText(latin1(bytes))).toBe(text);
  });
});
