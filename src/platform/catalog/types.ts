/** What the catalogue offers: which models exist, which are shown, and which one a request means. */
import type { Model, ModelType } from './declaration.ts';

/** A request's model: the entry, and the `:variant` that was parsed off its name. */
export interface ResolvedModel<T extends ModelType = ModelType> {
  model: Model<T>;
  variant: string | undefined;
}

export interface Catalog {
  /**
   * The models that the public lists show, in the configuration's order: served and not private.
   * Throws `unreachable` (502) when the catalogue cannot be read and `overloaded` (503) when the list of
   * served models cannot; never an empty list instead.
   */
  listed(): readonly Model[];
  /** A listed model by its exact id. */
  find(id: string): Model | undefined;
  /**
   * A listed model as `GET /model/{author}/{slug}` means it: by id, by an id with a slash, by Hugging Face id
   * in any case, by a legacy id; a `:variant` is ignored. `author` is only looked at where it is part of an id.
   */
  lookup(author: string, slug: string): Model | undefined;
  /**
   * The model that a request names, private ones included: by id, alias or legacy id, with `-normalize`
   * ignored and `:variant` parsed off; a chat model also as `anthropic/<id>`. Without a name, the type's
   * default model.
   * Throws `not_found` when there is none of the type, `overloaded` when it is declared but not served.
   */
  resolve<T extends ModelType>(type: T, name: string | undefined): ResolvedModel<T>;
}
