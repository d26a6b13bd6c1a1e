/** A page of the items that a response was made from, as its route lists them. */
import { GatewayError } from '../../lib/errors.ts';
import type { Responses, StoredItem, StoredResponse } from '../../platform/responses/types.ts';
import type { InputItemsQuery } from './schema.ts';

const defaultLimit = 20;

/**
 * "A list of items used to generate this response": the turns before it, too. Where one of those was deleted, what
 * the response itself brought is left.
 */
export async function listInputItems(
  responses: Pick<Responses, 'history'>,
  { subscriptionId, previousId, input }: StoredResponse,
): Promise<readonly StoredItem[]> {
  if (previousId === undefined) return input;
  const history = (await responses.history(subscriptionId, previousId)) ?? [];
  return [...history, ...input];
}

/** In JSON: the items are spliced as they were kept. */
export function toInputItemPage(items: readonly StoredItem[], query: InputItemsQuery): string {
  const { limit = defaultLimit, order = 'desc', after } = query;
  const ordered = order === 'asc' ? items : items.toReversed();
  const start = after === undefined ? 0 : indexAfter(ordered, after);
  const page = ordered.slice(start, start + limit);
  const ids = {
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: start + page.length < ordered.length,
  };
  const data = page.map(({ json }) => json).join(',');
  return `{"object":"list","data":[${data}],${JSON.stringify(ids).slice(1)}`;
}

function indexAfter(items: readonly StoredItem[], after: string): number {
  const index = items.findIndex(({ id }) => id === after);
  if (index !== -1) return index + 1;
  throw new GatewayError('invalid_request', `after: there is no item ${after} in this list`, {
    param: 'after',
  });
}
