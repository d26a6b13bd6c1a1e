/** Everything that surrounds a call, as handlers receive it. `compose.ts` builds it. */
import type { Accounts } from './accounts/index.ts';
import type { Limits } from './admission/index.ts';
import type { Attachments } from './attachments/index.ts';
import type { Usage } from './billing/index.ts';
import type { Catalog, Model } from './catalog/index.ts';
import type { Health } from './health/index.ts';
import type { Idempotency } from './idempotency/types.ts';
import type { Inference } from './inference/index.ts';
import type { Jobs } from './jobs/types.ts';
import type { Media } from './media/index.ts';
import type { Links, Objects } from './objects/types.ts';
import type { Pictures } from './pictures/types.ts';
import type { Recordings } from './recordings/types.ts';
import type { Responses } from './responses/types.ts';
import type { Scratch } from './scratch/types.ts';
import type { Signatures } from './signatures/types.ts';
import type { Vectors } from './vectors/types.ts';
import type { Webhooks } from './webhooks/types.ts';

export interface Platform {
  readonly accounts: Accounts;
  readonly attachments: Attachments;
  readonly catalog: Catalog;
  readonly health: Health;
  readonly idempotency: Idempotency;
  readonly inference: Inference;
  readonly jobs: Jobs;
  readonly links: Links;
  readonly media: Media;
  readonly objects: Objects;
  readonly pictures: Pictures;
  readonly recordings: Recordings;
  readonly responses: Responses;
  readonly scratch: Scratch;
  readonly signatures: Signatures;
  readonly usage: Usage;
  readonly vectors: Vectors;
  readonly webhooks: Webhooks;
  /** The address that clients use, where the operator has named it: `https://…/v1`. */
  readonly publicUrl: () => string | undefined;
  /** What a subscription may do on a model; without one, what holds where a model has no limits of its own. */
  readonly limitsOf: (model?: Model) => Limits;
}
