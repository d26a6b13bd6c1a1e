/** What a request refers to of earlier turns: the answer that it goes on from, and single items. */
import { GatewayError } from '../../lib/errors.ts';
import type { Responses } from '../../platform/responses/types.ts';
import type { Said } from './items.ts';
import type { Item, Reference, ResponsesBody, SaidItem } from './schema.ts';

export interface Earlier {
  /** What was said up to the answer that the request goes on from. */
  readonly history: readonly SaidItem[];
  /** The items that are referred to, by id, as far as they are there. */
  readonly items: ReadonlyMap<string, SaidItem>;
}

export const nothingEarlier: Earlier = { history: [], items: new Map() };

/** Undefined when the request says everything itself, which needs no store. */
export function readEarlier(
  body: ResponsesBody,
  subscriptionId: string,
  responses: Responses,
): (() => Promise<Earlier>) | undefined {
  const { previous_response_id: previousId, input } = body;
  const ids = Array.isArray(input) ? input.flatMap((item) => (isReference(item) ? [item.id] : [])) : [];
  if (previousId == null && ids.length === 0) return undefined;
  return async () => {
    const [history, items] = await Promise.all([
      previousId == null ? [] : responses.history(subscriptionId, previousId),
      ids.length === 0 ? undefined : responses.items(subscriptionId, [...new Set(ids)]),
    ]);
    if (history === undefined) {
      const param = 'previous_response_id';
      throw new GatewayError('invalid_request', `${param}: there is no response ${previousId}`, { param });
    }
    const known = new Map([...(items ?? [])].map(([id, { json }]) => [id, toSaid(json)]));
    checkReferences(input, known);
    return { history: history.map(({ json }) => toSaid(json)), items: known };
  };
}

/** One provider refers to reasoning that was never kept, inside of a tool loop: it is skipped (wire 19). */
function checkReferences(input: ResponsesBody['input'], known: Earlier['items']): void {
  if (!Array.isArray(input)) return;
  for (const [index, item] of input.entries()) {
    if (!isReference(item) || known.has(item.id) || item.id.startsWith('rs_')) continue;
    const param = `input[${index}].id`;
    throw new GatewayError('invalid_request', `${param}: there is no item ${item.id}`, { param });
  }
}

/** The whole conversation: what was said before, then this turn. References that lead nowhere are left out. */
export function toConversation(body: ResponsesBody, { history, items }: Earlier): readonly Said[] {
  const said: Said[] = history.map((item) => ({ item, path: 'previous_response_id', isStored: true }));
  for (const { index, item, isStored } of toTurn(body, items))
    said.push({ item, path: isStored ? `input[${index}].id` : `input[${index}]`, isStored });
  return said;
}

interface TurnItem {
  readonly index: number;
  readonly item: SaidItem;
  readonly isStored: boolean;
}

/** What this turn brings. A string is what the user says. */
export function toTurn({ input }: ResponsesBody, items: Earlier['items']): readonly TurnItem[] {
  if (input == null) return [];
  if (typeof input === 'string')
    return [{ index: 0, item: { role: 'user', content: input }, isStored: false }];
  return input.flatMap((item, index): TurnItem[] => {
    if (!isReference(item)) return [{ index, item, isStored: false }];
    const found = items.get(item.id);
    return found === undefined ? [] : [{ index, item: found, isStored: true }];
  });
}

function isReference(item: Item): item is Reference {
  return item.type === 'item_reference' || (item.type == null && !('role' in item));
}

/** Our own writing, which was checked when it came in. */
function toSaid(json: string): SaidItem {
  return JSON.parse(json) as SaidItem;
}
