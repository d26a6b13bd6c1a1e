import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readNpmConfig } from './npm-config.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-npmrc-'));
  await mkdir(join(folder, 'home'));
  await mkdir(join(folder, 'project'));
});
afterEach(() => rm(folder, { recursive: true }));

function read(variables: Record<string, string> = {}, packageName = 'some-model') {
  return readNpmConfig(packageName, {
    variable: (name) => ({ npm_config_globalconfig: join(folder, 'npmrc'), ...variables })[name],
    cwd: join(folder, 'project'),
    home: join(folder, 'home'),
  });
}

const write = (path: string, lines: readonly string[]) => writeFile(join(folder, path), lines.join('\n'));

describe('npm’s settings', () => {
  it('are empty where there are no files', async () => {
    expect(await read()).toEqual({});
  });

  it('come from the machine, the user, the project and the environment, the later ones first', async () => {
    await write('npmrc', [
      'registry=http://machine.test/',
      'noproxy=machine.test',
      'https-proxy=http://p1.test/',
    ]);
    await write('home/.npmrc', ['registry=http://user.test/', 'https-proxy = http://p2.test/ ; the new one']);
    await write('project/.npmrc', ['save-exact=true', 'registry=http://project.test/']);
    expect(await read()).toEqual({
      registry: 'http://project.test/',
      noProxy: 'machine.test',
      httpsProxy: 'http://p2.test/',
    });
    expect(await read({ NPM_CONFIG_REGISTRY: 'http://a.test/', npm_config_https_proxy: 'null' })).toEqual({
      registry: 'http://a.test/',
      noProxy: 'machine.test',
    });
    await write('elsewhere', ['registry=http://elsewhere.test/']);
    await rm(join(folder, 'project/.npmrc'));
    expect(await read({ npm_config_userconfig: join(folder, 'elsewhere') })).toMatchObject({
      registry: 'http://elsewhere.test/',
    });
  });

  it('name a scope’s registry and the credentials of each, with variables in them', async () => {
    await write('home/.npmrc', [
      '@acme:registry=https://acme.test/npm/',
      `//acme.test/npm/:_authToken=\${ACME_TOKEN}`,
      `//user.test/:_authToken="\${MISSING}"`,
      `//user.test/:_auth=\${MISSING?}`,
    ]);
    expect(await read({ ACME_TOKEN: 'secret-1' })).toEqual({
      '@acme:registry': 'https://acme.test/npm/',
      '//acme.test/npm/:_authToken': 'secret-1',
      '//user.test/:_authToken': `\${MISSING}`,
    });
    const variables = {
      'npm_config_@acme:registry': 'https://other.test/npm',
      'npm_config_//other.test/npm/:_authToken': 'secret-2',
    };
    expect(await read(variables, '@acme/model')).toMatchObject({
      '@acme:registry': 'https://other.test/npm',
      '//other.test/npm/:_authToken': 'secret-2',
    });
  });

  it('name authorities, in the file or in one of their own, and whether certificates count', async () => {
    await write('ca.pem', ['-----BEGIN CERTIFICATE-----']);
    await write('home/.npmrc', ['ca[]=first', 'ca[]=second', 'strict-ssl=false']);
    expect(await read()).toEqual({ ca: ['first', 'second'], strictSSL: false });
    expect(await read({ npm_config_cafile: join(folder, 'ca.pem'), npm_config_strict_ssl: 'true' })).toEqual({
      ca: '-----BEGIN CERTIFICATE-----',
      strictSSL: true,
    });
  });
});
