/** The configuration file: its shape, and everything that is wrong with it, by path. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import Type, { type Static, type TSchema } from 'typebox';
import type { EngineKind, EngineSettings } from '../engines/contract/engine.ts';
import { modelTypes } from '../engines/contract/model-type.ts';
import { ConfigError, joinPath } from '../lib/config-error.ts';
import { createValidator, type Problem, type Validator } from '../lib/schema.ts';
import { type Declaration, declarations, RateLimits } from '../platform/catalog/declaration.ts';
import type { CatalogSettings } from '../platform/catalog/index.ts';
import { builtinEngines, builtins } from './builtin-models.ts';

const Server = Type.Object(
  {
    publicUrl: Type.Optional(
      Type.String({ description: 'The address that clients use, for links in answers' }),
    ),
  },
  { additionalProperties: false },
);

const Limits = Type.Object(
  { ...RateLimits.properties, maxQueueWaitMs: Type.Optional(Type.Integer({ minimum: 0 })) },
  { additionalProperties: false },
);

const network = Type.String({ pattern: '^[0-9A-Fa-f:.]+(/\\d{1,3})?$' });
const Egress = Type.Object(
  {
    allowedNetworks: Type.Optional(
      Type.Array(network, {
        description: 'Networks beside the public internet that media may be fetched from',
      }),
    ),
  },
  { additionalProperties: false },
);

const Responses = Type.Object(
  {
    retentionDays: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 3650, description: 'How long stored responses are kept' }),
    ),
  },
  { additionalProperties: false },
);

const Jobs = Type.Object(
  {
    retentionHours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 8760,
        description: 'How long what a job made, and the record of one that made nothing, are kept',
      }),
    ),
  },
  { additionalProperties: false },
);

const Webhooks = Type.Object(
  {
    brand: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z][A-Za-z0-9-]{0,30}$',
        description: 'The middle of the header names: X-<brand>-Signature',
      }),
    ),
  },
  { additionalProperties: false },
);

const Defaults = Type.Object(
  Object.fromEntries(modelTypes.map((type) => [type, Type.Optional(Type.String({ minLength: 1 }))])),
  { additionalProperties: false },
);

export interface Settings extends CatalogSettings {
  /** What was read, undefined when there is no file. */
  readonly file: string | undefined;
  readonly server: Readonly<Static<typeof Server>>;
  readonly egress: Readonly<Required<Static<typeof Egress>>>;
  /** Per subscription and model, where a model has no limits of its own. */
  readonly limits: Readonly<Required<Static<typeof Limits>>>;
  readonly responses: Readonly<Required<Static<typeof Responses>>>;
  readonly jobs: Readonly<Required<Static<typeof Jobs>>>;
  readonly webhooks: Readonly<Required<Static<typeof Webhooks>>>;
}

const defaultLimits: Settings['limits'] = { requestsPerMinute: 60, concurrent: 8, maxQueueWaitMs: 20_000 };
const defaultRetentionDays = 30;
const defaultRetentionHours = 24;
const defaultBrand = 'Service';
const sections = [
  'server',
  'egress',
  'defaults',
  'limits',
  'responses',
  'jobs',
  'webhooks',
  'engines',
  'models',
  'builtinModels',
];
const engineName = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

export interface SettingsSources {
  /** An absolute path; without one there are the built-in models and nothing else. */
  file: string | undefined;
  /** Where the keys that engines name by `apiKeyEnv` are looked up. */
  env: Readonly<Record<string, string | undefined>>;
  engineKinds: readonly EngineKind[];
}

/** Throws a `ConfigError` with every problem of the file. */
export function parseSettings({ file, env, engineKinds }: SettingsSources): Settings {
  const source = file === undefined ? 'The configuration' : basename(file);
  const root = file === undefined ? {} : readYaml(file, source);
  if (!isObject(root))
    throw new ConfigError(source, [{ path: '', message: 'must be a mapping of sections' }]);

  const problems: Problem[] = [];
  for (const key of Object.keys(root)) {
    if (!sections.includes(key))
      problems.push({ path: key, message: `is not a known section; known are: ${sections.join(', ')}` });
  }
  const { builtinModels = true } = root;
  if (typeof builtinModels !== 'boolean')
    problems.push({ path: 'builtinModels', message: 'must be true or false' });
  // A section that is absent is not worth compiling its schema for.
  const section = <S extends TSchema>(schema: S, name: string) =>
    root[name] === undefined ? undefined : checked(createValidator(schema), root[name], name, problems);
  const server = section(Server, 'server') ?? {};
  const egress = section(Egress, 'egress') ?? {};
  const limits = section(Limits, 'limits') ?? {};
  const responses = section(Responses, 'responses') ?? {};
  const jobs = section(Jobs, 'jobs') ?? {};
  const webhooks = section(Webhooks, 'webhooks') ?? {};
  const defaults = section(Defaults, 'defaults') ?? {};
  const engines = readEngines(root['engines'] ?? {}, { env, engineKinds }, problems);
  const models = readModels(root['models'] ?? [], file, problems);
  const publicUrl = readPublicUrl(server.publicUrl, problems);
  if (problems.length > 0) throw new ConfigError(source, problems);
  return {
    source,
    file,
    server: publicUrl === undefined ? {} : { publicUrl },
    egress: { allowedNetworks: egress.allowedNetworks ?? [] },
    limits: { ...defaultLimits, ...limits },
    responses: { retentionDays: responses.retentionDays ?? defaultRetentionDays },
    jobs: { retentionHours: jobs.retentionHours ?? defaultRetentionHours },
    webhooks: { brand: webhooks.brand ?? defaultBrand },
    defaults: defaults as Settings['defaults'],
    engines: { ...builtinEngines, ...engines },
    models,
    builtins: builtinModels === false ? { models: [], defaults: {} } : builtins,
  };
}

function readYaml(file: string, source: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read: ${message}`;
    throw new ConfigError('The configuration', [{ path: file, message: reason }]);
  }
  // Loaded here and not above: it takes 20 to 50 ms, which a start without a file need not spend.
  const { parseDocument } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: true, merge: true });
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ message, pos }) => ({
      path: `${source}:${toPosition(text, pos[0])}`,
      message,
    }));
    throw new ConfigError(source, problems);
  }
  try {
    const root: unknown = document.toJS();
    // A half-written save must not drop every model: who means nothing writes `{}`.
    if (root === null) throw new ConfigError(source, [{ path: source, message: 'is empty' }]);
    return root;
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    // An alias without its anchor, or aliases that multiply without end.
    throw new ConfigError(source, [{ path: source, message: (cause as Error).message }]);
  }
}

/** `3:14`, line and column from 1. */
function toPosition(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

function readPublicUrl(publicUrl: string | undefined, problems: Problem[]): string | undefined {
  if (publicUrl === undefined) return undefined;
  const url = URL.parse(publicUrl);
  const path = 'server.publicUrl';
  if (url === null || !/^https?:$/.test(url.protocol))
    problems.push({ path, message: 'must be an http or https address' });
  else if (url.search !== '' || url.hash !== '' || url.username !== '') {
    problems.push({ path, message: 'must have no query, fragment or user' });
  } else if (!/\/v1\/?$/.test(url.pathname)) {
    problems.push({ path, message: 'must end in /v1, as every address of the API does' });
  } else return url.href.replace(/\/$/, '');
  return undefined;
}

function readEngines(
  value: unknown,
  { env, engineKinds }: Pick<SettingsSources, 'env' | 'engineKinds'>,
  problems: Problem[],
): Record<string, EngineSettings> {
  const engines: Record<string, EngineSettings> = {};
  if (!isObject(value)) {
    problems.push({ path: 'engines', message: 'must be a mapping of names to engines' });
    return engines;
  }
  const kinds = new Map(engineKinds.map((kind) => [kind.kind, createValidator(kind.options)]));
  for (const [name, engine] of Object.entries(value)) {
    const path = `engines.${name}`;
    const kind = isObject(engine) ? engine['kind'] : undefined;
    const validator = typeof kind === 'string' ? kinds.get(kind) : undefined;
    const builtin = builtinEngines[name];
    if (!engineName.test(name))
      problems.push({ path, message: `must have a name that matches ${engineName.source}` });
    else if (!isObject(engine)) problems.push({ path, message: 'must be a mapping with a kind' });
    else if (kind === undefined) problems.push({ path: `${path}.kind`, message: 'is required' });
    else if (validator === undefined) {
      problems.push({ path: `${path}.kind`, message: `must be one of ${[...kinds.keys()].join(', ')}` });
    } else if (builtin !== undefined && builtin.kind !== kind) {
      // The built-in models run on it, so its name cannot come to mean another kind.
      problems.push({
        path: `${path}.kind`,
        message: `must be ${builtin.kind}: the built-in models use this engine`,
      });
    } else if (checked(validator, engine, path, problems) !== undefined) {
      engines[name] = engine as EngineSettings;
      checkKey(engine as EngineSettings, path, env, problems);
    }
  }
  return engines;
}

/** `apiKeyEnv` names a variable, so that the file itself holds no secret. */
function checkKey(
  { apiKeyEnv }: EngineSettings,
  path: string,
  env: SettingsSources['env'],
  problems: Problem[],
): void {
  if (typeof apiKeyEnv !== 'string') return;
  const key = env[apiKeyEnv] ?? '';
  const fault = key === '' ? 'is not set' : headerText.test(key) ? undefined : 'holds what no header may';
  if (fault === undefined) return;
  problems.push({ path: `${path}.apiKeyEnv`, message: `names the variable ${apiKeyEnv}, which ${fault}` });
}

/** A key with a line end behind it comes out of a file. */
const headerText = /^[\x20-\x7e]+$/;

function readModels(value: unknown, source: string | undefined, problems: Problem[]): Declaration[] {
  if (!Array.isArray(value)) {
    problems.push({ path: 'models', message: 'must be a list' });
    return [];
  }
  const validators = new Map(
    Object.entries(declarations).map(([type, schema]) => [type, createValidator<typeof schema>(schema)]),
  );
  const models: Declaration[] = [];
  for (const [index, model] of (value as unknown[]).entries()) {
    const path = `models[${index}]`;
    // Checked against the one schema that its type names, so that the message speaks of what was meant.
    const type = isObject(model) ? model['type'] : undefined;
    const validator = typeof type === 'string' ? validators.get(type) : undefined;
    if (!isObject(model)) problems.push({ path, message: 'must be a mapping with an id and a type' });
    else if (type === undefined) problems.push({ path: `${path}.type`, message: 'is required' });
    else if (validator === undefined) {
      problems.push({ path: `${path}.type`, message: `must be one of ${modelTypes.join(', ')}` });
    } else if (checked(validator, model, path, problems) !== undefined && isFileSound(model, path, problems))
      models.push(withAbsoluteFile(model as unknown as Declaration, source));
  }
  return models;
}

/** What begins as an address is none that could be a path instead. */
function isFileSound(model: Record<string, unknown>, path: string, problems: Problem[]): boolean {
  const file = String(model['file'] ?? '');
  const isSound = !/^https?:/i.test(file) || URL.canParse(file);
  if (!isSound) problems.push({ path: `${path}.file`, message: 'must be a path or an address' });
  return isSound;
}

/** A path is meant from where it is written: the folder of the configuration file. */
function withAbsoluteFile(model: Declaration, source: string | undefined): Declaration {
  if (model.file === undefined || source === undefined || URL.canParse(model.file)) return model;
  return { ...model, file: resolve(dirname(source), model.file) };
}

function checked<S extends TSchema>(
  validator: Validator<S>,
  value: unknown,
  path: string,
  problems: Problem[],
): Static<S> | undefined {
  if (validator.check(value)) return value;
  const problem = validator.problem(value);
  problems.push({ path: joinPath(path, problem.path), message: withHint(problem) });
  return undefined;
}

/** YAML reads a bare price as a float, and 0.1 as a float is no longer the price that was written. */
function withHint({ path, message }: Problem): string {
  return /(^|\.)pricing\./.test(path) && message === 'must be a string'
    ? `${message}: put the price in quotes`
    : message;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
