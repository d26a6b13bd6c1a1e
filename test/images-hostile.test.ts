/** Hostile pictures and addresses, sent to a gateway that runs as a process of its own: what it says, takes and dials. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from './support/gateway-process.ts';
import { makeHostilePictures } from './support/hostile-pictures.ts';
import { makePicture } from './support/picture-files.ts';

/** Every range that is not the public internet, as an address in it. */
const innerAddresses = [
  '127.0.0.1',
  '127.1',
  '0x7f000001',
  '2130706433',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.254',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '192.0.0.8',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[ff02::1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:db8::1]',
  'localhost',
  'a.localhost',
];

const limitMb = 300;
let folder: string;
let gateway: GatewayProcess;
let trap: { readonly port: number; readonly count: () => number; close(): Promise<void> };
let redirector: Server;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-hostile-'));
  trap = await createTrap();
  redirector = createServer((request, response) => {
    const target = new URL(request.url ?? '/', 'http://x').searchParams.get('to') ?? '';
    response.writeHead(302, { location: target }).end();
  });
  // The whole of 127.0.0.0/8 is this machine: one address is the operator's own network, the other is not.
  await new Promise<void>((resolve) => redirector.listen(0, '127.0.0.2', resolve));
  await writeFile(
    join(folder, 'roundhouse.yaml'),
    'egress: { allowedNetworks: [127.0.0.2/32] }\nlimits: { requestsPerMinute: 10000, concurrent: 8 }\n',
  );
  gateway = await startGatewayProcess(folder);
}, 120_000);
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  redirector.close();
  await trap.close();
  await rm(folder, { recursive: true });
});

/** Counts who connects. */
async function createTrap() {
  let count = 0;
  const server = createSocketServer((socket) => {
    count += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    count: () => count,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

async function edit(form: FormData): Promise<{ status: number; error: { message: string; param?: string } }> {
  const answer = await fetch(`${gateway.url}/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.firstKey}` },
    body: form,
  });
  return { status: answer.status, ...((await answer.json()) as { error: { message: string } }) };
}

function toForm(fields: Readonly<Record<string, string | Buffer>>): FormData {
  const form = new FormData();
  form.set('model', 'sandbox-image-edit');
  form.set('prompt', 'A lighthouse');
  form.set('size', '256x256');
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.set(name, value);
    else form.set(name, new Blob([new Uint8Array(value)], { type: 'image/png' }), 'picture.png');
  }
  return form;
}

/** Of the gateway and of the processes that it has hostile files read in, at their most, in MB. */
function residentMb(): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const parents = new Map(all.map((pid) => [pid, parentOf(pid)]));
  const isOurs = (pid: string): boolean => {
    for (let at: string | undefined = pid; at !== undefined && at !== '0'; at = parents.get(at))
      if (at === String(gateway.pid)) return true;
    return false;
  };
  // The studio is an engine: it gets only what has been read as a picture, and may take more for a large one.
  const reads = (pid: string) => !read(`/proc/${pid}/cmdline`).includes('studio-program');
  return all
    .filter((pid) => isOurs(pid) && reads(pid))
    .map((pid) => {
      const status = read(`/proc/${pid}/status`);
      return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
    });
}

function parentOf(pid: string): string | undefined {
  return /^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1];
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

describe('hostile pictures', () => {
  it('[EDIT-19] [EDIT-20] are each a 400 that names the field, and a good one is still edited', async () => {
    const pictures = await makeHostilePictures();
    expect(pictures.length).toBeGreaterThan(70);
    const wrong: string[] = [];
    for (const { name, bytes, expected } of pictures) {
      const { status, error } = await edit(toForm({ image: bytes }));
      const isRefused = status === 400 && error.param === 'image' && error.message.startsWith('image');
      if (!(isRefused || (expected === 'either' && status === 200)))
        wrong.push(`${name}: ${status} ${error?.message ?? ''}`);
    }
    expect(wrong).toEqual([]);
    expect((await edit(toForm({ image: await makePicture('png') }))).status).toBe(200);
    if (process.platform === 'linux') for (const mb of residentMb()) expect(mb).toBeLessThan(limitMb);
  }, 180_000);

  it('[EDIT-9] as masks name the mask', async () => {
    const image = await makePicture('png');
    for (const mask of [Buffer.from('GIF89a'), Buffer.from('<svg/>'), await makePicture('jpeg')])
      expect(await edit(toForm({ image, mask }))).toMatchObject({ status: 400, error: { param: 'mask' } });
  });
});

describe('addresses inside', () => {
  const send = (url: string) =>
    edit(toForm({ input_references: JSON.stringify([{ type: 'image_url', image_url: { url } }]) }));

  it.each(innerAddresses)('[EDIT-14] https://%s is a 400 and is not dialled', async (host) => {
    const before = trap.count();
    const { status, error } = await send(`https://${host}:${trap.port}/a.png`);
    expect([status, error.param]).toEqual([400, 'input_references[0].image_url.url']);
    expect(trap.count()).toBe(before);
  });

  it.each(['http', 'https'])(
    '[EDIT-14] a redirect to %s on a private address is not followed',
    async (scheme) => {
      const { port } = redirector.address() as AddressInfo;
      const before = trap.count();
      for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', 'localhost', '169.254.169.254']) {
        const to = encodeURIComponent(`${scheme}://${host}:${trap.port}/`);
        const { status, error } = await send(`http://127.0.0.2:${port}/?to=${to}`);
        expect([status, error.param]).toEqual([400, 'input_references[0].image_url.url']);
      }
      expect(trap.count()).toBe(before);
    },
  );

  it.each([
    'ftp://example.com/a.png',
    'file:///etc/passwd',
    'gopher://x/',
    'javascript:alert(1)',
    'a.png',
    '',
  ])('[EDIT-13] %s is a 400', async (url) => {
    expect((await send(url)).status).toBe(400);
  });
});
