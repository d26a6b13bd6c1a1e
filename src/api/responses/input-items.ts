/** A page of the items that a response was made from, as its route lists them. Pure. */
import type { ItemPage, PageQuery } from '../../platform/responses/types.ts';
import type { InputItemsQuery } from './schema.ts';

const defaultLimit = 20;

export function toPageQuery({ limit = defaultLimit, order = 'desc', after }: InputItemsQuery): PageQuery {
  return { limit, order, after };
}

/** In JSON: the items are spliced as they were kept. */
export function toInputItemPage({ items, hasMore }: ItemPage): string {
  const ids = { first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null, has_more: hasMore };
  const data = items.map(({ json }) => json).join(',');
  return `{"object":"list","data":[${data}],${JSON.stringify(ids).slice(1)}`;
}
