/** `/vector_store`: collections, their files and items, and search in them; `/vector_stores` for OpenAI's SDK. */
import type { Route } from '../../http/route.ts';
import { addFile, getFile, listFiles, removeFile } from './file-routes.ts';
import { describeItem, getItem, listItems, removeItem } from './item-routes.ts';
import {
  createCollection,
  getCollection,
  listCollections,
  patchCollection,
  postCollection,
  removeCollection,
} from './routes.ts';
import { searchCollection } from './search.ts';

export const vectorStoreRoutes: readonly Route[] = [
  createCollection,
  listCollections,
  getCollection,
  patchCollection,
  postCollection,
  removeCollection,
  addFile,
  listFiles,
  getFile,
  removeFile,
  listItems,
  getItem,
  describeItem,
  removeItem,
  searchCollection,
];
