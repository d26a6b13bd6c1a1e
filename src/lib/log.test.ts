import { describe, expect, it } from 'vitest';
import { createLog } from './log.ts';
import { RequestLine } from './request-line.ts';

describe('the log', () => {
  it('is JSON lines for a machine', () => {
    const lines: string[] = [];
    createLog('info', { write: (line) => void lines.push(line) }).info({ id: 'req_1' }, 'request');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 30, id: 'req_1', msg: 'request' });
  });

  it('has the line of a request as any other line is written', () => {
    const lines: string[] = [];
    const log = createLog('info', {
      write: (line) => void lines.push(line.replace(/"time":\d+/, '"time":0')),
    });
    const fields = { id: 'req_1', method: 'POST', status: 200, ms: 12, route: '/chat/completions' };
    const known = { ...fields, subscription: 'sub_1', key: 'key_1' };
    const unknown = { ...fields, route: undefined, subscription: undefined, key: undefined };
    for (const { route, ...rest } of [known, unknown]) {
      const { id, method, ...others } = rest;
      log.info(new RequestLine({ route, ...rest }), 'request');
      log.info({ id, method, route, ...others }, 'request');
    }
    expect(lines[0]).toBe(lines[1]);
    expect(lines[2]).toBe(lines[3]);
    expect(lines[2]).toBe(
      '{"level":30,"time":0,"id":"req_1","method":"POST","status":200,"ms":12,"msg":"request"}\n',
    );
  });

  it('is readable on a terminal, and a client cannot steer the terminal or forge a line', () => {
    const lines: string[] = [];
    const log = createLog('info', { isTTY: true, write: (line) => void lines.push(line) });
    log.warn({ error: 'no model \u001b[2J\n12:00:00.000 info  key created' }, 'request');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} warn {2}request error=no model \\u\{1b\}\[2J\\u\{a\}12:00/,
    );
    expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1);
  });

  it('shows the stack of a bug line by line', () => {
    const lines: string[] = [];
    createLog('info', { isTTY: true, write: (line) => void lines.push(line) }).error(
      { err: new Error('boom') },
      'request',
    );
    expect(lines[0]).toMatch(/error request.*\nError: boom\n {4}at /);
  });
});
