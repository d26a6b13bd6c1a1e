/** The models: declared by the operator, published to clients, and looked up for every request. */
export { modelTypes } from '../../engines/contract/model-type.ts';
export { createCatalog, type ReplaceableCatalog } from './catalog.ts';
export type * from './declaration.ts';
export { anthropicPrefix, withoutAnthropicPrefix } from './names.ts';
export type { Builtins, CatalogSettings, EngineSettings } from './snapshot.ts';
export type * from './types.ts';
