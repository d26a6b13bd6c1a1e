/** Collections, files, items and what a search found, as clients read them. */
import { toUsd } from '../../platform/billing/index.ts';
import type {
  Collection,
  CollectionFile,
  Hit,
  Item,
  Page,
  SearchAnswer,
} from '../../platform/vectors/types.ts';
import type { SearchPage, VectorStore, VectorStoreFile, VectorStoreItem } from './schema.ts';

export function toVectorStore(collection: Collection): VectorStore {
  const { inProgress, completed, failed, cancelled } = collection.fileCounts;
  return {
    id: collection.id,
    object: 'vector_store',
    name: collection.name,
    description: collection.description,
    created_at: toSeconds(collection.createdAt),
    last_active_at: toSeconds(collection.lastActiveAt),
    metadata: collection.metadata,
    status: inProgress > 0 ? 'in_progress' : 'completed',
    usage_bytes: collection.usageBytes,
    file_counts: {
      in_progress: inProgress,
      completed,
      failed,
      cancelled,
      total: inProgress + completed + failed + cancelled,
    },
    item_count: collection.itemCount,
    model: collection.modelId,
    expires_after: null,
    expires_at: null,
  };
}

export function toVectorStoreFile(file: CollectionFile): VectorStoreFile {
  return {
    id: file.id,
    object: 'vector_store.file',
    vector_store_id: file.collectionId,
    filename: file.filename,
    bytes: file.bytes,
    usage_bytes: file.usageBytes,
    status: file.status,
    last_error: file.lastError === undefined ? null : { ...file.lastError },
    attributes: file.attributes,
    item_count: file.itemCount,
    created_at: toSeconds(file.createdAt),
  };
}

export function toVectorStoreItem(item: Item): VectorStoreItem {
  return {
    id: item.id,
    object: 'vector_store.item',
    vector_store_id: item.collectionId,
    file_id: item.fileId,
    filename: item.filename,
    index: item.index,
    description: item.description,
    content: [{ type: 'text', text: item.text }],
    attributes: item.attributes,
    created_at: toSeconds(item.createdAt),
    updated_at: toSeconds(item.updatedAt),
  };
}

export function toSearchPage(
  text: string,
  hits: readonly Hit[],
  { promptTokens, costPicoUsd }: Omit<SearchAnswer, 'hits'>,
): SearchPage {
  return {
    object: 'vector_store.search_results.page',
    search_query: [text],
    data: hits.map(({ item, score }) => ({
      file_id: item.fileId,
      filename: item.filename,
      score,
      attributes: item.attributes,
      content: [{ type: 'text', text: item.text }],
      item_id: item.id,
      description: item.description,
    })),
    has_more: false,
    next_page: null,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens, cost: toUsd(costPicoUsd) },
  };
}

export function toList<T, E extends { id: string }>({ entries, hasMore }: Page<T>, toEntry: (one: T) => E) {
  const data = entries.map(toEntry);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
