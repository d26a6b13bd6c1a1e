import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestSchema } from '../test/support/database.ts';
import { commands } from './cli/commands.ts';
import { runCli } from './cli.ts';

let folder: string;
let schema: Awaited<ReturnType<typeof createTestSchema>> | undefined;
let env: Record<string, string>;

async function openFolder() {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-cli-'));
  schema = process.env['DATABASE_URL'] ? await createTestSchema() : undefined;
  env = { PORT: '0', ROUNDHOUSE_DATA: 'data', ...(schema === undefined ? {} : { DATABASE_URL: schema.url }) };
}

async function closeFolder() {
  await schema?.drop();
  await rm(folder, { recursive: true });
}

async function run(words: string, more: Record<string, string> = {}, now = Date.now) {
  let out = '';
  let err = '';
  const stdout = { write: (text: string) => (out += text) };
  const stderr = { write: (text: string) => (err += text) };
  const args = words === '' ? [] : words.split(' ');
  const code = await runCli(args, { env: { ...env, ...more }, cwd: folder, stdout, stderr, now });
  return { code, out, err, json: () => JSON.parse(out) };
}

describe('the words of the command line', () => {
  beforeAll(openFolder);
  afterAll(closeFolder);

  it.each([
    ['nope', 'unknown command "nope"'],
    ['keys nope', 'unknown command "keys nope"'],
    ['nope --help', 'unknown command "nope"'],
    ['--nope', 'unknown option "--nope"'],
    ['keys --nope', 'unknown option "--nope"'],
    ['keys list --nope', "Unknown option '--nope'"],
    ['keys list --json=yes', "Option '--json' does not take an argument"],
    ['keys create --name', "Option '--name <value>' argument missing"],
    ['keys list extra', '"keys list" does not take "extra"'],
    ['keys revoke', '"keys revoke" needs KEY'],
    ['subscriptions create', '"subscriptions create" needs NAME'],
    ['keys create --expires-in soon', '--expires-in takes a time such as 12h or 30d'],
  ])('"%s" is not understood: exit 2 with a message on standard error', async (words, message) => {
    const { code, out, err } = await run(words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it('without words it says what there is, and fails', async () => {
    const { code, out, err } = await run('');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: roundhouse COMMAND');
  });

  it('--help lists every command, and that of a group its own', async () => {
    const { code, out } = await run('--help');
    expect(code).toBe(0);
    for (const { words } of commands) expect(out).toContain(words.join(' '));
    const group = await run('keys --help');
    expect(group.out).toContain('keys revoke KEY');
    expect(group.out).not.toContain('subscriptions');
  });

  it.each(commands.map(({ words }) => words.join(' ')))(
    '%s --help shows its options and does nothing',
    async (words) => {
      const { code, out } = await run(`${words} --help`);
      expect(code).toBe(0);
      expect(out).toContain(`Usage: roundhouse ${words}`);
      expect(out).toContain('--help');
      expect(existsSync(join(folder, 'data'))).toBe(false);
    },
  );

  it('--version is the version', async () => {
    expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('a wrong configuration is told with its path: exit 1', async () => {
    const { code, err } = await run('keys list', { PORT: 'eighty' });
    expect(code).toBe(1);
    expect(err).toContain('PORT must be a port number');
    expect(err).not.toContain('    at ');
  });
});

describe('commands where no gateway runs', () => {
  beforeEach(openFolder);
  afterEach(closeFolder);

  it('the first command shows the first key on standard error, once', async () => {
    const first = await run('keys list');
    expect(first.code).toBe(0);
    expect(first.err).toMatch(/shown this once: rh_[\w-]{43}\n/);
    expect(first.out).toMatch(/^ID +PREFIX +NAME +SUBSCRIPTION +STATUS/);
    expect(first.out).toMatch(/default +default +active/);
    expect((await run('keys list')).err).toBe('');
  });

  it('a new key: the secret alone on standard output, or all of it in JSON', async () => {
    const plain = await run('keys create --name ci --expires-in 30d');
    expect(plain.out).toMatch(/^rh_[\w-]{43}\n$/);
    expect(plain.err).toContain('valid until');
    const { secret, ...key } = (await run('keys create --name ci2 --json')).json();
    expect(secret).toMatch(/^rh_/);
    expect(key).toMatchObject({ object: 'key', name: 'ci2', status: 'active', expires_at: null });
    const listed = (await run('keys list --json')).json();
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(['default', 'ci', 'ci2']);
    expect(JSON.stringify(listed)).not.toContain(secret);
    expect(listed[1].expires_at - listed[1].created_at).toBeGreaterThanOrEqual(30 * 86_400 - 1);
  });

  it('keys are moved by id, by prefix, and by a pasted secret', async () => {
    const { id, prefix, secret } = (await run('keys create --json')).json();
    expect((await run(`keys suspend ${id} --json`)).json()).toMatchObject({ id, status: 'suspended' });
    expect((await run(`keys resume ${prefix}`)).out).toContain('active');
    expect((await run(`keys expire ${id}`)).out).toContain('expired');
    expect((await run(`keys expire ${id} --expires-in 1h`)).out).toContain('active');
    expect((await run(`keys revoke ${secret}`)).out).toContain('revoked');
    const again = await run(`keys revoke ${id}`);
    expect(again).toMatchObject({ code: 1, out: '' });
    expect(again.err).toContain('roundhouse: The key is revoked');
    expect(await run('keys revoke key_none')).toMatchObject({
      code: 1,
      err: 'roundhouse: There is no key key_none\n',
    });
  });

  it('subscriptions are made, listed and moved, and own keys', async () => {
    expect((await run('subscriptions create acme --json')).json()).toMatchObject({
      name: 'acme',
      status: 'active',
    });
    expect((await run('subscriptions create acme')).code).toBe(1);
    await run('keys create --subscription acme --name theirs');
    expect((await run('keys list --subscription acme')).out).toMatch(/theirs +acme +active/);
    expect((await run('keys list --subscription acme')).out).not.toMatch(/default/);
    expect((await run('subscriptions suspend acme')).out).toContain('suspended');
    expect((await run('subscriptions resume acme')).out).toContain('active');
    expect((await run('subscriptions close acme')).out).toContain('closed');
    const list = await run('subscriptions list');
    expect(list.out).toMatch(/default +active/);
    expect(list.out).toMatch(/acme +closed/);
    expect(await run('keys create --subscription nobody')).toMatchObject({ code: 1 });
  });

  it('models list reads the public list', async () => {
    const { out } = await run('models list');
    expect(out).toMatch(/^ID +NAME +MODALITY +CONTEXT/);
    expect((await run('models list --json')).json().models.length).toBeGreaterThan(0);
  });

  it('migrate applies what is missing, once', async () => {
    const first = (await run('migrate --json')).json();
    expect(first.applied[0]).toBe('0001-accounts.sql');
    expect((await run('migrate')).out).toBe('The database is up to date.\n');
  });
});

describe('doctor', () => {
  beforeEach(openFolder);
  afterEach(closeFolder);

  it('changes nothing, and finds a fresh folder good on SQLite and unmigrated on PostgreSQL', async () => {
    const { code, out } = await run('doctor');
    expect(out).toMatch(/ok +node +\d/);
    expect(out).toMatch(/ok +engines +embedded, sandbox/);
    if (schema === undefined)
      expect({ code, made: existsSync(join(folder, 'data')) }).toEqual({ code: 0, made: false });
    else expect(out).toMatch(/fail +database +.*roundhouse migrate/);
  });

  it('finds a database that was made complete', async () => {
    await run('migrate');
    const { code, out } = await run('doctor');
    expect(out).toMatch(/ok +database +.*migrations applied/);
    expect(code).toBe(0);
  });

  it('fails on a wrong file, and names the path', async () => {
    await writeFile(join(folder, 'roundhouse.yaml'), 'models:\n  - id: x\n    type: nonsense\n');
    const { code, out } = await run('doctor');
    expect(code).toBe(1);
    expect(out).toMatch(/fail +configuration/);
    expect(out).toContain('models[0]');
  });

  it('fails on a data folder that is a file', async () => {
    await writeFile(join(folder, 'data'), '');
    const { code, out } = await run('doctor');
    expect(code).toBe(1);
    expect(out).toMatch(/fail +data folder/);
  });

  it('fails on a port that another program uses', async () => {
    const server = createServer((socket) => socket.resume().end('hello\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const findings = (await run('doctor --json', { PORT: String(port) })).json();
    await new Promise((resolve) => server.close(resolve));
    expect(findings).toContainEqual({
      check: 'address',
      ok: false,
      detail: `127.0.0.1:${port} is used by another program`,
    });
  });

  it('fails on a database that does not answer', async () => {
    const { code, out } = await run('doctor', { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(code).toBe(1);
    expect(out).toMatch(/fail +database +PostgreSQL cannot be reached/);
  });
});
