/**
 * The signature of a delivery: `t=<unix seconds>,v1=<hex>`, one `v1` for each secret that is in force. Pure.
 * `v1` is the HMAC-SHA256 of `<t>.<raw body>`, keyed with the whole secret, `whsec_` included.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far a signature's time may be from the receiver's clock, in the reference check. */
const toleranceSeconds = 300;

export function toSignature(secrets: readonly string[], body: Buffer, unixSeconds: number): string {
  return [`t=${unixSeconds}`, ...secrets.map((secret) => `v1=${hmac(secret, unixSeconds, body)}`)].join(',');
}

/** The reference check of a receiver: a recent time and any `v1` that matches. */
export function isSigned(secret: string, header: string, body: Buffer, nowSeconds: number): boolean {
  const parts = header.split(',').map((part) => part.split('=', 2));
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(time) || Math.abs(nowSeconds - Number(time)) > toleranceSeconds) return false;
  const expected = Buffer.from(hmac(secret, time, body));
  return parts.some(([name, value = '']) => {
    const given = Buffer.from(value);
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function hmac(secret: string, time: number | string, body: Buffer): string {
  return createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex');
}
