import { describe, expect, it } from 'vitest';
import { toRequestHead } from './request-head.ts';

const head = (path: string, headers: string[] = []) =>
  toRequestHead('host:8000', { method: 'POST', path, headers });

describe('the head of a request', () => {
  it('names the path, the host and that the connection is kept, then what was given', () => {
    expect(head('/v1/chat?x=1', ['content-type', 'application/json', 'x-tab', 'a\tb', 'x-empty', ''])).toBe(
      'POST /v1/chat?x=1 HTTP/1.1\r\nhost: host:8000\r\nconnection: keep-alive\r\n' +
        'content-type: application/json\r\nx-tab: a\tb\r\nx-empty: \r\n',
    );
  });

  it.each([
    ['nothing', ''],
    ['no slash at its begin', 'v1'],
    ['a whole address', 'http://other/v1'],
    ['a space', '/a b'],
    ['a line end', '/a\r\nx: y'],
    ['a line feed', '/a\n'],
    ['a line end at its end', '/a\r\n'],
    ['a NUL', '/a\0'],
    ['DEL', '/a\x7f'],
    ['a letter beyond ASCII', '/ä'],
    ['a letter whose low byte is a line feed', '/\u010a'],
  ])('is refused where the path holds %s', (_, path) => {
    expect(() => head(path)).toThrow('the path of a request holds what no path may');
  });

  it.each([
    ['a line end', 'a\r\nx: y'],
    ['a carriage return', 'a\rb'],
    ['a line feed at its end', 'a\n'],
    ['a NUL', 'a\0'],
    ['another control character', 'a\x1f'],
    ['a letter of latin-1', 'schlüssel'],
    ['a letter beyond it', 'ключ'],
    ['a letter whose low bytes are a line end', '\u010d\u010a'],
  ])('is refused where a value holds %s', (_, value) => {
    expect(() => head('/', ['x-value', value])).toThrow('the header "x-value" of a request holds');
  });

  it.each(['', 'a b', 'a:', 'ä', 'a\r\n', 'a\0', '"a"'])('is refused where a name is %j', (name) => {
    expect(() => head('/', [name, 'x'])).toThrow('of a request holds what no header may');
  });

  it('is refused where a name has no value', () => {
    expect(() => head('/', ['x-value'])).toThrow('the header "x-value" of a request holds');
  });

  it.each(['host', 'Content-Length', 'TRANSFER-ENCODING', 'connection', 'expect', 'upgrade'])(
    'does not take %s, which the connection says itself',
    (name) => {
      expect(() => head('/', [name, 'x'])).toThrow('is set by the connection');
    },
  );
});
