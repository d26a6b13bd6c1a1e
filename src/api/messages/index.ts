/** `/messages`: the messages format, over the same engines as chat. */
import type { Route } from '../../http/route.ts';
import { countTokens, createMessage } from './routes.ts';

export const messagesRoutes: readonly Route[] = [createMessage, countTokens];
