import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64, decodedLength, isDataUri, parseDataUri } from './base64.ts';

test('base64 that is right is kept as it came', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (value) => {
      const base64 = Buffer.from(value).toString('base64');
      const decoded = decodeBase64(base64, 'x');
      expect(decoded.base64).toBe(base64);
      expect(decoded.bytes.equals(value)).toBe(true);
      expect(decodedLength(base64)).toBe(value.length);
    }),
  );
});

test('the URL alphabet, missing padding and line breaks are put right', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (value) => {
      const bytes = Buffer.from(value);
      const expected = bytes.toString('base64');
      expect(decodeBase64(bytes.toString('base64url'), 'x').base64).toBe(expected);
      expect(decodeBase64(expected.replace(/.{4}/g, '$&\r\n'), 'x').base64).toBe(expected);
    }),
  );
});

test.each(['@@@@', 'AAAA*AAA', 'hello world!', '=', 'A', '<html>'])('%j is not base64', (text) => {
  expect(() => decodeBase64(text, 'image')).toThrow('image is not valid base64');
});

test('a data URI is read apart', () => {
  expect(parseDataUri('data:Image/PNG;charset=x;BASE64,AAAA', 'x')).toEqual({
    mediaType: 'image/png',
    data: 'AAAA',
    isBase64: true,
  });
  expect(parseDataUri('data:,hello', 'x')).toEqual({ mediaType: '', data: 'hello', isBase64: false });
  expect(() => parseDataUri('data:image/png;base64', 'image')).toThrow('image is not a whole data URI');
  expect(isDataUri('DATA:,x')).toBe(true);
  expect(isDataUri('https://x.example/data:')).toBe(false);
});
