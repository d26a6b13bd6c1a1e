/**
 * The sandbox's speech port: a tone for every syllable, in the range of the voice. The same request sounds the same
 * every time. For a script, a word is a token.
 */
import { GatewayError } from '../../lib/errors.ts';
import {
  type SpeechPort,
  type SpeechRequest,
  type SpeechRun,
  type SpeechSink,
  speechSampleRate,
} from '../contract/speech.ts';
import { createBreath } from './breath.ts';
import { systemTimers, type Timers } from './script.ts';
import { createScripts } from './scripts.ts';
import { createRandom, toSeed } from './seed.ts';

const syllableSeconds = 0.16;
const wordGapSeconds = 0.06;
const sentenceGapSeconds = 0.3;
/** Of full scale: as loud as speech usually is. */
const loudness = 0.3;
const edgeSeconds = 0.01;

export function createSandboxSpeech(timers: Timers = systemTimers): SpeechPort {
  const scriptOf = createScripts(timers);

  async function speak(request: SpeechRequest, run: ToneRun, sink: SpeechSink): Promise<void> {
    const { signal } = run;
    const { input, voice, instructions, language, seed } = request;
    const own = toSeed([voice, instructions, language, seed]);
    const pace = await scriptOf(request).begin(toSeed([request.model, input, String(own)]), signal);
    const breathe = createBreath(signal);
    const lowest = 90 + createRandom(own).below(220);
    for (const [index, word] of toWords(input).entries()) {
      await pace.token(index);
      await run.resumed();
      await breathe();
      signal.throwIfAborted();
      sink.audio(toTones(word, lowest, own));
    }
  }

  return {
    speak(request, sink) {
      const run = new ToneRun();
      speak(request, run, sink).then(
        () => run.signal.aborted || sink.end(),
        (error: unknown) => {
          if (run.signal.aborted) return;
          sink.fail(
            error instanceof GatewayError
              ? error
              : new GatewayError('internal', 'The sandbox failed', { cause: error }),
          );
        },
      );
      return run;
    },
  };
}

class ToneRun implements SpeechRun {
  readonly #aborter = new AbortController();
  #paused: PromiseWithResolvers<void> | undefined;

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  resumed(): Promise<void> | undefined {
    return this.#paused?.promise;
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
}

/** What has no letters is a pause at least: no text is silence altogether. */
function toWords(input: string): string[] {
  return input.trim().split(/\s+/);
}

function toTones(word: string, lowest: number, own: bigint): Buffer {
  const random = createRandom(toSeed([word.toLowerCase(), String(own)]));
  const syllables = word.match(/[aeiouyäöüáéíóúàèìòùâêîôû]+/giu)?.length ?? 1;
  const gap = /[.!?…。！？]["')\]]*$/.test(word) ? sentenceGapSeconds : wordGapSeconds;
  const samples = new Int16Array(Math.round((syllables * syllableSeconds + gap) * speechSampleRate));
  for (let syllable = 0; syllable < syllables; syllable++) {
    // A step of a scale of twelve: what people sing in.
    const frequency = lowest * 2 ** (random.below(12) / 12);
    addTone(samples, syllable * syllableSeconds, frequency);
  }
  return Buffer.from(samples.buffer);
}

function addTone(samples: Int16Array, startSeconds: number, frequency: number): void {
  const start = Math.round(startSeconds * speechSampleRate);
  const length = Math.round(syllableSeconds * speechSampleRate);
  const edge = edgeSeconds * speechSampleRate;
  const turn = (2 * Math.PI * frequency) / speechSampleRate;
  for (let i = 0; i < length && start + i < samples.length; i++) {
    // Without the soft edges every tone would click.
    const envelope = Math.min(1, i / edge, (length - i) / edge);
    samples[start + i] = Math.round(32_767 * loudness * envelope * Math.sin(turn * i));
  }
}
