/** `/responses`: create, read, delete, and the items that went in. */
import type { Route } from '../../http/route.ts';
import { createResponse, deleteResponse, getResponse, listResponseInputItems } from './routes.ts';

export const responsesRoutes: readonly Route[] = [
  createResponse,
  getResponse,
  deleteResponse,
  listResponseInputItems,
];
