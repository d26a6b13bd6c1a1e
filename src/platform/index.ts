/** Everything that surrounds a call, as handlers receive it. `compose.ts` builds it. */
import type { Accounts } from './accounts/index.ts';
import type { Limits } from './admission/index.ts';
import type { Attachments } from './attachments/index.ts';
import type { Usage } from './billing/index.ts';
import type { Catalog, Model } from './catalog/index.ts';
import type { Health } from './health/index.ts';
import type { Inference } from './inference/index.ts';
import type { Media } from './media/index.ts';
import type { Responses } from './responses/types.ts';
import type { Signatures } from './signatures/types.ts';

export interface Platform {
  readonly accounts: Accounts;
  readonly attachments: Attachments;
  readonly catalog: Catalog;
  readonly health: Health;
  readonly inference: Inference;
  readonly media: Media;
  readonly responses: Responses;
  readonly signatures: Signatures;
  readonly usage: Usage;
  /** What a subscription may do on a model; without one, what holds where a model has no limits of its own. */
  readonly limitsOf: (model?: Model) => Limits;
}
