/** What the embeddings routes take and answer. */
import Type from 'typebox';
import { Page, pageQuery } from '../../platform/catalog/page.ts';

export const EmbeddingModelsQuery = Type.Object(pageQuery);
export const EmbeddingModels = Page;
