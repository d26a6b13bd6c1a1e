/**
 * Kokoro in memory: a text of up to a sentence to sound in one go. The model has no memory between two pieces, so
 * pieces of several requests take turns.
 */
import assert from 'node:assert';
import { readFile } from 'node:fs/promises';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { GatewayError } from '../../../lib/errors.ts';
import type { LoadedModel, ModelFiles, Runtime } from '../host/types.ts';
import { hasOnlyNumbers, toInt16, trimSilence } from '../speech/sound.ts';
import type { SpeakInput } from '../speech/types.ts';
import { createGuess } from './guess.ts';
import { mendModel } from './mend.ts';
import { normalizeText } from './normalize.ts';
import { createPronounce, type Pronounce } from './pronounce.ts';
import { type Accent, toTokens } from './sounds.ts';

/** What the model reads at once, its two marks not counted; a voice has a style for each length. */
const mostTokens = 508;
const styleWidth = 256;
/** Leaves the rest of the machine to the gateway. */
const defaultThreads = 1;

export function createKokoroRuntime(options: Readonly<Record<string, unknown>>): Runtime {
  const threads = typeof options.threads === 'number' ? options.threads : defaultThreads;
  return { load: (files) => loadKokoro(files, threads) };
}

async function loadKokoro(files: ModelFiles, threads: number): Promise<LoadedModel> {
  const { model, dictionary, guess } = files.files;
  assert(model !== undefined && dictionary !== undefined && guess !== undefined, 'the pack has all of them');
  const pronounce = createPronounce({
    dictionary: JSON.parse(await readFile(dictionary, 'utf8')),
    guess: createGuess(await readFile(guess, 'utf8')),
  });
  const session = await InferenceSession.create(mendModel(await readFile(model)), {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    // Threads that wait for each other sleep: the gateway may want the core.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  });
  const kokoro = new Kokoro(files, pronounce, session);
  return {
    concurrency: 1,
    async run({ kind, input }, _emit, signal) {
      if (kind !== 'speak') throw new GatewayError('internal', `The model ${files.name} does not do ${kind}`);
      return kokoro.speak(input as SpeakInput, signal);
    },
    dispose: () => session.release(),
  };
}

class Kokoro {
  readonly #files: ModelFiles;
  readonly #pronounce: Pronounce;
  readonly #session: InferenceSession;
  readonly #voices = new Map<string, Float32Array>();

  constructor(files: ModelFiles, pronounce: Pronounce, session: InferenceSession) {
    this.#files = files;
    this.#pronounce = pronounce;
    this.#session = session;
  }

  async speak({ text, voice, ending }: SpeakInput, signal: AbortSignal): Promise<Int16Array> {
    const styles = await this.#stylesOf(voice);
    const accent: Accent = voice.startsWith('b') ? 'british' : 'american';
    const sounds = this.#pronounce(normalizeText(text), accent);
    if (!/\p{L}/u.test(sounds)) return new Int16Array();
    const isOpen = ending === 'none' || ending === 'clause';
    const marked = isOpen || /[.!?…]["”)]?$/.test(sounds) ? sounds : `${sounds.replace(/[,;:—]$/, '')}.`;
    const parts: Float32Array[] = [];
    const runs = toRuns(marked);
    for (const [index, run] of runs.entries()) {
      signal.throwIfAborted();
      const after = index < runs.length - 1 ? 'none' : ending;
      parts.push(trimSilence(await this.#run(toTokens(run), styles), after));
    }
    return toInt16(join(parts));
  }

  async #run(tokens: readonly number[], styles: Float32Array): Promise<Float32Array> {
    // The marks cost 0.7 s of silence, but without them the first or the last word is not understood.
    const ids = BigInt64Array.from([0, ...tokens, 0], BigInt);
    const at = Math.min(tokens.length, styles.length / styleWidth - 1) * styleWidth;
    const { waveform } = await this.#session.run({
      input_ids: new Tensor('int64', ids, [1, ids.length]),
      style: new Tensor('float32', styles.slice(at, at + styleWidth), [1, styleWidth]),
      speed: new Tensor('float32', Float32Array.of(1), [1]),
    });
    const samples = waveform?.data as Float32Array;
    if (!hasOnlyNumbers(samples))
      throw new GatewayError('internal', `The model ${this.#files.name} cannot say this text`);
    return samples;
  }

  async #stylesOf(voice: string): Promise<Float32Array> {
    const known = this.#voices.get(voice);
    if (known !== undefined) return known;
    const path = /^[abe-jpz][fm]_[a-z]+$/.test(voice) ? this.#files.files[voice] : undefined;
    if (path === undefined)
      throw new GatewayError('invalid_request', `voice: the model has no voice ${voice}`, { param: 'voice' });
    const styles = new Float32Array(new Uint8Array(await readFile(path)).buffer);
    this.#voices.set(voice, styles);
    return styles;
  }
}

/** Between two words, where it is more than the model reads at once. */
function toRuns(sounds: string): string[] {
  const runs: string[] = [];
  let run = '';
  for (const word of sounds.split(' ')) {
    if (run !== '' && run.length + 1 + word.length > mostTokens) {
      runs.push(run);
      run = '';
    }
    run = run === '' ? word.slice(0, mostTokens) : `${run} ${word}`;
  }
  return [...runs, run];
}

function join(parts: readonly Float32Array[]): Float32Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const joined = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
