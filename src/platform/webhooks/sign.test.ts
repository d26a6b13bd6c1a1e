import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isSigned, toSignature } from './sign.ts';

const secret = 'whsec_the-first';
const other = 'whsec_the-second';
const body = Buffer.from('{"type":"video.generation.completed","data":{"prompt":"Ein Bär 🐻"}}');
const at = 1_800_000_000;

describe('signing', () => {
  it('[HOOK-22] v1 is the hex HMAC-SHA256 of `<t>.<raw body>` with the whole secret, `whsec_` included', () => {
    const expected = createHmac('sha256', 'whsec_the-first')
      .update(Buffer.concat([Buffer.from(`${at}.`), body]))
      .digest('hex');
    expect(toSignature([secret], body, at)).toBe(`t=${at},v1=${expected}`);
    expect(toSignature(['the-first'], body, at)).not.toContain(expected);
  });

  it('agrees with a vector that was computed elsewhere', () => {
    // printf '1800000000.{}' | openssl dgst -sha256 -hmac whsec_abc
    expect(toSignature(['whsec_abc'], Buffer.from('{}'), at)).toBe(
      't=1800000000,v1=51e5e42bcc84109c5e180813c1ee066db05b382b041fd0fd817d502eec19cd81',
    );
  });

  it('each secret adds a v1, in their order', () => {
    const [time, first, second, ...more] = toSignature([secret, other], body, at).split(',');
    expect(toSignature([secret], body, at)).toBe(`${time},${first}`);
    expect(toSignature([other], body, at)).toBe(`${time},${second}`);
    expect(more).toEqual([]);
  });
});

describe('the reference check', () => {
  const header = toSignature([secret, other], body, at);

  it('[HOOK-23] accepts any v1 that matches', () => {
    expect(isSigned(secret, header, body, at)).toBe(true);
    expect(isSigned(other, header, body, at)).toBe(true);
    expect(isSigned('whsec_a-third', header, body, at)).toBe(false);
  });

  it.each([
    [300, true],
    [-300, true],
    [301, false],
    [-301, false],
  ])('[HOOK-23] with the clock %i s away from t it answers %s', (seconds, accepted) => {
    expect(isSigned(secret, header, body, at + seconds)).toBe(accepted);
  });

  it('[HOOK-23] refuses a changed body and a changed t', () => {
    expect(isSigned(secret, header, Buffer.concat([body, Buffer.from(' ')]), at)).toBe(false);
    expect(isSigned(secret, header.replace(`t=${at}`, `t=${at + 1}`), body, at)).toBe(false);
  });

  it.each([
    '',
    't=',
    `t=${at}`,
    `v1=abc`,
    `t=${at},v1=`,
    `t=x,v1=y`,
    `t=${at},v1`,
    `t=${at},v2=${'0'.repeat(64)}`,
  ])('refuses the header %j', (broken) => {
    expect(isSigned(secret, broken, body, at)).toBe(false);
  });
});
