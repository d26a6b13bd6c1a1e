/**
 * Which registry npm on this machine is set up for, and how it is reached: `npm_config_…` variables, then the
 * `.npmrc` of the working folder, of the user, and of the machine. The npm client tells no credentials, and need
 * not be there when the gateway runs; the files say it all.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'ini';

export interface NpmSources {
  /** The value of an environment variable. */
  variable(name: string): string | undefined;
  /** Whose `.npmrc` counts as the project's. */
  readonly cwd: string;
  readonly home: string;
}

type Layer = Readonly<Record<string, unknown>>;

/** npm's names, and what its fetcher calls them. */
const settings: Readonly<Record<string, string>> = {
  registry: 'registry',
  proxy: 'proxy',
  'https-proxy': 'httpsProxy',
  noproxy: 'noProxy',
  ca: 'ca',
  cert: 'cert',
  key: 'key',
  'strict-ssl': 'strictSSL',
};

const credentials = ['_authToken', '_auth', 'username', '_password', 'certfile', 'keyfile'];

/** The options of npm's fetcher for a package. */
export async function readNpmConfig(
  packageName: string,
  sources: NpmSources,
): Promise<Record<string, unknown>> {
  const { variable, cwd, home } = sources;
  const setting = (key: string) => readVariable(key, variable);
  const layers: Layer[] = [];
  for (const file of [
    // npm names its files to whatever it starts; without it, those of the usual prefixes count.
    ...[setting('globalconfig') ?? ['/etc/npmrc', '/usr/etc/npmrc', '/usr/local/etc/npmrc']].flat(),
    setting('userconfig') ?? join(home, '.npmrc'),
    join(cwd, '.npmrc'),
  ]) {
    layers.push(await readLayer(file, variable));
  }
  const config: Record<string, unknown> = Object.assign({}, ...layers);

  const scopeKey = /^(@[^/]+)\//.exec(packageName)?.[1]?.concat(':registry');
  for (const key of [...Object.keys(settings), 'cafile', ...(scopeKey === undefined ? [] : [scopeKey])]) {
    const value = setting(key);
    if (value !== undefined) config[key] = value;
  }
  const registry = (scopeKey && config[scopeKey]) || config['registry'];
  for (const key of credentials.map((name) => `//${afterScheme(registry)}:${name}`)) {
    const value = variable(`npm_config_${key}`);
    if (value !== undefined) config[key] = value;
  }
  return toOptions(config);
}

/** npm reads them in any case; these two are what people write. */
function readVariable(key: string, variable: NpmSources['variable']): string | undefined {
  const name = `npm_config_${key.replaceAll('-', '_')}`;
  return variable(key.startsWith('@') ? `npm_config_${key}` : name) ?? variable(name.toUpperCase());
}

function afterScheme(registry: unknown): string {
  const { host, pathname } = URL.parse(String(registry)) ?? { host: '', pathname: '/' };
  return `${host}${pathname.replace(/\/?$/, '/')}`;
}

async function readLayer(file: string, variable: NpmSources['variable']): Promise<Layer> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    // A file that is not there, or that only another user may read, says nothing.
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES'].includes(error.code ?? '')) return '';
    throw error;
  });
  return Object.fromEntries(
    Object.entries(parse(text)).map(([key, value]) => [
      withVariables(key, variable),
      typeof value === 'string' ? withVariables(value, variable) : value,
    ]),
  );
}

/** `${NAME}` stays as it is where there is no such variable, `${NAME?}` becomes nothing: npm's own rule. */
function withVariables(text: string, variable: NpmSources['variable']): string {
  return text.replace(
    /(?<!\\)\$\{([^${}?]+)(\?)?\}/g,
    (whole, name: string, optional?: string) => variable(name) ?? (optional === undefined ? whole : ''),
  );
}

async function toOptions(config: Layer): Promise<Record<string, unknown>> {
  const options: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(config)) {
    if (value === null || value === '' || value === 'null') continue;
    const name = settings[key] ?? (key.startsWith('//') || key.startsWith('@') ? key : undefined);
    if (name !== undefined) options[name] = value;
  }
  if ('strictSSL' in options) options['strictSSL'] = String(options['strictSSL']) !== 'false';
  const authorities = config['cafile'];
  if (typeof authorities === 'string' && authorities !== '') {
    options['ca'] = await readFile(authorities, 'utf8');
  }
  return options;
}
