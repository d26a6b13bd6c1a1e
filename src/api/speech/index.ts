/** `/audio/speech` and `/audio/voices`. */
import type { Route } from '../../http/route.ts';
import { listVoices } from './routes.ts';

export const speechRoutes: readonly Route[] = [listVoices];
