import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childEnvironment, startGatewayProcess } from './support/gateway-process.ts';

const checkout = fileURLToPath(new URL('..', import.meta.url));
const launcher = join(checkout, 'bin/roundhouse.js');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-cli-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function run(command: string, args: readonly string[], env: Record<string, string> = {}, cwd = folder) {
  const child = spawn(command, args, {
    cwd,
    env: childEnvironment({ ROUNDHOUSE_DATA: join(folder, 'data'), ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: code as number | null, out, err };
}

function roundhouse(...args: string[]) {
  return run(process.execPath, [launcher, ...args]);
}

/** A Node on the path that is older than 24, where the machine has one. */
async function findOldNode(): Promise<string | undefined> {
  for (const place of (process.env['PATH'] ?? '').split(delimiter)) {
    const node = join(place, 'node');
    if (!existsSync(node)) continue;
    const { out } = await run(node, ['--version']);
    if (Number.parseInt(out.slice(1), 10) < 24) return node;
  }
  return undefined;
}

async function isAccepted(url: string, secret: string): Promise<boolean> {
  const response = await fetch(`${url}/models/sandbox-chat`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  await response.body?.cancel();
  return response.status === 200;
}

describe('the command line beside a running gateway on SQLite', () => {
  it('reaches it through its control socket, so that what it does counts at once', async () => {
    const data = join(folder, 'data');
    await mkdir(data);
    await using gateway = await startGatewayProcess(data);
    expect((await stat(join(data, 'control.sock'))).mode & 0o777).toBe(0o600);

    const created = await roundhouse('keys', 'create', '--name', 'ci');
    expect(created).toMatchObject({ code: 0 });
    const secret = created.out.trim();
    expect(await isAccepted(gateway.url, secret)).toBe(true);
    const revoked = await roundhouse('keys', 'revoke', secret.slice(0, 10), '--json');
    expect(JSON.parse(revoked.out)).toMatchObject({ name: 'ci', status: 'revoked' });
    expect(await isAccepted(gateway.url, secret)).toBe(false);

    const doctor = await roundhouse('doctor');
    expect(doctor.out).toMatch(/ok +database +SQLite, open in the running gateway/);
    expect(doctor.code).toBe(0);
    const taken = await run(process.execPath, [launcher, 'doctor'], { PORT: new URL(gateway.url).port });
    expect(taken.out).toMatch(/ok +address +the gateway answers on 127\.0\.0\.1:\d+/);
    expect((await roundhouse('models', 'list')).out).toContain('sandbox-chat');

    const migrate = await roundhouse('migrate');
    expect(migrate.code).toBe(1);
    expect(migrate.err).toContain(String(gateway.pid));
    expect(await gateway.end('SIGTERM')).toBe(0);
  });

  it('works on the same folder after the gateway was killed and left its socket behind', async () => {
    const data = join(folder, 'data');
    await mkdir(data);
    await using gateway = await startGatewayProcess(data);
    await gateway.end('SIGKILL');
    expect(existsSync(join(data, 'control.sock'))).toBe(true);
    const { code, out } = await roundhouse('keys', 'list', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toHaveLength(1);
  });

  it('several commands at once wait for each other', async () => {
    await roundhouse('migrate');
    const results = await Promise.all(
      ['a', 'b', 'c'].map((name) => roundhouse('keys', 'create', '--name', name)),
    );
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(JSON.parse((await roundhouse('keys', 'list', '--json')).out)).toHaveLength(4);
  });
});

describe('roundhouse serve', () => {
  it('serves until SIGTERM, also through the launcher of an older Node', async () => {
    for (const node of [process.execPath, await findOldNode()]) {
      if (node === undefined) continue;
      const child = spawn(node, [launcher, 'serve'], {
        cwd: folder,
        env: childEnvironment({ ROUNDHOUSE_DATA: join(folder, 'data') }),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let printed = '';
      for await (const text of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
        printed += text;
        if (printed.includes('try it')) break;
      }
      const [, url = ''] = /listens on (\S+)/.exec(printed) ?? [];
      expect((await fetch(`${url}/models`)).status).toBe(200);
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    }
  });
});

describe('the launcher', () => {
  it('hands over to the Node 24 of the checkout, with output and exit code', async ({ skip }) => {
    const node = await findOldNode();
    if (node === undefined) return skip('this machine has no older Node');
    const version = await run(node, [launcher, '--version']);
    expect(version).toMatchObject({ code: 0, err: '' });
    expect(await run(node, [launcher, 'nope'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('unknown command "nope"'),
    });
    expect((await run(node, [launcher, 'doctor'])).out).toMatch(/ok +node +24\./);
  });

  it('says what to do where that Node is missing', async ({ skip }) => {
    const node = await findOldNode();
    if (node === undefined) return skip('this machine has no older Node');
    await mkdir(join(folder, 'bin'));
    await cp(launcher, join(folder, 'bin/roundhouse.js'));
    await cp(join(checkout, 'package.json'), join(folder, 'package.json'));
    const { code, err } = await run(node, [join(folder, 'bin/roundhouse.js'), 'keys', 'list']);
    expect(code).toBe(1);
    expect(err).toContain('npm ci');
  });

  it("npx roundhouse works in the checkout, under the machine's own Node", async () => {
    const path = (process.env['PATH'] ?? '')
      .split(delimiter)
      .filter((place) => !place.includes('node_modules'));
    const env = { PATH: path.join(delimiter) };
    const { code, out } = await run('npx', ['--no', 'roundhouse', 'keys', 'list'], env, checkout);
    expect(code).toBe(0);
    expect(out).toContain('default');
  });

  it('a pipe that closes early is no failure', async () => {
    await roundhouse('migrate');
    const { code, err } = await run('sh', [
      '-c',
      `"${process.execPath}" "${launcher}" models list --json | head -n 1 >/dev/null`,
    ]);
    expect(code).toBe(0);
    expect(err).not.toContain('EPIPE');
  });
});
