import { describe, expect, it } from 'vitest';
import { makePicture } from '../../../test/support/picture-files.ts';
import { sniffPicture, toKindList } from './kind.ts';

function brands(major: string, ...others: string[]): Buffer {
  const bytes = Buffer.alloc(16 + 4 * others.length);
  bytes.writeUInt32BE(bytes.length);
  bytes.write(`ftyp${major}`, 4, 'latin1');
  bytes.write(others.join(''), 16, 'latin1');
  return bytes;
}

describe("a picture's kind", () => {
  it.each(['png', 'jpeg', 'webp', 'gif', 'heic', 'heif', 'avif'] as const)(
    'is told from the first bytes of a real %s',
    async (kind) => {
      expect(sniffPicture(await makePicture(kind))).toBe(kind);
    },
  );

  it.each([
    ['heic', brands('heic', 'mif1')],
    ['heic', brands('hevx', 'msf1')],
    ['heif', brands('mif1', 'heic')],
    ['heif', brands('msf1')],
    ['avif', brands('avif', 'mif1', 'miaf')],
    ['avif', brands('mif1', 'miaf', 'avif')],
    [undefined, brands('isom', 'heic')],
    [undefined, brands('qt  ')],
    [undefined, brands('')],
  ])('is %s by the brands of its first box (%#)', (kind, bytes) => {
    expect(sniffPicture(bytes)).toBe(kind);
  });

  it.each([
    ['nothing', ''],
    ['svg', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['pdf', '%PDF-1.7'],
    ['zip', 'PK\x03\x04'],
    ['tiff', 'II*\0'],
    ['bmp', 'BM      '],
    ['html', '<!doctype html>'],
    ['the start of a png without its header', '\x89PNG\r\n\x1a\n'],
    ['wave', 'RIFF\x24\0\0\0WAVEfmt '],
    ['a webp without a picture', 'RIFF\x24\0\0\0WEBPXMP '],
    ['two bytes of a jpeg', '\xff\xd8'],
    ['a gif of no version', 'GIF90a'],
  ])('is none for %s', (_name, text) => {
    expect(sniffPicture(Buffer.from(text, 'latin1'))).toBeUndefined();
  });

  it('is none when something else stands in front of it', async () => {
    for (const kind of ['png', 'jpeg', 'webp', 'gif', 'heic', 'avif'] as const)
      for (const front of ['\n', '<html>', '%PDF-1.7\n', 'PK\x03\x04'])
        expect(sniffPicture(Buffer.concat([Buffer.from(front), await makePicture(kind)]))).toBeUndefined();
  });
});

it('lists kinds in words', () => {
  expect(toKindList(['png'])).toBe('png');
  expect(toKindList(['png', 'jpeg'])).toBe('png or jpeg');
  expect(toKindList(['png', 'jpeg', 'webp'])).toBe('png, jpeg or webp');
});
