/**
 * The catalogue over a snapshot of the configuration, which can be replaced while it serves. It is held in
 * memory; its two sources are still read through functions, because the specification tells their failures
 * apart: models that cannot be read are a 502, a served list that cannot be read is a 503.
 */
import type { EngineKind } from '../../engines/contract/engine.ts';
import type { ModelType } from '../../engines/contract/model-type.ts';
import { type ErrorKind, GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import type { Model } from './declaration.ts';
import { anthropicPrefix, parseName, readingsOf, withoutAnthropicPrefix } from './names.ts';
import { buildSnapshot, type CatalogSettings, type Snapshot } from './snapshot.ts';
import type { Catalog, ResolvedModel } from './types.ts';

export interface ReplaceableCatalog extends Catalog {
  /** Takes new settings. When they are wrong it throws a `ConfigError` and the old ones stay. */
  replace(settings: CatalogSettings): void;
}

export interface CatalogOptions {
  settings: CatalogSettings;
  engineKinds: readonly EngineKind[];
  /** Where the models come from, once per call. The same array means the same models. */
  readModels?: (snapshot: Snapshot) => readonly Model[];
  /** The ids of the models that are offered now. The same set means the same ids. */
  readServed?: (snapshot: Snapshot) => ReadonlySet<string>;
}

/** The models indexed for one reading of both sources. */
interface View {
  models: readonly Model[];
  served: ReadonlySet<string>;
  snapshot: Snapshot;
  byId: ReadonlyMap<string, Model>;
  listed: readonly Model[];
  listedById: ReadonlyMap<string, Model>;
  /** Listed models by Hugging Face id in lower case; the first one, where several share it. */
  listedByHuggingFaceId: ReadonlyMap<string, Model>;
}

export function createCatalog(options: CatalogOptions): ReplaceableCatalog {
  const { engineKinds } = options;
  const { readModels = (from) => from.models, readServed = (from) => from.served } = options;
  let snapshot = buildSnapshot(options.settings, engineKinds);
  let lastView: View | undefined;

  function view(): View {
    const models = read(() => readModels(snapshot), 'unreachable', 'The model catalogue cannot be read');
    const served = read(() => readServed(snapshot), 'overloaded', 'The list of served models cannot be read');
    if (lastView?.snapshot !== snapshot || lastView.models !== models || lastView.served !== served) {
      lastView = toView(snapshot, models, served);
    }
    return lastView;
  }

  function resolve<T extends ModelType>(type: T, name: string | undefined): ResolvedModel<T> {
    const { byId, served } = view();
    const { base, variant } = parseName(name ?? snapshot.defaults.get(type) ?? '');
    const model = byName(byId, snapshot.ids, type, base);
    if (model === undefined || model.type !== type) throw missing(type, name);
    if (!served.has(model.id)) {
      throw new GatewayError(
        'overloaded',
        `The model ${JSON.stringify(model.id)} is not served at the moment`,
        { param: 'model' },
      );
    }
    return { model: model as Model<T>, variant };
  }

  function lookup(author: string, slug: string): Model | undefined {
    const { listedById, listedByHuggingFaceId } = view();
    const { base } = parseName(slug);
    // The slug alone comes first: `links.details` of a model is then its own, whatever its author.
    const names = [base, `${author}/${base}`].flatMap(readingsOf);
    return (
      firstOf(names, (name) => listedById.get(name)) ??
      firstOf(names, (name) => listedByHuggingFaceId.get(name.toLowerCase())) ??
      firstOf(names, (name) => legacy(listedById, snapshot.ids, name))
    );
  }

  return {
    listed: () => view().listed,
    find: (id) => view().listedById.get(id),
    lookup,
    resolve,
    replace(settings) {
      snapshot = buildSnapshot(settings, engineKinds);
    },
  };
}

function read<T>(source: () => T, kind: ErrorKind, message: string): T {
  try {
    return source();
  } catch (cause) {
    throw new GatewayError(kind, `${message}; try again`, { cause });
  }
}

function toView(snapshot: Snapshot, models: readonly Model[], served: ReadonlySet<string>): View {
  const listed = Object.freeze(models.filter((model) => served.has(model.id) && !model.private));
  const listedByHuggingFaceId = new Map<string, Model>();
  for (const model of listed) {
    const id = model.huggingFaceId?.toLowerCase();
    if (id !== undefined && !listedByHuggingFaceId.has(id)) listedByHuggingFaceId.set(id, model);
  }
  return {
    models,
    served,
    snapshot,
    byId: new Map(models.map((model) => [model.id, model])),
    listed,
    listedById: new Map(listed.map((model) => [model.id, model])),
    listedByHuggingFaceId,
  };
}

function byName(
  byId: ReadonlyMap<string, Model>,
  ids: ReadonlyMap<string, string>,
  type: ModelType,
  base: string,
): Model | undefined {
  const get = (name: string) => byId.get(ids.get(name) ?? '');
  const model = firstOf(readingsOf(base), get);
  if (model !== undefined || type !== 'chat' || !base.startsWith(anthropicPrefix)) return model;
  return firstOf(readingsOf(withoutAnthropicPrefix(base)), get);
}

function legacy(
  listed: ReadonlyMap<string, Model>,
  ids: ReadonlyMap<string, string>,
  name: string,
): Model | undefined {
  const model = listed.get(ids.get(name) ?? '');
  return model?.legacyIds.includes(name) === true ? model : undefined;
}

function firstOf<T>(names: readonly string[], find: (name: string) => T | undefined): T | undefined {
  for (const name of names) {
    const found = find(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function missing(type: ModelType, name: string | undefined): GatewayError {
  const message =
    name === undefined
      ? `No model was named and there is no default ${type} model`
      : `The ${type} model ${quoted(name)} does not exist`;
  return new GatewayError('not_found', message, { param: 'model' });
}
