/** What a request refers to of earlier turns: the answer that it goes on from, and single items. */
import { GatewayError } from '../../lib/errors.ts';
import { shown } from '../../lib/quoted.ts';
import { invalid } from '../../platform/chat/request.ts';
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

/** More than a very long loop of tools has. Each is looked for. */
const maxReferences = 2_000;

/** Undefined when the request says everything itself, which needs no store. */
export function readEarlier(
  body: ResponsesBody,
  subscriptionId: string,
  responses: Responses,
): (() => Promise<Earlier>) | undefined {
  const { previous_response_id: previousId, input } = body;
  const ids = toReferenceIds(input);
  if (previousId == null && ids.length === 0) return undefined;
  return async () => {
    const [history, items] = await Promise.all([
      previousId == null ? [] : responses.history(subscriptionId, previousId),
      ids.length === 0 ? undefined : responses.items(subscriptionId, ids),
    ]);
    if (typeof history === 'string') {
      const param = 'previous_response_id';
      const problem =
        history === 'broken'
          ? `a turn before ${shown(previousId ?? '')} was deleted or has expired`
          : `there is no response ${shown(previousId ?? '')}`;
      throw new GatewayError('invalid_request', `${param}: ${problem}`, { param });
    }
    const known = new Map([...(items ?? [])].map(([id, { json }]) => [id, toSaid(json)]));
    checkReferences(input, known);
    return { history: history.map(({ json }) => toSaid(json)), items: known };
  };
}

/** A reference is short and what it stands for is not: few, and none of them twice, as OpenAI has it. */
function toReferenceIds(input: ResponsesBody['input']): readonly string[] {
  if (!Array.isArray(input)) return [];
  const ids = new Set<string>();
  for (const [index, item] of input.entries()) {
    if (!isReference(item)) continue;
    if (ids.has(item.id)) throw invalid(`input[${index}].id`, 'refers to the same item as one before it');
    ids.add(item.id);
    if (ids.size > maxReferences) throw invalid('input', `must refer to at most ${maxReferences} items`);
  }
  return [...ids];
}

/** One provider refers to reasoning that was never kept, inside of a tool loop: it is skipped. */
function checkReferences(input: ResponsesBody['input'], known: Earlier['items']): void {
  if (!Array.isArray(input)) return;
  for (const [index, item] of input.entries()) {
    if (!isReference(item) || known.has(item.id) || item.id.startsWith('rs_')) continue;
    const param = `input[${index}].id`;
    throw new GatewayError('invalid_request', `${param}: there is no item ${shown(item.id)}`, { param });
  }
}

/** The whole conversation: what was said before, then this turn. References that lead nowhere are left out. */
export function toConversation(body: ResponsesBody, { history, items }: Earlier): readonly Said[] {
  const said: Said[] = history.map((item) => ({ item, path: 'previous_response_id', isStored: true }));
  for (const { index, item, isStored } of toTurn(body, items))
    said.push({ item, path: isStored ? `input[${index}].id` : `input[${index}]`, isStored });
  return said;
}

export interface TurnItem {
  readonly index: number;
  readonly item: SaidItem;
  readonly isStored: boolean;
}

/**
 * What this turn brings. A string is what the user says. Reasoning that a client sends is left out: it is not what
 * the model thought, and kept it would come back as if it were.
 */
export function toTurn({ input }: ResponsesBody, items: Earlier['items']): readonly TurnItem[] {
  if (input == null) return [];
  if (typeof input === 'string')
    return [{ index: 0, item: { role: 'user', content: input }, isStored: false }];
  const turn: TurnItem[] = [];
  for (const [index, item] of input.entries()) {
    if (item.type === 'reasoning') continue;
    if (!isReference(item)) turn.push({ index, item, isStored: false });
    else {
      const found = items.get(item.id);
      if (found !== undefined) turn.push({ index, item: found, isStored: true });
    }
  }
  return turn;
}

function isReference(item: Item): item is Reference {
  return item.type === 'item_reference' || (item.type == null && !('role' in item));
}

/** Our own writing, which was checked when it came in. */
function toSaid(json: string): SaidItem {
  return JSON.parse(json) as SaidItem;
}
