/** What clients see: every route and every kind of job, one line per capability folder. */
import type { Route } from '../http/route.ts';
import type { JobKind } from '../platform/jobs/types.ts';
import { accountRoutes } from './account/index.ts';
import { adminRoutes } from './admin/index.ts';
import { chatRoutes } from './chat/index.ts';
import { decisionRoutes } from './decisions/index.ts';
import { embeddingRoutes } from './embeddings/index.ts';
import { healthRoutes } from './health/index.ts';
import { imageRoutes } from './images/index.ts';
import { messagesRoutes } from './messages/index.ts';
import { modelRoutes } from './models/index.ts';
import { musicJob, musicRoutes } from './music/index.ts';
import { objectRoutes } from './objects/index.ts';
import { referenceRoutes } from './reference/index.ts';
import { rerankRoutes } from './rerank/index.ts';
import { responsesRoutes } from './responses/index.ts';
import { speechRoutes } from './speech/index.ts';
import { transcriptionRoutes } from './transcription/index.ts';
import { vectorStoreRoutes } from './vector-store/index.ts';
import { videoJob, videoRoutes } from './videos/index.ts';
import { webhookRoutes } from './webhooks/index.ts';

const capabilities: readonly Route[] = [
  ...modelRoutes,
  ...chatRoutes,
  ...responsesRoutes,
  ...messagesRoutes,
  ...embeddingRoutes,
  ...rerankRoutes,
  ...decisionRoutes,
  ...imageRoutes,
  ...videoRoutes,
  ...musicRoutes,
  ...speechRoutes,
  ...transcriptionRoutes,
  ...vectorStoreRoutes,
  ...objectRoutes,
  ...webhookRoutes,
  ...accountRoutes,
  ...healthRoutes,
  ...adminRoutes,
];

export const routes: readonly Route[] = [...capabilities, ...referenceRoutes(capabilities)];

export const jobKinds: readonly JobKind[] = [videoJob, musicJob];
