/**
 * Receives webhooks and checks their signatures, with nothing but Node. See README.md beside it.
 * `WEBHOOK_SECRET=whsec_… npx node examples/webhook-receiver/receiver.ts`
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

const secret = process.env['WEBHOOK_SECRET'] ?? '';
const toleranceSeconds = 300;
/** In a real receiver a table: a delivery can come more than once, also after a restart. */
const seen = new Set<string>();

/** The time must be recent, and one of the signatures must be ours: there are two after a rotation. */
function isGenuine(header: string, body: Buffer): boolean {
  const parts = header.split(',').map((part) => part.split('='));
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  const isMatch = parts.some(([name, hex = '']) => {
    const given = Buffer.from(hex, 'hex');
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  return isMatch && Math.abs(Date.now() / 1000 - Number(time)) <= toleranceSeconds;
}

const server = createServer(async (request, response) => {
  // The bytes as they came: JSON that was parsed and written again has another signature.
  const body = await buffer(request);
  const signature = request.headers['x-service-signature'] ?? '';
  if (!isGenuine(String(signature), body)) {
    response.writeHead(401).end();
    return;
  }
  // First the answer, within 10 seconds, then the work.
  response.writeHead(204).end();
  const key = String(request.headers['x-service-idempotency-key']);
  if (seen.has(key)) return;
  seen.add(key);
  const { type, data } = JSON.parse(body.toString());
  process.stdout.write(`${type} ${data.id} ${data.unsigned_urls?.join(' ') ?? data.error ?? ''}\n`);
});

if (secret === '') throw new Error('WEBHOOK_SECRET is not set: GET /v1/webhooks/secret answers it');
server.listen(Number(process.env['PORT'] ?? 3000), () => {
  process.stdout.write(`listening on ${JSON.stringify(server.address())}\n`);
});
