import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Signatures } from '../signatures/types.ts';
import { createLinks } from './index.ts';

/** Of two replicas: the same secret gives the same signature. */
function signaturesOf(secret: string): Signatures {
  const sign = (purpose: string, text: string) =>
    createHmac('sha256', secret).update(`${purpose}\0${text}`).digest('base64');
  return { sign, verify: (purpose, text, signature) => sign(purpose, text) === signature };
}

const hourMs = 3_600_000;

function setUp(secret = 'here') {
  const clock = { time: 1_790_000_000_500 };
  return { clock, links: createLinks({ signatures: signaturesOf(secret), now: () => clock.time }) };
}

const parse = (query: string) => Object.fromEntries(new URLSearchParams(query));

describe('links', () => {
  it('hold for their path until their time is over', () => {
    const { clock, links } = setUp();
    const query = links.sign('/objects/images/a.png', clock.time + hourMs);
    expect(query).toMatch(/^exp=1790003600&sig=[A-Za-z0-9_-]{43}$/);
    expect(links.isValid('/objects/images/a.png', parse(query))).toBe(true);
    expect(links.isValid('/objects/images/b.png', parse(query))).toBe(false);
    clock.time += hourMs - 1000;
    expect(links.isValid('/objects/images/a.png', parse(query))).toBe(true);
    clock.time += 1000;
    expect(links.isValid('/objects/images/a.png', parse(query))).toBe(false);
  });

  it('are known by every process that has the secret, and by no other', () => {
    const { clock, links } = setUp();
    const query = parse(links.sign('/a', clock.time + hourMs));
    expect(setUp().links.isValid('/a', query)).toBe(true);
    expect(setUp('elsewhere').links.isValid('/a', query)).toBe(false);
  });

  it('that were changed are worth nothing', () => {
    const { clock, links } = setUp();
    const { exp, sig } = parse(links.sign('/a', clock.time + hourMs)) as { exp: string; sig: string };
    for (const changed of [
      {},
      { exp },
      { sig },
      { exp: String(Number(exp) + 1), sig },
      { exp: `0${exp}`, sig },
      { exp: '', sig },
      { exp: '1e12', sig },
      { exp: 'Infinity', sig },
      { exp, sig: '' },
      { exp, sig: `${sig}=` },
      { exp, sig: sig.slice(0, -1) },
      { exp, sig: `${sig.startsWith('A') ? 'B' : 'A'}${sig.slice(1)}` },
      { exp, sig: '✓'.repeat(43) },
    ])
      expect(links.isValid('/a', changed), JSON.stringify(changed)).toBe(false);
  });

  it('have one spelling: what Node would read as the same bytes is refused', () => {
    const { clock, links } = setUp();
    const { exp, sig } = parse(links.sign('/a', clock.time + hourMs)) as { exp: string; sig: string };
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet[alphabet.indexOf(sig.at(-1)!) + 1]!;
    const twin = sig.slice(0, -1) + last;
    expect(Buffer.from(twin, 'base64url').equals(Buffer.from(sig, 'base64url'))).toBe(true);
    expect(links.isValid('/a', { exp, sig: twin })).toBe(false);
  });
});
