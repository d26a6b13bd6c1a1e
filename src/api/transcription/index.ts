/** `/audio/transcriptions`. */
import type { Route } from '../../http/route.ts';
import { createTranscription } from './routes.ts';

export const transcriptionRoutes: readonly Route[] = [createTranscription];
