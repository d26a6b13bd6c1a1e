/**
 * The items of a response as one text, and their ids. An id is made of a prefix, the tail of its response's id and
 * a number: so an item is found through its response, and no index of items is kept. Pure.
 */
import type { StoredItem } from './types.ts';

/** Digits of the number. */
const numberLength = 4;

/** Makes the ids of one response's items; `tail` is what follows `resp_` in its id. */
export function createItemIds(tail: string): (prefix: string) => string {
  let count = 0;
  return (prefix) => `${prefix}_${tail}${(count++).toString(16).padStart(numberLength, '0')}`;
}

/** The response that an item belongs to, if it is one of ours; some id that is nobody's otherwise. */
export function responseIdOf(itemId: string): string {
  // A body has at most 200,000 values: the number may have a digit more than its least.
  const tail = itemId.slice(itemId.indexOf('_') + 1);
  return `resp_${tail.slice(0, tailLength)}`;
}

/** Of a response's id: the 24 hex characters of its request. */
const tailLength = 24;

type Head = [id: string, chars: number];

/**
 * A line that says which items there are and how long each is, in JSON; then their own texts, one behind the other.
 * So one of many is cut out, and none is parsed to be kept or found.
 */
export function toItemsText(items: readonly StoredItem[]): string {
  // Our own ids have nothing that JSON escapes.
  const heads = items.map(({ id, json }) => `["${id}",${json.length}]`);
  return `[${heads.join()}]\n${items.map(({ json }) => json).join('')}`;
}

export function parseItemsText(text: string): StoredItem[] {
  const lineEnd = text.indexOf('\n');
  let at = lineEnd + 1;
  return (JSON.parse(text.slice(0, lineEnd)) as Head[]).map(([id, chars]) => {
    const json = text.slice(at, at + chars);
    at += chars;
    return { id, json };
  });
}
