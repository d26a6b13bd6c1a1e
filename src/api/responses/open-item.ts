/** The three kinds of items of an answer, and the events around their deltas. Everything is JSON in bytes. */
import { flat, type JsonBytes } from '../../engines/contract/json-bytes.ts';
import {
  type ItemStatus,
  json,
  toCallItem,
  toCallName,
  toMessageItem,
  toReasoningItem,
  toReasoningPart,
  toTextPart,
} from './render.ts';

/** The type, and the fields that follow it. */
export type ItemEvent = readonly [type: string, fields: string];

/** An item that is being written. */
export interface OpenItem {
  readonly id: string;
  /** Its place in the output. */
  readonly index: number;
  /** A delta event up to its sequence number: a piece goes in behind it. */
  readonly deltaHead: string;
  /** All its text so far. A list is cheaper than a string that grows by a piece, and joined once. */
  readonly pieces: JsonBytes[];
  /** The inside of a JSON array. */
  logprobs: string;
  /** The item before it has any text. */
  readonly empty: string;
  /** Between `output_item.added` and the first delta. */
  readonly opening: readonly ItemEvent[];
  /** Between the last delta and `output_item.done`. */
  closing(text: JsonBytes): readonly ItemEvent[];
  /** The item with its text. */
  render(status: ItemStatus, text: JsonBytes): string;
}

const noText = '' as JsonBytes;

export function openMessage(id: string, index: number): OpenItem {
  const at = `"item_id":"${id}","output_index":${index},"content_index":0`;
  return {
    id,
    index,
    deltaHead: toDeltaHead('response.output_text.delta', at),
    pieces: [],
    logprobs: '',
    empty: toMessageItem(id, 'in_progress', ''),
    opening: [['response.content_part.added', `${at},"part":${toTextPart(noText, '')}`]],
    closing(text) {
      return [
        ['response.output_text.done', `${at},"text":"${text}","logprobs":[${this.logprobs}]`],
        ['response.content_part.done', `${at},"part":${toTextPart(text, this.logprobs)}`],
      ];
    },
    render(status, text) {
      return toMessageItem(id, status, toTextPart(text, this.logprobs));
    },
  };
}

/** The same thoughts have other names where they are told as a summary. */
const reasoningEvents = {
  text: {
    place: 'content_index',
    added: 'response.content_part.added',
    delta: 'response.reasoning_text.delta',
    done: 'response.reasoning_text.done',
    partDone: 'response.content_part.done',
  },
  summary: {
    place: 'summary_index',
    added: 'response.reasoning_summary_part.added',
    delta: 'response.reasoning_summary_text.delta',
    done: 'response.reasoning_summary_text.done',
    partDone: 'response.reasoning_summary_part.done',
  },
} as const;

export function openReasoning(id: string, index: number, isSummary: boolean): OpenItem {
  const names = reasoningEvents[isSummary ? 'summary' : 'text'];
  const at = `"item_id":"${id}","output_index":${index},"${names.place}":0`;
  return {
    id,
    index,
    deltaHead: toDeltaHead(names.delta, at),
    pieces: [],
    logprobs: '',
    empty: toReasoningItem(id, 'in_progress', '', isSummary),
    opening: [[names.added, `${at},"part":${toReasoningPart(noText, isSummary)}`]],
    closing: (text) => [
      [names.done, `${at},"text":"${text}"`],
      [names.partDone, `${at},"part":${toReasoningPart(text, isSummary)}`],
    ],
    render: (status, text) => toReasoningItem(id, status, toReasoningPart(text, isSummary), isSummary),
  };
}

export function openCall(id: string, index: number, callId: string, name: string): OpenItem {
  const at = `"item_id":"${id}","output_index":${index}`;
  const call = toCallName(callId, name);
  return {
    id,
    index,
    deltaHead: toDeltaHead('response.function_call_arguments.delta', at),
    pieces: [],
    logprobs: '',
    empty: toCallItem(id, 'in_progress', call, noText),
    opening: [],
    closing: (text) => [
      ['response.function_call_arguments.done', `${at},"name":${json(name)},"arguments":"${text}"`],
    ],
    render: (status, text) => toCallItem(id, status, call, text),
  };
}

export function textOf({ pieces }: OpenItem): JsonBytes {
  return pieces.join('') as JsonBytes;
}

function toDeltaHead(type: string, at: string): string {
  return flat(`event: ${type}\ndata: {"type":"${type}",${at},"sequence_number":`);
}
