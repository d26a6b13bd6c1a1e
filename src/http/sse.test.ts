import { afterEach, describe, expect, it } from 'vitest';
import { createShell, type Shell } from '../../test/support/shell.ts';
import { shellRoutes } from '../../test/support/shell-routes.ts';

let shell: Shell;
const setUp = () => {
  shell = createShell(shellRoutes, { adminToken: 'operator-token' });
  return shell;
};
afterEach(() => shell.close());

describe('event streams', () => {
  it('[ROUTE-12, ROUTE-14, ROUTE-15] are text/event-stream, uncached, unbuffered and never compressed', async () => {
    const answer = await setUp().send({ url: '/v1/events', headers: { 'accept-encoding': 'gzip' } });
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });
    expect(answer.headers['content-type']).toMatch(/^text\/event-stream/);
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.body).toBe(
      'event: tick\ndata: {"i":0}\n\nevent: tick\ndata: {"i":1}\n\nevent: tick\ndata: {"i":2}\n\n',
    );
  });

  it('[ERR-40] a failure before the first event answers the real status with a JSON body', async () => {
    const answer = await setUp().send({ url: '/v1/events?failAt=0' });
    expect(answer.status).toBe(502);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.json().error.message).toBe('The engine broke off');
  });

  it('[ERR-41] a failure after the first event leaves the status at 200 and arrives inside the stream', async () => {
    const answer = await setUp().send({ url: '/v1/events?failAt=1' });
    expect(answer.status).toBe(200);
    expect(answer.body).toBe(
      'event: tick\ndata: {"i":0}\n\nevent: error\ndata: {"error":{"message":"The engine broke off"}}\n\ndata: [DONE]\n\n',
    );
  });
});
