/** Finishes a response: keeps it where that was not declined, and says of it whether it was. */
import { fromBytes } from '../../engines/contract/json-bytes.ts';
import type { Log } from '../../lib/log.ts';
import type { Responses, StoredItem } from '../../platform/responses/types.ts';
import { type Earlier, toTurn } from './earlier.ts';
import { type Frame, type Progress, type RenderedItem, toResponse } from './render.ts';
import type { ResponsesBody, SaidItem } from './schema.ts';

export interface Keeping {
  readonly responses: Pick<Responses, 'save'>;
  readonly subscriptionId: string;
  readonly frame: Frame;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly body: ResponsesBody;
  /** What the request referred to, once it was read. */
  earlier(): Earlier;
  createId(prefix: string): string;
  readonly log: Log;
}

/**
 * The final object, in bytes. An answer that cannot be kept is answered all the same: it was made and is billed,
 * and a client that retried would pay again for the same failure. Its `store` is false then, so it promises
 * nothing: whoever goes on from it gets the 400 of an unknown response and sends the conversation again.
 */
export function finishResponse(keeping: Keeping, progress: Progress): string | Promise<string> {
  const { body, frame, responses, log } = keeping;
  if (body.store === false) return toResponse(frame, progress, false);
  const kept = toResponse(frame, progress, true);
  return responses.save(toStored(keeping, progress, kept)).then(
    () => kept,
    (error: unknown) => {
      log.error({ err: error, response: frame.id }, 'a response could not be kept');
      return toResponse(frame, progress, false);
    },
  );
}

function toStored(keeping: Keeping, { output }: Progress, response: string) {
  const { frame, subscriptionId, createdAt, body, earlier, createId } = keeping;
  return {
    id: frame.id,
    subscriptionId,
    createdAt,
    previousId: body.previous_response_id ?? undefined,
    json: fromBytes(response),
    input: toTurn(body, earlier().items).map(({ item }) => toStoredInput(item, createId)),
    output: output.map(({ id, bytes }: RenderedItem) => ({ id, json: fromBytes(bytes) })),
  };
}

const prefixes = {
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
  message: 'msg',
} as const;

/**
 * With an id of its own, also where it came with one or stands for another item: an id means one item, and what
 * is deleted with one response is not found through another.
 */
function toStoredInput(item: SaidItem, createId: Keeping['createId']): StoredItem {
  const type = item.type ?? 'message';
  const id = createId(prefixes[type]);
  const listed = 'role' in item ? { status: 'completed', ...item, content: toParts(item) } : item;
  return { id, json: JSON.stringify({ ...listed, id, type }) };
}

/** A bare text is listed as a part, as OpenAI lists it. */
function toParts({ role, content }: Extract<SaidItem, { role: string }>) {
  if (typeof content !== 'string') return content;
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [], logprobs: [] }]
    : [{ type: 'input_text', text: content }];
}

/** Ids of the items of one response: its own tail, which is never used again, and a number. */
export function createItemIds(tail: string): (prefix: string) => string {
  let count = 0;
  return (prefix) => `${prefix}_${tail}${(count++).toString(16).padStart(4, '0')}`;
}
