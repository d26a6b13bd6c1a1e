/** The only reader of the environment: variables and the configuration file become one checked `Config`. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseSettings, type Settings } from './config/settings.ts';
import { engineKinds } from './engines/index.ts';
import { ConfigError } from './lib/config-error.ts';
import { type LogLevel, logLevels } from './lib/log.ts';
import type { Problem } from './lib/schema.ts';

export type { Settings } from './config/settings.ts';
export { ConfigError } from './lib/config-error.ts';

export interface S3Config {
  bucket: string;
  region: string;
  /** Absent for Amazon itself. */
  endpoint: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
}

export interface Config {
  host: string;
  port: number;
  dataFolder: string;
  /** The file that was read; undefined when there is none. */
  configFile: string | undefined;
  /** A key that the default subscription gets. */
  apiKeySeed: string | undefined;
  adminToken: string | undefined;
  databaseUrl: string | undefined;
  redisUrl: string | undefined;
  s3: S3Config | undefined;
  logLevel: LogLevel;
  settings: Settings;
  /** Reads the file again, or one that was put there since. When it throws, the caller keeps what it has. */
  readSettings(): Settings;
  /** The value of a variable that the file names, such as an engine's `apiKeyEnv`. */
  secret(variable: string): string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigSources {
  env?: Environment;
  /** What relative paths start from. */
  cwd?: string;
}

const defaultFile = 'roundhouse.yaml';

/** Throws a `ConfigError` with every problem of the environment and the file. */
export function readConfig({ env = process.env, cwd = process.cwd() }: ConfigSources = {}): Config {
  const problems: Problem[] = [];
  const text = (name: string) => nonEmpty(env[name]);
  const file = configFile(env, cwd);
  const readAgain = () => readSettings(configFile(env, cwd), env);
  const settings = collect(readAgain, problems);
  const config = {
    host: text('HOST') ?? '127.0.0.1',
    port: readPort(text('PORT'), problems),
    dataFolder: resolve(cwd, text('ROUNDHOUSE_DATA') ?? 'data'),
    configFile: file,
    apiKeySeed: readSecret('ROUNDHOUSE_API_KEY', env, problems),
    adminToken: readSecret('ROUNDHOUSE_ADMIN_TOKEN', env, problems),
    databaseUrl: readUrl('DATABASE_URL', ['postgres', 'postgresql'], env, problems),
    redisUrl: readUrl('REDIS_URL', ['redis', 'rediss'], env, problems),
    s3: readS3(env, problems),
    logLevel: readLogLevel(text('LOG_LEVEL'), problems),
  };
  if (settings === undefined || problems.length > 0) throw new ConfigError('The configuration', problems);
  return { ...config, settings, readSettings: readAgain, secret: text };
}

export function readSettings(file: string | undefined, env: Environment): Settings {
  return parseSettings({ file, env, engineKinds });
}

/** A file that was named must exist; the default one may be absent. */
function configFile(env: Environment, cwd: string): string | undefined {
  const named = nonEmpty(env['ROUNDHOUSE_CONFIG']);
  if (named !== undefined) return resolve(cwd, named);
  const usual = resolve(cwd, defaultFile);
  return existsSync(usual) ? usual : undefined;
}

function collect<T>(work: () => T, problems: Problem[]): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

/** `NAME=` in a shell or a compose file means that the variable is not set. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

function readPort(value: string | undefined, problems: Problem[]): number {
  if (value === undefined) return 8080;
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  problems.push({
    path: 'PORT',
    message: `must be a port number from 0 to 65535, not ${JSON.stringify(value)}`,
  });
  return 0;
}

function readLogLevel(value: string | undefined, problems: Problem[]): LogLevel {
  const level = logLevels.find((known) => known === (value ?? 'info'));
  if (level === undefined)
    problems.push({ path: 'LOG_LEVEL', message: `must be one of ${logLevels.join(', ')}` });
  return level ?? 'info';
}

/** A secret travels in a header, which takes visible characters only. What was given is never repeated. */
function readSecret(name: string, env: Environment, problems: Problem[]): string | undefined {
  const value = nonEmpty(env[name]);
  if (value !== undefined && !/^[\x21-\x7e]+$/.test(value)) {
    problems.push({ path: name, message: 'must have only visible ASCII characters and no spaces' });
  }
  return value;
}

function readUrl(
  name: string,
  schemes: readonly string[],
  env: Environment,
  problems: Problem[],
): string | undefined {
  const value = nonEmpty(env[name]);
  if (value === undefined) return undefined;
  const scheme = URL.parse(value)?.protocol.slice(0, -1);
  if (scheme === undefined || !schemes.includes(scheme)) {
    problems.push({
      path: name,
      message: `must be an address that begins with ${schemes.map((each) => `${each}://`).join(' or ')}`,
    });
  }
  return value;
}

/** S3 is used when a bucket is named; keys alone often stand in an environment for other reasons. */
function readS3(env: Environment, problems: Problem[]): S3Config | undefined {
  const endpoint = readUrl('S3_ENDPOINT', ['http', 'https'], env, problems);
  const bucket = nonEmpty(env['S3_BUCKET']);
  if (bucket === undefined) {
    if (endpoint !== undefined)
      problems.push({ path: 'S3_BUCKET', message: 'is required where S3_ENDPOINT is set' });
    return undefined;
  }
  const needed = (name: string) => {
    const value = nonEmpty(env[name]);
    if (value === undefined) problems.push({ path: name, message: 'is required where S3_BUCKET is set' });
    return value ?? '';
  };
  return {
    bucket,
    endpoint,
    region: nonEmpty(env['S3_REGION']) ?? nonEmpty(env['AWS_REGION']) ?? 'us-east-1',
    accessKeyId: needed('AWS_ACCESS_KEY_ID'),
    secretAccessKey: needed('AWS_SECRET_ACCESS_KEY'),
    sessionToken: nonEmpty(env['AWS_SESSION_TOKEN']),
  };
}
