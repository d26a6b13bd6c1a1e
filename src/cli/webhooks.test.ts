import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../test/support/run-command.ts';
import { createShell, type Shell } from '../../test/support/shell.ts';
import { createWebhookBench, type Receiver, type WebhookBench } from '../../test/support/webhook-bench.ts';
import { adminRoutes } from '../api/admin/index.ts';
import type { RunningWebhooks } from '../platform/webhooks/index.ts';
import type { CommandCall } from './command.ts';
import { webhookCommands } from './webhooks.ts';

let bench: WebhookBench;
let webhooks: RunningWebhooks;
let receiver: Receiver;
let shell: Shell;

beforeEach(async () => {
  bench = await createWebhookBench();
  webhooks = await bench.open();
  receiver = await bench.receive((request, response) => {
    response.writeHead(request.url === '/bad' ? 500 : 200).end();
  });
  shell = createShell(adminRoutes, { platform: { webhooks } });
});
afterEach(async () => {
  await shell.close();
  await bench.close();
});

const run = (word: string, operands: string[] = [], options: CommandCall['options'] = {}) =>
  runCommand(shell, { commands: webhookCommands, word, operands, options });

async function send(jobId: string, path: string) {
  bench.clock.advance(60_000);
  const url = `http://127.0.0.1:${receiver.port}${path}`;
  await bench.send(webhooks, { jobId, url, data: { id: jobId } });
}

describe('roundhouse webhooks', () => {
  it('list shows what came of each delivery', async () => {
    await send('video_a', '/good');
    await send('video_b', '/bad');
    expect(await run('list')).toBe(
      'ID                 STATUS     ATTEMPTS  CREATED           NEXT              LAST\n' +
        'video_b-completed  waiting    1         2026-11-15 03:02  2026-11-15 03:02  the receiver answered 500\n' +
        'video_a-completed  delivered  1         2026-11-15 03:01  -                 200\n',
    );
    const listed = JSON.parse(await run('list', [], { json: true, status: 'delivered' }));
    expect(listed).toMatchObject([{ id: 'video_a-completed', object: 'webhook.delivery' }]);
    expect(JSON.parse(await run('list', [], { json: true, limit: '1' }))).toHaveLength(1);
    expect(JSON.parse(await run('list', [], { json: true, limit: '0' }))).toHaveLength(2);
    expect(JSON.parse(await run('list', [], { json: true, job: 'video_b' }))).toHaveLength(1);
  });

  it('show has the body too', async () => {
    await send('video_a', '/good');
    const body = receiver.received[0]?.body.toString();
    const shown = await run('show', ['video_a-completed']);
    expect(shown).toMatch(/^delivered_at +2026-11-15 03:01$/m);
    expect(shown).toMatch(/^last_error +-$/m);
    expect(shown).toContain(body);
    expect(JSON.parse(await run('show', ['video_a-completed'], { json: true })).body).toBe(body);
  });

  it('resend sends it once more', async () => {
    await send('video_a', '/good');
    expect(await run('resend', ['video_a-completed'])).toMatch(/^video_a-completed +waiting +0 /m);
    await receiver.arrived(2);
    await webhooks.idle();
    expect(JSON.parse(await run('resend', ['video_a-completed'], { json: true })).status).toBe('waiting');
    await receiver.arrived(3);
  });

  it('says what it does not understand, and what is not there', async () => {
    await expect(run('list', [], { status: 'lost' })).rejects.toThrow('--status takes waiting, delivered');
    await expect(run('list', [], { limit: 'many' })).rejects.toThrow('--limit takes a number');
    await expect(run('list', [], { limit: '1001' })).rejects.toThrow('--limit takes a number');
    await expect(run('show', ['nope'])).rejects.toThrow('There is no webhook delivery "nope"');
    await expect(run('resend', ['nope'])).rejects.toThrow('There is no webhook delivery "nope"');
  });
});
