/** `/chat/completions`. */
import type { Route } from '../../http/route.ts';
import { createChatCompletion } from './routes.ts';

export const chatRoutes: readonly Route[] = [createChatCompletion];
