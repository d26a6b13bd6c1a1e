/** `/chat/completions`, and the same over a collection. */
import type { Route } from '../../http/route.ts';
import { createRagCompletion } from './rag.ts';
import { createChatCompletion } from './routes.ts';

export const chatRoutes: readonly Route[] = [createChatCompletion, createRagCompletion];
