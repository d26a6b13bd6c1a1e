/** `/audio/speech`: a text as sound; `/audio/voices`: the voices of a speech model. */
import { Readable } from 'node:stream';
import { toOperation } from '../../http/operation.ts';
import { EventReply, Reply, type ServerEvent } from '../../http/reply.ts';
import { defineRoute } from '../../http/route.ts';
import { maxClipBytes } from './clip.ts';
import { toVoiceList } from './entry.ts';
import { contentTypes, toDelta, toDone, toFailure, usageHeaders } from './render.ts';
import { SpeechBody, VoiceList, VoicesQuery } from './schema.ts';
import { type SpeechBill, speakStreamed, speakWhole } from './speak.ts';
import { toAskedSpeech } from './translate.ts';

/** The largest clip in base64, and everything around it. */
const maxBodyBytes = Math.ceil(maxClipBytes / 3) * 4 + 1024 * 1024;

export const createSpeech = defineRoute({
  method: 'POST',
  path: '/audio/speech',
  access: 'key',
  summary: 'Speak a text',
  tag: 'Speech',
  body: SpeechBody,
  maxBodyBytes,
  failures: ['not_found', 'too_large', 'rate_limited', 'unreachable', 'overloaded', 'timeout'],
  media: ['audio/mpeg', 'audio/ogg', 'audio/flac', 'audio/wav', 'audio/pcm', 'text/event-stream'],
  generation: true,
  async handle(call, platform) {
    const { body } = call;
    const { model } = platform.catalog.resolve('speech', body.model);
    const asked = toAskedSpeech(body, model);
    const operation = toOperation(call, 'speech');
    const speakAll = () => speakWhole(platform, operation, model, asked);
    const { format } = asked;
    if (asked.isEvents) {
      const sound = asked.isStreamed ? speakStreamed(platform, operation, model, asked) : oneDelta(speakAll);
      const events = toEvents(sound, (pcm) => toDelta(pcm, format), body.input);
      return new EventReply(events, (error) => [toFailure(error, call.id)]);
    }
    const headers = { 'content-type': contentTypes[format] };
    if (asked.isStreamed) {
      const sound = speakStreamed(platform, operation, model, asked);
      // Awaited before the status goes out, so that an early failure has its own.
      const first = await sound.next();
      return new Reply(Readable.from(resume(first, sound), { objectMode: false, highWaterMark: 0 }), {
        headers: { ...headers, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
      });
    }
    const { bytes, ...bill } = await speakAll();
    return new Reply(bytes, { headers: { ...headers, ...usageHeaders(bill) } });
  },
});

async function* oneDelta(
  speak: () => Promise<SpeechBill & { bytes: Buffer }>,
): AsyncGenerator<Buffer, SpeechBill> {
  const { bytes, ...bill } = await speak();
  yield bytes;
  return bill;
}

async function* toEvents(
  sound: AsyncGenerator<Buffer, SpeechBill>,
  render: (pcm: Buffer) => ServerEvent,
  input: string,
): AsyncGenerator<ServerEvent> {
  for (let next = await sound.next(); ; next = await sound.next()) {
    if (next.done === true) {
      yield toDone(input, next.value);
      return;
    }
    yield render(next.value);
  }
}

async function* resume(
  first: IteratorResult<Buffer, SpeechBill>,
  rest: AsyncGenerator<Buffer, SpeechBill>,
): AsyncGenerator<Buffer> {
  for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
}

export const listVoices = defineRoute({
  method: 'GET',
  path: '/audio/voices',
  access: 'key',
  summary: 'List the voices of a speech model',
  tag: 'Speech',
  query: VoicesQuery,
  response: VoiceList,
  failures: ['not_found', 'unreachable', 'overloaded'],
  // `?model=` with nothing behind it names no model.
  handle: ({ query }, { catalog }) => toVoiceList(catalog.resolve('speech', query.model || undefined).model),
});
