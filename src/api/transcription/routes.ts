/** `/audio/transcriptions`: speech to text, whole or as it is heard. */
import assert from 'node:assert';
import { transcriptionSampleRate } from '../../engines/contract/transcription.ts';
import { toGatewayError } from '../../http/errors.ts';
import { toOperation } from '../../http/operation.ts';
import { Reply, type StreamOut, StreamReply } from '../../http/reply.ts';
import { defineRoute } from '../../http/route.ts';
import type { TranscriptionModel } from '../../platform/catalog/index.ts';
import type { Platform } from '../../platform/index.ts';
import type { Operation, Session } from '../../platform/inference/types.ts';
import { type Recording, type Transcript, transcribe } from '../../platform/transcripts/index.ts';
import { toDelta, toDone, toFailure, toSeconds, toTranscription } from './render.ts';
import {
  maxAudioBytes,
  maxAudioSeconds,
  Transcription,
  TranscriptionBody,
  TranscriptionFields,
} from './schema.ts';
import { refuseTimestamps, type Sound, toLanguage, toSound } from './translate.ts';

export const createTranscription = defineRoute({
  method: 'POST',
  path: '/audio/transcriptions',
  access: 'key',
  summary: 'Turn speech into text, whole or as an event stream',
  tag: 'Audio',
  body: TranscriptionBody,
  multipart: {
    fields: TranscriptionFields,
    files: { file: { maxCount: 1, maxBytes: maxAudioBytes, required: true } },
  },
  // In base64 the audio is a third longer, and something stands around it.
  maxBodyBytes: 40e6,
  response: Transcription,
  media: ['text/plain', 'text/event-stream'],
  failures: ['not_found', 'too_large', 'rate_limited', 'unreachable', 'overloaded', 'timeout'],
  generation: true,
  async handle(call, platform) {
    const { body, uploads } = call;
    refuseTimestamps(body);
    const { model } = platform.catalog.resolve('transcription', body.model);
    const wanted: Wanted = {
      model,
      sound: toSound(body, await uploads[0]?.content.toBuffer()),
      language: toLanguage(body, model),
      guidance: body.prompt ?? undefined,
      temperature: body.temperature ?? undefined,
    };
    const operation = toOperation(call, 'transcription');
    if (body.stream === true) return new StreamReply((out) => stream(platform, operation, wanted, out));

    const { transcript, costPicoUsd } = await platform.inference.session(
      operation,
      model,
      async (session) => {
        const heard = await listen(platform, session, wanted, false);
        return { transcript: heard, costPicoUsd: await session.bill(toSettlement(heard)) };
      },
      { streamed: false },
    );
    if (body.response_format !== 'text') return toTranscription(transcript, costPicoUsd);
    return new Reply(transcript.text, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
  },
});

interface Wanted {
  readonly model: TranscriptionModel;
  readonly sound: Sound;
  readonly language: string | undefined;
  readonly guidance: string | undefined;
  readonly temperature: number | undefined;
}

async function stream(
  platform: Platform,
  operation: Operation,
  wanted: Wanted,
  out: StreamOut,
): Promise<void> {
  try {
    await platform.inference.session(
      operation,
      wanted.model,
      async (session) => {
        const transcript = await listen(platform, session, wanted, true, (addition, seconds) => {
          out.write(toDelta(addition));
          session.delivered({ seconds: toSeconds(seconds) });
        });
        // The stream is not over for the client before its row is safe.
        out.end(toDone(transcript, await session.bill(toSettlement(transcript))));
      },
      { streamed: true },
    );
  } catch (thrown) {
    if (!out.isStarted || operation.signal.aborted) throw thrown;
    out.end(toFailure(toGatewayError(thrown)));
  }
}

/** Decodes what was sent and has it heard, as far as both go. */
function listen(
  { media }: Platform,
  session: Session,
  { model, sound, language, guidance, temperature }: Wanted,
  isStreamed: boolean,
  onText?: (addition: string, seconds: number) => void,
): Promise<Transcript> {
  const { bytes, param } = sound;
  const options = { sampleRate: transcriptionSampleRate, maxSeconds: maxAudioSeconds, param };
  const recording: Recording = {
    audio: media.decode(bytes, options, session.signal),
    isStreamed,
    ...(language === undefined ? {} : { language }),
    ...(guidance === undefined ? {} : { guidance }),
  };
  const told = {
    model: model.engineModel,
    ...(temperature === undefined ? {} : { temperature }),
    ...(model.script === undefined ? {} : { script: model.script }),
  };
  return transcribe(recording, {
    hear: (stretch) =>
      session.call(({ transcription }, signal) => {
        assert(transcription !== undefined, 'the catalogue gives the models only engines that have the port');
        return transcription.transcribe({ ...told, ...stretch }, signal);
      }),
    ...(onText === undefined ? {} : { onText }),
  });
}

function toSettlement({ seconds }: Transcript) {
  return { quantities: { seconds: toSeconds(seconds) }, outcome: 'stop' };
}
