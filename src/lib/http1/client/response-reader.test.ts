import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../../test/support/random.ts';
import {
  endless,
  randomLengths,
  readAnswer as read,
  readBytes,
} from '../../../../test/support/read-answer.ts';
import { ResponseReader } from './response-reader.ts';

const whole = (text: string) => read(Buffer.from(text, 'latin1'), endless(readBytes));

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const sized = (length: string) => `HTTP/1.1 200 OK\r\ncontent-length:${length}\r\n\r\n`;
const every = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('');

const answers: [name: string, text: string, status: number, body: string][] = [
  ['a length', `${sized(' 5')}hello`, 200, 'hello'],
  ['a length with spaces, tabs and zeros', `${sized(' \t 0005\t ')}hello`, 200, 'hello'],
  ['a length of nothing', sized(' 0'), 200, ''],
  ['a body of every byte', `${sized(' 256')}${every}`, 200, every],
  [
    'a body that looks like an answer',
    `${sized(' 19')}HTTP/1.1 200 OK\r\n\r\n`,
    200,
    'HTTP/1.1 200 OK\r\n\r\n',
  ],
  ['chunks', `${chunked}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`, 200, 'hello world'],
  ['no chunks', `${chunked}0\r\n\r\n`, 200, ''],
  ['chunks of every byte', `${chunked}100\r\n${every}\r\n100\r\n${every}\r\n0\r\n\r\n`, 200, every + every],
  ['chunks that look like chunks', `${chunked}8\r\n5\r\n0\r\n\r\n\r\n0\r\n\r\n`, 200, '5\r\n0\r\n\r\n'],
  [
    'sizes with zeros and in capitals',
    `${chunked}000A\r\n0123456789\r\n0b\r\n0123456789a\r\n000\r\n\r\n`,
    200,
    '01234567890123456789a',
  ],
  ['sizes of sixteen digits', `${chunked}0000000000000001\r\na\r\n0000000000000000\r\n\r\n`, 200, 'a'],
  ['extensions', `${chunked}1;a\r\nx\r\n1;a=b;c="d e;f"\r\ny\r\n0;last\r\n\r\n`, 200, 'xy'],
  ['trailers', `${chunked}1\r\nx\r\n0\r\nX-Sum: 1\r\nx-empty:\r\n\r\n`, 200, 'x'],
  ['an interim answer before it', `HTTP/1.1 100 Continue\r\n\r\n${sized(' 1')}x`, 200, 'x'],
  [
    'several interim answers before it',
    `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${chunked}1\r\nx\r\n0\r\n\r\n`,
    200,
    'x',
  ],
  ['no content', 'HTTP/1.1 204 No Content\r\nx: y\r\n\r\n', 204, ''],
  ['nothing that has changed', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n', 304, ''],
  ['no content in chunks', 'HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n', 204, ''],
  ['a body until the end', 'HTTP/1.1 200 OK\r\n\r\nhello\r\n\r\n', 200, 'hello\r\n\r\n'],
  ['nothing until the end', 'HTTP/1.1 500 \r\nconnection: close\r\n\r\n', 500, ''],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok', 200, 'ok'],
  ['HTTP/1.0 until the end', 'HTTP/1.0 200 OK\r\n\r\nok', 200, 'ok'],
  ['no reason', `HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx`, 200, 'x'],
  ['a reason beyond ASCII', `HTTP/1.1 400 Ung\xfcltig\t!\r\ncontent-length: 1\r\n\r\nx`, 400, 'x'],
  [
    'mixed case, empty values, bytes beyond ASCII, several of a name',
    'HTTP/1.1 200 OK\r\nX-A:\r\nx-b: \r\nx-c: \xe4\xff\r\nCONNECTION: Keep-Alive\r\nconnection: x\r\n' +
      "Keep-Alive: timeout=5\r\nContent-LENGTH: 1\r\nx-a: 1\r\n!#$%&'*+-.^_`|~0: y\r\n\r\nx",
    200,
    'x',
  ],
  [
    'a head of more than a kilobyte',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_500)}\r\ncontent-length: 2\r\n\r\nok`,
    200,
    'ok',
  ],
  [
    'many chunks',
    `${chunked}${Array.from({ length: 300 }, (_, i) => `${(i % 7) + 1}\r\n${'abcdefg'.slice(0, (i % 7) + 1)}\r\n`).join('')}0\r\n\r\n`,
    200,
    Array.from({ length: 300 }, (_, i) => 'abcdefg'.slice(0, (i % 7) + 1)).join(''),
  ],
];

describe('a reader of answers', () => {
  it.each(answers)('understands %s, cut anywhere', (_, text, status, body) => {
    const bytes = Buffer.from(text, 'latin1');
    const told = { status, body, isMore: false };
    expect(read(bytes, endless(readBytes))).toEqual(told);
    expect(read(bytes, endless(1))).toEqual(told);
    expect(read(bytes, endless(2))).toEqual(told);
    for (let cut = 1; cut < bytes.length; cut++) expect(read(bytes, [cut, readBytes])).toEqual(told);
    const random = createRandom(bytes.length);
    for (const longest of [4, 16, 64, 300])
      for (let round = 0; round < 25; round++)
        expect(read(bytes, randomLengths(random, longest))).toEqual(told);
  });

  it('hands over what one read has brought of a body in one piece, however many chunks it came in', () => {
    const random = createRandom(7);
    for (let round = 0; round < 200; round++) {
      let text = chunked;
      let body = '';
      while (text.length < 3_000) {
        const size = 1 + Math.floor(random() * 40);
        const data = Array.from({ length: size }, () => String.fromCharCode(random() * 256)).join('');
        text += `${size.toString(16)}${random() < 0.2 ? ';x=y' : ''}\r\n${data}\r\n`;
        body += data;
      }
      const bytes = Buffer.from(`${text}0\r\n\r\n`, 'latin1');
      // `read` itself expects no more than one piece of each push.
      const told = read(bytes, randomLengths(random, 2 ** (1 + (round % 12))));
      expect(told).toEqual({ status: 200, body, isMore: false });
    }
  });

  it('reads the next answer when it is expected, and nothing of the one before', () => {
    const told: (number | string | boolean)[] = [];
    const reader = new ResponseReader({
      onHead: ({ status }) => told.push(status),
      onBody: (buffer, start, end) => told.push(buffer.toString('latin1', start, end)),
      onEnd: (isMore) => told.push(isMore),
    });
    for (const [, text, status, body] of answers.filter(([name]) => !/the end/.test(name))) {
      told.length = 0;
      reader.expect();
      const bytes = Buffer.from(text, 'latin1');
      reader.push(bytes, bytes.length);
      expect(told).toEqual(body === '' ? [status, false] : [status, body, false]);
    }
    expect(() => reader.push(Buffer.from('x'), 1)).toThrow('more came than was asked for');
  });

  it('lets its sink ask again from within the end', () => {
    let answers = 0;
    const reader = new ResponseReader({
      onHead: () => {},
      onBody: () => {},
      onEnd: () => {
        answers += 1;
        reader.expect();
      },
    });
    reader.expect();
    for (const text of [`${sized('1')}x`, `${chunked}1\r\nx\r\n0\r\n\r\n`, sized('0'), `${sized('1')}x`])
      reader.push(Buffer.from(text), text.length);
    expect(answers).toBe(4);
  });

  it.each([
    ['onHead', `${sized('3')}abc`],
    ['onHead', `${chunked}3\r\nabc\r\n0\r\n\r\n`],
    ['onHead', sized('0')],
    ['onHead', 'HTTP/1.1 200 OK\r\n\r\nabc'],
    ['onBody', `${sized('3')}abc`],
    ['onBody', `${chunked}3\r\nabc\r\n0\r\n\r\n`],
    ['onBody', `${chunked}3\r\nabc\r\n`],
    ['onBody', 'HTTP/1.1 200 OK\r\n\r\nabc'],
  ] as const)('tells nothing more after it was stopped in %s (%j)', (when, text) => {
    const told: string[] = [];
    const tell = (what: string) => {
      told.push(what);
      if (what === when) reader.stop();
    };
    const reader = new ResponseReader({
      onHead: () => tell('onHead'),
      onBody: () => tell('onBody'),
      onEnd: () => tell('onEnd'),
    });
    reader.expect();
    reader.push(Buffer.from(text), text.length);
    expect(told.at(-1)).toBe(when);
    expect(told.filter((what) => what === when)).toHaveLength(1);
    expect(reader.close()).toBe(false);
  });

  it.each([
    ['a length', `${sized('5')}hello`],
    ['chunks', `${chunked}5\r\nhello\r\n0\r\n\r\n`],
    ['no body', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['an empty body', sized('0')],
  ])('says that more came behind an answer with %s', (_, text) => {
    expect(whole(`${text}H`)).toMatchObject({ isMore: true });
    const bytes = Buffer.from(`${text}H`);
    expect(read(bytes, [bytes.length - 1, 1])).toMatchObject({
      isMore: false,
      error: 'more came than was asked for',
    });
  });

  it('takes an end of the connection for the end of a body only where that is how it ends', () => {
    const text = `HTTP/1.1 100 Continue\r\n\r\n${chunked}5\r\nhello\r\n0\r\nx: y\r\n\r\n`;
    for (let length = 0; length < text.length; length++)
      expect(whole(text.slice(0, length)).isMore, `after ${length} bytes`).toBeUndefined();
    expect(whole(`${sized('5')}hell`).isMore).toBeUndefined();
    expect(whole('HTTP/1.1 200 OK\r\n').isMore).toBeUndefined();
    expect(whole('HTTP/1.1 200 OK\r\n\r\nhell')).toEqual({ status: 200, body: 'hell', isMore: false });
  });

  const longest = 64 * 1024;
  const padded = (bytes: number) => {
    const [start, end] = ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx: ', '\r\n\r\nok'];
    return Buffer.from(start + 'y'.repeat(bytes - start.length - end.length + 2) + end);
  };

  it.each([1_024, 1_025, 1_028, 2_000, 16_384, 40_000, longest])('reads a head of %i bytes', (bytes) => {
    for (const length of [readBytes, 1_024, 1_023, 4_097, bytes - 1, bytes - 3])
      expect(read(padded(bytes), endless(length))).toEqual({ status: 200, body: 'ok', isMore: false });
  });

  it('refuses a head that is longer than 64 KiB, however it is cut', () => {
    for (const bytes of [longest + 10, 100_000, 130_000])
      for (const length of [readBytes, 60_000, 1_000])
        expect(read(padded(bytes), endless(length)).error).toBe('the head is too long');
    expect(read(Buffer.alloc(200_000, 'x'), endless(999)).error).toBe('the head is too long');
  });

  it('refuses extensions of a chunk and trailers that are longer than 64 KiB', () => {
    const long = 'y'.repeat(longest);
    const told = 'too much stands around the chunks';
    expect(read(Buffer.from(`${chunked}1;${long}`), endless(1_000)).error).toBe(told);
    expect(read(Buffer.from(`${chunked}0\r\nx: ${long}`), endless(1_000)).error).toBe(told);
    expect(
      read(Buffer.from(`${chunked}0\r\n${'x: y\r\n'.repeat(longest / 6 + 1)}`), endless(1_000)).error,
    ).toBe(told);
  });

  it('does not count the extensions of all chunks together', () => {
    const count = longest / 8;
    const text = `${chunked}${`1;${'y'.repeat(30)}\r\nx\r\n`.repeat(count)}0\r\n\r\n`;
    expect(read(Buffer.from(text), endless(5_000))).toEqual({
      status: 200,
      body: 'x'.repeat(count),
      isMore: false,
    });
  });

  it('takes sixteen interim answers, and none of the next request is counted with them', () => {
    const text = 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(16) + sized('0');
    let answers = 0;
    const reader = new ResponseReader({ onHead() {}, onBody() {}, onEnd: () => answers++ });
    for (let round = 0; round < 3; round++) {
      reader.expect();
      reader.push(Buffer.from(text), text.length);
    }
    expect(answers).toBe(3);
  });
});
