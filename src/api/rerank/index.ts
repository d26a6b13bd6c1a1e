/** `/rerank`. */
import type { Route } from '../../http/route.ts';
import { createRerank } from './routes.ts';

export const rerankRoutes: readonly Route[] = [createRerank];
