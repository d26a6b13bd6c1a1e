import { describe, expect, it } from 'vitest';
import { MessageError } from '../message.ts';
import { RequestHead } from './request-head.ts';

const head = (...lines: string[]) => new RequestHead(`${lines.join('\r\n')}\r\n`);
const get = (...fields: string[]) => head('GET / HTTP/1.1', ...fields);

describe('the head of a request', () => {
  it('tells what is asked of what, as it was sent', () => {
    const told = head('PoST /v1/a%20b?x=%C3%A4&y=!~#z HTTP/1.1', 'host: x');
    expect([told.method, told.target, told.isHttp10]).toEqual(['PoST', '/v1/a%20b?x=%C3%A4&y=!~#z', false]);
    expect(head('M-SEARCH * HTTP/1.0')).toMatchObject({ method: 'M-SEARCH', target: '*', isHttp10: true });
    expect(head('GET http://x/ HTTP/1.1').target).toBe('http://x/');
  });

  it('gives headers by their lower-case name, without the white space around them', () => {
    const { headers } = get(
      'Content-TYPE: \t application/json \t',
      'x-empty:',
      'x-blank: \t ',
      'x-tight:a',
      'x-inner:  a \t b:c  ',
      "!#$%&'*+-.^_`|~: all of a token",
    );
    expect({ ...headers }).toEqual({
      'content-type': 'application/json',
      'x-empty': '',
      'x-blank': '',
      'x-tight': 'a',
      'x-inner': 'a \t b:c',
      "!#$%&'*+-.^_`|~": 'all of a token',
    });
  });

  it('takes the byte 0xa0 for a part of the value, as every other reader does', () => {
    expect(get('x-text: \xa0a\xfc\xa0').headers['x-text']).toBe('\xa0a\xfc\xa0');
  });

  it('joins what was sent several times, and names it', () => {
    const told = get('x-list: a', 'X-List:b', 'x-once: c', 'x-LIST:', 'x-empty:', 'x-empty:');
    expect(told.headers['x-list']).toBe('a, b, ');
    expect(told.headers['x-empty']).toBe(', ');
    expect([...(told.repeated ?? [])]).toEqual(['x-list', 'x-empty']);
    expect(get('x-list: a', 'x-once: c').repeated).toBeUndefined();
  });

  it('has no header that was not sent, whatever its name', () => {
    const { headers } = get('host: x');
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty'])
      expect(headers[name]).toBeUndefined();
  });

  it('takes names of the language for headers like any other', () => {
    const told = get('__proto__: a', 'constructor: b', '__PROTO__: c', 'hasOwnProperty: d');
    expect(Object.entries(told.headers)).toEqual([
      ['__proto__', 'a, c'],
      ['constructor', 'b'],
      ['hasownproperty', 'd'],
    ]);
    expect([...(told.repeated ?? [])]).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it.each([
    [true, '1.1', []],
    [true, '1.1', ['connection: keep-alive']],
    [true, '1.1', ['connection: upgrade']],
    [true, '1.1', ['connection:']],
    [true, '1.1', ['connection: closed, disclose, close-d']],
    [false, '1.1', ['connection: close']],
    [false, '1.1', ['Connection: CLOSE']],
    [false, '1.1', ['connection: a ,\tclose\t, b']],
    [false, '1.1', ['connection: keep-alive, close']],
    [false, '1.1', ['connection: close, keep-alive']],
    [false, '1.1', ['connection: keep-alive', 'connection: close']],
    [false, '1.1', ['connection: close', 'connection: keep-alive']],
    [false, '1.0', []],
    [false, '1.0', ['connection: close']],
    [false, '1.0', ['connection: x']],
    [false, '1.0', ['connection: keep-alive, close']],
    [false, '1.0', ['connection: keep-alive-not']],
    [true, '1.0', ['connection: keep-alive']],
    [true, '1.0', ['connection: te, Keep-Alive']],
  ])('tells whether the connection is kept: %s in HTTP/%s with %j', (isKept, version, fields) => {
    expect(head(`GET / HTTP/${version}`, ...fields).isKept).toBe(isKept);
  });

  it.each([
    ['length', 0, []],
    ['length', 0, ['content-length: 0']],
    ['length', 7, ['content-length:7']],
    ['length', 7, ['Content-Length: \t007\t ']],
    ['length', 999_999_999_999_999, ['content-length: 999999999999999']],
    ['chunked', 0, ['transfer-encoding: chunked']],
    ['chunked', 0, ['Transfer-Encoding:CHUNKED  ']],
    ['length', 0, ['te: chunked', 'trailer: x', 'x-content-length: 7', 'x-transfer-encoding: chunked']],
  ] as const)('tells how the body ends: by %s, %i, for %j', (framing, length, fields) => {
    expect(get(...fields)).toMatchObject({ framing, length });
    expect(head('POST / HTTP/1.1', 'x: y', ...fields, 'y: z')).toMatchObject({ framing, length });
  });

  it.each([
    ['both a length and an encoding', ['content-length: 5', 'transfer-encoding: chunked']],
    ['both, the other way round', ['transfer-encoding: chunked', 'content-length: 5']],
    ['a length of nothing and an encoding', ['content-length: 0', 'Transfer-Encoding: chunked']],
    ['an empty length and an encoding', ['content-length:', 'transfer-encoding: chunked']],
    ['a length and an empty encoding', ['content-length: 5', 'transfer-encoding:']],
    ['two lengths', ['content-length: 5', 'content-length: 6']],
    ['a length twice', ['content-length: 5', 'Content-Length: 5']],
    ['a length and an empty one', ['content-length: 5', 'content-length:']],
    ['an empty length and one', ['content-length:', 'content-length: 5']],
    ['an encoding twice', ['transfer-encoding: chunked', 'Transfer-Encoding: chunked']],
    ['an encoding and an empty one', ['transfer-encoding: chunked', 'transfer-encoding:']],
    ...[
      '',
      '+5',
      '-5',
      '-0',
      '5.0',
      '.5',
      '5e0',
      '0x5',
      '5h',
      '5,',
      ',5',
      '5, 5',
      '5 5',
      '5;5',
      '"5"',
      '1_0',
      '\xa05',
      '5\xa0',
      '\xb2',
      'five',
      'NaN',
      'Infinity',
      '1000000000000000',
      '0000000000000005',
      '9'.repeat(400),
    ].map((length) => [`the length ${JSON.stringify(length.slice(0, 30))}`, [`content-length: ${length}`]]),
    ...[
      '',
      'identity',
      'gzip',
      'gzip, chunked',
      'chunked, gzip',
      'chunked, identity',
      'identity, chunked',
      'chunked, chunked',
      'chunked,',
      ',chunked',
      'chunked;q=1',
      'chunked chunked',
      'xchunked',
      'chunkedx',
      '"chunked"',
      "'chunked'",
      'chun\tked',
      '\xa0chunked',
      'chunked\xa0',
      '\x85chunked',
    ].map((encoding) => [`the encoding ${JSON.stringify(encoding)}`, [`transfer-encoding: ${encoding}`]]),
  ] as [string, string[]][])('is refused where nobody can tell how the body ends: %s', (_, fields) => {
    expect(() => get(...fields)).toThrow(MessageError);
    expect(() => head('POST / HTTP/1.1', 'host: x', ...fields, 'accept: *')).toThrow(MessageError);
  });

  it('is refused where a tab follows the encoding, which makes it another one for some readers', () => {
    expect(() => get('transfer-encoding: chunked\t')).toThrow(MessageError);
    expect(() => get('transfer-encoding: chunked \t ')).toThrow(MessageError);
  });

  it.each([['chunked'], ['identity'], ['']])('is refused in HTTP/1.0 with the encoding %j', (encoding) => {
    const fields = [`transfer-encoding: ${encoding}`, 'connection: keep-alive'];
    expect(() => head('POST / HTTP/1.0', ...fields)).toThrow('chunks in HTTP/1.0');
  });

  it.each([
    '',
    'GET',
    'GET /',
    'GET / ',
    'GET  HTTP/1.1',
    'GET HTTP/1.1',
    ' GET / HTTP/1.1',
    'GET  / HTTP/1.1',
    'GET /  HTTP/1.1',
    'GET / HTTP/1.1 ',
    'GET / HTTP/1.1\t',
    'GET\t/ HTTP/1.1',
    'GET /\tHTTP/1.1',
    'GET / a HTTP/1.1',
    'GET / http/1.1',
    'GET / Http/1.1',
    'GET / HTTP/1.2',
    'GET / HTTP/2.0',
    'GET / HTTP/2',
    'GET / HTTP/0.9',
    'GET / HTTP/1',
    'GET / HTTP/1.',
    'GET / HTTP/1.10',
    'GET / HTTP/1.01',
    'GET / HTTP/01.1',
    'GET / HTTP/11',
    'GET / HTTP/1,1',
    'GET / HTTPS/1.1',
    'GET / ICE/1.0',
    'GET / HTTP/1.1x',
    'GET / HTTP/1.1\r',
    'GET /\0 HTTP/1.1',
    'GET /\x01 HTTP/1.1',
    'GET /\x0b HTTP/1.1',
    'GET /\x7f HTTP/1.1',
    'GET /\xe4 HTTP/1.1',
    'GET /\xa0 HTTP/1.1',
    'GET /\r HTTP/1.1',
    'GET /\n HTTP/1.1',
    'GET / HTTP/1.1\nx: y',
    'G\xcbT / HTTP/1.1',
    'G(T / HTTP/1.1',
    'GET: / HTTP/1.1',
    '\0GET / HTTP/1.1',
    '\ufeffGET / HTTP/1.1',
    'HTTP/1.1 200 OK',
    '\x16\x03\x01\x02',
  ])('is refused where it begins with %j', (line) => {
    expect(() => head(line, 'host: x')).toThrow('the request does not begin like HTTP/1');
  });

  it.each([
    'x',
    ': y',
    'x : y',
    'x\t: y',
    ' x: y',
    '\tx: y',
    'x: y\n',
    'x: y\rz: a',
    'x: y\nz: a',
    'x: y\r\n z',
    'x: y\r\n\tz',
    'x: \0',
    'x: \x01',
    'x: \x0b',
    'x: \x0c',
    'x: \x1f',
    'x: \x7f',
    'x\0: y',
    'x(y): z',
    '"x": y',
    'x\xa0: y',
    'x\xfc: y',
    'x/y: z',
    'x@y: z',
    'x y: z',
  ])('is refused with the header %j', (field) => {
    expect(() => get(field)).toThrow('a header is not clear');
    expect(() => get('host: x', field, 'accept: *')).toThrow('a header is not clear');
  });

  it.each([
    [true, '1.1', ['expect: 100-continue']],
    [true, '1.1', ['Expect: \t100-Continue ']],
    [false, '1.1', []],
    [false, '1.1', ['expect:']],
    [false, '1.1', ['expect: 100']],
    [false, '1.1', ['expect: 100-continues']],
    [false, '1.1', ['expect: x100-continue']],
    [false, '1.1', ['x-expect: 100-continue']],
    // Somebody who does not know of it may stand between.
    [false, '1.0', ['expect: 100-continue']],
  ])(
    'tells whether the client waits to be told to send its body: %s in HTTP/%s with %j',
    (isWaiting, version, fields) => {
      expect(head(`POST / HTTP/${version}`, 'content-length: 5', ...fields).isWaitingToSend).toBe(isWaiting);
    },
  );

  it('is read, however hostile, in a time that grows no faster than it does', () => {
    const long = 512 * 1024;
    const spaces = ' \t'.repeat(long / 2);
    const startedAt = performance.now();
    expect(get(`x: a${spaces}b`).headers['x']).toHaveLength(long + 2);
    expect(get(`x:${spaces}`).headers['x']).toBe('');
    expect(get(`x:${spaces}a${spaces}`).headers['x']).toBe('a');
    expect(get(`connection: ${spaces}close`).isKept).toBe(false);
    expect(get(`connection: ${' ,close x'.repeat(long / 9)}`).isKept).toBe(true);
    expect(get(`connection: ${',\t'.repeat(long / 2)}x`).isKept).toBe(true);
    expect(() => get(`content-length: ${spaces}x`)).toThrow('is no number');
    expect(() => get(`content-length: x${spaces}x`)).toThrow('is no number');
    expect(() => get(`transfer-encoding: ${spaces}chunked${' '.repeat(long)}x`)).toThrow('is not known');
    expect(get(`expect: ${'100-continue'.repeat(long / 12)}`).isWaitingToSend).toBe(false);
    expect(() => get(`${'a'.repeat(long)}`)).toThrow('is not clear');
    expect(() => get(`${'a:b\r\n'.repeat(long / 5)}c`)).toThrow('is not clear');
    expect(() => head(`${'A'.repeat(long)}`)).toThrow('does not begin');
    expect(() => head(`GET ${'/'.repeat(long)}`)).toThrow('does not begin');
    expect(() => head(`GET /${' '.repeat(long)}HTTP/1.1`)).toThrow('does not begin');
    expect(get(...Array<string>(20_000).fill('a:')).headers['a']).toHaveLength(39_998);
    const names = Array.from({ length: 20_000 }, (_, at) => `a${at}:`);
    expect(Object.keys(get(...names).headers)).toHaveLength(20_000);
    // Some hundred milliseconds; some minutes where a pattern begins anew at each space.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
