/**
 * One reading of the configuration as models: the operator's declarations and the built-in ones merged,
 * defaults filled in, everything checked. Pure; what is wrong is said all at once, by path.
 */
import type { EngineKind, EngineSettings } from '../../engines/contract/engine.ts';
import { type ModelType, modelTypes } from '../../engines/contract/model-type.ts';
import { ConfigError, joinPath } from '../../lib/config-error.ts';
import { createValidator, type Problem } from '../../lib/schema.ts';
import { checkDeclaration } from './checks.ts';
import type { Declaration, Model } from './declaration.ts';

export type { EngineSettings };

/** What the gateway brings along. The operator's model of the same id replaces a built-in one. */
export interface Builtins {
  readonly models: readonly Declaration[];
  readonly defaults: Readonly<Partial<Record<ModelType, string>>>;
}

/** The part of the settings that the catalogue reads. */
export interface CatalogSettings {
  /** Where they stand, for messages: the file's name. */
  readonly source: string;
  readonly defaults: Readonly<Partial<Record<ModelType, string>>>;
  readonly engines: Readonly<Record<string, EngineSettings>>;
  readonly models: readonly Declaration[];
  readonly builtins: Builtins;
}

export interface Snapshot {
  /** All models, private and unserved ones included: the operator's in their order, then the built-in ones. */
  readonly models: readonly Model[];
  /** The ids of the models that are offered. */
  readonly served: ReadonlySet<string>;
  /** Every id, alias and legacy id. */
  readonly ids: ReadonlyMap<string, string>;
  /** The id of the model that answers when a request names none. */
  readonly defaults: ReadonlyMap<ModelType, string>;
}

/** Throws a `ConfigError` with every problem. */
export function buildSnapshot(settings: CatalogSettings, engineKinds: readonly EngineKind[]): Snapshot {
  const problems: Problem[] = [];
  const entries = mergeModels(settings);
  checkEngines(entries, settings.engines, engineKinds, problems);
  for (const { path, declaration } of entries) {
    for (const problem of checkDeclaration(declaration)) {
      problems.push({ path: joinPath(path, problem.path), message: problem.message });
    }
  }
  const ids = claimNames(entries, problems);
  const models = entries.map(({ declaration }) => toModel(declaration));
  const defaults = chooseDefaults(settings, models, ids, problems);
  if (problems.length > 0) throw new ConfigError(settings.source, problems);
  return {
    models: Object.freeze(models),
    served: new Set(models.filter((model) => model.served).map((model) => model.id)),
    ids,
    defaults,
  };
}

interface Entry {
  path: string;
  declaration: Declaration;
  builtin: boolean;
}

function mergeModels(settings: CatalogSettings): Entry[] {
  const own = settings.models.map((declaration, index) => ({
    path: `models[${index}]`,
    declaration,
    builtin: false,
  }));
  const replaced = new Set(settings.models.map((declaration) => declaration.id));
  const brought = settings.builtins.models
    .filter((declaration) => !replaced.has(declaration.id))
    .map((declaration) => ({ path: `(built in) ${declaration.id}`, declaration, builtin: true }));
  return [...own, ...brought];
}

function checkEngines(
  entries: readonly Entry[],
  engines: Readonly<Record<string, EngineSettings>>,
  engineKinds: readonly EngineKind[],
  problems: Problem[],
): void {
  const kinds = new Map(engineKinds.map((kind) => [kind.kind, kind]));
  for (const { path, declaration } of entries) {
    const names = engineNames(declaration);
    if (names.length === 0) problems.push({ path: `${path}.engine`, message: 'is required' });
    for (const [index, name] of names.entries()) {
      const at = `${path}.${declaration.engines === undefined ? 'engine' : `engines[${index}]`}`;
      const engine = Object.hasOwn(engines, name) ? engines[name] : undefined;
      if (engine === undefined) {
        const known = Object.keys(engines).join(', ');
        problems.push({
          path: at,
          message: `names the engine ${JSON.stringify(name)}, which is not declared; declared are: ${known}`,
        });
        continue;
      }
      const kind = kinds.get(engine.kind);
      if (kind === undefined) {
        problems.push({
          path: at,
          message: `names ${name}, whose kind ${JSON.stringify(engine.kind)} does not exist`,
        });
        continue;
      }
      const serves = kind.servesWith?.(engine) ?? kind.serves;
      if (!serves.includes(declaration.type)) {
        problems.push({
          path: at,
          message: `names ${name}, but ${described(engine)} does not serve ${declaration.type} models, only: ${serves.join(', ')}`,
        });
      }
      checkScript(path, declaration, kind, problems);
    }
  }
}

/** The `flavor` where an engine has one: what an engine serves may depend on it. */
function described({ kind, flavor }: EngineSettings): string {
  return typeof flavor === 'string' ? `the kind ${kind} with flavor ${flavor}` : `the kind ${kind}`;
}

function checkScript(path: string, { script }: Declaration, kind: EngineKind, problems: Problem[]): void {
  if (script === undefined) return;
  if (kind.script === undefined) {
    problems.push({ path: `${path}.script`, message: `is not for engines of the kind ${kind.kind}` });
    return;
  }
  const validator = createValidator(kind.script);
  if (validator.check(script)) return;
  const problem = validator.problem(script);
  problems.push({ path: joinPath(`${path}.script`, problem.path), message: problem.message });
}

/**
 * Every name by the id that it leads to. A name is claimed once: two models behind one name would make the
 * answer depend on their order. Built-in models claim first, so that a clash is laid to the operator's entry.
 */
function claimNames(entries: readonly Entry[], problems: Problem[]): Map<string, string> {
  const claims = new Map<string, { id: string; as: string }>();
  const claim = (name: string, id: string, path: string, as: string) => {
    const earlier = claims.get(name);
    if (earlier === undefined) claims.set(name, { id, as });
    else
      problems.push({
        path,
        message: `${JSON.stringify(name)} is taken: it is ${earlier.as} of ${earlier.id}`,
      });
  };
  const inOrder = [...entries.filter((entry) => entry.builtin), ...entries.filter((entry) => !entry.builtin)];
  for (const { path, declaration } of inOrder) {
    claim(declaration.id, declaration.id, `${path}.id`, 'the id');
  }
  for (const { path, declaration } of inOrder) {
    const { id, aliases = [], legacyIds = [] } = declaration;
    for (const [index, name] of aliases.entries()) claim(name, id, `${path}.aliases[${index}]`, 'an alias');
    for (const [index, name] of legacyIds.entries())
      claim(name, id, `${path}.legacyIds[${index}]`, 'a legacy id');
  }
  return new Map([...claims].map(([name, { id }]) => [name, id]));
}

/** The operator's choice, else the built-in one, else the first model of the type that is offered. */
function chooseDefaults(
  settings: CatalogSettings,
  models: readonly Model[],
  ids: ReadonlyMap<string, string>,
  problems: Problem[],
): Map<ModelType, string> {
  const byId = new Map(models.map((model) => [model.id, model]));
  const defaults = new Map<ModelType, string>();
  for (const type of modelTypes) {
    const chosen = settings.defaults[type];
    if (chosen !== undefined) {
      const model = byId.get(ids.get(chosen) ?? '');
      const path = `defaults.${type}`;
      if (model === undefined)
        problems.push({ path, message: `names ${JSON.stringify(chosen)}, which is not declared` });
      else if (model.type !== type) {
        problems.push({ path, message: `names ${chosen}, which is a model of the type ${model.type}` });
      } else defaults.set(type, model.id);
      continue;
    }
    const offered = models.filter((model) => model.type === type && model.served && !model.private);
    const isBuiltin = (model: Model | undefined) =>
      settings.builtins.models.some(({ id }) => id === model?.id);
    const usual = offered.find((model) => model.id === settings.builtins.defaults[type]);
    // The operator's models stand first: whoever declares one does not mean the sandbox.
    const fallback = isBuiltin(offered[0]) ? (usual ?? offered[0]) : offered[0];
    if (fallback !== undefined) defaults.set(type, fallback.id);
  }
  return defaults;
}

/** A date that stays: one that moved with each start would make every list look changed. */
const unknownCreated = Date.UTC(2026, 0, 1) / 1000;

function toModel(declaration: Declaration): Model {
  const { engine: _, ...rest } = declaration;
  const resolved = {
    ...rest,
    name: declaration.name ?? declaration.id,
    author: declaration.author ?? toAuthor(declaration),
    created: declaration.created ?? unknownCreated,
    engines: engineNames(declaration),
    engineModel: toEngineModel(declaration),
    aliases: declaration.aliases ?? [],
    legacyIds: declaration.legacyIds ?? [],
    private: declaration.private ?? false,
    served: declaration.served ?? true,
  };
  return Object.freeze(resolved) as Model;
}

function engineNames(declaration: Declaration): readonly string[] {
  return declaration.engines ?? (declaration.engine === undefined ? [] : [declaration.engine]);
}

/** Who made it, as far as its names tell: `Qwen/Qwen3-8B` says `qwen`. */
function toAuthor({ id, huggingFaceId }: Declaration): string {
  const named = [id, huggingFaceId].find((name) => name?.includes('/'));
  const author = named?.split('/', 1)[0]?.toLowerCase() ?? '';
  return /^[a-z0-9][a-z0-9._-]*$/.test(author) ? author : 'roundhouse';
}

/** A path is told apart from the name of a model by its scheme. */
function toEngineModel({ id, engineModel, file }: Declaration): string {
  if (file === undefined) return engineModel ?? id;
  return /^https?:/.test(file) ? file : `file:${file}`;
}
