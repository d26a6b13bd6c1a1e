/** The catalogue routes over the sample models; every 200 is held against the route's declared shape. */
import { embeddingRoutes } from '../../src/api/embeddings/index.ts';
import { imageRoutes } from '../../src/api/images/index.ts';
import { modelRoutes } from '../../src/api/models/index.ts';
import { musicRoutes } from '../../src/api/music/index.ts';
import { speechRoutes } from '../../src/api/speech/index.ts';
import { videoRoutes } from '../../src/api/videos/index.ts';
import { createRouteTable } from '../../src/http/table.ts';
import { createValidator } from '../../src/lib/schema.ts';
import type { TestAnswer } from './inject.ts';
import { createSampleCatalog, type SampleOptions } from './sample-models.ts';
import { createShell, type Shell } from './shell.ts';

export const catalogRoutes = [
  ...modelRoutes,
  ...embeddingRoutes,
  ...imageRoutes,
  ...videoRoutes,
  ...musicRoutes,
  ...speechRoutes,
];

export interface CatalogShell extends Shell {
  /** With the valid key, unless `key` says otherwise. `path` is relative to `/v1`. */
  get(path: string, options?: { headers?: Record<string, string>; key?: string | null }): Promise<TestAnswer>;
}

export function createCatalogShell(options: SampleOptions = {}): CatalogShell {
  const shell = createShell(catalogRoutes, { platform: { catalog: createSampleCatalog(options) } });
  const table = createRouteTable(catalogRoutes);
  return {
    ...shell,
    async get(path, { headers = {}, key } = {}) {
      const answer = await shell.send({ url: `/v1${path}`, headers, ...(key === undefined ? {} : { key }) });
      if (answer.status === 200) {
        const response = table.find(path.split('?', 1)[0]!)?.methods.get('GET')?.response;
        if (response === undefined) throw new Error(`${path} declares no shape for its answer`);
        const validator = createValidator(response);
        const body = answer.json();
        if (!validator.check(body)) {
          const { path: at, message } = validator.problem(body);
          throw new Error(`GET ${path} does not answer what it declares: ${at} ${message}`);
        }
      }
      return answer;
    },
  };
}

/** Headers by which the routes tell clients apart. */
export const asAnthropic = { 'anthropic-version': '2023-06-01' };
export const asOpenAI = { 'user-agent': 'OpenAI/JS 7.53.0' };
export const asOpenRouter = { 'user-agent': 'speakeasy-sdk/typescript 1.3.19 2.914.0 1.0.0 @openrouter/sdk' };
export const asTypeSafe = { 'x-typesafe-sdk': 'js' };
