/** The events of a kept response, once more: its texts come in one delta each. Not on the hot path, so in plain JSON. */
import type { ServerEvent } from '../../http/reply.ts';
import type { OutputItem, ResponseObject } from './answer-schema.ts';

type Fields = Readonly<Record<string, unknown>>;
type Event = readonly [type: string, fields: Fields];

/** Those whose sequence number is above `after`. */
export async function* replay(response: ResponseObject, after = -1): AsyncGenerator<ServerEvent> {
  let sequence = 0;
  for (const [type, fields] of toEvents(response)) {
    const number = sequence++;
    if (number > after) yield { event: type, data: { type, sequence_number: number, ...fields } };
  }
}

function* toEvents(response: ResponseObject): Generator<Event> {
  const begun = { ...response, status: 'in_progress', completed_at: null, incomplete_details: null };
  const before = { response: { ...begun, output: [], usage: null } };
  yield ['response.created', before];
  yield ['response.in_progress', before];
  for (const [index, item] of response.output.entries()) {
    yield ['response.output_item.added', { output_index: index, item: toEmpty(item) }];
    const place = { item_id: item.id, output_index: index };
    if (item.type === 'message') yield* messageEvents(item, place);
    else if (item.type === 'reasoning') yield* reasoningEvents(item, place);
    else yield* callEvents(item, place);
    yield ['response.output_item.done', { output_index: index, item }];
  }
  yield [`response.${response.status}`, { response }];
}

function toEmpty(item: OutputItem): Fields {
  const status = 'in_progress';
  if (item.type === 'message') return { ...item, status, content: [] };
  if (item.type === 'reasoning') return { ...item, status, summary: [], content: [] };
  return { ...item, status, arguments: '' };
}

function* messageEvents(item: Extract<OutputItem, { type: 'message' }>, place: Fields): Generator<Event> {
  for (const [index, part] of item.content.entries()) {
    const at = { ...place, content_index: index };
    const { text, logprobs } = part;
    yield ['response.content_part.added', { ...at, part: { ...part, text: '', logprobs: [] } }];
    yield ['response.output_text.delta', { ...at, delta: text, logprobs }];
    yield ['response.output_text.done', { ...at, text, logprobs }];
    yield ['response.content_part.done', { ...at, part }];
  }
}

function* reasoningEvents(item: Extract<OutputItem, { type: 'reasoning' }>, place: Fields): Generator<Event> {
  for (const [index, part] of item.content.entries()) {
    const at = { ...place, content_index: index };
    yield ['response.content_part.added', { ...at, part: { ...part, text: '' } }];
    yield ['response.reasoning_text.delta', { ...at, delta: part.text }];
    yield ['response.reasoning_text.done', { ...at, text: part.text }];
    yield ['response.content_part.done', { ...at, part }];
  }
  for (const [index, part] of item.summary.entries()) {
    const at = { ...place, summary_index: index };
    yield ['response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } }];
    yield ['response.reasoning_summary_text.delta', { ...at, delta: part.text }];
    yield ['response.reasoning_summary_text.done', { ...at, text: part.text }];
    yield ['response.reasoning_summary_part.done', { ...at, part }];
  }
}

function* callEvents(item: Extract<OutputItem, { type: 'function_call' }>, place: Fields): Generator<Event> {
  const { name, arguments: text } = item;
  yield ['response.function_call_arguments.delta', { ...place, delta: text }];
  yield ['response.function_call_arguments.done', { ...place, name, arguments: text }];
}
