/** A page of the items that a response was made from: of a long conversation only the turns that the page needs. */
import type { Database } from '../../storage/database.ts';
import { responseIdOf } from './items.ts';
import { type Named, selectItemsOfTurns, selectTurns, type Turn } from './store.ts';
import type { ItemPage, PageQuery, StoredItem } from './types.ts';

export async function selectInputPage(
  database: Database,
  { maxChars, ...named }: Named & { maxTurns: number; maxChars: number },
  { limit, order, after }: PageQuery,
): Promise<ItemPage | 'unknown' | 'unknown item'> {
  const turns = await selectTurns(database, named);
  if (turns.length === 0) return 'unknown';
  if (order === 'asc') turns.reverse();
  // The id of an item tells its turn: those before it are not read.
  const start = after === undefined ? 0 : turns.findIndex(({ id }) => id === responseIdOf(after));
  if (start === -1) return 'unknown item';

  const items: StoredItem[] = [];
  let chars = 0;
  let isBegun = after === undefined;
  for (let at = start; at < turns.length; ) {
    const batch = takeBatch(turns, at, limit, maxChars);
    at += batch.length;
    const found = await selectItemsOfTurns(database, batch, named.id);
    for (const item of batch.flatMap((id) => inOrder(found.get(id) ?? [], order))) {
      if (!isBegun) {
        isBegun = item.id === after;
        continue;
      }
      const isFull = items.length === limit || (items.length > 0 && chars + item.json.length > maxChars);
      if (isFull) return { items, hasMore: true };
      items.push(item);
      chars += item.json.length;
    }
    if (!isBegun) return 'unknown item';
  }
  return { items, hasMore: false };
}

/** At least one turn. A turn has an item or more, so that more turns than items are rarely needed. */
function takeBatch(turns: readonly Turn[], start: number, limit: number, maxChars: number): string[] {
  const ids: string[] = [];
  let chars = 0;
  for (const turn of turns.slice(start, start + limit + 1)) {
    chars += turn.chars;
    if (ids.length > 0 && chars > maxChars) break;
    ids.push(turn.id);
  }
  return ids;
}

function inOrder(items: readonly StoredItem[], order: PageQuery['order']): readonly StoredItem[] {
  return order === 'asc' ? items : items.toReversed();
}
