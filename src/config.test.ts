import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, readConfig, readSettings } from './config.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'config-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const read = (env: Record<string, string> = {}) => readConfig({ env, cwd });

function problems(env: Record<string, string>): string[] {
  try {
    read(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ path, message }) => `${path} ${message}`);
  }
  return [];
}

describe('the environment', () => {
  it('may be empty', () => {
    expect(read()).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      dataFolder: join(cwd, 'data'),
      configFile: undefined,
      apiKeySeed: undefined,
      adminToken: undefined,
      databaseUrl: undefined,
      redisUrl: undefined,
      s3: undefined,
      logLevel: 'info',
      settings: { models: [] },
    });
  });

  it('an empty variable is one that is not set', () => {
    expect(
      read({ PORT: '', HOST: '', LOG_LEVEL: '', DATABASE_URL: '', ROUNDHOUSE_CONFIG: '', S3_BUCKET: '' }),
    ).toMatchObject({
      port: 8080,
      host: '127.0.0.1',
      databaseUrl: undefined,
    });
  });

  it('sets everything that the guide names', () => {
    const config = read({
      HOST: '0.0.0.0',
      PORT: '0',
      ROUNDHOUSE_DATA: 'state',
      ROUNDHOUSE_API_KEY: 'rh-abc',
      ROUNDHOUSE_ADMIN_TOKEN: 'admin-token',
      DATABASE_URL: 'postgres://u:p@db/roundhouse',
      REDIS_URL: 'redis://cache:6379',
      S3_BUCKET: 'objects',
      S3_ENDPOINT: 'http://127.0.0.1:9000',
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
      LOG_LEVEL: 'debug',
    });
    expect(config).toMatchObject({
      host: '0.0.0.0',
      port: 0,
      dataFolder: join(cwd, 'state'),
      apiKeySeed: 'rh-abc',
      adminToken: 'admin-token',
      databaseUrl: 'postgres://u:p@db/roundhouse',
      redisUrl: 'redis://cache:6379',
      s3: {
        bucket: 'objects',
        endpoint: 'http://127.0.0.1:9000',
        region: 'eu-central-1',
        accessKeyId: 'id',
        secretAccessKey: 'secret',
        sessionToken: undefined,
      },
      logLevel: 'debug',
    });
    expect(read({ ROUNDHOUSE_DATA: '/var/lib/roundhouse' }).dataFolder).toBe('/var/lib/roundhouse');
  });

  it.each([['65536'], ['-1'], ['8080.5'], ['http'], ['1e3'], [' 80']])('PORT %j is refused', (PORT) => {
    expect(problems({ PORT })).toEqual([
      `PORT must be a port number from 0 to 65535, not ${JSON.stringify(PORT)}`,
    ]);
  });

  it('names every variable that is wrong, and repeats no secret', () => {
    const found = problems({
      LOG_LEVEL: 'loud',
      PORT: 'x',
      ROUNDHOUSE_API_KEY: 'two words',
      DATABASE_URL: 'mysql://root:hunter2@db',
      REDIS_URL: 'hunter2',
      S3_ENDPOINT: 'minio',
    });
    expect(found).toEqual([
      'PORT must be a port number from 0 to 65535, not "x"',
      'ROUNDHOUSE_API_KEY must have only visible ASCII characters and no spaces',
      'DATABASE_URL must be an address that begins with postgres:// or postgresql://',
      'REDIS_URL must be an address that begins with redis:// or rediss://',
      'S3_ENDPOINT must be an address that begins with http:// or https://',
      'S3_BUCKET is required where S3_ENDPOINT is set',
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
    ]);
  });

  it('S3 needs its keys, and keys alone are not S3', () => {
    expect(problems({ S3_BUCKET: 'objects' })).toEqual([
      'AWS_ACCESS_KEY_ID is required where S3_BUCKET is set',
      'AWS_SECRET_ACCESS_KEY is required where S3_BUCKET is set',
    ]);
    expect(read({ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 's' }).s3).toBeUndefined();
  });

  it('a variable that the file names can be asked for', () => {
    expect(read({ VLLM_KEY: 'k' }).secret('VLLM_KEY')).toBe('k');
    expect(read().secret('VLLM_KEY')).toBeUndefined();
  });
});

describe('the file', () => {
  const model = '{ id: mine, type: rerank, engine: sandbox, contextLength: 512 }';

  it('is roundhouse.yaml where there is one', () => {
    writeFileSync(join(cwd, 'roundhouse.yaml'), `models: [${model}]`);
    const config = read();
    expect(config.configFile).toBe(join(cwd, 'roundhouse.yaml'));
    expect(config.settings.models.map(({ id }) => id)).toEqual(['mine']);
  });

  it('is the one that ROUNDHOUSE_CONFIG names, which must exist', () => {
    writeFileSync(join(cwd, 'roundhouse.yaml'), 'not: [closed');
    writeFileSync(join(cwd, 'other.yaml'), `models: [${model}]`);
    expect(read({ ROUNDHOUSE_CONFIG: 'other.yaml' }).configFile).toBe(join(cwd, 'other.yaml'));
    expect(problems({ ROUNDHOUSE_CONFIG: 'gone.yaml' })).toEqual([
      `${join(cwd, 'gone.yaml')} does not exist`,
    ]);
  });

  it('its problems are told together with those of the environment', () => {
    writeFileSync(join(cwd, 'roundhouse.yaml'), 'limits: { concurrent: 0 }');
    expect(problems({ PORT: 'x' })).toEqual([
      'limits.concurrent must be at least 1',
      'PORT must be a port number from 0 to 65535, not "x"',
    ]);
  });

  it('can be read again on its own', () => {
    const file = join(cwd, 'roundhouse.yaml');
    writeFileSync(file, '{}');
    const { settings } = read();
    writeFileSync(file, 'models: 5');
    expect(() => readSettings(file, {})).toThrow('models must be a list');
    expect(settings.models).toEqual([]);
    writeFileSync(file, `models: [${model}]`);
    expect(readSettings(file, {}).models).toHaveLength(1);
  });
});
