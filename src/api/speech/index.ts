/** `/audio/speech` and `/audio/voices`. */
import type { Route } from '../../http/route.ts';
import { createSpeech, listVoices } from './routes.ts';

export const speechRoutes: readonly Route[] = [createSpeech, listVoices];
