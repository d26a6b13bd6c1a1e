import { STATUS_CODES } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HttpDate, toAnswerHead, toField } from './answer-head.ts';

const date = 'Sun, 15 Nov 2026 12:00:00 GMT';

describe('the head of an answer', () => {
  it('names the status, what was given and the date', () => {
    const fields = toField('content-type', 'application/json') + toField('x-empty', '');
    expect(toAnswerHead(200, fields, date)).toBe(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-empty: \r\ndate: ${date}\r\n`,
    );
  });

  it.each([
    ...[201, 202, 204, 206, 302, 304, 400, 401, 404, 405, 408, 409, 413, 415, 416, 422, 429, 431],
    ...[500, 501, 502, 503, 504],
  ])('gives %i the phrase that everybody gives it', (status) => {
    expect(toAnswerHead(status, '', date)).toBe(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ndate: ${date}\r\n`,
    );
  });

  it('gives 529 a phrase, and one that has none its space all the same', () => {
    expect(toAnswerHead(529, '', date)).toMatch(/^HTTP\/1\.1 529 Overloaded\r\n/);
    expect(toAnswerHead(299, '', date)).toMatch(/^HTTP\/1\.1 299 \r\n/);
  });
});

describe('a header of an answer', () => {
  it('is one line', () => {
    expect(toField('x-tab', 'a\tb: c')).toBe('x-tab: a\tb: c\r\n');
    expect(toField("!#$%&'*+-.^_`|~", '')).toBe("!#$%&'*+-.^_`|~: \r\n");
  });

  it('keeps the letters of latin-1', () => {
    expect(toField('x-text', '\x80\xa0\xfc\xff')).toBe('x-text: \x80\xa0\xfc\xff\r\n');
  });

  it.each([
    ['a line end', 'a\r\nx: y'],
    ['a carriage return', 'a\rb'],
    ['a line feed', 'a\nb'],
    ['a line feed at its end', 'a\n'],
    ['a carriage return at its end', 'a\r'],
    ['a line end alone', '\r\n'],
    ['a NUL', 'a\0'],
    ['another control character', 'a\x1f'],
    ['a vertical tab', 'a\x0bb'],
    ['DEL', 'a\x7f'],
    ['a letter beyond latin-1', 'ключ'],
    ['a letter whose low bytes are a line end', '\u010d\u010a'],
    ['half a letter', '\ud800'],
  ])('is refused where its value holds %s', (_, value) => {
    expect(() => toField('x-value', value)).toThrow('the header "x-value" of an answer holds');
  });

  it.each(['', 'a b', 'a:', ' a', 'ä', 'a\r', 'a\n', 'a\r\n', 'a\r\nb', 'a\0', '"a"', 'a\u010a'])(
    'is refused where its name is %j',
    (name) => {
      expect(() => toField(name, 'x')).toThrow('of an answer holds what no header may');
    },
  );
});

describe('the date of answers', () => {
  afterEach(() => vi.restoreAllMocks());

  it('is that of the second', () => {
    const dates = new HttpDate();
    const now = Date.UTC(2026, 10, 15, 12);
    expect(dates.at(now)).toBe(date);
    expect(dates.at(now + 999)).toBe(date);
    expect(dates.at(now + 1_000)).toBe('Sun, 15 Nov 2026 12:00:01 GMT');
    // A clock may be set back.
    expect(dates.at(now - 1)).toBe('Sun, 15 Nov 2026 11:59:59 GMT');
    expect(new HttpDate().at(0)).toBe('Thu, 01 Jan 1970 00:00:00 GMT');
  });

  it('is made once a second', () => {
    const made = vi.spyOn(Date.prototype, 'toUTCString');
    const dates = new HttpDate();
    for (let now = 5_000; now < 7_000; now++) dates.at(now);
    expect(made).toHaveBeenCalledTimes(2);
  });
});
