import { createHash, randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { request as openRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Type from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchLoop } from '../../test/support/loop-watch.ts';
import { createShell, type Shell, shellKey } from '../../test/support/shell.ts';
import { GatewayError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { createScratch, type Scratch } from '../platform/scratch/index.ts';
import { defineRoute } from './route.ts';

const mb = 1_000_000;
let folder: string;
let scratch: Scratch;
let shell: Shell;

const route = defineRoute({
  method: 'POST',
  path: '/pictures',
  access: 'key',
  summary: 'For tests.',
  tag: 'Test',
  multipart: {
    fields: Type.Object({ note: Type.Optional(Type.String()) }),
    files: { image: { maxCount: 8, maxBytes: 20 * mb } },
    maxTotalBytes: 30 * mb,
  },
  maxBodyBytes: 40 * mb,
  async handle({ body, uploads }) {
    if (body.note === 'fail') throw new GatewayError('invalid_request', 'As you wish');
    const sums: string[] = [];
    for (const { content } of uploads) {
      const hash = createHash('sha256');
      for await (const piece of content.pieces()) hash.update(piece);
      sums.push(hash.digest('hex'));
    }
    return { sums, note: body.note ?? '' };
  },
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-test-'));
  scratch = createScratch({ folder: join(folder, 'scratch'), log: createLog('silent'), now: Date.now });
  shell = createShell([route], { platform: { scratch } });
});
afterEach(async () => {
  await shell.close();
  await scratch.close();
  await rm(folder, { recursive: true });
});

const sumOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const boundary = 'Bound--ary';

function toForm(files: readonly Buffer[], note?: string): Buffer {
  const part = (head: string, content: Buffer | string) => [
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ];
  return Buffer.concat([
    ...files.flatMap((file, index) => part(`name="image[]"; filename="${index}.png"`, file)),
    ...(note === undefined ? [] : part('name="note"', note)),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
}

async function openForm() {
  const sent = openRequest(`${await shell.listen()}/v1/pictures`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${shellKey}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
  });
  sent.on('error', () => {});
  return sent;
}

async function post(form: Buffer, pieceBytes: () => number) {
  const sent = await openForm();
  const answered = once(sent, 'response');
  for (let at = 0; at < form.length; ) {
    const piece = form.subarray(at, at + pieceBytes());
    at += piece.length;
    if (!sent.write(piece)) await Promise.race([once(sent, 'drain'), answered]);
  }
  sent.end();
  const [answer] = await answered;
  return { status: answer.statusCode as number, json: JSON.parse(await text(answer)) };
}

/** Files of the folder that are open here, also those without a name; where the system tells it. */
async function held(): Promise<string[]> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd').catch(() => [])).map((name) =>
      readlink(`/proc/self/fd/${name}`).catch(() => ''),
    ),
  );
  return links.filter((path) => path.startsWith(folder));
}

const named = async () =>
  (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());

describe('files of a form', () => {
  it('of every size arrive as they were sent, however they are cut', async () => {
    const tricky = Buffer.from(`\r\n--${boundary.slice(0, -1)}x\r\n--\r\n\r\r\n`.repeat(40_000));
    const files = [randomBytes(6 * mb), Buffer.alloc(0), randomBytes(100), tricky, randomBytes(300_000)];
    const form = toForm(files, 'text behind files');
    for (const pieceBytes of [() => 65_536, () => randomInt(1, 200_000), () => 5 * mb, () => 1009]) {
      const { status, json } = await post(form, pieceBytes);
      expect([status, json]).toEqual([200, { sums: files.map(sumOf), note: 'text behind files' }]);
    }
    // They are let go of when the answer is out, which may be here before that.
    await expect.poll(async () => [await held(), await named()]).toEqual([[], []]);
  });

  it('[ERR-33] are a 413 that gives the limit, each and together, with nothing left', async () => {
    for (const [files, message] of [
      [[Buffer.alloc(20 * mb + 1)], 'image is larger than the limit of 20 MB (20000000 bytes)'],
      [
        [Buffer.alloc(20 * mb), Buffer.alloc(10 * mb), Buffer.alloc(1)],
        'The sum of the files is larger than the limit of 30 MB (30000000 bytes)',
      ],
    ] as const) {
      const { status, json } = await post(toForm(files), () => mb);
      expect([status, json.error.message]).toEqual([413, message]);
      expect([await held(), await named()]).toEqual([[], []]);
    }
  });

  it('are let go of when the handler fails', async () => {
    const { status } = await post(toForm([randomBytes(mb), randomBytes(10)], 'fail'), () => 65_536);
    expect(status).toBe(400);
    expect([await held(), await named()]).toEqual([[], []]);
  });

  it.runIf(process.platform === 'linux')('are let go of when the client leaves in the middle', async () => {
    const sent = await openForm();
    sent.write(toForm([randomBytes(5 * mb)]).subarray(0, 3 * mb));
    await expect.poll(held).toHaveLength(1);
    expect(await named()).toEqual([]);
    sent.destroy();
    await expect.poll(held).toEqual([]);
  });

  it('cannot be kept: the failure is the answer, and the next form is taken', async () => {
    const { keep } = scratch;
    scratch.keep = () => Promise.reject(new GatewayError('internal', 'There is no room left'));
    const form = toForm([randomBytes(3 * mb)]);
    const { status, json } = await post(form, () => 65_536);
    expect([status, json.error.message]).toEqual([500, 'There is no room left']);
    scratch.keep = keep;
    expect((await post(form, () => 65_536)).status).toBe(200);
  });

  it('of many at once keep nobody waiting for long', async () => {
    const form = toForm([randomBytes(15 * mb)]);
    const watch = watchLoop();
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(form, () => 65_536)));
    const { longestMs, grownBytes } = watch.stop();
    for (const { status } of answers) expect(status).toBe(200);
    expect(longestMs).toBeLessThan(60);
    expect(grownBytes).toBeLessThan(200 * mb);
  });
});
