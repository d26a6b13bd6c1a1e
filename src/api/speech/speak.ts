/** One text spoken: admitted, asked of an engine, billed by the seconds that were made, whole or as they come. */
import assert from 'node:assert';
import { type SpeechRun, type SpeechVoice, speechSampleRate } from '../../engines/contract/speech.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { SpeechModel } from '../../platform/catalog/index.ts';
import type { Platform } from '../../platform/index.ts';
import type { Operation, Session } from '../../platform/inference/types.ts';
import { toEngineVoice } from './clip.ts';
import { SoundPieces } from './pieces.ts';
import type { AskedSpeech } from './translate.ts';

export interface SpeechBill {
  /** Of the sound before its speed was changed, rounded up. */
  readonly seconds: number;
  readonly costPicoUsd: bigint;
}

export interface WholeSpeech extends SpeechBill {
  readonly bytes: Buffer;
}

type SpeechPlatform = Pick<Platform, 'inference' | 'media'>;

const bytesPerSecond = 2 * speechSampleRate;

/** In the format and at the speed that were asked for. Nothing is billed unless all of it is there. */
export function speakWhole(
  { inference, media }: SpeechPlatform,
  operation: Operation,
  model: SpeechModel,
  asked: AskedSpeech,
): Promise<WholeSpeech> {
  return inference.session(
    operation,
    model,
    async (session) => {
      const voice = await toEngineVoice(asked.voice, media, session.signal);
      const pieces = await session.call((engine, signal) => {
        const heard: Buffer[] = [];
        return listen(engine.speech, asked, voice, signal, (pcm) => heard.push(pcm)).then(() => heard);
      });
      const pcm = Buffer.concat(pieces);
      const seconds = toSeconds(pcm.length);
      const bytes = await shape(pcm, asked, media, session.signal);
      const costPicoUsd = await session.bill({ quantities: { seconds }, outcome: 'stop' });
      return { bytes, seconds, costPicoUsd };
    },
    { streamed: asked.isEvents },
  );
}

/** As it is made. What reached the client is billed, also when the rest did not come. */
export async function* speakStreamed(
  { inference, media }: SpeechPlatform,
  operation: Operation,
  model: SpeechModel,
  asked: AskedSpeech,
): AsyncGenerator<Buffer, SpeechBill> {
  const pieces = new SoundPieces<SpeechBill>();
  const work = async (session: Session): Promise<SpeechBill> => {
    const voice = await toEngineVoice(asked.voice, media, session.signal);
    let length = 0;
    const hear = (pcm: Buffer) => {
      length += pcm.length;
      session.delivered({ seconds: toSeconds(length) });
      pieces.push(pcm);
    };
    await session.call((engine, signal) =>
      listen(engine.speech, asked, voice, signal, hear, (run) => pieces.follow(run)),
    );
    const seconds = toSeconds(length);
    return { seconds, costPicoUsd: await session.bill({ quantities: { seconds }, outcome: 'stop' }) };
  };
  inference.session(operation, model, work, { streamed: true }).then(
    (bill) => pieces.end(bill),
    (error: unknown) => pieces.fail(error),
  );
  return yield* pieces.take();
}

/** Resolves when all of it was heard. */
function listen(
  port: Parameters<Parameters<Session['call']>[0]>[0]['speech'],
  { request }: AskedSpeech,
  voice: SpeechVoice,
  signal: AbortSignal,
  hear: (pcm: Buffer) => void,
  begun?: (run: SpeechRun) => void,
): Promise<void> {
  assert(port !== undefined, 'the catalogue gives speech models only engines that have the port');
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let isHeard = false;
    const leave = () => {
      run.abort();
      reject(signal.reason);
    };
    const over = () => signal.removeEventListener('abort', leave);
    const run = port.speak(
      { ...request, voice },
      {
        audio(pcm) {
          isHeard ||= pcm.length > 0;
          hear(pcm);
        },
        end() {
          over();
          if (isHeard) resolve();
          else reject(new GatewayError('unreachable', 'The engine made no sound'));
        },
        fail(error) {
          over();
          reject(error);
        },
      },
    );
    begun?.(run);
    signal.addEventListener('abort', leave, { once: true });
  });
}

async function shape(
  pcm: Buffer,
  { format, speed }: AskedSpeech,
  media: SpeechPlatform['media'],
  signal: AbortSignal,
): Promise<Buffer> {
  if (format === 'pcm' && speed === 1) return pcm;
  // Two bytes a sample, which must begin at an even place.
  const samples = new Int16Array(new Uint8Array(pcm).buffer, 0, Math.floor(pcm.length / 2));
  if (format !== 'pcm') return media.encode(samples, { format, sampleRate: speechSampleRate, speed }, signal);
  const stretched = await media.stretch(samples, speechSampleRate, speed, signal);
  return Buffer.from(stretched.buffer, stretched.byteOffset, stretched.byteLength);
}

function toSeconds(bytes: number): number {
  return Math.ceil(bytes / bytesPerSecond);
}
