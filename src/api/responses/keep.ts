/** Finishes a response: keeps it where that was not declined, and says of it whether it was. */
import { fromBytes } from '../../engines/contract/json-bytes.ts';
import type { Log } from '../../lib/log.ts';
import type { Responses, StoredItem, StoredResponse } from '../../platform/responses/types.ts';
import { type Earlier, toTurn } from './earlier.ts';
import { type Around, type Frame, fill, type Progress, toAround, toResponse } from './render.ts';
import type { ResponsesBody } from './schema.ts';
import { toStoredInput } from './stored-input.ts';

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

/** What is kept of one response at most, its items and its object together. */
const maxStoredChars = 16 * 1024 * 1024;

/**
 * The final object, in bytes. An answer that cannot be kept is answered all the same: it was made and is billed,
 * and a client that retried would pay again for the same failure. Its `store` is false then, so it promises
 * nothing: whoever goes on from it gets the 400 of an unknown response and sends the conversation again.
 *
 * So it is with one that is too large to be kept, rather than a 400 before it is made: `store` is true unless a
 * client says otherwise, and one that sends large documents and never reads the store must not need to know of it.
 */
export function finishResponse(keeping: Keeping, progress: Progress): string | Promise<string> {
  const { body, frame, responses, log } = keeping;
  if (body.store === false) return toResponse(frame, progress, false);
  const around = toAround(frame, progress, true);
  const stored = toStored(keeping, progress, around);
  if (stored === undefined) {
    log.info({ response: frame.id }, 'a response was too large to be kept');
    return toResponse(frame, progress, false);
  }
  const saving = responses.save(stored);
  if (saving === undefined) return fill(around, progress.output);
  return saving.then(
    () => fill(around, progress.output),
    (error: unknown) => {
      log.error({ err: error, response: frame.id }, 'a response could not be kept');
      return toResponse(frame, progress, false);
    },
  );
}

/** Undefined when it is too large; no more of it than fits is written. */
function toStored(keeping: Keeping, progress: Progress, around: Around): StoredResponse | undefined {
  const { frame, subscriptionId, createdAt, body, earlier, createId } = keeping;
  const before = fromBytes(around.before);
  const after = fromBytes(around.after);
  const output = progress.output.map(({ id, bytes }) => ({ id, json: fromBytes(bytes) }));
  const input: StoredItem[] = [];
  let chars = output.reduce((sum, item) => sum + item.json.length, before.length + after.length);
  for (const one of toTurn(body, earlier().items)) {
    if (chars > maxStoredChars) break;
    const item = toStoredInput(one, createId);
    chars += item.json.length;
    input.push(item);
  }
  if (chars > maxStoredChars) return undefined;
  const previousId = body.previous_response_id ?? undefined;
  return { id: frame.id, subscriptionId, createdAt, previousId, before, after, input, output };
}
