/** `/systemone`, `/decisions` and `/alpha/decisions`. */
import type { Route } from '../../http/route.ts';
import { createAlphaDecision, createApiAlphaDecision, createDecision, createListDecision } from './routes.ts';

export const decisionRoutes: readonly Route[] = [
  createDecision,
  createListDecision,
  createAlphaDecision,
  createApiAlphaDecision,
];
