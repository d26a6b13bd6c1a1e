/**
 * Speech by the models that the gateway runs itself. A text is spoken piece by piece, each one a task of its own:
 * the first sound leaves early, a slow reader or one that leaves holds nothing up, and requests take turns.
 */
import { GatewayError, refusal } from '../../../lib/errors.ts';
import type { SpeechPort, SpeechRequest, SpeechRun, SpeechSink } from '../../contract/speech.ts';
import type { ModelFiles, ModelHost } from '../host/types.ts';
import { toPieces } from './pieces.ts';
import type { SpeakInput } from './types.ts';

export interface SpeechPortParts {
  /** The process that runs a model. */
  hostOf(model: ModelFiles): ModelHost;
  /** The files of the model that a request names. */
  resolve(model: string): Promise<ModelFiles>;
}

export function createSpeechPort(parts: SpeechPortParts): SpeechPort {
  return {
    speak(request, sink) {
      const run = new SpokenText(parts, request, sink);
      void run.start();
      return run;
    },
  };
}

class SpokenText implements SpeechRun {
  readonly #parts: SpeechPortParts;
  readonly #request: SpeechRequest;
  readonly #sink: SpeechSink;
  readonly #aborter = new AbortController();
  /** Resolved when the reader wants more. */
  #paused: PromiseWithResolvers<void> | undefined;

  constructor(parts: SpeechPortParts, request: SpeechRequest, sink: SpeechSink) {
    this.#parts = parts;
    this.#request = request;
    this.#sink = sink;
  }

  async start(): Promise<void> {
    const { signal } = this.#aborter;
    try {
      await this.#speak(signal);
    } catch (thrown) {
      if (signal.aborted) return;
      const error = thrown instanceof GatewayError ? thrown : failed(thrown);
      this.#sink.fail(error);
      return;
    }
    if (!signal.aborted) this.#sink.end();
  }

  abort(): void {
    this.#aborter.abort();
    this.resume();
  }

  pause(): void {
    this.#paused ??= Promise.withResolvers();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  async #speak(signal: AbortSignal): Promise<void> {
    const { model, input, isStreamed = false } = this.#request;
    const files = await this.#parts.resolve(model);
    const voice = toVoice(this.#request);
    const host = this.#parts.hostOf(files);
    let hasSpoken = false;
    for (const { text, ending } of toPieces(input, { isEarly: isStreamed })) {
      await this.#paused?.promise;
      signal.throwIfAborted();
      const said: SpeakInput = { text, voice, ending };
      const samples = await host.run<Int16Array>(
        { model: files, kind: 'speak', input: said, isContinued: hasSpoken },
        signal,
      );
      if (samples.length === 0) continue;
      hasSpoken = true;
      // What came from the process is this reader's alone.
      this.#sink.audio(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
    }
    if (!hasSpoken) throw refusal('input', 'has nothing in it that this model can say');
  }
}

function toVoice({ voice, language = 'en' }: SpeechRequest): string {
  if (voice.type !== 'builtin') throw refusal('voice', 'must be one of the voices of this model');
  if (!/^en(?:$|[-_ ]|glish)/i.test(language))
    throw refusal('language', 'must be English: this model speaks no other');
  return voice.id;
}

function failed(cause: unknown): GatewayError {
  return new GatewayError('internal', 'The embedded engine failed', { cause });
}
