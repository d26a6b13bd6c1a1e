import { describe, expect, it } from 'vitest';
import { ResponseHead } from './response-head.ts';

const head = (...lines: string[]) => new ResponseHead(`${lines.join('\r\n')}\r\n`);

describe('the head of an answer', () => {
  it('gives headers by their lower-case name, joined where they were sent several times', () => {
    const told = head(
      'HTTP/1.1 429 Too Many Requests',
      'Retry-AFTER: \t 7 \t',
      'x-list: a',
      'X-List:b',
      'x-empty:',
      'x-text: a\xa0\xfc',
      '__proto__: x',
      'content-length: 0',
    );
    expect(told.status).toBe(429);
    expect(told.get('retry-after')).toBe('7');
    expect(told.get('x-list')).toBe('a, b');
    expect(told.get('x-empty')).toBe('');
    expect(told.get('x-text')).toBe('a\xa0\xfc');
    expect(told.get('__proto__')).toBe('x');
    expect(told.get('constructor')).toBeUndefined();
  });

  it.each([
    [true, ['HTTP/1.1 200 OK', 'content-length: 1']],
    [true, ['HTTP/1.1 200 OK', 'transfer-encoding: chunked', 'connection: keep-alive']],
    [true, ['HTTP/1.1 200 OK', 'content-length: 1', 'connection: closed, disclose']],
    [true, ['HTTP/1.1 204 No Content']],
    [true, ['HTTP/1.1 304 Not Modified', 'content-length: 7']],
    [true, ['HTTP/1.0 200 OK', 'content-length: 1', 'Connection: Keep-Alive']],
    [false, ['HTTP/1.0 200 OK', 'content-length: 1']],
    [false, ['HTTP/1.0 200 OK', 'transfer-encoding: chunked', 'connection: keep-alive']],
    [false, ['HTTP/1.1 200 OK']],
    [false, ['HTTP/1.1 200 OK', 'content-length: 1', 'Connection: CLOSE']],
    [false, ['HTTP/1.1 200 OK', 'content-length: 1', 'connection: a ,\tclose\t, b']],
    [false, ['HTTP/1.1 200 OK', 'content-length: 1', 'connection: keep-alive', 'connection: close']],
    [false, ['HTTP/1.1 200 OK', 'content-length: 1', 'connection: close', 'connection: keep-alive']],
    [false, ['HTTP/1.1 204 No Content', 'connection: close']],
  ])('tells whether the connection is kept: %s after %j', (isKept, lines) => {
    expect(head(...lines).isKept).toBe(isKept);
  });

  it.each([
    [undefined, 'max=5'],
    [undefined, 'timeout=soon'],
    [undefined, 'notimeout=5'],
    [5_000, 'timeout=5'],
    [5_000, 'Timeout = 5, max=100'],
    [5_000, 'max=100,timeout=5'],
    [0, 'timeout=0'],
    [999_999_999_000, 'timeout=99999999999999999999'],
  ])('tells how long the server keeps it: %s for %s', (keptMs, value) => {
    expect(head('HTTP/1.1 204 No Content', `keep-alive: ${value}`).keptMs).toBe(keptMs);
  });

  it('reads a long hostile head in a time that grows no faster than it does', () => {
    const long = 60 * 1024;
    const startedAt = performance.now();
    const value = `${' ,timeout'.repeat(long / 9)}${' '.repeat(100)}`;
    expect(head('HTTP/1.1 204 No Content', `keep-alive: ${value}`).keptMs).toBeUndefined();
    const spaces = ' \t'.repeat(long / 2);
    expect(head('HTTP/1.1 204 No Content', `connection: ${spaces}close`).isKept).toBe(false);
    expect(head('HTTP/1.1 204 No Content', `x: a${spaces}b`).get('x')).toHaveLength(spaces.length + 2);
    expect(() => head('HTTP/1.1 200 OK', `content-length: ${spaces}x`)).toThrow('is no number');
    // A few milliseconds; some thousand where a pattern begins anew at each space.
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});
