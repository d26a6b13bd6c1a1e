/**
 * What a turn brought, as it is kept and listed: made anew of the fields that we know, so that nothing is kept which
 * a later turn cannot read, or which nobody ever reads. Pure.
 */
import type { StoredItem } from '../../platform/responses/types.ts';
import type { TurnItem } from './earlier.ts';
import type { Message, Part, SaidItem } from './schema.ts';

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
export function toStoredInput(
  { item, isStored }: TurnItem,
  createId: (prefix: string) => string,
): StoredItem {
  const type = item.type ?? 'message';
  const id = createId(prefixes[type]);
  return { id, json: JSON.stringify({ ...(isStored ? item : toKnown(item)), id, type }) };
}

function toKnown(item: SaidItem): object {
  switch (item.type) {
    case 'function_call':
      return { call_id: item.call_id, name: item.name, arguments: item.arguments };
    case 'function_call_output': {
      const { call_id, output } = item;
      return { call_id, output: typeof output === 'string' ? output : output.map(toKnownPart) };
    }
    case 'reasoning':
      // A client's own never gets here: see `toTurn`.
      return {};
    default:
      return { status: 'completed', role: item.role, content: toParts(item) };
  }
}

/** A bare text is listed as a part, as OpenAI lists it. */
function toParts({ role, content }: Message): object[] {
  if (typeof content !== 'string') return content.map(toKnownPart);
  return [toKnownPart({ type: role === 'assistant' ? 'output_text' : 'input_text', text: content })];
}

/** What is null is left out. */
function toKnownPart(part: Part): object {
  const { type } = part;
  switch (type) {
    case 'input_text':
      return { type, text: part.text };
    case 'output_text':
      return { type, text: part.text, annotations: [], logprobs: [] };
    case 'refusal':
      return { type, refusal: part.refusal };
    case 'input_image':
      return { type, image_url: part.image_url ?? undefined, detail: part.detail ?? undefined };
    case 'input_file':
      return {
        type,
        filename: part.filename ?? undefined,
        file_data: part.file_data ?? undefined,
        file_url: part.file_url ?? undefined,
      };
    case 'input_audio': {
      const { data, format } = part.input_audio;
      return { type, input_audio: { data, format } };
    }
    case 'input_video':
      return { type, video_url: part.video_url };
  }
}
