/** Everything that surrounds a call, as handlers receive it. `compose.ts` builds it. */
import type { Accounts } from './accounts/index.ts';
import type { Catalog } from './catalog/index.ts';
import type { Health } from './health/index.ts';

export interface Platform {
  readonly accounts: Accounts;
  readonly catalog: Catalog;
  readonly health: Health;
}
