/**
 * The speech port: a text to raw samples, which are handed on as they come. Asked for are 16 bit at 24 kHz; a server
 * that sends a WAV file with just that is understood too, anything else is refused rather than played too fast.
 */
import { GatewayError } from '../../lib/errors.ts';
import type { ResponseHead } from '../../lib/http1/client/response-head.ts';
import {
  type SpeechPort,
  type SpeechRequest,
  type SpeechSink,
  speechSampleRate,
} from '../contract/speech.ts';
import type { Address } from './address.ts';
import { type CallParts, copied, EngineCall } from './call.ts';
import { failures } from './failures.ts';
import type { Fields, SpeechQuirks } from './flavor.ts';
import { WavHead } from './wav-head.ts';

export interface SpeechParts extends Omit<CallParts, 'request'> {
  readonly address: Address;
  readonly headers: string[];
  readonly quirks: SpeechQuirks;
}

export function createSpeechPort({ address, headers, quirks, ...parts }: SpeechParts): SpeechPort {
  const path = `${address.api}/audio/speech`;
  return {
    speak(request, sink) {
      if (request.voice.type !== 'builtin' && !quirks.makesVoices) return refuse(request, sink);
      const body = JSON.stringify(toSpeechBody(request, quirks));
      return new SpeechCall({ ...parts, request: { method: 'POST', path, headers, body } }, sink).start();
    },
  };
}

export function toSpeechBody(request: SpeechRequest, quirks: SpeechQuirks): Fields {
  const { model, input, voice, instructions } = request;
  return {
    model,
    input,
    ...(voice.type === 'builtin' ? { voice: voice.id } : {}),
    response_format: 'pcm',
    ...(instructions === undefined ? {} : { instructions }),
    ...quirks.fields(request),
  };
}

/** After the caller has its handle. */
function refuse({ voice }: SpeechRequest, sink: SpeechSink) {
  let isAborted = false;
  const message = `voice must not be ${voice.type}: the engine of this model makes no voices`;
  const error = new GatewayError('invalid_request', message, { param: 'voice' });
  process.nextTick(() => isAborted || sink.fail(error));
  const abort = () => {
    isAborted = true;
  };
  return { abort, pause() {}, resume() {} };
}

class SpeechCall extends EngineCall {
  readonly #sink: SpeechSink;
  readonly #head = new WavHead();
  /** Half a sample, until its other half comes. */
  #odd: Buffer | undefined;
  #hasSound = false;

  constructor(parts: CallParts, sink: SpeechSink) {
    super(parts);
    this.#sink = sink;
  }

  override onHead(head: ResponseHead): void {
    super.onHead(head);
    const type = (head.get('content-type') ?? '').toLowerCase();
    const rate = /rate=(\d+)/.exec(type)?.[1];
    const isSound = !/^(?:text\/|application\/json)/.test(type);
    if (head.status === 200 && (!isSound || (rate !== undefined && Number(rate) !== speechSampleRate)))
      this.settleWith(failures.soundless(new Error(`the answer is ${type}`)));
  }

  override pause(): void {
    if (!this.isSettled) super.pause();
  }

  protected override take(buffer: Buffer, start: number, end: number): void {
    this.hasStarted = true;
    if (this.dueAt !== Number.POSITIVE_INFINITY)
      this.dueAt = this.parts.wheel.after(this.parts.idleTimeoutMs);
    let bytes: Buffer;
    try {
      bytes = this.#head.strip(copied(buffer, start, end));
    } catch (error) {
      this.settleWith(failures.soundless(error));
      return;
    }
    this.#hand(bytes);
  }

  #hand(bytes: Buffer): void {
    const whole = this.#odd === undefined ? bytes : Buffer.concat([this.#odd, bytes]);
    const length = whole.length - (whole.length % 2);
    this.#odd = length < whole.length ? whole.subarray(length) : undefined;
    if (length === 0) return;
    this.#hasSound = true;
    this.#sink.audio(whole.subarray(0, length));
  }

  protected override finish(): void {
    this.#hand(this.#head.rest());
    this.isSettled = true;
    if (this.#hasSound) this.#sink.end();
    else this.#sink.fail(failures.soundless(new Error('the answer is empty')));
  }

  protected override lose(error: GatewayError): void {
    this.settleWith(error);
  }

  protected override fail(error: GatewayError): void {
    this.#sink.fail(error);
  }
}
