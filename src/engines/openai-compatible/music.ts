/**
 * The music port: a request to `/music/generations` under the API's path, answered by lines of JSON while the songs are
 * made. The protocol is ours, because there is none that servers agree on: docs/guides/music-engines.md.
 */
import { GatewayError } from '../../lib/errors.ts';
import type { MusicPart, MusicPort, MusicRequest } from '../contract/music.ts';
import type { RenderContext } from '../contract/render.ts';
import type { Address } from './address.ts';
import { type CallParts, copied, EngineCall } from './call.ts';
import { failures } from './failures.ts';
import type { Fields } from './flavor.ts';
import { MusicReader } from './music-lines.ts';

export interface MusicParts extends Omit<CallParts, 'request'> {
  readonly address: Address;
  readonly headers: string[];
}

export function createMusicPort({ address, headers, ...parts }: MusicParts): MusicPort {
  const path = `${address.api}/music/generations`;
  return {
    async *render(request, context, signal) {
      signal.throwIfAborted();
      const body = JSON.stringify(toMusicBody(request));
      const call = new MusicCall(
        { ...parts, request: { method: 'POST', path, headers, body } },
        request,
        context,
      );
      const onAbort = () => call.stop(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        call.start();
        for (let part = await call.next(); part !== undefined; part = await call.next()) yield part;
      } finally {
        signal.removeEventListener('abort', onAbort);
        call.abort();
      }
    },
  };
}

export function toMusicBody(request: MusicRequest): Fields {
  const { model, prompt, lyrics, instrumental, durationSeconds, count, seed, sampleRate, channels } = request;
  return {
    model,
    prompt,
    ...given('lyrics', lyrics),
    instrumental,
    duration: durationSeconds,
    n: count,
    seed,
    ...given('negative_prompt', request.negativePrompt),
    ...given('temperature', request.temperature),
    ...given('top_p', request.topP),
    ...given('top_k', request.topK),
    ...given('guidance_scale', request.guidanceScale),
    ...given('num_inference_steps', request.steps),
    ...(request.references.length === 0
      ? {}
      : {
          input_references: request.references.map(({ bytes, mediaType }) => ({
            media_type: mediaType,
            data: bytes.toString('base64'),
          })),
        }),
    sample_rate: sampleRate,
    channels,
  };
}

function given(name: string, value: unknown): Fields {
  return value === undefined ? {} : { [name]: value };
}

/** Bytes of sound that may wait to be taken before the engine is held back. */
const mostWaiting = 1024 * 1024;

class MusicCall extends EngineCall {
  readonly #reader: MusicReader;
  readonly #waiting: MusicPart[] = [];
  #waitingBytes = 0;
  /** How it ended: with an error, or well. */
  #ended: { error?: unknown } | undefined;
  #isHeld = false;
  #wake: (() => void) | undefined;

  constructor(parts: CallParts, request: MusicRequest, context: RenderContext) {
    super(parts);
    this.#reader = new MusicReader(request, {
      part: (part) => this.#push(part),
      progress: (fraction) => context.progress(fraction),
    });
  }

  /** The next part, in the order in which they came; undefined at the end. */
  async next(): Promise<MusicPart | undefined> {
    for (;;) {
      const part = this.#waiting.shift();
      if (part !== undefined) {
        this.#waitingBytes -= part.samples.length;
        if (this.#isHeld && this.#waitingBytes <= mostWaiting / 2) this.#letGo();
        return part;
      }
      if (this.#ended !== undefined) {
        if ('error' in this.#ended) throw this.#ended.error;
        return undefined;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The caller wants no more, and says why: what still waits is not heard. */
  stop(reason: unknown): void {
    this.abort();
    this.#waiting.length = 0;
    this.#ended = { error: reason };
    this.#wake?.();
  }

  protected override take(buffer: Buffer, start: number, end: number): void {
    try {
      this.#reader.push(copied(buffer, start, end));
    } catch (error) {
      this.settleWith(error instanceof GatewayError ? error : failures.unreadable(error));
      return;
    }
    this.hasStarted = true;
    if (this.#reader.isDone) {
      this.settleWell();
      this.#finishWith({});
    } else if (this.dueAt !== Number.POSITIVE_INFINITY) {
      // Any line is a sign of life, an empty one too: a song may be thought about for a while.
      this.dueAt = this.parts.wheel.after(this.parts.idleTimeoutMs);
    }
  }

  protected override finish(): void {
    this.settleWith(failures.unfinished());
  }

  protected override lose(error: GatewayError): void {
    this.settleWith(error);
  }

  protected override fail(error: GatewayError): void {
    this.#finishWith({ error });
  }

  #push(part: MusicPart): void {
    this.#waiting.push(part);
    this.#waitingBytes += part.samples.length;
    if (this.#waitingBytes > mostWaiting && !this.#isHeld) {
      this.#isHeld = true;
      this.pause();
    }
    this.#wake?.();
  }

  #letGo(): void {
    this.#isHeld = false;
    if (!this.isSettled) this.resume();
  }

  #finishWith(ended: { error?: unknown }): void {
    this.#ended ??= ended;
    this.#wake?.();
  }
}
